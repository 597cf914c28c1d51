// SPDX-License-Identifier: Apache-2.0
// Shape rules of operators that gather, join, fill and cut.
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rule_tables.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::importer {
namespace {

// y_scale, y_zero_point, then (x, scale, zero_point) for each part.
RuleResult q_concat(const RuleArguments& a) {
  Ints dims = a.in(2).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size());
  for (std::size_t i = 5; i < a.inputs.size(); i += 3) {
    const Ints& part = a.in(i).dims;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (part.size() != dims.size() || (k != axis && part[k] != dims[k]))
        throw InputError("cannot join " + shape_text(dims) + " and " + shape_text(part) + " on axis " +
                         std::to_string(axis));
    dims[axis] += part[axis];
  }
  return {TypedShape{a.has(1) ? a.in(1).type : a.in(2).type, dims}};
}

// X [N, C, H, W], rois [R, 4], batch_indices, crop_size
RuleResult crop_and_resize(const RuleArguments& a) {
  const auto size = known_ints(a, 3);
  const bool known = size && size->size() == 2;
  return {TypedShape{
      a.in(0).type,
      {of_rank(a, 1, 2)[0], of_rank(a, 0, 4)[1], known ? (*size)[0] : unknown_dim, known ? (*size)[1] : unknown_dim}}};
}

// X [N, C, spatial...], grid [N, spatial..., coordinates]
RuleResult grid_sample(const RuleArguments& a) {
  const Ints& grid = a.in(1).dims;
  Ints dims = a.in(0).dims;
  if (dims.size() < 3 || grid.size() != dims.size())
    throw InputError("a grid of shape " + shape_text(grid) + " over " + shape_text(dims) + ", expected the same rank");
  std::copy(grid.begin() + 1, grid.end() - 1, dims.begin() + 2);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult gather_nd(const RuleArguments& a) {
  const Ints &data = a.in(0).dims, &indices = a.in(1).dims;
  if (indices.empty() || indices.back() < 0 || to_size(indices.back()) > data.size())
    throw InputError("indices of shape " + shape_text(indices) + " into " + shape_text(data));
  Ints dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + indices.back(), data.end());
  return {TypedShape{a.in(0).type, dims}};
}

// data, indices, scales: on the last axis, an 8-bit element holds two 4-bit elements (or 8 / bits)
RuleResult gather_block_quantized(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const Ints& indices = a.in(1).dims;
  if (dims.empty()) throw InputError("data that is a scalar");
  if (a.in(0).type == DataType::u8)
    dims.back() *= 8 / std::clamp<std::int64_t>(a.node.attribute<std::int64_t>("bits", 4), 1, 8);
  const auto axis =
      static_cast<std::ptrdiff_t>(normal_axis(a.node.attribute<std::int64_t>("gather_axis", 0), dims.size()));
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.begin(), indices.end());
  return {TypedShape{a.in(2).type, dims}};
}

