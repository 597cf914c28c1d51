// SPDX-License-Identifier: Apache-2.0
#include "quantized_gemm.hpp"

#include "quantized_nodes.hpp"
#include <benanza/base/detail/collapse.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::execution {

namespace {

/// The one number of an input, or one for each column of the result.
struct ColumnNumbers {
  std::vector<double> all{};
  [[nodiscard]] double operator[](std::size_t column) const { return all.size() == 1 ? all[0] : all[column]; }
};

ColumnNumbers column_numbers(const NodeTensors& inputs, std::size_t i, double otherwise) {
  return {i < inputs.size() && inputs[i] ? inputs[i]->values() : std::vector<double>{otherwise}};
}

/// x minus one zero point for each column, as floats, which hold the differences of 8-bit integers exactly. Columns are
/// contiguous if `by_columns`.
Tensor less_zero_points(const Tensor& x, const ColumnNumbers& zero_points, bool by_columns) {
  std::vector<double> values = x.values();
  const auto row = static_cast<std::size_t>(x.dims().back());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= zero_points[by_columns ? i / row : i % row];
  return Tensor::of(DataType::f32, x.dims(), values);
}

/// Adds C, which is broadcast to a result with `columns` columns.
void add_broadcast(std::vector<double>& sums, const Tensor& c, std::size_t columns) {
  const detail::Dims dims = detail::padded(c.dims(), 2);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto row = dims[0] == 1 ? 0 : static_cast<std::int64_t>(i / columns),
               column = dims[1] == 1 ? 0 : static_cast<std::int64_t>(i % columns);
    sums[i] += c[row * dims[1] + column];
  }
}

}  // namespace

bool is_quantized_gemm(const Node& node) { return node.domain == "com.microsoft" && node.op_type == "QGemm"; }

bool is_layer_of_gemm(const Graph& graph, const Node& node, const Layer& layer) {
  const auto* product = std::get_if<op::MatMul>(&layer);
  const auto is_one = [&](std::size_t i) { return !node.has_input(i) || graph.input(node, i).elements() == 1; };
  return product != nullptr && is_one(4) && is_one(5) && (!node.has_input(6) || product->post == Epilogue{bias});
}

NodeCall bind_quantized_gemm(const Graph& graph, const Node& node, const Layer& layer) {
  if (!std::holds_alternative<op::MatMul>(layer)) throw NotExecutable(node, "modelled only");
  const Value &a = graph.input(node, 0), &b = graph.input(node, 3), &y = graph.output(node, 0);
  if (a.dims.size() != 2 || b.dims.size() != 2) throw NotExecutable(node, "operands that are not matrices");
  const auto has_count = [&](std::size_t i, std::int64_t count) {
    return !node.has_input(i) || graph.input(node, i).elements() == 1 || graph.input(node, i).elements() == count;
  };
  const bool has_counts = has_count(1, 1) && has_count(2, 1) && has_count(4, y.dims[1]) && has_count(5, y.dims[1]) &&
                          has_count(7, 1) && has_count(8, 1);
  if (!has_counts) throw NotExecutable(node, "a tensor with several scales or zero points");
  const bool is_integer = is_8_bit(y.type);
  if (!is_8_bit(a.type) || !is_8_bit(b.type) || !(is_integer || y.type == DataType::f32) ||
      (node.has_input(6) && graph.input(node, 6).type != DataType::i32))
    throw NotExecutable(node, "operands of other types");
  const bool trans_a = node.attribute<std::int64_t>("transA", 0) != 0,
             trans_b = node.attribute<std::int64_t>("transB", 0) != 0;
  const std::int64_t depth = a.dims[trans_a ? 0 : 1];
  const op::MatMul product{.a = {y.dims[0], depth}, .b = {depth, y.dims[1]}, .trans_a = trans_a, .trans_b = trans_b};
  NodeCall call{.layer = layer};
  call.outputs.resize(node.outputs.size());
  call.outputs[0].make = [=, name = node.name, type = y.type, dims = y.dims,
                          alpha = node.attribute("alpha", 1.0)](const NodeTensors& inputs) {
    const Tensor factor = less_zero_points(*inputs[0], column_numbers(inputs, 2, 0), false),
                 weights = less_zero_points(*inputs[3], column_numbers(inputs, 5, 0), trans_b);
    const std::array<const void*, 2> reads{factor.data(), weights.data()};
    std::vector<double> values = reference::evaluate_all(product, reads, 0);
    const auto columns = static_cast<std::size_t>(dims[1]);
    if (6 < inputs.size() && inputs[6]) add_broadcast(values, *inputs[6], columns);
    const double of_all = alpha * column_numbers(inputs, 1, 1)[0] / column_numbers(inputs, 7, 1)[0];
    const ColumnNumbers scales = column_numbers(inputs, 4, 1);
    const double zero_point = column_numbers(inputs, 8, 0)[0];
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= of_all * scales[i % columns];
      if (!std::isfinite(values[i])) throw InputError("node '" + name + "': scales whose quotient is infinite");
      if (is_integer) values[i] = quantized_element(values[i], zero_point, type);
    }
    return Tensor::of(type, dims, values);
  };
  return call;
}

}  // namespace benanza::execution
