// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax along one axis.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Softmax {
  static constexpr std::string_view kind = "Softmax";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"Softmax", "LogSoftmax"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  bool log = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("log", self.log);
  }
  constexpr bool operator==(const Softmax&) const = default;

  /// Before opset 13 all dimensions from the axis on (1 by default) are normalised as one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Softmax, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const bool flattens = node.opset < 13;
    const std::int64_t given = node.attribute<std::int64_t>("axis", flattens ? 1 : -1);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto axis = flattens && given == rank ? std::optional(dims.size()) : detail::to_axis(given, dims.size());
    if (!axis) return std::nullopt;
    const TensorShape x =
        flattens ? TensorShape{detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1}
                 : detail::around(dims, *axis);
    return Softmax{.type = x_value.type, .x = x, .log = node.op_type == "LogSoftmax"};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX Softmax: maximum, subtract, exp, sum, divide: 5 operations per element. LogSoftmax has as many, with one
  /// logarithm per row.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
