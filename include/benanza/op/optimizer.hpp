// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
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
  /// Tensors that are updated for each weight.
  [[nodiscard]] constexpr std::size_t updated() const { return 1 + (master ? 1 : 0) + states(); }

  /// For each parameter: the weight, its gradient, the weight in f32 if precision is mixed, and the states. Weights of
  /// two types are left to Opaque.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<OptimizerStep, decltype(graph)> {
    const auto rule = detail::enum_from_name<OptimizerRule>(node.attribute<std::string>("optimizer", ""));
    if (!rule || !node.has_input(0)) return std::nullopt;
    OptimizerStep step{.type = graph.input(node, 0).type, .rule = *rule, .x = {0}};
    std::size_t count = 0;
    for (const auto& output : node.outputs)
      if (output) ++count;
    const std::size_t inputs = node.inputs.size();
    if (count == 0 || inputs <= count) return std::nullopt;  // gradients are read, and not written
    const std::size_t parameters = inputs - count;
    if (count % parameters != 0) return std::nullopt;
    const std::size_t each = count / parameters + 1;
    if (each < 2 + step.states()) return std::nullopt;
    step.master = each == 3 + step.states();
    for (std::size_t i = 0; i < inputs; i += each) {
      const Value& weight = graph.input(node, i);
      if (weight.type != step.type || graph.input(node, i + 1).type != step.type) return std::nullopt;
      step.x[0] += weight.elements();
    }
    if (!step.consistent()) return std::nullopt;
    return step;
  }

  /// Inputs: weights, gradients, the weights in f32, the states. Outputs: all but the gradients.
  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "w", .type = type, .shape = x}, {.name = "dw", .type = type, .shape = x}},
                    .outputs = {{.name = "w", .type = type, .shape = x, .starts_as = 0}}};
    const auto add = [&](std::string_view name, Contents contents) {
      result.inputs.push_back({.name = name, .type = DataType::f32, .shape = x, .contents = contents});
      result.outputs.push_back(
          {.name = name, .type = DataType::f32, .shape = x, .starts_as = result.inputs.size() - 1});
    };
    if (master) {
      result.inputs[0].touched = 0;  // it is rounded from the one in f32
      add("master", Contents::uniform);
    }
    if (rule == OptimizerRule::momentum) add("velocity", Contents::uniform);
    if (states() == 2) {
      add("moment", Contents::uniform);
      add("variance", Contents::positive);
    }
    return result;
  }

  /// Kingma and Ba 2015, algorithm 1: two operations for the plain step, and two more for a velocity. Both moments take
  /// ten more, including a square root and a division, and weight decay one more.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    constexpr std::array<double, 4> steps{2, 4, 12, 13};
    return {.flops = steps[static_cast<std::size_t>(rule)] * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 1) && is_float(type) && (!master || bits(type) == 16);
  }
};

}  // namespace benanza::op
