// SPDX-License-Identifier: Apache-2.0
// What moves whole tensors, or nothing at all.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/movement.hpp>
#include <benanza/op/movement.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Transpose> Transpose::from(const Node& node, const Graph& graph) {
  const auto movement = detail::movement(node, graph);
  if (!movement || movement->perm.size() < 2 || movement->perm.size() > TensorShape::capacity) return std::nullopt;
  Transpose transpose{.type = graph.input(node, 0).type, .x = TensorShape(movement->dims)};
  for (auto axis : movement->perm) transpose.perm.push_back(static_cast<std::int64_t>(axis));
  return transpose;
}

BENANZA_INLINE TensorShape Transpose::y() const {
  TensorShape shape;
  for (auto axis : perm) shape.push_back(x[static_cast<std::size_t>(axis)]);
  return shape;
}

BENANZA_INLINE Operands Transpose::operands() const {
  return {.inputs = {{.name = "data", .type = type, .shape = x}},
          .outputs = {{.name = "transposed", .type = type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic Transpose::arithmetic() const { return {}; }

BENANZA_INLINE bool Transpose::consistent() const {
  return detail::are_sizes(x, perm.size()) && detail::is_permutation(perm);
}

BENANZA_INLINE std::optional<Expand> Expand::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& y_value = graph.output(node, 0);
  const auto operands = detail::collapse(std::vector<detail::Dims>{x_value.dims, y_value.dims});
  const auto x = detail::to_shape(operands[0]), y = detail::to_shape(operands[1]);
  if (!x || !y || *x == *y) return std::nullopt;
  return Expand{.type = x_value.type, .x = *x, .y = *y};
}

BENANZA_INLINE Operands Expand::operands() const {
  return {.inputs = {{.name = "input", .type = type, .shape = x}},
          .outputs = {{.name = "output", .type = type, .shape = y}}};
}

BENANZA_INLINE Arithmetic Expand::arithmetic() const { return {}; }

BENANZA_INLINE bool Expand::consistent() const {
  return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && detail::broadcasts_to(x, y);
}

BENANZA_INLINE std::optional<Tile> Tile::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto& y = graph.output(node, 0).dims;
  if (y.size() != dims.size()) return std::nullopt;
  Tile tile{.type = x_value.type};
  bool any = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 1 || y[i] % dims[i] != 0) return std::nullopt;
    const std::int64_t repeats = y[i] / dims[i];
    any = any || repeats != 1;
    if (repeats == 1 && !tile.x.empty()) {
      tile.x[tile.x.size() - 1] = checked_product(tile.x.back(), dims[i]);
    } else if (repeats != 1 || dims[i] != 1) {
      if (tile.x.size() == TensorShape::capacity) return std::nullopt;
      tile.x.push_back(dims[i]);
      tile.repeats.push_back(repeats);
    }
  }
  if (!any) return std::nullopt;
  return tile;
}

BENANZA_INLINE TensorShape Tile::y() const {
  TensorShape shape;
  for (std::size_t i = 0; i < x.size(); ++i) shape.push_back(checked_product(x[i], repeats[i]));
  return shape;
}

