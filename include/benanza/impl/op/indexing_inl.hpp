// SPDX-License-Identifier: Apache-2.0
// What reads at positions that a tensor gives, and the gradient of that.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/units.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/indexing.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace benanza::op {

BENANZA_INLINE std::optional<Gather> Gather::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& indices = graph.input(node, 1);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
  if (!axis) return std::nullopt;
  return Gather{.type = x_value.type,
                .x = detail::around(x_value.dims, *axis),
                .indices = indices.elements(),
                .index_type = indices.type,
                .constant = x_value.constant};
}

BENANZA_INLINE Operands Gather::operands() const {
  return {
      .inputs =
          {{.name = "data", .type = type, .shape = x, .constant = constant, .touched = checked_product(x[0], x[2])},
           {.name = "indices", .type = index_type, .shape = {indices}, .contents = Contents::indices, .limit = x[1]}},
      .outputs = {{.name = "output", .type = type, .shape = {x[0], indices, x[2]}}}};
}

BENANZA_INLINE Arithmetic Gather::arithmetic() const { return {}; }

BENANZA_INLINE Bytes Gather::expected_bytes() const {
  const auto rows = static_cast<double>(x[1]), count = static_cast<double>(indices);
  return certain_bytes() * (-rows * std::expm1(count * std::log1p(-1 / rows)));
}

BENANZA_INLINE bool Gather::consistent() const { return detail::are_sizes(x, 3) && detail::is_size(indices); }

BENANZA_INLINE std::optional<GatherElements> GatherElements::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& indices_value = graph.input(node, 1);
  const auto& dims = x_value.dims;
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
  if (!axis || indices_value.dims.size() != dims.size()) return std::nullopt;
  GatherElements result{.type = x_value.type, .index_type = indices_value.type};
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

BENANZA_INLINE Operands GatherElements::operands() const {
  const std::int64_t along = indices[static_cast<std::size_t>(axis)];  // all of these may be equal
  const std::int64_t certain = along == 0 ? 0 : element_count(indices) / along;
  return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = certain},
                     {.name = "indices",
                      .type = index_type,
                      .shape = indices,
                      .contents = Contents::indices,
                      .limit = x[static_cast<std::size_t>(axis)]}},
          .outputs = {{.name = "output", .type = type, .shape = indices}}};
}

BENANZA_INLINE Arithmetic GatherElements::arithmetic() const { return {}; }

BENANZA_INLINE bool GatherElements::consistent() const {
  if (!detail::are_sizes(x) || !detail::are_sizes(indices, x.size()) || axis < 0 ||
      axis >= static_cast<std::int64_t>(x.size()))
    return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (indices[i] > x[i] && static_cast<std::int64_t>(i) != axis) return false;
  return true;
}

BENANZA_INLINE std::optional<GatherNd> GatherNd::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& indices_value = graph.input(node, 1);
  const std::span<const std::int64_t> x = x_value.dims, indices = indices_value.dims;
  const std::int64_t given = node.attribute<std::int64_t>("batch_dims", 0);
  if (indices.empty() || given < 0 || given >= static_cast<std::int64_t>(indices.size())) return std::nullopt;
  const auto batch = static_cast<std::size_t>(given);
  if (batch > x.size() || indices.back() < 1 || indices.back() > static_cast<std::int64_t>(x.size() - batch))
    return std::nullopt;
  const std::size_t sliced = batch + static_cast<std::size_t>(indices.back());
  GatherNd result{.type = x_value.type, .index_type = indices_value.type};
  const std::int64_t batches = detail::product(x, 0, batch), slice = detail::product(x, sliced, x.size());
  if (batches != 1) {
    result.batch_dims = 1;
    result.x.push_back(batches);
    result.indices.push_back(batches);
  }
  result.indices.push_back(detail::product(indices, batch, indices.size() - 1));
  result.indices.push_back(indices.back());
  if (sliced - batch + 2 > TensorShape::capacity) return std::nullopt;
  for (std::size_t i = batch; i < sliced; ++i) result.x.push_back(x[i]);
  if (slice != 1) result.x.push_back(slice);
  return result;
}

