// SPDX-License-Identifier: Apache-2.0
// Conversion to and from quantized integers.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/scaled_dims.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

/// QuantizeLinear and DynamicQuantizeLinear.
struct Quantize {
  static constexpr std::string_view kind = "Quantize";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 2> onnx_types{"QuantizeLinear", "DynamicQuantizeLinear"};
  DataType type = DataType::f32;
  DataType to = DataType::u8;
  TensorShape x{};         ///< outer channels inner; per tensor: 1 n 1
  bool dynamic = false;    ///< scale and zero point are computed from x (DynamicQuantizeLinear)
  std::int64_t block = 0;  ///< channels that share one scale per inner position; 0: each channel has a single scale

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("to", self.to);
    visit("x", self.x);
    visit("dynamic", self.dynamic);
    visit("block", self.block);
  }
  constexpr bool operator==(const Quantize&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Quantize, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto scaled = detail::scaled_dims(node, graph);
    if (!scaled) return std::nullopt;
    return Quantize{.type = x_value.type,
                    .to = graph.output(node, 0).type,
                    .x = scaled->x,
                    .dynamic = node.op_type == "DynamicQuantizeLinear",
                    .block = scaled->block};
  }

  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = to, .shape = x}}};
    if (dynamic) {
      result.outputs.push_back({.name = "y_scale", .type = type, .shape = {}});
      result.outputs.push_back({.name = "y_zero_point", .type = to, .shape = {}});
    } else {
      const TensorShape scales = detail::scales(x, block);
      result.inputs.push_back(
          {.name = "y_scale", .type = type, .shape = scales, .constant = true, .contents = Contents::positive});
      result.inputs.push_back({.name = "y_zero_point",
                               .type = to,
                               .shape = scales,
                               .constant = true,
                               .contents = Contents::indices,
                               .limit = 8});
    }
    return result;
  }
  /// ONNX QuantizeLinear: y = saturate(round(x / scale) + zero_point), 3 operations per element. The dynamic form finds
  /// minimum and maximum first.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (dynamic ? 5.0 : 3.0) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && block >= 0 && block <= x[1] && !(dynamic && block > 0);
  }
};

/// DequantizeLinear.
struct Dequantize {
  static constexpr std::string_view kind = "Dequantize";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 1> onnx_types{"DequantizeLinear"};
  DataType type = DataType::u8;
  DataType to = DataType::f32;
  TensorShape x{};         ///< outer channels inner; per tensor: 1 n 1
  std::int64_t block = 0;  ///< channels that share one scale per inner position; 0: each channel has a single scale

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("to", self.to);
    visit("x", self.x);
    visit("block", self.block);
  }
  constexpr bool operator==(const Dequantize&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Dequantize, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto scaled = detail::scaled_dims(node, graph);
    if (!scaled) return std::nullopt;
    return Dequantize{.type = x_value.type, .to = graph.output(node, 0).type, .x = scaled->x, .block = scaled->block};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape scales = detail::scales(x, block);
    return {
        .inputs = {{.name = "x", .type = type, .shape = x, .contents = Contents::indices, .limit = 100},
                   {.name = "x_scale", .type = to, .shape = scales, .constant = true, .contents = Contents::positive},
                   {.name = "x_zero_point",
                    .type = type,
                    .shape = scales,
                    .constant = true,
                    .contents = Contents::indices,
                    .limit = 8}},
        .outputs = {{.name = "y", .type = to, .shape = x}}};
  }
  /// ONNX DequantizeLinear: y = (x - zero_point) * scale, 2 operations per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 2.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && block >= 0 && block <= x[1]; }
};

}  // namespace benanza::op
