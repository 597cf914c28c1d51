// SPDX-License-Identifier: Apache-2.0
// ScatterElements: one index per update. Only what is written counts, since an engine may update in place.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/scatter_reduction.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

struct ScatterElements {
  static constexpr std::string_view kind = "ScatterElements";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 2> onnx_types{"ScatterElements", "Scatter"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< has the same rank as x; also the shape of the updates
  std::int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::none;
  DataType index_type = DataType::i64;
  bool in_place = false;  ///< the data is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("axis", self.axis);
    visit("reduction", self.reduction);
    visit("index_type", self.index_type);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const ScatterElements&) const = default;

  /// If the indices cover all other axes, the axes before and after the axis are folded.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<ScatterElements, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& indices_value = graph.input(node, 1);
    const auto& dims = x_value.dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), dims.size());
    if (!axis || indices_value.dims.size() != dims.size()) return std::nullopt;
    const auto reduction = detail::enum_from_name<ScatterReduction>(node.attribute<std::string>("reduction", "none"));
    if (!reduction) return std::nullopt;
    ScatterElements result{.type = x_value.type, .reduction = *reduction, .index_type = indices_value.type};
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
    const std::int64_t written = std::min(element_count(x), element_count(indices));
    return {.inputs = {data_operand(type, x, reduction, written),
                       {.name = "indices",
                        .type = index_type,
                        .shape = indices,
                        .contents = Contents::indices,
                        .limit = x[static_cast<std::size_t>(axis)]},
                       {.name = "updates", .type = type, .shape = indices}},
            .outputs = {updated_operand(type, x, written, in_place)}};
  }
  /// One operation per update if there is a reduction.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = reduction == ScatterReduction::none ? 0.0 : static_cast<double>(element_count(indices))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (in_place && reduction != ScatterReduction::none) return false;
    if (!detail::are_sizes(x) || !detail::are_sizes(indices, x.size()) || axis < 0 ||
        axis >= static_cast<std::int64_t>(x.size()))
      return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (indices[i] > x[i] && static_cast<std::int64_t>(i) != axis) return false;
    return true;
  }
};

}  // namespace benanza::op
