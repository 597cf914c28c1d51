// SPDX-License-Identifier: Apache-2.0
#include "channel_scales.hpp"

#include "quantized_nodes.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::execution {

namespace {

/// The indices of a node's inputs, of which x is the first. Without scales the result is the sum of products itself.
struct ScaledInputs {
  std::size_t w = 1, x_zero = 2, w_zero = 3;
  std::optional<std::size_t> x_scale{}, w_scale{}, y_scale{}, y_zero{};
};

std::optional<ScaledInputs> scaled_inputs(const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "ConvInteger" || node.op_type == "MatMulInteger") return ScaledInputs{};
  if (node.op_type == "QLinearConv" || node.op_type == "QLinearMatMul")
    return ScaledInputs{.w = 3, .x_zero = 2, .w_zero = 5, .x_scale = 1, .w_scale = 4, .y_scale = 6, .y_zero = 7};
  return std::nullopt;
}

std::int64_t count_of(const Graph& graph, const Node& node, std::optional<std::size_t> i) {
  return i && node.has_input(*i) ? graph.input(node, *i).elements() : 1;
}

/// Which of `count` channels an element belongs to. `inner` consecutive elements belong to the same channel.
struct Channels {
  std::size_t count = 1, inner = 1;
  Channels() = default;
  Channels(std::int64_t how_many, std::int64_t elements)
      : count(static_cast<std::size_t>(std::max<std::int64_t>(how_many, 1))),
        inner(static_cast<std::size_t>(std::max<std::int64_t>(elements, 1))) {}
  [[nodiscard]] std::size_t of(std::size_t element) const { return element / inner % count; }
};

/// The one number of an input, or one for each channel.
struct ChannelNumbers {
  std::vector<double> all{};
  [[nodiscard]] double operator[](std::size_t channel) const { return all.size() == 1 ? all[0] : all[channel]; }
};

ChannelNumbers channel_numbers(const NodeTensors& inputs, std::optional<std::size_t> i, double otherwise) {
  return {i && *i < inputs.size() && inputs[*i] ? inputs[*i]->values() : std::vector<double>{otherwise}};
}

/// x minus its zero points, as floats, which hold the differences of 8-bit integers exactly.
Tensor less_zeros(const Tensor& x, const ChannelNumbers& zero_points, const Channels& channels) {
  std::vector<double> values = x.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= zero_points[channels.of(i)];
  return Tensor::of(DataType::f32, x.dims(), values);
}

/// The same layer in floats, with zero points of 0 and without an epilogue.
template <class Op>
Layer summing(Op op, std::optional<DataType> Op::*second_type, bool Op::*first_zero, bool Op::*second_zero) {
  op.type = DataType::f32;
  op.*second_type = op.y_type = std::nullopt;
  op.*first_zero = op.*second_zero = false;
  op.post = {};
  return Layer(op);
}

/// The layer of floats that computes the same sums of products and nothing else. Empty for a layer of another kind.
std::optional<Layer> sum_of_products(const Layer& layer) {
  using op::Conv, op::MatMul;
  if (const auto* conv = std::get_if<Conv>(&layer)) return summing(*conv, &Conv::w_type, &Conv::x_zero, &Conv::w_zero);
  if (const auto* product = std::get_if<MatMul>(&layer))
    return summing(*product, &MatMul::b_type, &MatMul::a_zero, &MatMul::b_zero);
  return std::nullopt;
}

}  // namespace

bool has_channel_scales(const Graph& graph, const Node& node) {
  const auto at = scaled_inputs(node);
  if (!at) return false;
  const std::array<std::optional<std::size_t>, 6> numbers{at->x_zero,  at->w_zero,  at->x_scale,
                                                          at->w_scale, at->y_scale, at->y_zero};
  return std::any_of(numbers.begin(), numbers.end(), [&](const auto& i) { return count_of(graph, node, i) > 1; });
}

NodeCall bind_channel_scales(const Graph& graph, const Node& node, const Layer& layer) {
  constexpr std::size_t bias_at = 8;  // of a QLinearConv, the only operator with that many inputs
  const ScaledInputs at = scaled_inputs(node).value();
  const auto computed = sum_of_products(layer);
  if (!computed) throw NotExecutable(node, "modelled only");
  const Value &x = graph.input(node, 0), &w = graph.input(node, at.w), &y = graph.output(node, 0);
  const bool is_conv = std::holds_alternative<op::Conv>(*computed), is_scaled = at.y_scale.has_value();
  if (!is_8_bit(x.type) || !is_8_bit(w.type) || !(is_scaled ? is_8_bit(y.type) : y.type == DataType::i32))
    throw NotExecutable(node, "operands of other types");
  std::int64_t rows = 1, columns = 1;  // of a matrix; a vector is one row or one column
  if (is_conv) columns = w.dims.front();
  if (!is_conv && x.dims.size() > 1) rows = x.dims[x.dims.size() - 2];
  if (!is_conv && w.dims.size() > 1) columns = w.dims.back();
  const auto check = [&](std::optional<std::size_t> i, std::int64_t expected) {
    if (const std::int64_t count = count_of(graph, node, i); count != 1 && count != expected)
      throw NotExecutable(node, "scales or zero points that are not of channels, rows or columns");
  };
  check(at.x_zero, rows);
  check(at.x_scale, rows);
  check(at.w_zero, columns);
  check(at.w_scale, columns);
  check(at.y_zero, 1);
  check(at.y_scale, 1);
  const auto part = [](std::int64_t elements, std::int64_t count) {
    return elements / std::max<std::int64_t>(count, 1);
  };
  const Channels of_x = is_conv ? Channels() : Channels(rows, x.dims.back()),
                 of_w(columns, is_conv ? part(w.elements(), columns) : 1), rows_of_y(rows, columns),
                 columns_of_y(columns, is_conv ? part(y.elements(), x.dims.front() * columns) : 1);
  NodeCall call{.layer = layer};
  call.outputs.resize(node.outputs.size());
  call.outputs[0].make = [=, name = node.name, type = y.type, dims = y.dims](const NodeTensors& inputs) {
    const Tensor first = less_zeros(*inputs[0], channel_numbers(inputs, at.x_zero, 0), of_x),
                 second = less_zeros(*inputs[at.w], channel_numbers(inputs, at.w_zero, 0), of_w);
    const std::array<const void*, 2> reads{first.data(), second.data()};
    std::vector<double> values = reference::evaluate_all(*computed, reads, 0);
    if (!is_scaled) return Tensor::of(type, dims, values);
    const ChannelNumbers added = channel_numbers(inputs, bias_at, 0), x_scales = channel_numbers(inputs, at.x_scale, 1),
                         w_scales = channel_numbers(inputs, at.w_scale, 1);
    const double y_scale = channel_numbers(inputs, at.y_scale, 1)[0],
                 zero_point = channel_numbers(inputs, at.y_zero, 0)[0];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t channel = columns_of_y.of(i);
      const double value = (values[i] + added[channel]) * (x_scales[rows_of_y.of(i)] * w_scales[channel] / y_scale);
      if (!std::isfinite(value)) throw InputError("node '" + name + "': scales whose quotient is infinite");
      values[i] = quantized_element(value, zero_point, type);
    }
    return Tensor::of(type, dims, values);
  };
  return call;
}

}  // namespace benanza::execution
