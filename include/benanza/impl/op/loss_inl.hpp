// SPDX-License-Identifier: Apache-2.0
// Losses and their gradient.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/loss.hpp>
#include <benanza/op/operator.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace benanza::op {

BENANZA_INLINE std::optional<Loss> Loss::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE Operands Loss::operands() const {
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

BENANZA_INLINE Arithmetic Loss::arithmetic() const {
  const double of_scores = softmax ? (log_prob ? 3.0 : 2.0) : 0.0;
  return {.flops = of_scores * static_cast<double>(element_count(x)) + static_cast<double>(targets())};
}

BENANZA_INLINE bool Loss::consistent() const { return detail::are_sizes(x, 3) && (softmax || !log_prob); }

BENANZA_INLINE std::optional<LossGradient> LossGradient::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE Operands LossGradient::operands() const {
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

BENANZA_INLINE Arithmetic LossGradient::arithmetic() const {
  return {.flops = (softmax ? 2.0 : 0.0) * static_cast<double>(element_count(x)) + static_cast<double>(targets())};
}

BENANZA_INLINE bool LossGradient::consistent() const { return detail::are_sizes(x, 3); }

}  // namespace benanza::op
