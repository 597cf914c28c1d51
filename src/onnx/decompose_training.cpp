// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's training graphs: turns gradients and optimizers of com.microsoft into the training nodes of this
// project.
// https://github.com/microsoft/onnxruntime/blob/main/orttraining/orttraining/core/graph/training_op_defs.cc
#include "decompose.hpp"
#include <benanza/base/detail/node.hpp>
#include <benanza/op/movement_parts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

constexpr std::string_view own_domain = "benanza";
using Ids = std::vector<std::optional<ValueId>>;

std::optional<ValueId> input_of(const Node& node, std::size_t i) {
  return node.has_input(i) ? node.inputs[i] : std::nullopt;
}
std::optional<ValueId> output_of(const Node& node, std::size_t i) {
  return node.has_output(i) ? node.outputs[i] : std::nullopt;
}
ValueId new_value(Graph& graph, const Node& node, std::string_view suffix, DataType type, detail::Dims dims) {
  graph.values.push_back({.name = node.name + std::string(suffix), .type = type, .dims = std::move(dims)});
  return graph.values.size() - 1;
}
Node part_of(const Node& node, std::string_view suffix, std::string_view domain, std::string_view type, Ids inputs,
             Ids outputs) {
  return {.name = node.name + std::string(suffix),
          .domain = std::string(domain),
          .op_type = std::string(type),
          .opset = domain.empty() ? 18 : 1,
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = node.attributes,
          .bodies = {}};
}

/// An operator that is one node here, too, with its inputs in another order.
struct Renamed {
  std::string_view from, domain, to;
  std::vector<std::size_t> inputs;
  bool flattens = false;  ///< all dimensions from the axis on are merged
};
const std::vector<Renamed>& renamed() {
  static const std::vector<Renamed> rows{
      {"AveragePoolGrad", own_domain, "AveragePoolGrad", {0}},
      {"MaxPoolGrad", own_domain, "MaxPoolGrad", {0, 1}},
      {"ReluGrad", own_domain, "ReluGrad", {0, 1}},
      {"SigmoidGrad", own_domain, "SigmoidGrad", {0, 1}},
      {"TanhGrad", own_domain, "TanhGrad", {0, 1}},
      {"EluGrad", own_domain, "EluGrad", {0, 1}},
      {"LeakyReluGrad", own_domain, "LeakyReluGrad", {0, 1}},
      {"GeluGrad", own_domain, "GeluGrad", {0, 1}},
      {"FastGeluGrad", own_domain, "FastGeluGrad", {0, 1}},
      {"QuickGeluGrad", own_domain, "QuickGeluGrad", {0, 1}},
      {"SoftmaxGrad", own_domain, "SoftmaxGrad", {0, 1}, true},
      {"SoftmaxGrad_13", own_domain, "SoftmaxGrad", {0, 1}},
      {"LogSoftmaxGrad", own_domain, "LogSoftmaxGrad", {0, 1}, true},
      {"LogSoftmaxGrad_13", own_domain, "LogSoftmaxGrad", {0, 1}},
      {"GatherGrad", own_domain, "GatherGrad", {2, 1}},
      {"GatherNDGrad", own_domain, "GatherNDGrad", {2, 1}},
      {"BatchNormalizationGrad", own_domain, "BatchNormalizationGrad", {0, 1, 2, 3, 4}},
      {"LayerNormalizationGrad", own_domain, "LayerNormalizationGrad", {0, 1, 2, 3, 4}},
      {"SimplifiedLayerNormalizationGrad", own_domain, "SimplifiedLayerNormalizationGrad", {0, 1, 2, 3}},
      {"SoftmaxCrossEntropyLossGrad", own_domain, "SoftmaxCrossEntropyLossGrad", {0, 1, 2, 3}},
      {"SoftmaxCrossEntropyLossInternalGrad", own_domain, "SoftmaxCrossEntropyLossGrad", {0, 1, 2, 3}},
      {"SparseSoftmaxCrossEntropyGrad", own_domain, "SoftmaxCrossEntropyLossGrad", {0, 1, 2, 3}},
      {"SoftmaxCrossEntropyLossInternal", "", "SoftmaxCrossEntropyLoss", {0, 1, 2}},
      {"InPlaceAccumulator", "", "Add", {0, 1}},
      {"ReduceSumTraining", "", "ReduceSum", {0, 1}},
      {"SplitTraining", "", "Split", {0, 1}},
  };
  return rows;
}

