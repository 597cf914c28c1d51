// SPDX-License-Identifier: Apache-2.0
// Gradient of Gather of whole slices, such as an embedding. Slices are added if indices repeat; the rest is 0.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct GatherGradient {
  static constexpr std::string_view kind = "GatherGradient";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"benanza.GatherGrad"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< of the table: outer axis inner
  std::int64_t indices = 1;  ///< how many were looked up; uniform over the axis when measured
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherGradient&) const = default;

  /// Reads dy and the indices, writes dx.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<GatherGradient, decltype(graph)> {
    const Value& x_value = graph.output(node, 0);
    const Value& indices = graph.input(node, 1);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
    if (!axis) return std::nullopt;
    const GatherGradient made{.type = x_value.type,
                              .x = detail::around(x_value.dims, *axis),
                              .indices = indices.elements(),
                              .index_type = indices.type};
    if (!made.consistent() || graph.input(node, 0).elements() != made.x[0] * made.indices * made.x[2])
      return std::nullopt;
    return made;
  }

  [[nodiscard]] Operands operands() const {
    return {
        .inputs =
            {{.name = "dy", .type = type, .shape = {x[0], indices, x[2]}},
             {.name = "indices", .type = index_type, .shape = {indices}, .contents = Contents::indices, .limit = x[1]}},
        .outputs = {{.name = "dx", .type = type, .shape = x}}};
  }
  /// Each element of dy is added once.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = static_cast<double>(x[0]) * static_cast<double>(indices) * static_cast<double>(x[2])};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && detail::is_size(indices); }
};

}  // namespace benanza::op
