// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class OptimizerRule : std::uint8_t { sgd, momentum, adam, adamw };
[[nodiscard]] constexpr auto enum_names(OptimizerRule) {
  return std::array<std::string_view, 4>{"sgd", "momentum", "adam", "adamw"};
}

/// An optimizer's step: weights, gradients and states are read, weights and states are written in place. All tensors
/// are folded into one: modern optimizers process many in one call.
struct OptimizerStep {
  static constexpr std::string_view kind = "OptimizerStep";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 1> onnx_types{"benanza.OptimizerStep"};
  DataType type = DataType::f32;  ///< type of weights and gradients
  OptimizerRule rule = OptimizerRule::sgd;
  TensorShape x{};      ///< one flat dimension: elements of all weights
  bool master = false;  ///< mixed precision: weights are kept in f32 too, and those of `type` are rounded from them

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("rule", self.rule);
    visit("x", self.x);
    visit("master", self.master);
  }
  constexpr bool operator==(const OptimizerStep&) const = default;

  // Numbers that do not affect the speed, for plans and the reference: PyTorch's defaults, at the first step.
  static constexpr double rate = 1e-3, decay_of_velocity = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8,
                          weight_decay = 1e-2;

  /// The states that are kept for each weight: none, the velocity, or both moments.
  [[nodiscard]] constexpr std::size_t states() const {
    return rule == OptimizerRule::sgd ? 0 : rule == OptimizerRule::momentum ? 1 : 2;
  }
  /// The type of the states, and of the weights that mixed precision adds: that of the weights otherwise, as in
  /// PyTorch.
  [[nodiscard]] constexpr DataType state_type() const { return master ? DataType::f32 : type; }
  /// Tensors that are updated for each weight.
  [[nodiscard]] constexpr std::size_t updated() const { return 1 + (master ? 1 : 0) + states(); }

  /// For each parameter: the weight, its gradient, the weight in f32 if precision is mixed, and the states. Weights of
  /// two types, and states of another type, are left to Opaque.
  [[nodiscard]] static std::optional<OptimizerStep> from(const Node& node, const Graph& graph);

  /// Inputs: weights, gradients, the weights in f32, the states. Outputs: all but the gradients.
  [[nodiscard]] Operands operands() const;

  /// Kingma and Ba 2015, algorithm 1: two operations for the plain step, and two more for a velocity. Both moments take
  /// ten more, including a square root and a division, and weight decay one more.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/optimizer_inl.hpp>
#endif
