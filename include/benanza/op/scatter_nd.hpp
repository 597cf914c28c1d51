// SPDX-License-Identifier: Apache-2.0
// ScatterND: each index tuple overwrites a slice. Only what is written counts, since an engine may update in place.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/scatter_reduction.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

struct ScatterNd {
  static constexpr std::string_view kind = "ScatterNd";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"ScatterND"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< ...tuple length, which is last
  ScatterReduction reduction = ScatterReduction::none;
  DataType index_type = DataType::i64;
  bool in_place = false;  ///< the data is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("reduction", self.reduction);
    visit("index_type", self.index_type);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const ScatterNd&) const = default;

  /// The dimensions of the indices before the last are folded into one, and so are those of a slice.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<ScatterNd, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& indices_value = graph.input(node, 1);
    const std::span<const std::int64_t> x = x_value.dims, indices = indices_value.dims;
    const auto reduction = detail::enum_from_name<ScatterReduction>(node.attribute<std::string>("reduction", "none"));
    if (!reduction || indices.empty() || indices.back() < 1 || indices.back() > static_cast<std::int64_t>(x.size()))
      return std::nullopt;
    const auto indexed = static_cast<std::size_t>(indices.back());
    if (indexed + 1 > TensorShape::capacity) return std::nullopt;
    ScatterNd result{.type = x_value.type,
                     .indices = {detail::product(indices, 0, indices.size() - 1), indices.back()},
                     .reduction = *reduction,
                     .index_type = indices_value.type};
    for (std::size_t i = 0; i < indexed; ++i) result.x.push_back(x[i]);
    const std::int64_t slice = detail::product(x, indexed, x.size());
    if (slice != 1) result.x.push_back(slice);
    return result;
  }

  [[nodiscard]] constexpr TensorShape updates() const {
    TensorShape shape(std::span(indices.begin(), indices.size() - 1));
    for (auto i = static_cast<std::size_t>(indices.back()); i < x.size(); ++i) shape.push_back(x[i]);
    return shape;
  }
  [[nodiscard]] Operands operands() const {
    std::int64_t smallest = x.empty() ? 1 : x[0];
    for (std::int64_t i = 0; i < indices.back(); ++i) smallest = std::min(smallest, x[static_cast<std::size_t>(i)]);
    const std::int64_t written = std::min(element_count(x), element_count(updates()));
    return {.inputs = {data_operand(type, x, reduction, written),
                       {.name = "indices",
                        .type = index_type,
                        .shape = indices,
                        .contents = Contents::indices,
                        .limit = smallest},
                       {.name = "updates", .type = type, .shape = updates()}},
            .outputs = {updated_operand(type, x, written, in_place)}};
  }
  /// One operation per updated element if there is a reduction.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = reduction == ScatterReduction::none ? 0.0 : static_cast<double>(element_count(updates()))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (in_place && reduction != ScatterReduction::none) return false;
    if (!detail::are_sizes(x) || !detail::are_sizes(indices) || indices.back() > static_cast<std::int64_t>(x.size()))
      return false;
    return indices.size() + x.size() - 1 <= TensorShape::capacity + static_cast<std::size_t>(indices.back());
  }
};

}  // namespace benanza::op
