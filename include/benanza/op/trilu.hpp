// SPDX-License-Identifier: Apache-2.0
// Trilu: the upper or lower triangle of matrices, zero elsewhere.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Trilu {
  static constexpr std::string_view kind = "Trilu";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Trilu"};
  DataType type = DataType::f32;
  TensorShape x{};            ///< matrices rows columns
  bool upper = true;          ///< keeps column - row >= diagonal; otherwise column - row <= diagonal
  std::int64_t diagonal = 0;  ///< from -rows to columns

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("upper", self.upper);
    visit("diagonal", self.diagonal);
  }
  constexpr bool operator==(const Trilu&) const = default;

  /// If the diagonal is computed at run time, the one that keeps nothing is assumed: no other reads less.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Trilu, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    if (dims.size() < 2) return std::nullopt;
    const std::size_t rank = dims.size();
    Trilu trilu{.type = x_value.type,
                .x = {detail::product(dims, 0, rank - 2), dims[rank - 2], dims[rank - 1]},
                .upper = node.attribute<std::int64_t>("upper", 1) != 0};
    const std::int64_t rows = dims[rank - 2], columns = dims[rank - 1], none = trilu.upper ? columns : -rows;
    const Value* k = detail::optional_input(node, graph, 1);
    const auto given = k == nullptr ? 0.0 : detail::scalar(*k).value_or(static_cast<double>(none));
    trilu.diagonal =
        static_cast<std::int64_t>(std::clamp(given, -static_cast<double>(rows), static_cast<double>(columns)));
    return trilu;
  }

  /// Columns of a row that are kept.
  struct Columns {
    std::int64_t begin = 0, end = 0;
  };
  [[nodiscard]] constexpr Columns kept_columns(std::int64_t row) const {
    if (upper) return {std::clamp<std::int64_t>(row + diagonal, 0, x[2]), x[2]};
    return {0, std::clamp<std::int64_t>(row + diagonal + 1, 0, x[2])};
  }
  /// Elements of all matrices that are kept.
  [[nodiscard]] constexpr std::int64_t kept() const {
    // Row r has clamp(above - r, 0, columns) elements on and above the diagonal: first whole rows, then fewer and
    // fewer.
    const std::int64_t rows = x[1], columns = x[2], above = columns - diagonal + (upper ? 0 : -1);
    const std::int64_t whole = std::clamp<std::int64_t>(above - columns + 1, 0, rows);
    const std::int64_t partial = std::max<std::int64_t>(std::min(rows, above) - whole, 0);
    const std::int64_t longest = above - whole, shortest = longest - partial + 1;
    const std::int64_t in_matrix =
        checked_product(whole, columns) + (partial == 0 ? 0 : checked_product(partial, longest + shortest) / 2);
    const std::int64_t in_all = checked_product(x[0], in_matrix);
    return upper ? in_all : element_count(x) - in_all;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "input", .type = type, .shape = x, .touched = kept()}},
            .outputs = {{.name = "output", .type = type, .shape = x}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && diagonal >= -x[1] && diagonal <= x[2];
  }
};

}  // namespace benanza::op
