// SPDX-License-Identifier: Apache-2.0
// Running sums along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct CumSum {
  static constexpr std::string_view kind = "CumSum";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"CumSum"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
  }
  constexpr bool operator==(const CumSum&) const = default;

  [[nodiscard]] static std::optional<CumSum> from(const Node& node, const Graph& graph) {
    const Value& x_value = graph.input(node, 0);
    const auto& number = graph.input(node, 1).literal;
    if (!number || number->ints.size() != 1) return std::nullopt;
    const auto axis = detail::to_axis(number->ints[0], x_value.dims.size());
    if (!axis) return std::nullopt;
    return CumSum{.type = x_value.type, .x = detail::around(x_value.dims, *axis)};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }
  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};
static_assert(Operator<CumSum>, "CumSum: fields() must visit every member");

}  // namespace benanza::op
