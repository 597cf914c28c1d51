// SPDX-License-Identifier: Apache-2.0
// Gradients of normalizations and of softmax.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class NormGradientOf : std::uint8_t { batch, layer, group, rms };
[[nodiscard]] constexpr auto enum_names(NormGradientOf) {
  return std::array<std::string_view, 4>{"batch", "layer", "group", "rms"};
}

/// Gradient of batch, layer, group and RMS normalisation, from the operand and the statistics that the forward pass has
/// kept. One call computes the gradient of the operand and, if they are wanted, those of scale and bias. Batch:
/// statistics per channel, over batch and inner. Layer and RMS: per row, over the normalised dimensions, which are
/// folded into one. Group: per image and group of channels; instance normalisation has one group per channel.
struct NormGradient {
  static constexpr std::string_view kind = "NormGradient";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 6> onnx_types{
      "benanza.BatchNormalizationGrad", "benanza.LayerNormalizationGrad",
      "benanza.GroupNormalizationGrad", "benanza.InstanceNormalizationGrad",
      "benanza.RMSNormalizationGrad",   "benanza.SimplifiedLayerNormalizationGrad"};
  DataType type = DataType::f32;
  NormGradientOf of = NormGradientOf::batch;
  TensorShape x{};          ///< batch and group: N C inner; layer and RMS: rows normalised
  std::int64_t groups = 1;  ///< group normalisation only
  bool affine = true;       ///< there is a scale, and its gradient is wanted
  bool bias = true;         ///< there is a bias too, and its gradient is wanted; never for RMS

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("of", self.of);
    visit("x", self.x);
    visit("groups", self.groups);
    visit("affine", self.affine);
    visit("bias", self.bias);
  }
  constexpr bool operator==(const NormGradient&) const = default;

  /// Inputs: dy, x, scale, the statistics. Outputs: dx, dscale, dbias. Without a scale there is no bias.
  [[nodiscard]] static std::optional<NormGradient> from(const Node& node, const Graph& graph);

  /// Elements of scale, of its gradient, and of the gradient of the bias.
  [[nodiscard]] constexpr std::int64_t weights() const { return x[1]; }
  /// Elements of mean and variance.
  [[nodiscard]] constexpr std::int64_t statistics() const {
    return of == NormGradientOf::batch ? x[1] : of == NormGradientOf::group ? checked_product(x[0], groups) : x[0];
  }
  [[nodiscard]] constexpr bool has_mean() const { return of != NormGradientOf::rms; }
  /// Whether x has channels and an inner dimension.
  [[nodiscard]] constexpr bool by_channel() const { return of == NormGradientOf::batch || of == NormGradientOf::group; }

  [[nodiscard]] Operands operands() const;

  /// Ioffe and Szegedy 2015, section 3: the sums of dy and of dy x (3 operations per element), and dx as a sum of dy, x
  /// and a number, the first two with factors (4). If scales differ among the elements of a statistic, dy times scale
  /// is one more. RMS has neither the sum of dy nor the number.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Gradient of softmax and log-softmax along one axis, from the result: dx = y (dy - sum(dy y)), or dx = dy - exp(y)
/// sum(dy).
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
  [[nodiscard]] static std::optional<SoftmaxGradient> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// Per element a product and a sum for the row's sum, and a difference and a product for the result. The gradient of
  /// the logarithm has an exponential more and a product less.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/normalization_gradient_inl.hpp>
#endif