BENANZA_INLINE TensorShape GatherNd::y() const {
  TensorShape shape(std::span(indices.begin(), indices.size() - 1));
  for (auto dim : slice()) shape.push_back(dim);
  return shape;
}

BENANZA_INLINE Operands GatherNd::operands() const {
  std::int64_t smallest = x[static_cast<std::size_t>(batch_dims)];  // one limit for every coordinate
  for (std::int64_t i = 0; i < indices.back(); ++i)
    smallest = std::min(smallest, x[static_cast<std::size_t>(batch_dims + i)]);
  const std::int64_t batches = batch_dims == 0 ? 1 : x[0];  // all indices may be equal
  const std::int64_t certain = checked_product(batches, element_count(slice()));
  return {
      .inputs =
          {{.name = "data", .type = type, .shape = x, .touched = std::min(element_count(y()), certain)},
           {.name = "indices", .type = index_type, .shape = indices, .contents = Contents::indices, .limit = smallest}},
      .outputs = {{.name = "output", .type = type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic GatherNd::arithmetic() const { return {}; }

BENANZA_INLINE bool GatherNd::consistent() const {
  if (!detail::are_sizes(x) || !detail::are_sizes(indices) || batch_dims < 0 ||
      batch_dims >= static_cast<std::int64_t>(indices.size()))
    return false;
  if (batch_dims >= static_cast<std::int64_t>(x.size()) ||
      indices.back() > static_cast<std::int64_t>(x.size()) - batch_dims)
    return false;
  if (indices.size() + x.size() - 1 > TensorShape::capacity + static_cast<std::size_t>(batch_dims + indices.back()))
    return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch_dims); ++i)
    if (x[i] != indices[i]) return false;
  return true;
}

BENANZA_INLINE std::optional<OneHot> OneHot::from(const Node& node, const Graph& graph) {
  const Value& y_value = graph.output(node, 0);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), y_value.dims.size());
  if (!axis) return std::nullopt;
  return OneHot{
      .type = y_value.type, .y = detail::around(y_value.dims, *axis), .index_type = graph.input(node, 0).type};
}

BENANZA_INLINE Operands OneHot::operands() const {
  return {
      .inputs =
          {{.name = "indices", .type = index_type, .shape = {y[0], y[2]}, .contents = Contents::indices, .limit = y[1]},
           {.name = "values", .type = type, .shape = {2}}},
      .outputs = {{.name = "output", .type = type, .shape = y}}};
}

BENANZA_INLINE Arithmetic OneHot::arithmetic() const { return {}; }

BENANZA_INLINE bool OneHot::consistent() const { return detail::are_sizes(y, 3); }

BENANZA_INLINE std::optional<GatherGradient> GatherGradient::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.output(node, 0);
  const Value& indices = graph.input(node, 1);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
  if (!axis) return std::nullopt;
  const GatherGradient made{.type = x_value.type,
                            .x = detail::around(x_value.dims, *axis),
                            .indices = indices.elements(),
                            .index_type = indices.type};
  if (!made.consistent() || graph.input(node, 0).elements() != made.x[0] * made.indices * made.x[2])
    return std::nullopt;
  return made;
}

BENANZA_INLINE Operands GatherGradient::operands() const {
  return {
      .inputs =
          {{.name = "dy", .type = type, .shape = {x[0], indices, x[2]}},
           {.name = "indices", .type = index_type, .shape = {indices}, .contents = Contents::indices, .limit = x[1]}},
      .outputs = {{.name = "dx", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic GatherGradient::arithmetic() const {
  return {.flops = static_cast<double>(x[0]) * static_cast<double>(indices) * static_cast<double>(x[2])};
}

BENANZA_INLINE bool GatherGradient::consistent() const { return detail::are_sizes(x, 3) && detail::is_size(indices); }

}  // namespace benanza::op
