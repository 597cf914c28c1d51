// SPDX-License-Identifier: Apache-2.0
// TensorScatter: writes a run of rows into a cache. Only what is written counts, since an engine may update in place.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/scatter_reduction.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

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
