// SPDX-License-Identifier: Apache-2.0
// TopK along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct TopK {
  static constexpr std::string_view kind = "TopK";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"TopK"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  std::int64_t k = 1;
  bool largest = true;
  bool sorted = true;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("k", self.k);
    visit("largest", self.largest);
    visit("sorted", self.sorted);
  }
  constexpr bool operator==(const TopK&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<TopK, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), x_value.dims.size());
    const auto& y = graph.output(node, node.has_output(0) ? 0 : 1).dims;
    if (!axis || y.size() != x_value.dims.size()) return std::nullopt;
    return TopK{.type = x_value.type,
                .x = detail::around(x_value.dims, *axis),
                .k = y[*axis],
                .largest = node.attribute<std::int64_t>("largest", 1) != 0,
                .sorted = node.attribute<std::int64_t>("sorted", 1) != 0};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape y{x[0], k, x[2]};
    return {.inputs = {{.name = "x", .type = type, .shape = x}},
            .outputs = {{.name = "values", .type = type, .shape = y},
                        {.name = "indices", .type = DataType::i64, .shape = y}}};
  }

  /// ONNX TopK: at least one comparison per input element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && k >= 1 && k <= x[1]; }
};

}  // namespace benanza::op
