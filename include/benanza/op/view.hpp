// SPDX-License-Identifier: Apache-2.0
// Operators that cost nothing by rule: the result is the operand's memory with another shape (Reshape, Flatten,
// Squeeze, Identity, inference Dropout, a Transpose or Slice that moves nothing ...). They count among a model's
// layers, but are never measured.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/movement.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class ViewRule : std::uint8_t { reshape, identity, dropout, no_op, bits };
[[nodiscard]] constexpr auto enum_names(ViewRule) {
  return std::array<std::string_view, 5>{"reshape", "identity", "dropout", "no_op", "bits"};
}

struct View {
  static constexpr std::string_view kind = "View";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 31> onnx_types{
      "BitCast",          "CenterCropPad", "Reshape",   "Flatten",   "Squeeze",
      "Unsqueeze",        "Identity",      "Dropout",   "Transpose", "DepthToSpace",
      "SpaceToDepth",     "Concat",        "Split",     "Slice",     "Pad",
      "Expand",           "Tile",          "Resize",    "Upsample",  "Cast",
      "CastLike",         "Sum",           "Mean",      "Max",       "Min",
      "ReduceMean",       "ReduceSum",     "ReduceMax", "ReduceMin", "ReduceProd",
      "ai.onnx.ml.ZipMap"};
  DataType type = DataType::f32;
  ViewRule rule = ViewRule::reshape;  ///< why it is free
  TensorShape x{};                    ///< one flat dimension

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("rule", self.rule);
    visit("x", self.x);
  }
  constexpr bool operator==(const View&) const = default;

  /// Reads reshapes, and all nodes that other operators leave because they change nothing.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<View, decltype(graph)> {
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

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    for (auto size : x)
      if (size < 0 || size > detail::largest_size) return false;
    return x.size() == 1;
  }

 private:
  /// Reads a Concat with only one operand that has elements.
  [[nodiscard]] static std::optional<View> copies_one(const Node& node, const AnyGraph auto& graph, View view) {
    view.x = {graph.output(node, 0).elements()};
    int operands = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) operands += graph.input(node, i).elements() != 0 ? 1 : 0;
    return operands == 1 ? std::optional(view) : std::nullopt;
  }
  [[nodiscard]] static bool changes_nothing(const Node& node, const AnyGraph auto& graph) {
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
      const auto steps = detail::given_ints(node, graph, "steps", 4);
      return x_value.dims == y_value.dims &&
             std::all_of(steps.values.begin(), steps.values.end(), [](auto step) { return step > 0; });
    }
    if (op == "Pad") {
      const auto pads = detail::given_ints(node, graph, node.opset < 2 ? "paddings" : "pads", 1);
      return pads.given && x_value.dims == y_value.dims &&
             std::all_of(pads.values.begin(), pads.values.end(), [](auto cells) { return cells == 0; });
    }
    const auto movement = detail::movement(node, graph);  // Transpose, DepthToSpace, SpaceToDepth
    return movement && movement->perm.size() < 2;
  }
};

}  // namespace benanza::op
