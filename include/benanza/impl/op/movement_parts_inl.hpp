// SPDX-License-Identifier: Apache-2.0
// What cuts parts out of tensors, joins them or adds a border.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/movement_parts.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace benanza::op {

BENANZA_INLINE std::optional<Concat> Concat::from(const Node& node, const Graph& graph) {
  const Value& y = graph.output(node, 0);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 1), y.dims.size());
  if (!axis) return std::nullopt;
  const TensorShape around = detail::around(y.dims, *axis);
  Concat concat{.type = y.type, .outer = around[0], .inner = around[2]};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const auto& dims = graph.input(node, i).dims;
    if (dims.size() != y.dims.size() || concat.sizes.size() == IntList::capacity) return std::nullopt;
    if (dims[*axis] != 0) concat.sizes.push_back(dims[*axis]);
  }
  if (concat.sizes.size() < 2) return std::nullopt;
  return concat;
}

BENANZA_INLINE Operands Concat::operands() const {
  Operands result;
  for (auto size : sizes) result.inputs.push_back({.name = "inputs", .type = type, .shape = {outer, size, inner}});
  Operand y{.name = "concat_result", .type = type, .shape = {outer, total(), inner}};
  if (in_place) {
    result.inputs[0].shape = y.shape;
    result.inputs[0].touched = 0;
    y.touched = outer * (total() - sizes[0]) * inner;
    y.starts_as = 0;
  }
  result.outputs.push_back(std::move(y));
  return result;
}

BENANZA_INLINE Arithmetic Concat::arithmetic() const { return {}; }

BENANZA_INLINE bool Concat::consistent() const {
  return detail::is_size(outer) && detail::are_sizes(sizes) && detail::is_size(inner) &&
         (!in_place || sizes.size() > 1);
}

BENANZA_INLINE std::optional<Split> Split::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
  if (!axis) return std::nullopt;
  const TensorShape around = detail::around(x_value.dims, *axis);
  Split split{.type = x_value.type, .outer = around[0], .inner = around[2]};
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.has_output(i)) return std::nullopt;
    const auto& dims = graph.output(node, i).dims;
    if (dims.size() != x_value.dims.size() || split.sizes.size() == IntList::capacity) return std::nullopt;
    if (dims[*axis] != 0) split.sizes.push_back(dims[*axis]);
  }
  if (split.sizes.size() < 2) return std::nullopt;
  return split;
}

BENANZA_INLINE Operands Split::operands() const {
  Operands result;
  std::int64_t total = 0;
  for (auto size : sizes) {
    result.outputs.push_back({.name = "outputs", .type = type, .shape = {outer, size, inner}});
    total += size;
  }
  result.inputs.push_back({.name = "input", .type = type, .shape = {outer, total, inner}});
  return result;
}

BENANZA_INLINE Arithmetic Split::arithmetic() const { return {}; }

BENANZA_INLINE bool Split::consistent() const {
  return detail::is_size(outer) && detail::are_sizes(sizes) && detail::is_size(inner);
}

BENANZA_INLINE std::optional<Slice> Slice::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto box = taken_box(node, graph);
  if (!box) return std::nullopt;
  const auto& [first, taken, step] = *box;
  Slice slice{.type = x_value.type};
  detail::Dims x, y;
  bool whole = false, strided = false, all = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool takes_all = first[i] == 0 && taken[i] == dims[i] && step[i] == 1;
    all = all && takes_all;
    if (dims[i] == 1 && takes_all) continue;
    if (takes_all && whole) {
      x.back() = y.back() = checked_product(x.back(), dims[i]);
      continue;
    }
    if (x.size() == TensorShape::capacity) return std::nullopt;
    x.push_back(dims[i]);
    y.push_back(taken[i]);
    slice.starts.push_back(first[i]);
    slice.steps.push_back(step[i]);
    whole = takes_all;
    strided = strided || step[i] != 1;
  }
  if (all) return std::nullopt;
  slice.x = TensorShape(x);
  slice.y = TensorShape(y);
  if (!strided) slice.steps = {};
  return slice;
}

BENANZA_INLINE Operands Slice::operands() const {
  return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = element_count(y)}},
          .outputs = {{.name = "output", .type = type, .shape = y}}};
}

BENANZA_INLINE Arithmetic Slice::arithmetic() const { return {}; }

BENANZA_INLINE bool Slice::consistent() const {
  if (!detail::are_sizes(x) || !detail::are_sizes(y, x.size()) || !detail::are_within(starts, x) ||
      (!steps.empty() && steps.size() != x.size()))
    return false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t step = detail::at_or(steps, i, 1);
    if (y[i] > x[i] || step == 0 || step < -most || step > most) return false;
    const std::int64_t room = step > 0 ? x[i] - 1 - starts[i] : starts[i];
    if (y[i] - 1 > room / (step > 0 ? step : -step)) return false;
  }
  return true;
}