Node rename(const Node& node, const Renamed& row) {
  Ids inputs;
  for (const std::size_t i : row.inputs) inputs.push_back(input_of(node, i));
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  Node made = part_of(node, "", row.domain, row.to, std::move(inputs), node.outputs);
  if (row.flattens) made.attributes["flattens"] = std::int64_t{1};
  return made;
}

/// A flag says whether a step was done; the step changes values in place. In the graph's outputs, the changed value
/// replaces the flag. Otherwise the step would be pruned.
void give_for_flag(Graph& graph, const std::optional<ValueId>& flag, ValueId changed) {
  if (flag) std::replace(graph.outputs.begin(), graph.outputs.end(), *flag, changed);
}

/// dY, X, W: gradients of X, of W and of the bias.
bool append_convolution(const Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto dy = input_of(node, 0), x = input_of(node, 1), w = input_of(node, 2);
  if (!dy || !x || !w || graph.value(*dy).dims.size() < 3) return false;
  if (const auto bias = output_of(node, 2)) {
    Node sum = part_of(node, "/bias", "", "ReduceSum", {dy}, {bias});
    detail::Dims axes{0};
    for (std::size_t i = 2; i < graph.value(*dy).dims.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    sum.opset = 11;  // in which the axes are an attribute
    sum.attributes = {{"axes", axes}, {"keepdims", std::int64_t{0}}};
    nodes.push_back(std::move(sum));
  }
  if (const auto weights = output_of(node, 1))
    nodes.push_back(part_of(node, "/weights", own_domain, "ConvGradWeights", {x, dy}, {weights}));
  if (const auto data = output_of(node, 0))
    nodes.push_back(part_of(node, "/data", own_domain, "ConvGradData", {dy, w}, {data}));
  return true;
}

/// dY, X, B: adds the bias before the function.
bool append_biased(Graph& graph, const Node& node, std::string_view gradient, std::vector<Node>& nodes) {
  const auto x = input_of(node, 1), bias = input_of(node, 2);
  if (!x || !bias) return false;
  const ValueId sum = new_value(graph, node, "/sum", graph.value(*x).type, graph.value(*x).dims);
  nodes.push_back(part_of(node, "/sum", "", "Add", {x, bias}, {sum}));
  nodes.push_back(part_of(node, "", own_domain, gradient, {input_of(node, 0), sum}, node.outputs));
  return true;
}

/// dY, mask, ratio: the elements that were kept, divided by the fraction that is kept.
bool append_dropout(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto dy = input_of(node, 0), mask = input_of(node, 1);
  if (!dy || !mask || !node.has_output(0)) return false;
  const DataType type = graph.value(*dy).type;
  const detail::Dims dims = graph.value(*dy).dims;
  const auto number = [&](std::string_view suffix, double value) {
    const ValueId id = new_value(graph, node, suffix, type, {});
    graph.values[id].constant = true;
    graph.values[id].literal = Literal{.ints = {}, .floats = {value}};
    return id;
  };
  const auto ratio = node.has_input(2) ? detail::scalar(graph.input(node, 2)) : std::nullopt;
  const ValueId kept = new_value(graph, node, "/kept", type, dims), zero = number("/zero", 0);
  const ValueId factor = number("/factor", 1 / (1 - ratio.value_or(0.5)));
  nodes.push_back(part_of(node, "/kept", "", "Where", {mask, dy, zero}, {kept}));
  nodes.push_back(part_of(node, "", "", "Mul", {kept, factor}, {node.outputs[0]}));
  return true;
}

/// One step of one parameter. `inputs`: the weight, its gradient, and the optimizer's states. `outputs`: the same
/// without the gradient; a new value is made for each that the node leaves out.
bool append_step(Graph& graph, const Node& node, std::string_view rule, const Ids& inputs, Ids outputs,
                 std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) return false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) continue;
    const Value like = graph.value(*inputs[i == 0 ? 0 : i + 1]);
    outputs[i] = new_value(graph, node, "/updated." + std::to_string(i), like.type, like.dims);
  }
  Node step = part_of(node, "", own_domain, "OptimizerStep", inputs, std::move(outputs));
  step.attributes = {{"optimizer", std::string(rule)}};
  nodes.push_back(std::move(step));
  return true;
}

