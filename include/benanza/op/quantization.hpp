// SPDX-License-Identifier: Apache-2.0
// Conversion to and from quantized integers.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
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

  [[nodiscard]] static std::optional<Quantize> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// ONNX QuantizeLinear: y = saturate(round(x / scale) + zero_point), 3 operations per element. The dynamic form finds
  /// minimum and maximum first.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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

  [[nodiscard]] static std::optional<Dequantize> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// ONNX DequantizeLinear: y = (x - zero_point) * scale, 2 operations per element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/quantization_inl.hpp>
#endif
