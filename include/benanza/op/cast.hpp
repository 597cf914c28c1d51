// SPDX-License-Identifier: Apache-2.0
// Cast from one element type to another.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Cast {
  static constexpr std::string_view kind = "Cast";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 2> onnx_types{"Cast", "CastLike"};
  DataType type = DataType::f32;
  DataType to = DataType::f32;
  TensorShape x{};  ///< one flat dimension

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("to", self.to);
    visit("x", self.x);
  }
  constexpr bool operator==(const Cast&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Cast, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const DataType to = graph.output(node, 0).type;
    if (to == x_value.type) return std::nullopt;
    return Cast{.type = x_value.type, .to = to, .x = {x_value.elements()}};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "input",
                        .type = type,
                        .shape = x,
                        .contents = type == DataType::boolean ? Contents::boolean : Contents::uniform}},
            .outputs = {{.name = "output", .type = to, .shape = x}}};
  }
  /// One conversion per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x); }
};

}  // namespace benanza::op
