// SPDX-License-Identifier: Apache-2.0
// Gradient of an element-wise function.
#pragma once

#include <benanza/model/elementwise.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

/// Gradient of an element-wise function of one tensor: dx = dy times the derivative, which is computed from the operand
/// or, for some functions, from the result.
struct UnaryGradient {
  static constexpr std::string_view kind = "UnaryGradient";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 27> onnx_types{
      "benanza.ReluGrad",     "benanza.SigmoidGrad",   "benanza.TanhGrad",
      "benanza.ExpGrad",      "benanza.SqrtGrad",      "benanza.ReciprocalGrad",
      "benanza.EluGrad",      "benanza.LeakyReluGrad", "benanza.HardSigmoidGrad",
      "benanza.AbsGrad",      "benanza.ClipGrad",      "benanza.CosGrad",
      "benanza.ErfGrad",      "benanza.GeluGrad",      "benanza.HardSwishGrad",
      "benanza.LogGrad",      "benanza.MishGrad",      "benanza.SinGrad",
      "benanza.SoftplusGrad", "benanza.SoftsignGrad",  "benanza.SwishGrad",
      "benanza.FastGeluGrad", "benanza.QuickGeluGrad", "benanza.CeluGrad",
      "benanza.SeluGrad",     "benanza.ShrinkGrad",    "benanza.ThresholdedReluGrad"};
  DataType type = DataType::f32;
  ElementwiseFn fn = ElementwiseFn::relu;
  TensorShape x{};  ///< one flat dimension
  double alpha = 0;
  double beta = 0;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
    visit("alpha", self.alpha);
    visit("beta", self.beta);
  }
  constexpr bool operator==(const UnaryGradient&) const = default;

  /// Inputs: dy and the operand or the result, followed by the bounds of a Clip.
  [[nodiscard]] static std::optional<UnaryGradient> from(const Node& node, const Graph& graph);

  /// Whether the derivative is computed from the result.
  [[nodiscard]] bool reads_result() const;

  [[nodiscard]] Operands operands() const;

  /// The derivative and the product with dy: two operations per element, the least that any implementation needs.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/elementwise_gradient_inl.hpp>
#endif
