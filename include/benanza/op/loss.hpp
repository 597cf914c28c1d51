// SPDX-License-Identifier: Apache-2.0
// Losses and their gradient.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// How the losses of single positions are combined.
enum class LossReduction : std::uint8_t { none, sum, mean };
[[nodiscard]] constexpr auto enum_names(LossReduction) {
  return std::array<std::string_view, 3>{"none", "sum", "mean"};
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. Which target is ignored does not affect the speed.
struct Loss {
  static constexpr std::string_view kind = "Loss";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 2> onnx_types{"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"};
  DataType type = DataType::f32;
  TensorShape x{};       ///< batch classes inner: scores, or logarithms of probabilities
  bool softmax = false;  ///< the probabilities are computed from the scores
  LossReduction reduction = LossReduction::mean;
  bool weighted = false;  ///< each class has a weight
  bool log_prob = false;  ///< the logarithms of the probabilities are a result too
  DataType target_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("softmax", self.softmax);
    visit("reduction", self.reduction);
    visit("weighted", self.weighted);
    visit("log_prob", self.log_prob);
    visit("target_type", self.target_type);
  }
  constexpr bool operator==(const Loss&) const = default;

  [[nodiscard]] static std::optional<Loss> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t targets() const { return checked_product(x[0], x[2]); }

  [[nodiscard]] Operands operands() const;

  /// ONNX NegativeLogLikelihoodLoss: one operation per target (it is negated, weighted or added).
  /// SoftmaxCrossEntropyLoss: in addition an exponential and an addition per score, and a subtraction if the logarithms
  /// are a result.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Gradient of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss to the scores.
struct LossGradient {
  static constexpr std::string_view kind = "LossGradient";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 2> onnx_types{"benanza.NegativeLogLikelihoodLossGrad",
                                                              "benanza.SoftmaxCrossEntropyLossGrad"};
  DataType type = DataType::f32;
  TensorShape x{};       ///< batch classes inner
  bool softmax = false;  ///< starts from the logarithms of the probabilities, which the forward pass has kept
  LossReduction reduction = LossReduction::mean;
  bool weighted = false;  ///< each class has a weight
  DataType target_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("softmax", self.softmax);
    visit("reduction", self.reduction);
    visit("weighted", self.weighted);
    visit("target_type", self.target_type);
  }
  constexpr bool operator==(const LossGradient&) const = default;

  /// Inputs: dy, the logarithms (with softmax), the targets and, if there are any, weights.
  [[nodiscard]] static std::optional<LossGradient> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t targets() const { return checked_product(x[0], x[2]); }
  /// The index of the targets among the inputs.
  [[nodiscard]] constexpr std::size_t target() const { return softmax ? 2 : 1; }

  [[nodiscard]] Operands operands() const;

  /// One operation per target; with softmax also an exponential and a product per score.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/loss_inl.hpp>
#endif