bool append_optimizer(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto in = [&](std::size_t i) { return input_of(node, i); };
  const auto out = [&](std::size_t i) { return output_of(node, i); };
  if (node.op_type == "SGDOptimizer") return append_step(graph, node, "sgd", {in(1), in(2)}, {out(0)}, nodes);
  if (!in(6)) return append_step(graph, node, "adam", {in(2), in(3), in(4), in(5)}, {out(3), out(1), out(2)}, nodes);
  return append_step(graph, node, "adam", {in(6), in(3), in(2), in(4), in(5)}, {out(5), out(3), out(1), out(2)}, nodes);
}

/// Inputs: the sum so far, what is added, a signal. Outputs: a flag, the sum.
bool append_accumulator(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto sum = input_of(node, 0), added = input_of(node, 1);
  if (!sum || !added) return false;
  const DataType type = graph.value(*sum).type;
  const detail::Dims dims = graph.value(*sum).dims;
  const auto given = output_of(node, 1);
  const ValueId changed = given ? *given : new_value(graph, node, "/sum", type, dims);
  nodes.push_back(part_of(node, "", "", "Add", {sum, added}, {changed}));
  give_for_flag(graph, output_of(node, 0), changed);
  return true;
}

/// X, a number by which it is multiplied or divided. The number may have another type.
bool append_scale(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto x = input_of(node, 0);
  auto scale = input_of(node, 1);
  if (!x || !scale || !node.has_output(0)) return false;
  const DataType type = graph.value(*x).type;
  if (graph.value(*scale).type != type) {
    const detail::Dims dims = graph.value(*scale).dims;
    const ValueId cast = new_value(graph, node, "/scale", type, dims);
    if (const auto number = detail::scalar(graph.value(*scale))) {
      graph.values[cast].constant = true;
      graph.values[cast].literal = Literal{.ints = {}, .floats = {*number}};
    } else {
      nodes.push_back(part_of(node, "/scale", "", "Cast", {scale}, {cast}));
    }
    scale = cast;
  }
  const bool down = node.attribute<std::int64_t>("scale_down", 0) != 0;
  nodes.push_back(part_of(node, "", "", down ? "Div" : "Mul", {x, scale}, node.outputs));
  return true;
}

/// dY, X, regions, scales.
bool append_resize(const Graph& graph, const Node& node, std::vector<Node>& nodes) {
  if (!node.has_input(0) || !node.has_output(0)) return false;
  Node made = part_of(node, "", own_domain, "ResizeGrad", {node.inputs[0]}, node.outputs);
  if (const auto scales = input_of(node, 3))
    if (const auto& literal = graph.value(*scales).literal;
        literal && literal->floats.size() == graph.output(node, 0).dims.size())
      made.attributes["resize_scales"] = literal->floats;
  nodes.push_back(std::move(made));
  return true;
}

/// dY, logarithms of the probabilities, the target probabilities.
bool append_soft_loss(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto dy = input_of(node, 0), log_prob = input_of(node, 1), label = input_of(node, 2);
  if (!dy || !log_prob || !label || !node.has_output(0)) return false;
  const DataType type = graph.value(*log_prob).type;
  const detail::Dims dims = graph.value(*log_prob).dims;
  const ValueId prob = new_value(graph, node, "/prob", type, dims),
                error = new_value(graph, node, "/error", type, dims);
  nodes.push_back(part_of(node, "/prob", "", "Exp", {log_prob}, {prob}));
  nodes.push_back(part_of(node, "/error", "", "Sub", {prob, label}, {error}));
  nodes.push_back(part_of(node, "", "", "Mul", {error, dy}, node.outputs));
  return true;
}

/// Constant integers.
ValueId integers(Graph& graph, const Node& node, std::string_view suffix, const detail::Dims& numbers) {
  const ValueId id = new_value(graph, node, suffix, DataType::i64, {static_cast<std::int64_t>(numbers.size())});
  graph.values[id].constant = true;
  graph.values[id].literal = Literal{.ints = numbers, .floats = {}};
  return id;
}

