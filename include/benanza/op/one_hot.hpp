// SPDX-License-Identifier: Apache-2.0
// OneHot: one value at the position that an index gives, another one elsewhere.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct OneHot {
  static constexpr std::string_view kind = "OneHot";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"OneHot"};
  DataType type = DataType::f32;
  TensorShape y{};  ///< outer depth inner
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("y", self.y);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const OneHot&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<OneHot, decltype(graph)> {
    const Value& y_value = graph.output(node, 0);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), y_value.dims.size());
    if (!axis) return std::nullopt;
    return OneHot{
        .type = y_value.type, .y = detail::around(y_value.dims, *axis), .index_type = graph.input(node, 0).type};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "indices",
                        .type = index_type,
                        .shape = {y[0], y[2]},
                        .contents = Contents::indices,
                        .limit = y[1]},
                       {.name = "values", .type = type, .shape = {2}}},
            .outputs = {{.name = "output", .type = type, .shape = y}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(y, 3); }
};

}  // namespace benanza::op
