// SPDX-License-Identifier: Apache-2.0
// Where: a choice by a condition, with broadcasting. Adjacent dimensions that broadcast in the same way are folded.
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

struct Where {
  static constexpr std::string_view kind = "Where";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 1> onnx_types{"Where"};
  DataType type = DataType::f32;
  TensorShape c{};  ///< condition, bool
  TensorShape x{};  ///< taken where true; all three have the same rank
  TensorShape y{};  ///< taken where false

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("c", self.c);
    visit("x", self.x);
    visit("y", self.y);
  }
  constexpr bool operator==(const Where&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Where, decltype(graph)> {
    const Value& x_value = graph.input(node, 1);
    const auto operands =
        detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, x_value.dims, graph.input(node, 2).dims});
    const auto c = detail::to_shape(operands[0]), x = detail::to_shape(operands[1]), y = detail::to_shape(operands[2]);
    if (!c || !x || !y) return std::nullopt;
    return Where{.type = x_value.type, .c = *c, .x = *x, .y = *y};
  }

  [[nodiscard]] constexpr TensorShape output() const { return broadcast(broadcast(c, x), y); }

  /// The condition may select the smaller of x and y everywhere: no element of the other is certain to be read.
  [[nodiscard]] Operands operands() const {
    Operands result{
        .inputs = {{.name = "condition", .type = DataType::boolean, .shape = c, .contents = Contents::boolean},
                   {.name = "x", .type = type, .shape = x},
                   {.name = "y", .type = type, .shape = y}},
        .outputs = {{.name = "output", .type = type, .shape = output()}}};
    result.inputs[element_count(x) > element_count(y) ? 1 : 2].touched = 0;
    return result;
  }

  /// ONNX Where: one choice per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = static_cast<double>(element_count(output()))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(c) || !detail::are_sizes(x, c.size()) || !detail::are_sizes(y, c.size())) return false;
    return detail::broadcasts(c, x) && detail::broadcasts(c, y) && detail::broadcasts(x, y);
  }
};

}  // namespace benanza::op
