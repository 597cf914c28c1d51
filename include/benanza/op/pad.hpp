// SPDX-License-Identifier: Apache-2.0
// Pad with a constant or by reflection, edge or wrap-around.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };
[[nodiscard]] constexpr auto enum_names(PadMode) {
  return std::array<std::string_view, 4>{"constant", "reflect", "edge", "wrap"};
}

struct Pad {
  static constexpr std::string_view kind = "Pad";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 2> onnx_types{"Pad", "CenterCropPad"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape begins{};  ///< cells before each axis
  TensorShape ends{};    ///< cells after each axis
  PadMode mode = PadMode::constant;
  bool nonzero = false;  ///< the constant is not 0, or is not known

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("begins", self.begins);
    visit("ends", self.ends);
    visit("mode", self.mode);
    visit("nonzero", self.nonzero);
  }
  constexpr bool operator==(const Pad&) const = default;

  /// Adjacent dimensions without padding are folded. Padding by nothing is left to View. Pads that are computed at run
  /// time are assumed to be at the end: the work is the same.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Pad, decltype(graph)> {
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

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape;
    for (std::size_t i = 0; i < x.size(); ++i) shape.push_back(x[i] + begins[i] + ends[i]);
    return shape;
  }
  /// A crop reads only the elements that it keeps.
  [[nodiscard]] Operands operands() const {
    std::int64_t kept = 1;
    for (std::size_t i = 0; i < x.size(); ++i)
      kept = checked_product(kept, x[i] + std::min<std::int64_t>(begins[i], 0) + std::min<std::int64_t>(ends[i], 0));
    const auto touched = kept < element_count(x) ? std::optional(std::max<std::int64_t>(kept, 0)) : std::nullopt;
    return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = touched}},
            .outputs = {{.name = "output", .type = type, .shape = y()}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || begins.size() != x.size() || ends.size() != x.size()) return false;
    for (const auto* list : {&begins, &ends})
      for (auto cells : *list)
        if (cells < -detail::largest_size || cells > detail::largest_size) return false;
    return detail::are_sizes(y());
  }

  /// Cells before and after each axis. Negative numbers cut cells off.
  struct Cells {
    detail::Dims before{}, behind{};
  };
  [[nodiscard]] static std::optional<Cells> padding(const Node& node, const AnyGraph auto& graph) {
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
};

}  // namespace benanza::op