BENANZA_INLINE Operands Tile::operands() const {
  return {.inputs = {{.name = "input", .type = type, .shape = x}},
          .outputs = {{.name = "output", .type = type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic Tile::arithmetic() const { return {}; }

BENANZA_INLINE bool Tile::consistent() const {
  return detail::are_sizes(x) && detail::are_sizes(repeats, x.size()) && detail::are_sizes(y());
}

BENANZA_INLINE std::optional<View> View::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const std::string_view op = node.op_type;
  View view{.type = x_value.type, .rule = ViewRule::no_op, .x = {x_value.elements()}};
  if (op == "Reshape" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze") view.rule = ViewRule::reshape;
  else if (op == "ZipMap") view.rule = ViewRule::reshape;  // the same numbers under names
  else if (op == "BitCast") view.rule = ViewRule::bits;
  else if (op == "Identity") view.rule = ViewRule::identity;
  else if (op == "Dropout") view.rule = ViewRule::dropout;
  else if (op == "Concat") return copies_one(node, graph, view);
  else if (!changes_nothing(node, graph)) return std::nullopt;
  return view;
}

BENANZA_INLINE Operands View::operands() const {
  return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic View::arithmetic() const { return {}; }

BENANZA_INLINE bool View::consistent() const {
  for (auto size : x)
    if (size < 0 || size > detail::largest_size) return false;
  return x.size() == 1;
}

BENANZA_INLINE std::optional<View> View::copies_one(const Node& node, const Graph& graph, View view) {
  view.x = {graph.output(node, 0).elements()};
  int operands = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) operands += graph.input(node, i).elements() != 0 ? 1 : 0;
  return operands == 1 ? std::optional(view) : std::nullopt;
}

BENANZA_INLINE bool View::changes_nothing(const Node& node, const Graph& graph) {
  const std::string_view op = node.op_type;
  const Value& x_value = graph.input(node, 0);
  const auto outputs_with_elements = [&] {
    int count = 0;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      count += node.has_output(i) && graph.output(node, i).elements() != 0 ? 1 : 0;
    return count;
  };
  if (op == "Split") return outputs_with_elements() == 1;
  const Value& y_value = graph.output(node, 0);
  if (op == "Cast" || op == "CastLike") return x_value.type == y_value.type;
  if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min") return node.inputs.size() == 1;
  if (op == "Expand" || op == "Tile" || op.starts_with("Reduce")) return x_value.elements() == y_value.elements();
  if (op == "Resize" || op == "Upsample") return x_value.dims == y_value.dims;
  if (op == "CenterCropPad") return x_value.dims == y_value.dims;
  if (op == "Slice") {  // with steps that are computed at run time, possibly nothing moves
    const auto axes = detail::given_ints(node, graph, "axes", 3), steps = detail::given_ints(node, graph, "steps", 4);
    bool reverses = false;
    for (std::size_t i = 0; i < steps.values.size(); ++i) {
      const auto given = axes.given && i < axes.values.size() ? axes.values[i] : static_cast<std::int64_t>(i);
      const auto axis = detail::to_axis(given, x_value.dims.size());
      reverses = reverses || (steps.values[i] < 0 && (!axis || x_value.dims[*axis] > 1));
    }
    return x_value.dims == y_value.dims && !reverses;
  }
  if (op == "Pad") {
    const auto pads = detail::given_ints(node, graph, node.opset < 2 ? "paddings" : "pads", 1);
    return pads.given && x_value.dims == y_value.dims &&
           std::all_of(pads.values.begin(), pads.values.end(), [](auto cells) { return cells == 0; });
  }
  const auto movement = detail::movement(node, graph);  // Transpose, DepthToSpace, SpaceToDepth
  return movement && movement->perm.size() < 2;
}

BENANZA_INLINE std::optional<Trilu> Trilu::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  if (dims.size() < 2) return std::nullopt;
  const std::size_t rank = dims.size();
  Trilu trilu{.type = x_value.type,
              .x = {detail::product(dims, 0, rank - 2), dims[rank - 2], dims[rank - 1]},
              .upper = node.attribute<std::int64_t>("upper", 1) != 0};
  const std::int64_t rows = dims[rank - 2], columns = dims[rank - 1], none = trilu.upper ? columns : -rows;
  const Value* k = detail::optional_input(node, graph, 1);
  const auto given = k == nullptr ? 0.0 : detail::scalar(*k).value_or(static_cast<double>(none));
  trilu.diagonal =
      static_cast<std::int64_t>(std::clamp(given, -static_cast<double>(rows), static_cast<double>(columns)));
  return trilu;
}

BENANZA_INLINE Trilu::Columns Trilu::kept_columns(std::int64_t row) const {
  if (upper) return {std::clamp<std::int64_t>(row + diagonal, 0, x[2]), x[2]};
  return {0, std::clamp<std::int64_t>(row + diagonal + 1, 0, x[2])};
}

BENANZA_INLINE std::int64_t Trilu::kept() const {
  // Row r has clamp(above - r, 0, columns) elements on and above the diagonal: first whole rows, then fewer and
  // fewer.
  const std::int64_t rows = x[1], columns = x[2], above = columns - diagonal + (upper ? 0 : -1);
  const std::int64_t whole = std::clamp<std::int64_t>(above - columns + 1, 0, rows);
  const std::int64_t partial = std::max<std::int64_t>(std::min(rows, above) - whole, 0);
  const std::int64_t longest = above - whole, shortest = longest - partial + 1;
  const std::int64_t in_matrix =
      checked_product(whole, columns) + (partial == 0 ? 0 : checked_product(partial, longest + shortest) / 2);
  const std::int64_t in_all = checked_product(x[0], in_matrix);
  return upper ? in_all : element_count(x) - in_all;
}

BENANZA_INLINE Operands Trilu::operands() const {
  return {.inputs = {{.name = "input", .type = type, .shape = x, .touched = kept()}},
          .outputs = {{.name = "output", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic Trilu::arithmetic() const { return {}; }

BENANZA_INLINE bool Trilu::consistent() const {
  return detail::are_sizes(x, 3) && diagonal >= -x[1] && diagonal <= x[2];
}

}  // namespace benanza::op
