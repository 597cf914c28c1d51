// SPDX-License-Identifier: Apache-2.0
// Losses and their gradient.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Loss, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    const auto reduction = detail::enum_from_name<LossReduction>(node.attribute<std::string>("reduction", "mean"));
    if (!x || !reduction || !node.has_output(0)) return std::nullopt;
    return Loss{.type = x_value.type,
                .x = *x,
                .softmax = node.op_type == "SoftmaxCrossEntropyLoss",
                .reduction = *reduction,
                .weighted = node.has_input(2),
                .log_prob = node.has_output(1),
                .target_type = graph.input(node, 1).type};
  }

  [[nodiscard]] constexpr std::int64_t targets() const { return checked_product(x[0], x[2]); }

  [[nodiscard]] Operands operands() const {
    const TensorShape positions{x[0], x[2]};
    Operands result{
        .inputs =
            {{.name = "scores", .type = type, .shape = x},
             {.name = "target", .type = target_type, .shape = positions, .contents = Contents::indices, .limit = x[1]}},
        .outputs = {
            {.name = "loss", .type = type, .shape = reduction == LossReduction::none ? positions : TensorShape{}}}};
    if (!softmax) result.inputs[0].touched = targets();
    if (weighted)
      result.inputs.push_back({.name = "weight", .type = type, .shape = {x[1]}, .contents = Contents::positive});
    if (log_prob) result.outputs.push_back({.name = "log_prob", .type = type, .shape = x});
    return result;
  }

  /// ONNX NegativeLogLikelihoodLoss: one operation per target (it is negated, weighted or added).
  /// SoftmaxCrossEntropyLoss: in addition an exponential and an addition per score, and a subtraction if the logarithms
  /// are a result.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double of_scores = softmax ? (log_prob ? 3.0 : 2.0) : 0.0;
    return {.flops = of_scores * static_cast<double>(element_count(x)) + static_cast<double>(targets())};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && (softmax || !log_prob); }
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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<LossGradient, decltype(graph)> {
    const Value& x_value = graph.output(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    const auto reduction = detail::enum_from_name<LossReduction>(node.attribute<std::string>("reduction", "mean"));
    const bool softmax = node.op_type == "SoftmaxCrossEntropyLossGrad";
    const std::size_t target = softmax ? 2 : 1;
    if (!x || !reduction || !node.has_input(target)) return std::nullopt;
    return LossGradient{.type = x_value.type,
                        .x = *x,
                        .softmax = softmax,
                        .reduction = *reduction,
                        .weighted = node.has_input(target + 1),
                        .target_type = graph.input(node, target).type};
  }

  [[nodiscard]] constexpr std::int64_t targets() const { return checked_product(x[0], x[2]); }
  /// The index of the targets among the inputs.
  [[nodiscard]] constexpr std::size_t target() const { return softmax ? 2 : 1; }

  [[nodiscard]] Operands operands() const {
    const TensorShape positions{x[0], x[2]};
    Operands result{
        .inputs = {{.name = "dy", .type = type, .shape = reduction == LossReduction::none ? positions : TensorShape{}}},
        .outputs = {{.name = "dx", .type = type, .shape = x}}};
    if (softmax) result.inputs.push_back({.name = "log_prob", .type = type, .shape = x});
    result.inputs.push_back(
        {.name = "target", .type = target_type, .shape = positions, .contents = Contents::indices, .limit = x[1]});
    if (weighted)
      result.inputs.push_back({.name = "weight", .type = type, .shape = {x[1]}, .contents = Contents::positive});
    return result;
  }

  /// One operation per target; with softmax also an exponential and a product per score.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (softmax ? 2.0 : 0.0) * static_cast<double>(element_count(x)) + static_cast<double>(targets())};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
