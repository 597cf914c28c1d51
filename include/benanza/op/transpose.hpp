// SPDX-License-Identifier: Apache-2.0
// Transpose, DepthToSpace and SpaceToDepth. Axes that stay adjacent are folded and dimensions of size 1 dropped, so
// that equal movements have equal fields. A transpose that moves nothing is a View.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/movement.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Transpose {
  static constexpr std::string_view kind = "Transpose";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 3> onnx_types{"Transpose", "DepthToSpace", "SpaceToDepth"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape perm{};  ///< output axis i is input axis perm[i]

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("perm", self.perm);
  }
  constexpr bool operator==(const Transpose&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Transpose, decltype(graph)> {
    const auto movement = detail::movement(node, graph);
    if (!movement || movement->perm.size() < 2 || movement->perm.size() > TensorShape::capacity) return std::nullopt;
    Transpose transpose{.type = graph.input(node, 0).type, .x = TensorShape(movement->dims)};
    for (auto axis : movement->perm) transpose.perm.push_back(static_cast<std::int64_t>(axis));
    return transpose;
  }

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape;
    for (auto axis : perm) shape.push_back(x[static_cast<std::size_t>(axis)]);
    return shape;
  }
  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "data", .type = type, .shape = x}},
            .outputs = {{.name = "transposed", .type = type, .shape = y()}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, perm.size()) && detail::is_permutation(perm);
  }
};

}  // namespace benanza::op
