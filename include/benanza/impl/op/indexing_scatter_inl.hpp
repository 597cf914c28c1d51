// SPDX-License-Identifier: Apache-2.0
// What writes at positions that a tensor gives.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/indexing_scatter.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace benanza::op {

BENANZA_INLINE std::optional<ScatterElements> ScatterElements::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& indices_value = graph.input(node, 1);
  const auto& dims = x_value.dims;
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
  if (!axis || indices_value.dims.size() != dims.size()) return std::nullopt;
  const auto reduction = detail::enum_from_name<ScatterReduction>(node.attribute<std::string>("reduction", "none"));
  if (!reduction) return std::nullopt;
  ScatterElements result{.type = x_value.type, .reduction = *reduction, .index_type = indices_value.type};
  detail::Dims along = dims;
  along[*axis] = indices_value.dims[*axis];
  if (along == indices_value.dims) {
    result.x = detail::around(dims, *axis);
    result.indices = detail::around(along, *axis);
    result.axis = 1;
    return result;
  }
  const auto x = detail::to_shape(dims), indices = detail::to_shape(indices_value.dims);
  if (!x || !indices) return std::nullopt;
  result.x = *x;
  result.indices = *indices;
  result.axis = static_cast<std::int64_t>(*axis);
  return result;
}

BENANZA_INLINE Operands ScatterElements::operands() const {
  const std::int64_t written = std::min(element_count(x), element_count(indices));
  return {.inputs = {data_operand(type, x, reduction, written),
                     {.name = "indices",
                      .type = index_type,
                      .shape = indices,
                      .contents = Contents::indices,
                      .limit = x[static_cast<std::size_t>(axis)]},
                     {.name = "updates", .type = type, .shape = indices}},
          .outputs = {updated_operand(type, x, written, in_place)}};
}

BENANZA_INLINE Arithmetic ScatterElements::arithmetic() const {
  return {.flops = reduction == ScatterReduction::none ? 0.0 : static_cast<double>(element_count(indices))};
}

BENANZA_INLINE bool ScatterElements::consistent() const {
  if (in_place && reduction != ScatterReduction::none) return false;
  if (!detail::are_sizes(x) || !detail::are_sizes(indices, x.size()) || axis < 0 ||
      axis >= static_cast<std::int64_t>(x.size()))
    return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (indices[i] > x[i] && static_cast<std::int64_t>(i) != axis) return false;
  return true;
}

BENANZA_INLINE std::optional<ScatterNd> ScatterNd::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& indices_value = graph.input(node, 1);
  const std::span<const std::int64_t> x = x_value.dims, indices = indices_value.dims;
  const auto reduction = detail::enum_from_name<ScatterReduction>(node.attribute<std::string>("reduction", "none"));
  if (!reduction || indices.empty() || indices.back() < 1 || indices.back() > static_cast<std::int64_t>(x.size()))
    return std::nullopt;
  const auto indexed = static_cast<std::size_t>(indices.back());
  if (indexed + 1 > TensorShape::capacity) return std::nullopt;
  ScatterNd result{.type = x_value.type,
                   .indices = {detail::product(indices, 0, indices.size() - 1), indices.back()},
                   .reduction = *reduction,
                   .index_type = indices_value.type};
  for (std::size_t i = 0; i < indexed; ++i) result.x.push_back(x[i]);
  const std::int64_t slice = detail::product(x, indexed, x.size());
  if (slice != 1) result.x.push_back(slice);
  return result;
}

BENANZA_INLINE TensorShape ScatterNd::updates() const {
  TensorShape shape(std::span(indices.begin(), indices.size() - 1));
  for (auto i = static_cast<std::size_t>(indices.back()); i < x.size(); ++i) shape.push_back(x[i]);
  return shape;
}

BENANZA_INLINE Operands ScatterNd::operands() const {
  std::int64_t smallest = x.empty() ? 1 : x[0];
  for (std::int64_t i = 0; i < indices.back(); ++i) smallest = std::min(smallest, x[static_cast<std::size_t>(i)]);
  const std::int64_t written = std::min(element_count(x), element_count(updates()));
  return {
      .inputs =
          {data_operand(type, x, reduction, written),
           {.name = "indices", .type = index_type, .shape = indices, .contents = Contents::indices, .limit = smallest},
           {.name = "updates", .type = type, .shape = updates()}},
      .outputs = {updated_operand(type, x, written, in_place)}};
}

BENANZA_INLINE Arithmetic ScatterNd::arithmetic() const {
  return {.flops = reduction == ScatterReduction::none ? 0.0 : static_cast<double>(element_count(updates()))};
}

BENANZA_INLINE bool ScatterNd::consistent() const {
  if (in_place && reduction != ScatterReduction::none) return false;
  if (!detail::are_sizes(x) || !detail::are_sizes(indices) || indices.back() > static_cast<std::int64_t>(x.size()))
    return false;
  return indices.size() + x.size() - 1 <= TensorShape::capacity + static_cast<std::size_t>(indices.back());
}

BENANZA_INLINE std::optional<TensorScatter> TensorScatter::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -2), dims.size());
  const auto& update = graph.input(node, 1).dims;
  if (!axis || *axis == 0 || update.size() != dims.size()) return std::nullopt;
  return TensorScatter{
      .type = x_value.type,
      .x = {dims[0], detail::product(dims, 1, *axis), dims[*axis], detail::product(dims, *axis + 1, dims.size())},
      .length = update[*axis],
      .indices = node.has_input(2),
      .circular = node.attribute<std::string>("mode", "linear") == "circular"};
}

BENANZA_INLINE Operands TensorScatter::operands() const {
  const std::int64_t written = element_count(update());
  Operands result{.inputs = {data_operand(type, x, ScatterReduction::none, written),
                             {.name = "update", .type = type, .shape = update()}},
                  .outputs = {updated_operand(type, x, written, in_place)}};
  if (indices)
    result.inputs.push_back({.name = "write_indices",
                             .type = DataType::i64,
                             .shape = {x[0]},
                             .contents = Contents::indices,
                             .limit = circular ? x[2] : x[2] - length + 1});
  return result;
}

BENANZA_INLINE Arithmetic TensorScatter::arithmetic() const { return {}; }

BENANZA_INLINE bool TensorScatter::consistent() const {
  return detail::are_sizes(x, 4) && length >= 1 && length <= x[2];
}

}  // namespace benanza::op
