// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: sums and products of each element and all elements before it, along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Cumulative {
  static constexpr std::string_view kind = "Cumulative";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 2> onnx_types{"CumSum", "CumProd"};
  DataType type = DataType::f32;
  TensorShape x{};         ///< outer axis inner
  bool product = false;    ///< CumProd
  bool exclusive = false;  ///< without the element itself
  bool reverse = false;    ///< from the last element

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("product", self.product);
    visit("exclusive", self.exclusive);
    visit("reverse", self.reverse);
  }
  constexpr bool operator==(const Cumulative&) const = default;

  /// If the axis is computed at run time, the shortest one is assumed: no other has fewer operations.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Cumulative, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto given = detail::scalar(graph.input(node, 1));
    const auto shortest = std::min_element(x_value.dims.begin(), x_value.dims.end()) - x_value.dims.begin();
    const auto axis = detail::to_axis(given ? static_cast<std::int64_t>(*given) : shortest, x_value.dims.size());
    if (!axis) return std::nullopt;
    return Cumulative{.type = x_value.type,
                      .x = detail::around(x_value.dims, *axis),
                      .product = node.op_type == "CumProd",
                      .exclusive = node.attribute<std::int64_t>("exclusive", 0) != 0,
                      .reverse = node.attribute<std::int64_t>("reverse", 0) != 0};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs =
                {{.name = "x", .type = type, .shape = x, .contents = product ? Contents::positive : Contents::uniform}},
            .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX CumSum and CumProd: the n different results of a row of n elements take n - 1 operations, or n - 2 without
  /// the element itself.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t steps = x[1] - (exclusive ? 2 : 1);
    return {.flops = static_cast<double>(x[0]) * static_cast<double>(x[2]) *
                     static_cast<double>(std::max<std::int64_t>(steps, 0))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
