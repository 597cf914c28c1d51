// SPDX-License-Identifier: Apache-2.0
// Split into up to 32 tensors along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Split {
  static constexpr std::string_view kind = "Split";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Split"};
  DataType type = DataType::f32;
  std::int64_t outer = 1;  ///< product of the dimensions before the axis
  IntList sizes{};         ///< each result's size along the axis
  std::int64_t inner = 1;  ///< product of the dimensions after it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("outer", self.outer);
    visit("sizes", self.sizes);
    visit("inner", self.inner);
  }
  constexpr bool operator==(const Split&) const = default;

  /// Results without elements are left out.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Split, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
    if (!axis) return std::nullopt;
    const TensorShape around = detail::around(x_value.dims, *axis);
    Split split{.type = x_value.type, .outer = around[0], .inner = around[2]};
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.has_output(i)) return std::nullopt;
      const auto& dims = graph.output(node, i).dims;
      if (dims.size() != x_value.dims.size() || split.sizes.size() == IntList::capacity) return std::nullopt;
      if (dims[*axis] != 0) split.sizes.push_back(dims[*axis]);
    }
    if (split.sizes.size() < 2) return std::nullopt;
    return split;
  }

  [[nodiscard]] Operands operands() const {
    Operands result;
    std::int64_t total = 0;
    for (auto size : sizes) {
      result.outputs.push_back({.name = "outputs", .type = type, .shape = {outer, size, inner}});
      total += size;
    }
    result.inputs.push_back({.name = "input", .type = type, .shape = {outer, total, inner}});
    return result;
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::is_size(outer) && detail::are_sizes(sizes) && detail::is_size(inner);
  }
};

}  // namespace benanza::op
