// SPDX-License-Identifier: Apache-2.0
// What writes at positions that a tensor gives.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

/// How a scatter combines updates with its data.
enum class ScatterReduction : std::uint8_t { none, add, mul, max, min };
[[nodiscard]] constexpr auto enum_names(ScatterReduction) {
  return std::array<std::string_view, 5>{"none", "add", "mul", "max", "min"};
}

/// The data. A reduction reads the elements that it writes.
[[nodiscard]] inline Operand data_operand(DataType type, const TensorShape& x, ScatterReduction reduction,
                                          std::int64_t written) {
  return {.name = "data", .type = type, .shape = x, .touched = reduction == ScatterReduction::none ? 0 : written};
}
/// The output, of which `written` elements change. In place it starts as the data, the first input.
[[nodiscard]] inline Operand updated_operand(DataType type, const TensorShape& x, std::int64_t written, bool in_place) {
  Operand output{.name = "output", .type = type, .shape = x, .touched = written};
  if (in_place) output.starts_as = 0;
  return output;
}

/// ScatterElements: one index per update. Only what is written counts, since an engine may update in place.
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

/// ScatterND: each index tuple overwrites a slice. Only what is written counts, since an engine may update in place.
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

/// TensorScatter: writes a run of rows into a cache. Only what is written counts, since an engine may update in place.
struct TensorScatter {
  static constexpr std::string_view kind = "TensorScatter";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"TensorScatter"};
  DataType type = DataType::f32;
  TensorShape x{};          ///< batch outer axis inner
  std::int64_t length = 1;  ///< rows along the axis that are written
  bool indices = true;      ///< each batch entry has its own first row; otherwise it is row 0 for all
  bool circular = false;    ///< rows beyond the last wrap around to the first ones
  bool in_place = false;    ///< the cache is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("length", self.length);
    visit("indices", self.indices);
    visit("circular", self.circular);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const TensorScatter&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<TensorScatter, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -2), dims.size());
    const auto& update = graph.input(node, 1).dims;
    if (!axis || *axis == 0 || update.size() != dims.size()) return std::nullopt;
    return TensorScatter{
        .type = x_value.type,
        .x = {dims[0], detail::product(dims, 1, *axis), dims[*axis], detail::product(dims, *axis + 1, dims.size())},
        .length = update[*axis],
        .indices = node.has_input(2),
        .circular = node.attribute<std::string>("mode", "linear") == "circular"};
  }

  [[nodiscard]] constexpr TensorShape update() const { return {x[0], x[1], length, x[3]}; }

  [[nodiscard]] Operands operands() const {
    const std::int64_t written = element_count(update());
    Operands result{.inputs = {data_operand(type, x, ScatterReduction::none, written),
                               {.name = "update", .type = type, .shape = update()}},
                    .outputs = {updated_operand(type, x, written, in_place)}};
    if (indices)
      result.inputs.push_back({.name = "write_indices",
                               .type = DataType::i64,
                               .shape = {x[0]},
                               .contents = Contents::indices,
                               .limit = circular ? x[2] : x[2] - length + 1});
    return result;
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 4) && length >= 1 && length <= x[2]; }
};

}  // namespace benanza::op