/// Appends a node that makes zeros with the type and shape of `made`.
void append_zeros(Graph& graph, const Node& node, ValueId made, std::vector<Node>& nodes) {
  const DataType type = graph.value(made).type;
  const detail::Dims dims = graph.value(made).dims;
  const ValueId zero = new_value(graph, node, "/zero", type, {});
  graph.values[zero].constant = true;
  graph.values[zero].literal = Literal{.ints = {}, .floats = {0}};
  nodes.push_back(part_of(node, "/zeros", "", "Expand", {zero, integers(graph, node, "/shape", dims)}, {made}));
}

/// The concatenated tensors, and the size of each along the axis.
void append_concatenation(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  if (node.has_output(1)) {
    Value& sizes = graph.values[*node.outputs[1]];
    sizes.constant = true;
    sizes.literal = Literal{};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const detail::Dims& dims = graph.input(node, i).dims;
      const auto axis = node.attribute<std::int64_t>("axis", 0);
      sizes.literal->ints.push_back(dims[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(dims) : axis)]);
    }
  }
  nodes.push_back(part_of(node, "", "", "Concat", node.inputs, {output_of(node, 0)}));
}

/// Zeros of the result's shape, to which gradients are added at their positions.
bool append_scatter(Graph& graph, const Node& node, std::string_view type, std::size_t indices, std::size_t updates,
                    std::vector<Node>& nodes) {
  if (!node.has_output(0) || !node.has_input(indices) || !node.has_input(updates)) return false;
  const Value dx = graph.output(node, 0);
  const ValueId zeros = new_value(graph, node, "/zeros", dx.type, dx.dims);
  append_zeros(graph, node, zeros, nodes);
  Node added = part_of(node, "", "", type, {zeros, node.inputs[indices], node.inputs[updates]}, node.outputs);
  added.attributes["reduction"] = std::string("add");
  nodes.push_back(std::move(added));
  return true;
}

/// dY, shape, starts, ends, axes, steps: pads the slice with zeros. With steps, scatters along one axis after the
/// other.
bool append_slice(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const auto dy = input_of(node, 0);
  if (!dy || !node.has_output(0)) return false;
  Node slice = part_of(node, "", "", "Slice", {node.outputs[0]}, {dy});  // its input has the shape of the result
  for (std::size_t i = 2; i < 6; ++i) slice.inputs.push_back(input_of(node, i));
  const auto box = op::Slice::taken_box(slice, graph);
  if (!box) return false;
  const detail::Dims dims = graph.output(node, 0).dims;
  detail::Dims reached = graph.value(*dy).dims, pads(2 * dims.size(), 0);
  const DataType type = graph.value(*dy).type;
  std::optional<ValueId> part = dy;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (box->step[i] == 1) {
      pads[i] = box->first[i];
      pads[i + dims.size()] = dims[i] - box->first[i] - box->taken[i];
      continue;
    }
    detail::Dims places;
    for (std::int64_t k = 0; k < box->taken[i]; ++k) places.push_back(box->first[i] + k * box->step[i]);
    reached[i] = dims[i];
    const std::string suffix = "/axis." + std::to_string(i);
    const ValueId made = new_value(graph, node, suffix, type, reached);
    Node spread = part_of(node, suffix, own_domain, "GatherGrad",
                          {part, integers(graph, node, suffix + "/places", places)}, {made});
    spread.attributes = {{"axis", static_cast<std::int64_t>(i)}};
    nodes.push_back(std::move(spread));
    part = made;
  }
  nodes.push_back(part_of(node, "", "", "Pad", {part, integers(graph, node, "/pads", pads)}, node.outputs));
  return true;
}

/// The tensors of a sequence that an earlier node has made.
Ids tensors_of(const Node& node, std::size_t i, const std::vector<Node>& nodes) {
  const auto sequence = input_of(node, i);
  for (const Node& one : nodes)
    if (sequence && one.op_type == "SequenceConstruct" && output_of(one, 0) == sequence) return one.inputs;
  throw InputError("node '" + node.name + "' (" + node.op_type + "): the sizes of the tensors in its sequence " +
                   std::to_string(i) + " are not known: expected a sequence that SequenceConstruct makes");
}

