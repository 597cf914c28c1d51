// SPDX-License-Identifier: Apache-2.0
// LpNormalization and Hardmax: operations other than a softmax along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class AxisNormFn : std::uint8_t { l1, l2, hardmax };
[[nodiscard]] constexpr auto enum_names(AxisNormFn) { return std::array<std::string_view, 3>{"l1", "l2", "hardmax"}; }

struct AxisNorm {
  static constexpr std::string_view kind = "AxisNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"LpNormalization", "Hardmax"};
  DataType type = DataType::f32;
  AxisNormFn fn = AxisNormFn::l2;
  TensorShape x{};  ///< outer axis inner

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
  }
  constexpr bool operator==(const AxisNorm&) const = default;

  /// Before opset 13, Hardmax treated all dimensions from the axis on (1 by default) as one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<AxisNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const bool hardmax = node.op_type == "Hardmax", flattens = hardmax && node.opset < 13;
    const std::int64_t p = node.attribute<std::int64_t>("p", 2);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", flattens ? 1 : -1), dims.size());
    if (!axis || (!hardmax && p != 1 && p != 2)) return std::nullopt;
    AxisNorm norm{.type = x_value.type,
                  .fn = hardmax  ? AxisNormFn::hardmax
                        : p == 1 ? AxisNormFn::l1
                                 : AxisNormFn::l2,
                  .x = detail::around(dims, *axis)};
    if (flattens) norm.x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1};
    return norm;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX LpNormalization: two operations per element for the sum of magnitudes or squares, one for the quotient.
  /// Hardmax: one comparison per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (fn == AxisNormFn::hardmax ? 1.0 : 3.0) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
