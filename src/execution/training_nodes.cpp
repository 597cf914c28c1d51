// SPDX-License-Identifier: Apache-2.0
#include "training_nodes.hpp"

#include "node_parameters.hpp"
#include "reference/recurrent_steps.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

namespace benanza::execution {

namespace {

/// A tensor as outer x groups x middle. A statistic belongs to one group, over outer and middle.
struct Grouping {
  std::int64_t outer = 1, groups = 1, middle = 1;
};

struct Moments2 {
  std::vector<double> mean{}, square{}, variance{};
};

/// In two passes, to avoid cancellation.
Moments2 moments_of(const Tensor& x, const Grouping& by) {
  const auto groups = static_cast<std::size_t>(by.groups);
  Moments2 made{std::vector<double>(groups), std::vector<double>(groups), std::vector<double>(groups)};
  const auto visit = [&](const auto& body) {
    std::int64_t flat = 0;
    for (std::int64_t o = 0; o < by.outer; ++o)
      for (std::size_t g = 0; g < groups; ++g)
        for (std::int64_t i = 0; i < by.middle; ++i) body(g, x[flat++]);
  };
  const double count = static_cast<double>(by.outer * by.middle);
  visit([&](std::size_t g, double v) {
    made.mean[g] += v / count;
    made.square[g] += v * v / count;
  });
  visit([&](std::size_t g, double v) { made.variance[g] += (v - made.mean[g]) * (v - made.mean[g]) / count; });
  return made;
}

Grouping grouping_of(const Node& node, const Tensor::Dims& x) {
  if (node.op_type == "BatchNormalization") return {x[0], x[1], element_count(x) / (x[0] * x[1])};
  if (node.op_type == "GroupNormalization" || node.op_type == "InstanceNormalization") {
    const std::int64_t groups = x[0] * node.attribute("num_groups", x[1]);
    return {1, groups, element_count(x) / groups};
  }
  const auto axis = detail::to_axis(node.attribute("axis", std::int64_t{-1}), x.size());
  const std::int64_t rows = detail::product(x, 0, axis.value_or(0));
  return {1, rows, element_count(x) / rows};
}

enum class Statistic : std::uint8_t { mean, variance, inverse_deviation, inverse_root_mean_square };

std::optional<Statistic> statistic_of(const Node& node, std::size_t i) {
  const std::string& type = node.op_type;
  if (type == "BatchNormalization" && i >= 3) return i == 3 ? Statistic::mean : Statistic::variance;
  if (type == "GroupNormalization" || type == "InstanceNormalization")
    return i == 1 ? std::optional(Statistic::mean) : i == 2 ? std::optional(Statistic::variance) : std::nullopt;
  if (type == "LayerNormalization")
    return i == 1   ? std::optional(Statistic::mean)
           : i == 2 ? std::optional(Statistic::inverse_deviation)
                    : std::nullopt;
  if (i == 1 && (type == "RMSNormalization" || type == "SimplifiedLayerNormalization"))
    return Statistic::inverse_root_mean_square;
  return std::nullopt;
}

/// Applies a function to each element of x.
template <class Function>
Tensor mapped(const Tensor& x, Function function) {
  std::vector<double> values = x.values();
  std::transform(values.begin(), values.end(), values.begin(), function);
  return Tensor::of(x.type(), x.dims(), values);
}

}  // namespace

std::optional<OutputSource> kept_statistic(const Graph& graph, const Node& node, std::size_t i) {
  const auto statistic = node.domain.empty() ? statistic_of(node, i) : std::nullopt;
  if (!statistic || !node.has_input(0)) return std::nullopt;
  const Value& value = graph.output(node, i);
  OutputSource source;
  source.make = [by = grouping_of(node, graph.input(node, 0).dims), which = *statistic, epsilon = epsilon_of(node),
                 type = value.type, dims = value.dims](const NodeTensors& inputs) {
    const Moments2 made = moments_of(*inputs[0], by);
    std::vector<double> values = which == Statistic::mean                       ? made.mean
                                 : which == Statistic::inverse_root_mean_square ? made.square
                                                                                : made.variance;
    if (which == Statistic::inverse_deviation || which == Statistic::inverse_root_mean_square)
      for (double& v : values) v = 1 / std::sqrt(v + epsilon);
    return Tensor::of(type, dims, values);
  };
  return source;
}

std::optional<OutputSource> kept_step(const Graph& graph, const Node& node, const op::Recurrent& layer, std::size_t i,
                                      std::vector<std::size_t> operands) {
  constexpr std::size_t gates = 3, cells = 4;  // after the results that ONNX defines
  if (i != gates && i != cells) return std::nullopt;
  const Value& value = graph.output(node, i);
  OutputSource source;
  source.make = [i, layer, operands = std::move(operands), type = value.type,
                 dims = value.dims](const NodeTensors& inputs) {
    std::vector<const void*> reads;
    for (const std::size_t at : operands) reads.push_back(inputs[at]->data());
    const auto steps = reference::recurrent_steps(layer, reads);
    return Tensor::of(type, dims, i == gates ? steps.gates : steps.c);
  };
  return source;
}

std::optional<OperandSource> gradient_operand(const Node& node, const Layer& layer, std::size_t i, std::size_t input) {
  OperandSource source{.inputs = {input}};
  if (const auto* norm = std::get_if<op::NormGradient>(&layer)) {
    const bool keeps_inverse = norm->of == op::NormGradientOf::layer || norm->of == op::NormGradientOf::rms;
    if (!keeps_inverse || i + 1 != norm->operands().inputs.size()) return std::nullopt;
    source.make = [input, epsilon = epsilon_of(node)](const NodeTensors& inputs) {
      return mapped(*inputs[input], [&](double inverse) { return 1 / (inverse * inverse) - epsilon; });
    };
    return source;
  }
  if (const auto* pool = std::get_if<op::PoolGradient>(&layer); pool != nullptr && i == 1) {
    source.make = [input, plane = static_cast<double>(pool->plane())](const NodeTensors& inputs) {
      return mapped(*inputs[input], [&](double index) { return std::fmod(index, plane); });
    };
    return source;
  }
  return std::nullopt;
}

/// Computes with the parameters of op::OptimizerStep, in the layout of its nodes: for each parameter the weight, its
/// gradient, the weight in f32 if precision is mixed, and the states.
std::vector<Tensor> optimizer_step(const Node& node, const NodeTensors& inputs) {
  const auto rule = detail::enum_from_name<op::OptimizerRule>(node.attribute<std::string>("optimizer", ""));
  if (!rule) throw NotExecutable(node, "another optimizer");
  const std::size_t parameters = inputs.size() - node.outputs.size();
  if (parameters == 0 || inputs.size() % parameters != 0)
    throw NotExecutable(node, "operands that do not fit together");
  const std::size_t each = inputs.size() / parameters;
  std::vector<Tensor> outputs;
  for (std::size_t first = 0; first < inputs.size(); first += each) {
    const Tensor& weight = *inputs[first];
    op::OptimizerStep step{.type = weight.type(), .rule = *rule, .x = {weight.elements()}};
    step.master = each == 3 + step.states();
    std::vector<const void*> reads;
    for (std::size_t i = 0; i < each; ++i) reads.push_back(inputs[first + i]->data());
    const Operands shapes = step.operands();
    for (std::size_t i = 0; i < shapes.outputs.size(); ++i)
      outputs.push_back(
          Tensor::of(shapes.outputs[i].type, weight.dims(), reference::evaluate_all(Layer(step), reads, i)));
  }
  return outputs;
}

}  // namespace benanza::execution