BENANZA_INLINE std::optional<Slice::Box> Slice::taken_box(const Node& node, const Graph& graph) {
  const auto& dims = graph.input(node, 0).dims;
  const auto starts = detail::given_ints(node, graph, "starts", 1), ends = detail::given_ints(node, graph, "ends", 2);
  const auto axes = detail::given_ints(node, graph, "axes", 3), steps = detail::given_ints(node, graph, "steps", 4);
  if (!starts.given || !ends.given) return std::nullopt;
  if (!starts.known || !ends.known || !axes.known || !steps.known) {
    const auto& y = graph.output(node, 0).dims;
    if (y.size() != dims.size()) return std::nullopt;
    return Box{detail::Dims(dims.size(), 0), y, detail::Dims(dims.size(), 1)};
  }
  const std::size_t count = starts.values.size();
  if (ends.values.size() != count || (axes.given && axes.values.size() != count) ||
      (steps.given && steps.values.size() != count))
    return std::nullopt;
  detail::Dims first(dims.size(), 0), taken = dims, step(dims.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = detail::to_axis(axes.given ? axes.values[i] : static_cast<std::int64_t>(i), dims.size());
    const std::int64_t stride = steps.given ? steps.values[i] : 1;
    if (!axis || stride == 0 || stride < -most || stride > most) return std::nullopt;
    // ONNX Slice: negative positions count from the end. Then both are clamped to the positions that a traversal in
    // this direction can reach.
    const std::int64_t size = dims[*axis];
    const auto from_end = [size](std::int64_t at) { return at < 0 ? std::max(at, -size - 1) + size : at; };
    const bool up = stride > 0;
    const std::int64_t begin =
        std::clamp<std::int64_t>(from_end(starts.values[i]), 0, std::max<std::int64_t>(up ? size : size - 1, 0));
    const std::int64_t end = std::clamp<std::int64_t>(from_end(ends.values[i]), up ? 0 : -1,
                                                      std::max<std::int64_t>(up ? size : size - 1, -1));
    const std::int64_t span = up ? end - begin : begin - end, stride_size = up ? stride : -stride;
    first[*axis] = begin;
    taken[*axis] = span <= 0 ? 0 : (span + stride_size - 1) / stride_size;
    step[*axis] = taken[*axis] == 1 ? 1 : stride;
  }
  return Box{first, taken, step};
}

BENANZA_INLINE std::optional<Pad> Pad::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto named = detail::enum_from_name<PadMode>(node.attribute<std::string>("mode", "constant"));
  const auto cells = padding(node, graph);
  if (!named || !cells) return std::nullopt;
  const auto& [before, behind] = *cells;
  Pad pad{.type = x_value.type, .mode = *named};
  const Value* number = node.opset < 11 ? nullptr : detail::optional_input(node, graph, 2);
  pad.nonzero = *named == PadMode::constant &&
                (number ? detail::scalar(*number) : std::optional(node.attribute<double>("value", 0))) != 0.0;
  bool untouched = false, any = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool padded = before[i] != 0 || behind[i] != 0;
    any = any || padded;
    if (!padded && dims[i] == 1) continue;
    if (!padded && untouched) {
      pad.x[pad.x.size() - 1] = checked_product(pad.x.back(), dims[i]);
      continue;
    }
    if (pad.x.size() == TensorShape::capacity) return std::nullopt;
    pad.x.push_back(dims[i]);
    pad.begins.push_back(before[i]);
    pad.ends.push_back(behind[i]);
    untouched = !padded;
  }
  if (!any) return std::nullopt;
  return pad;
}

BENANZA_INLINE TensorShape Pad::y() const {
  TensorShape shape;
  for (std::size_t i = 0; i < x.size(); ++i) shape.push_back(x[i] + begins[i] + ends[i]);
  return shape;
}

BENANZA_INLINE Operands Pad::operands() const {
  std::int64_t kept = 1;
  for (std::size_t i = 0; i < x.size(); ++i)
    kept = checked_product(kept, x[i] + std::min<std::int64_t>(begins[i], 0) + std::min<std::int64_t>(ends[i], 0));
  const auto touched = kept < element_count(x) ? std::optional(std::max<std::int64_t>(kept, 0)) : std::nullopt;
  return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = touched}},
          .outputs = {{.name = "output", .type = type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic Pad::arithmetic() const { return {}; }

BENANZA_INLINE bool Pad::consistent() const {
  if (!detail::are_sizes(x) || begins.size() != x.size() || ends.size() != x.size()) return false;
  for (const auto* list : {&begins, &ends})
    for (auto cells : *list)
      if (cells < -detail::largest_size || cells > detail::largest_size) return false;
  return detail::are_sizes(y());
}

BENANZA_INLINE std::optional<Pad::Cells> Pad::padding(const Node& node, const Graph& graph) {
  const auto &dims = graph.input(node, 0).dims, &y = graph.output(node, 0).dims;
  detail::Dims before(dims.size(), 0), behind(dims.size(), 0);
  const auto pads = detail::given_ints(node, graph, node.opset < 2 ? "paddings" : "pads", 1),
             axes = detail::given_ints(node, graph, "axes", 3);
  if (node.op_type == "CenterCropPad" || !pads.known || !axes.known) {
    if (y.size() != dims.size()) return std::nullopt;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      // ONNX CenterCropPad: half of the difference, rounded down, is cut or padded at the beginning.
      const std::int64_t more = y[i] - dims[i];
      before[i] = node.op_type == "CenterCropPad" ? more / 2 : 0;
      behind[i] = more - before[i];
    }
    return Cells{before, behind};
  }
  if (!pads.given || pads.values.size() != 2 * (axes.given ? axes.values.size() : dims.size())) return std::nullopt;
  const std::size_t count = pads.values.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = detail::to_axis(axes.given ? axes.values[i] : static_cast<std::int64_t>(i), dims.size());
    if (!axis) return std::nullopt;
    before[*axis] = pads.values[i];
    behind[*axis] = pads.values[i + count];
  }
  return Cells{before, behind};
}

}  // namespace benanza::op
