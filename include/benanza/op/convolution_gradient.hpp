// SPDX-License-Identifier: Apache-2.0
// Gradients of a convolution.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class ConvGradientOf : std::uint8_t { data, weights };
[[nodiscard]] constexpr auto enum_names(ConvGradientOf) { return std::array<std::string_view, 2>{"data", "weights"}; }

/// Gradients of a convolution: to its data (a transposed convolution of the result's gradient) and to its weights. All
/// fields except `of` describe the convolution itself.
struct ConvGradient {
  static constexpr std::string_view kind = "ConvGradient";
  static constexpr Family family = Family::convolution;
  static constexpr std::array<std::string_view, 2> onnx_types{"benanza.ConvGradData", "benanza.ConvGradWeights"};
  DataType type = DataType::f32;
  ConvGradientOf of = ConvGradientOf::data;
  TensorShape x{};          ///< N C spatial...
  TensorShape w{};          ///< M C/group kernel...
  TensorShape pads{};       ///< all begins, then all ends; empty: no padding
  TensorShape strides{};    ///< empty: 1
  TensorShape dilations{};  ///< empty: 1
  std::int64_t group = 1;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("of", self.of);
    visit("x", self.x);
    visit("w", self.w);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("group", self.group);
  }
  constexpr bool operator==(const ConvGradient&) const = default;

  /// ConvGradData reads dy and w, and writes dx. ConvGradWeights reads x and dy, and writes dw.
  [[nodiscard]] static std::optional<ConvGradient> from(const Node& node, const Graph& graph);

  /// The shape of the convolution's result, and thus of its gradient.
  [[nodiscard]] TensorShape y() const;

  [[nodiscard]] Operands operands() const;

  /// For each product x[n, c, o * stride + k * dilation - pad] * w[m, c, k] of the convolution there is one product of
  /// dy with w, and one of dy with x: each gradient has as many multiply-adds as the convolution. The same holds for
  /// the least products of any algorithm: they are the rank of one trilinear form in x, w and dy.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/convolution_gradient_inl.hpp>
#endif
