// SPDX-License-Identifier: Apache-2.0
// Shape rules of the operators of ONNX Runtime's training graphs.
// https://github.com/microsoft/onnxruntime/blob/main/orttraining/orttraining/core/graph/training_op_defs.cc
#include "rule_tables.hpp"

#include <array>

namespace benanza::importer {

namespace {

TypedShape same(const RuleArguments& a, std::size_t i) { return {a.in(i).type, a.in(i).dims}; }

// shape, indices, dY
RuleResult gather_gradient(const RuleArguments& a) {
  const auto dims = known_ints(a, 0);
  if (!dims) return {std::nullopt};
  return {TypedShape{a.in(2).type, *dims}};
}
// dY, shape, ...
RuleResult picked_gradient(const RuleArguments& a) {
  const auto dims = known_ints(a, 1);
  if (!dims) return {std::nullopt};
  return {TypedShape{a.in(0).type, *dims}};
}
// dY, X, scale, ...: gradients of X, scale and bias
RuleResult norm_gradient(const RuleArguments& a) { return {same(a, 1), same(a, 2), same(a, 2)}; }
// dY, X, W
RuleResult convolution_gradient(const RuleArguments& a) {
  return {same(a, 1), same(a, 2), TypedShape{a.in(2).type, {a.in(2).dims.empty() ? 0 : a.in(2).dims.front()}}};
}
// What a pool had before it is not known from its gradient: the file says it.
RuleResult pool_gradient(const RuleArguments&) { return {std::nullopt}; }
// scores, labels: the loss, and the logarithms of the probabilities
RuleResult loss_with_log_prob(const RuleArguments& a) {
  const bool each = a.node.attribute<std::string>("reduction", "mean") == "none";
  return {TypedShape{a.in(0).type, each ? a.in(1).dims : Ints{}}, same(a, 0)};
}
// X, scale, B, mean, variance
RuleResult batch_norm_internal(const RuleArguments& a) {
  return {same(a, 0), same(a, 3), same(a, 4), same(a, 3), same(a, 4)};
}
RuleResult accumulator(const RuleArguments& a) { return {TypedShape{DataType::boolean, {1}}, same(a, 0)}; }
// ETA, W, G
RuleResult sgd(const RuleArguments& a) { return {same(a, 1), same(a, 2)}; }
TypedShape sequence(const RuleArguments& a, std::size_t i) { return {a.in(i).type, {}, true}; }
// learning rate, weights, gradients: whether it was done, weights
RuleResult sgd_of_sequences(const RuleArguments& a) { return {TypedShape{DataType::boolean, {1}}, sequence(a, 1)}; }
// learning rate, step, weights, gradients, two moments: step, weights, two moments
RuleResult adamw_of_sequences(const RuleArguments& a) {
  return {same(a, 1), sequence(a, 2), sequence(a, 4), sequence(a, 5)};
}
// R, T, W, G, two moments, W of 16 bits
RuleResult adam(const RuleArguments& a) {
  RuleResult result{same(a, 1), same(a, 4), same(a, 5), same(a, 2), same(a, 3), std::nullopt};
  if (a.has(6)) result.back() = same(a, 6);
  return result;
}

constexpr std::array training_table{
    RuleEntry{"AveragePoolGrad", pool_gradient},
    RuleEntry{"ConvGrad", convolution_gradient},
    RuleEntry{"MaxPoolGrad", pool_gradient},
    RuleEntry{"com.microsoft.AdamOptimizer", adam},
    RuleEntry{"com.microsoft.AdamWOptimizer", adamw_of_sequences},
    RuleEntry{"com.microsoft.AveragePoolGrad", pool_gradient},
    RuleEntry{"com.microsoft.BatchNormInternal", batch_norm_internal},
    RuleEntry{"com.microsoft.BatchNormalizationGrad", norm_gradient},
    RuleEntry{"com.microsoft.BiasFastGeluGrad_dX", like<0>},
    RuleEntry{"com.microsoft.BiasGeluGrad_dX", like<0>},
    RuleEntry{"com.microsoft.ConvGrad", convolution_gradient},
    RuleEntry{"com.microsoft.DropoutGrad", like<0>},
    RuleEntry{"com.microsoft.EluGrad", like<0>},
    RuleEntry{"com.microsoft.FastGeluGrad", like<0>},
    RuleEntry{"com.microsoft.GatherElementsGrad", picked_gradient},
    RuleEntry{"com.microsoft.GatherGrad", gather_gradient},
    RuleEntry{"com.microsoft.GatherNDGrad", gather_gradient},
    RuleEntry{"com.microsoft.GeluGrad", like<0>},
    RuleEntry{"com.microsoft.InPlaceAccumulator", like<0>},
    RuleEntry{"com.microsoft.InPlaceAccumulatorV2", accumulator},
    RuleEntry{"com.microsoft.LayerNormalizationGrad", norm_gradient},
    RuleEntry{"com.microsoft.LeakyReluGrad", like<0>},
    RuleEntry{"com.microsoft.LogSoftmaxGrad", like<0>},
    RuleEntry{"com.microsoft.LogSoftmaxGrad_13", like<0>},
    RuleEntry{"com.microsoft.MaxPoolGrad", pool_gradient},
    RuleEntry{"com.microsoft.QuickGeluGrad", like<0>},
    RuleEntry{"com.microsoft.ReluGrad", like<0>},
    RuleEntry{"com.microsoft.SGDOptimizer", sgd},
    RuleEntry{"com.microsoft.SGDOptimizerV2", sgd_of_sequences},
    RuleEntry{"com.microsoft.SigmoidGrad", like<0>},
    RuleEntry{"com.microsoft.SimplifiedLayerNormalizationGrad", norm_gradient},
    RuleEntry{"com.microsoft.SliceGrad", picked_gradient},
    RuleEntry{"com.microsoft.SoftmaxCrossEntropyGrad", like<1>},
    RuleEntry{"com.microsoft.SoftmaxCrossEntropyLossGrad", like<1>},
    RuleEntry{"com.microsoft.SoftmaxCrossEntropyLossInternal", loss_with_log_prob},
    RuleEntry{"com.microsoft.SoftmaxCrossEntropyLossInternalGrad", like<1>},
    RuleEntry{"com.microsoft.SoftmaxGrad", like<0>},
    RuleEntry{"com.microsoft.SoftmaxGrad_13", like<0>},
    RuleEntry{"com.microsoft.SparseSoftmaxCrossEntropyGrad", like<1>},
    RuleEntry{"com.microsoft.TanhGrad", like<0>},
    RuleEntry{"com.microsoft.ZeroGradient", like<0>},
};

}  // namespace

RuleTable training_rules() { return training_table; }

}  // namespace benanza::importer
