// SPDX-License-Identifier: Apache-2.0
// Concat of up to 32 tensors along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace benanza::op {

struct Concat {
  static constexpr std::string_view kind = "Concat";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Concat"};
  DataType type = DataType::f32;
  std::int64_t outer = 1;  ///< product of the dimensions before the axis
  IntList sizes{};         ///< each operand's size along the axis
  std::int64_t inner = 1;  ///< product of the dimensions after it
  bool in_place = false;   ///< a cache: the first operand is in the result's memory, which has free space after it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("outer", self.outer);
    visit("sizes", self.sizes);
    visit("inner", self.inner);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const Concat&) const = default;

  /// Operands without elements are left out.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Concat, decltype(graph)> {
    const Value& y = graph.output(node, 0);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 1), y.dims.size());
    if (!axis) return std::nullopt;
    const TensorShape around = detail::around(y.dims, *axis);
    Concat concat{.type = y.type, .outer = around[0], .inner = around[2]};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& dims = graph.input(node, i).dims;
      if (dims.size() != y.dims.size() || concat.sizes.size() == IntList::capacity) return std::nullopt;
      if (dims[*axis] != 0) concat.sizes.push_back(dims[*axis]);
    }
    if (concat.sizes.size() < 2) return std::nullopt;
    return concat;
  }

  [[nodiscard]] constexpr std::int64_t total() const { return std::accumulate(sizes.begin(), sizes.end(), 0LL); }

  /// In place, the first operand has the shape of the result, since it is the same memory. What follows the cache is
  /// not read.
  [[nodiscard]] Operands operands() const {
    Operands result;
    for (auto size : sizes) result.inputs.push_back({.name = "inputs", .type = type, .shape = {outer, size, inner}});
    Operand y{.name = "concat_result", .type = type, .shape = {outer, total(), inner}};
    if (in_place) {
      result.inputs[0].shape = y.shape;
      result.inputs[0].touched = 0;
      y.touched = outer * (total() - sizes[0]) * inner;
      y.starts_as = 0;
    }
    result.outputs.push_back(std::move(y));
    return result;
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::is_size(outer) && detail::are_sizes(sizes) && detail::is_size(inner) &&
           (!in_place || sizes.size() > 1);
  }
};

}  // namespace benanza::op
