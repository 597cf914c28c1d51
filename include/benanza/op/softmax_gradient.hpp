// SPDX-License-Identifier: Apache-2.0
// Gradient of softmax and log-softmax along one axis, from the result: dx = y (dy - sum(dy y)), or
// dx = dy - exp(y) sum(dy).
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct SoftmaxGradient {
  static constexpr std::string_view kind = "SoftmaxGradient";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"benanza.SoftmaxGrad", "benanza.LogSoftmaxGrad"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  bool log = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("log", self.log);
  }
  constexpr bool operator==(const SoftmaxGradient&) const = default;

  /// `flattens`: as before opset 13, all dimensions from the axis on are one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<SoftmaxGradient, decltype(graph)> {
    const Value& y_value = graph.input(node, 1);
    const auto& dims = y_value.dims;
    const bool flattens = node.attribute<std::int64_t>("flattens", 0) != 0;
    const std::int64_t given = node.attribute<std::int64_t>("axis", flattens ? 1 : -1);
    const auto axis = flattens && given == static_cast<std::int64_t>(dims.size()) ? std::optional(dims.size())
                                                                                  : detail::to_axis(given, dims.size());
    if (!axis) return std::nullopt;
    return SoftmaxGradient{
        .type = y_value.type,
        .x = flattens ? TensorShape{detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1}
                      : detail::around(dims, *axis),
        .log = node.op_type == "LogSoftmaxGrad"};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "dy", .type = type, .shape = x}, {.name = "y", .type = type, .shape = x}},
            .outputs = {{.name = "dx", .type = type, .shape = x}}};
  }

  /// Per element a product and a sum for the row's sum, and a difference and a product for the result. The gradient of
  /// the logarithm has an exponential more and a product less.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 4.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
