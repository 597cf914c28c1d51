// SPDX-License-Identifier: Apache-2.0
// GatherElements: one index per output element.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct GatherElements {
  static constexpr std::string_view kind = "GatherElements";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"GatherElements"};
  DataType type = DataType::f32;
  TensorShape x{};        ///< outer axis inner, or any rank if the indices cut other axes too
  TensorShape indices{};  ///< has the same rank as x
  std::int64_t axis = 0;
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("axis", self.axis);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherElements&) const = default;

  /// If the indices cover all other axes, the axes before and after the axis are folded.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<GatherElements, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& indices_value = graph.input(node, 1);
    const auto& dims = x_value.dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
    if (!axis || indices_value.dims.size() != dims.size()) return std::nullopt;
    GatherElements result{.type = x_value.type, .index_type = indices_value.type};
    detail::Dims along = dims;
    along[*axis] = indices_value.dims[*axis];
    if (along == indices_value.dims) {
      result.x = detail::around(dims, *axis);
      result.indices = detail::around(along, *axis);
      result.axis = 1;
      return result;
    }
    const auto x = detail::to_shape(dims), indices = detail::to_shape(indices_value.dims);
    if (!x || !indices) return std::nullopt;
    result.x = *x;
    result.indices = *indices;
    result.axis = static_cast<std::int64_t>(*axis);
    return result;
  }

  [[nodiscard]] Operands operands() const {
    const std::int64_t along = indices[static_cast<std::size_t>(axis)];  // all of these may be equal
    const std::int64_t certain = along == 0 ? 0 : element_count(indices) / along;
    return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = certain},
                       {.name = "indices",
                        .type = index_type,
                        .shape = indices,
                        .contents = Contents::indices,
                        .limit = x[static_cast<std::size_t>(axis)]}},
            .outputs = {{.name = "output", .type = type, .shape = indices}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || !detail::are_sizes(indices, x.size()) || axis < 0 ||
        axis >= static_cast<std::int64_t>(x.size()))
      return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (indices[i] > x[i] && static_cast<std::int64_t>(i) != axis) return false;
    return true;
  }
};

}  // namespace benanza::op
