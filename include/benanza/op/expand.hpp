// SPDX-License-Identifier: Apache-2.0
// Expand: explicit broadcasting. Adjacent dimensions that broadcast in the same way are folded.
#pragma once

#include <benanza/detail/collapse.hpp>
#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

struct Expand {
  static constexpr std::string_view kind = "Expand";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Expand"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< has the same rank as y
  TensorShape y{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("y", self.y);
  }
  constexpr bool operator==(const Expand&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Expand, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& y_value = graph.output(node, 0);
    const auto operands = detail::collapse(std::vector<detail::Dims>{x_value.dims, y_value.dims});
    const auto x = detail::to_shape(operands[0]), y = detail::to_shape(operands[1]);
    if (!x || !y || *x == *y) return std::nullopt;
    return Expand{.type = x_value.type, .x = *x, .y = *y};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "input", .type = type, .shape = x}},
            .outputs = {{.name = "output", .type = type, .shape = y}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && detail::broadcasts_to(x, y);
  }
};

}  // namespace benanza::op