/// Sequences of weights, gradients and states, with the weights at input `first`: one call for all.
bool append_steps(Graph& graph, const Node& node, std::string_view rule, std::size_t first, std::size_t sequences,
                  std::vector<Node>& nodes) {
  std::vector<Ids> given;
  for (std::size_t i = first; i < first + sequences; ++i) given.push_back(tensors_of(node, i, nodes));
  Ids inputs, outputs;
  std::vector<Ids> updated(sequences);  // empty for the gradients
  for (std::size_t k = 0; k < given[0].size(); ++k)
    for (std::size_t i = 0; i < sequences; ++i) {
      if (given[i].size() != given[0].size() || !given[i][k])
        throw InputError("node '" + node.name + "' (" + node.op_type + "): sequences of " +
                         std::to_string(given[0].size()) + " and " + std::to_string(given[i].size()) + " tensors");
      inputs.push_back(given[i][k]);
      if (i == 1) continue;
      const Value like = graph.value(*given[i][k]);
      outputs.emplace_back(new_value(graph, node, "/updated." + std::to_string(outputs.size()), like.type, like.dims));
      updated[i].push_back(outputs.back());
    }
  Node step = part_of(node, "", own_domain, "OptimizerStep", std::move(inputs), std::move(outputs));
  step.attributes = {{"optimizer", std::string(rule)}};
  nodes.push_back(std::move(step));
  if (!updated[0].empty()) give_for_flag(graph, output_of(node, 0), *updated[0].front());
  std::size_t out = 1;  // after the flag
  for (std::size_t i = 0; i < sequences; ++i) {
    if (i == 1) continue;
    if (node.has_output(out))
      nodes.push_back(
          part_of(node, "/sequence." + std::to_string(out), "", "SequenceConstruct", updated[i], {node.outputs[out]}));
    ++out;
  }
  return true;
}

}  // namespace

bool append_training_parts(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const std::string_view type = node.op_type;
  const bool old_domain =
      node.domain.empty() && (type == "AveragePoolGrad" || type == "MaxPoolGrad" || type == "ConvGrad");
  if (node.domain != "com.microsoft" && !old_domain) return false;
  if (type == "ConvGrad") return append_convolution(graph, node, nodes);
  if (type == "BiasGeluGrad_dX") return append_biased(graph, node, "GeluGrad", nodes);
  if (type == "BiasFastGeluGrad_dX") return append_biased(graph, node, "FastGeluGrad", nodes);
  if (type == "DropoutGrad") return append_dropout(graph, node, nodes);
  if (type == "GatherElementsGrad") return append_scatter(graph, node, "ScatterElements", 2, 0, nodes);
  if (type == "GatherNDGrad" && node.attribute<std::int64_t>("batch_dims", 0) == 0)
    return append_scatter(graph, node, "ScatterND", 1, 2, nodes);
  if (type == "SliceGrad") return append_slice(graph, node, nodes);
  if (type == "SGDOptimizerV2") return append_steps(graph, node, "sgd", 1, 2, nodes);
  if (type == "AdamWOptimizer") return append_steps(graph, node, "adamw", 2, 4, nodes);
  if (type == "SGDOptimizer" || type == "AdamOptimizer") return append_optimizer(graph, node, nodes);
  if (type == "InPlaceAccumulatorV2") return append_accumulator(graph, node, nodes);
  if (type == "Scale") return append_scale(graph, node, nodes);
  if (type == "ResizeGrad") return append_resize(graph, node, nodes);
  if (type == "SoftmaxCrossEntropyGrad") return append_soft_loss(graph, node, nodes);
  if (type == "ZeroGradient" && node.has_output(0)) {
    append_zeros(graph, node, *node.outputs[0], nodes);
    return true;
  }
  if (type == "ConcatTraining") {
    append_concatenation(graph, node, nodes);
    return true;
  }
  if (type == "BatchNormInternal") {
    Node norm = part_of(node, "", "", "BatchNormalization", node.inputs, node.outputs);
    norm.attributes["training_mode"] = std::int64_t{1};
    nodes.push_back(std::move(norm));
    return true;
  }
  const auto row = std::find_if(renamed().begin(), renamed().end(), [&](const Renamed& r) { return r.from == type; });
  if (row == renamed().end()) return false;
  nodes.push_back(rename(node, *row));
  return true;
}

}  // namespace benanza::importer
