// SPDX-License-Identifier: Apache-2.0
// Reductions, sums along an axis, and the largest elements.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/reduction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Reduce> Reduce::from(const Node& node, const Graph& graph) {
  const auto at = std::find(onnx_types.begin(), onnx_types.end(), detail::onnx_type(node));
  if (at == onnx_types.end()) return std::nullopt;
  const bool quantized = *at == onnx_types.back();
  const Value& x_value = graph.input(node, 0);
  Reduce reduce{.type = x_value.type,
                .fn = quantized ? ReduceFn::mean : static_cast<ReduceFn>(at - onnx_types.begin())};
  const bool index = reduce.fn == ReduceFn::arg_max || reduce.fn == ReduceFn::arg_min;
  std::vector<bool> reduced(x_value.dims.size());
  const auto axes = index ? detail::GivenInts{.given = true, .values = {node.attribute<std::int64_t>("axis", 0)}}
                          : detail::given_ints(node, graph, "axes", quantized ? node.inputs.size() : 1);
  for (auto given : axes.values) {
    const auto axis = detail::to_axis(given, reduced.size());
    if (!axis) return std::nullopt;
    reduced[*axis] = true;
  }
  if (!axes.known) {
    if (!follow(x_value.dims, graph.output(node, 0).dims, reduced)) return std::nullopt;
  } else if (axes.values.empty()) {
    reduced.assign(reduced.size(), node.attribute<std::int64_t>("noop_with_empty_axes", 0) == 0);
  }

  detail::Dims dims;
  bool last = false;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (x_value.dims[i] == 1) continue;
    if (!dims.empty() && reduced[i] == last) {
      dims.back() = checked_product(dims.back(), x_value.dims[i]);
      continue;
    }
    last = reduced[i];
    if (last) reduce.axes.push_back(static_cast<std::int64_t>(dims.size()));
    dims.push_back(x_value.dims[i]);
    if (dims.size() == TensorShape::capacity) return std::nullopt;
  }
  if (reduce.axes.empty()) {
    if (reduce.fn <= ReduceFn::prod) return std::nullopt;
    reduce.axes.push_back(static_cast<std::int64_t>(dims.size()));  // still a function of each element
    dims.push_back(1);
  }
  reduce.x = TensorShape(dims);
  return reduce;
}

BENANZA_INLINE TensorShape Reduce::y() const {
  TensorShape shape;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) shape.push_back(x[i]);
  return shape;
}

BENANZA_INLINE Operands Reduce::operands() const {
  const bool positive = fn == ReduceFn::log_sum || fn == ReduceFn::prod;
  const bool index = fn == ReduceFn::arg_max || fn == ReduceFn::arg_min;
  return {.inputs = {{.name = "data",
                      .type = type,
                      .shape = x,
                      .contents = positive ? Contents::positive : Contents::uniform}},
          .outputs = {{.name = "reduced", .type = index ? DataType::i64 : type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic Reduce::arithmetic() const {
  using enum ReduceFn;
  const bool two = fn == l1 || fn == l2 || fn == sum_square || fn == log_sum_exp;
  return {.flops = (two ? 2.0 : 1.0) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool Reduce::consistent() const {
  if (!detail::are_sizes(x) || axes.empty()) return false;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(x.size()) || (i > 0 && axes[i] <= axes[i - 1]))
      return false;
  return true;
}

BENANZA_INLINE bool Reduce::follow(const detail::Dims& x, const detail::Dims& y, std::vector<bool>& reduced) {
  const bool keeps = x.size() == y.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool stays = next < y.size() && y[next] == x[i];
    if (!stays && keeps && y[next] != 1) return false;
    reduced[i] = !stays;
    next += stays || keeps ? 1 : 0;
  }
  return next == y.size();
}

BENANZA_INLINE std::optional<Cumulative> Cumulative::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto given = detail::scalar(graph.input(node, 1));
  const auto shortest = std::min_element(x_value.dims.begin(), x_value.dims.end()) - x_value.dims.begin();
  const auto axis = detail::to_axis(given ? static_cast<std::int64_t>(*given) : shortest, x_value.dims.size());
  if (!axis) return std::nullopt;
  return Cumulative{.type = x_value.type,
                    .x = detail::around(x_value.dims, *axis),
                    .product = node.op_type == "CumProd",
                    .exclusive = node.attribute<std::int64_t>("exclusive", 0) != 0,
                    .reverse = node.attribute<std::int64_t>("reverse", 0) != 0};
}

BENANZA_INLINE Operands Cumulative::operands() const {
  return {
      .inputs = {{.name = "x", .type = type, .shape = x, .contents = product ? Contents::positive : Contents::uniform}},
      .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic Cumulative::arithmetic() const {
  const std::int64_t steps = x[1] - (exclusive ? 2 : 1);
  return {.flops = static_cast<double>(x[0]) * static_cast<double>(x[2]) *
                   static_cast<double>(std::max<std::int64_t>(steps, 0))};
}

BENANZA_INLINE bool Cumulative::consistent() const { return detail::are_sizes(x, 3); }

BENANZA_INLINE std::optional<TopK> TopK::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), x_value.dims.size());
  const auto& y = graph.output(node, node.has_output(0) ? 0 : 1).dims;
  if (!axis || y.size() != x_value.dims.size()) return std::nullopt;
  return TopK{.type = x_value.type,
              .x = detail::around(x_value.dims, *axis),
              .k = y[*axis],
              .largest = node.attribute<std::int64_t>("largest", 1) != 0,
              .sorted = node.attribute<std::int64_t>("sorted", 1) != 0};
}

BENANZA_INLINE Operands TopK::operands() const {
  const TensorShape y{x[0], k, x[2]};
  return {.inputs = {{.name = "x", .type = type, .shape = x}},
          .outputs = {{.name = "values", .type = type, .shape = y},
                      {.name = "indices", .type = DataType::i64, .shape = y}}};
}

BENANZA_INLINE Arithmetic TopK::arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

BENANZA_INLINE bool TopK::consistent() const { return detail::are_sizes(x, 3) && k >= 1 && k <= x[1]; }

}  // namespace benanza::op