// weight [words, hidden], indices
RuleResult embedding(const RuleArguments& a) {
  Ints dims = a.in(1).dims;
  dims.push_back(of_rank(a, 0, 2)[1]);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult expand_dims(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const auto axis = known_int(a, 1);
  if (!axis) return {TypedShape{a.in(0).type, Ints(dims.size() + 1, unknown_dim)}};
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(normal_axis(*axis, dims.size() + 1)), 1);
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult pad(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const auto pads = known_ints(a, 1);
  for (std::size_t i = 0; i < dims.size(); ++i)
    dims[i] = pads && pads->size() == 2 * dims.size() ? dims[i] + (*pads)[i] + (*pads)[i + dims.size()] : unknown_dim;
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult range_of_numbers(const RuleArguments& a) {
  const auto number = [&](std::size_t i) -> std::optional<double> {
    if (!a.in(i).literal) return std::nullopt;
    const auto& [ints, floats] = *a.in(i).literal;
    if (!floats.empty()) return floats.front();
    return ints.empty() ? std::nullopt : std::optional(static_cast<double>(ints.front()));
  };
  const auto start = number(0), limit = number(1), delta = a.has(2) ? number(2) : 1;
  if (!start || !limit || !delta || *delta == 0) return {TypedShape{a.in(0).type, {unknown_dim}}};
  const double steps = std::clamp(std::ceil((*limit - *start) / *delta), 0.0, 0x1p48);
  return {TypedShape{a.in(0).type, {static_cast<std::int64_t>(steps)}}};
}

// data, then starts, ends, axes and steps; before version 10 they are attributes, without steps
RuleResult slice_of_known_places(const RuleArguments& a) {
  const bool old = a.node.opset < 10;
  const auto list = [&](std::size_t i, const char* key) -> std::optional<Ints> {
    if (!old) return known_ints(a, i);
    return a.node.attributes.contains(key) ? std::optional(a.node.attribute<Ints>(key, {})) : std::nullopt;
  };
  const Ints& x = a.in(0).dims;
  const auto starts = list(1, "starts"), ends = list(2, "ends"), axes = list(3, "axes");
  const auto steps = old ? std::nullopt : known_ints(a, 4);
  const bool open_axes = !old && a.has(3) && !axes, open_steps = !old && a.has(4) && !steps;
  if (starts && ends && !open_axes && !open_steps)
    return {TypedShape{a.in(0).type, slice_bounds(x, *starts, *ends, axes, steps).dims}};
  Ints dims = x;
  if (axes)
    for (const auto axis : *axes) dims[normal_axis(axis, dims.size())] = unknown_dim;
  else dims.assign(dims.size(), unknown_dim);
  return {TypedShape{a.in(0).type, dims}};
}

// The axis counts windows; their elements are a new last axis.
RuleResult unfold(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("dim", -1), dims.size());
  const std::int64_t size = a.node.attribute<std::int64_t>("size", 1), step = a.node.attribute<std::int64_t>("step", 1);
  if (size < 1 || step < 1 || size > dims[axis])
    throw InputError("windows of " + std::to_string(size) + " every " + std::to_string(step) + " elements of " +
                     std::to_string(dims[axis]));
  dims[axis] = (dims[axis] - size) / step + 1;
  dims.push_back(size);
  return {TypedShape{a.in(0).type, dims}};
}

// Sequence [words, characters], W [filters, ...]
RuleResult word_embedding(const RuleArguments& a) {
  if (a.in(1).dims.empty()) throw InputError("weights that are a scalar");
  return {TypedShape{a.in(1).type, {of_rank(a, 0, 2)[0], a.in(1).dims[0]}}};
}

// Each string is split into tokens. The new axis has as many as the string with the most tokens, which depends on data.
RuleResult tokens(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  dims.push_back(0);
  return {TypedShape{DataType::string, dims}};
}

// Distinct values, indices into them, and counts. The number of distinct values depends on data.
RuleResult distinct(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, {0}}, TypedShape{DataType::i64, a.in(0).dims}, TypedShape{DataType::i64, {0}}};
}

RuleResult path_of_least_cost(const RuleArguments&) { return {TypedShape{DataType::i32, {2, 0}}}; }

constexpr RuleEntry movement_table[] = {
    {ShapeRule::slice_of_known_places, slice_of_known_places},
    {ShapeRule::crop_and_resize, crop_and_resize},
    {ShapeRule::path_of_least_cost, path_of_least_cost},
    {ShapeRule::expand_dims, expand_dims},
    {ShapeRule::gather_block_quantized, gather_block_quantized},
    {ShapeRule::gather_nd, gather_nd},
    {ShapeRule::grid_sample, grid_sample},
    {ShapeRule::pad, pad},
    {ShapeRule::q_concat, q_concat},
    {ShapeRule::range_of_numbers, range_of_numbers},
    {ShapeRule::tokens, tokens},
    {ShapeRule::embedding, embedding},
    {ShapeRule::unfold, unfold},
    {ShapeRule::distinct, distinct},
    {ShapeRule::word_embedding, word_embedding},
};

}  // namespace

RuleTable movement_rules() { return movement_table; }

}  // namespace benanza::importer
