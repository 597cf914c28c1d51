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
// The input size of a pool is not known from its gradient; the file declares it.
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
// data, axes
RuleResult sum_over_axes(const RuleArguments& a) {
  const auto axes = known_ints(a, 1);
  if (!axes) return {std::nullopt};
  const auto flag = [&](std::string_view key, bool otherwise) {
    return a.node.attribute<std::int64_t>(key, otherwise ? 1 : 0) != 0;
  };
  const Ints& dims = a.in(0).dims;
  std::vector<bool> reduced(dims.size(), axes->empty() && !flag("noop_with_empty_axes", false));
  for (const auto axis : *axes) reduced[normal_axis(axis, dims.size())] = true;
  Ints left;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!reduced[i] || flag("keepdims", true)) left.push_back(reduced[i] ? 1 : dims[i]);
  return {TypedShape{a.in(0).type, left}};
}
// any number of tensors: their concatenation, and their sizes along the axis
RuleResult concatenation(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size());
  for (std::size_t i = 1; i < a.inputs.size(); ++i) {
    const std::int64_t more = of_rank(a, i, dims.size())[axis];
    dims[axis] = dims[axis] < 0 || more < 0 ? unknown_dim : dims[axis] + more;
  }
  return {TypedShape{a.in(0).type, dims}, TypedShape{DataType::i64, {static_cast<std::int64_t>(a.inputs.size())}}};
}
// data, sizes along the axis
RuleResult parts_along_axis(const RuleArguments& a) {
  const auto sizes = known_ints(a, 1);
  if (!sizes) return {std::nullopt};
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size());
  RuleResult result;
  for (const auto size : *sizes) {
    dims[axis] = size;
    result.emplace_back(TypedShape{a.in(0).type, dims});
  }
  return result;
}
// The number of axes is known if the shapes are. The node is then folded.
RuleResult axes_of_broadcast(const RuleArguments&) {
  return {TypedShape{DataType::i64, {unknown_dim}}, TypedShape{DataType::i64, {unknown_dim}}};
}
RuleResult accumulator(const RuleArguments& a) { return {TypedShape{DataType::boolean, {1}}, same(a, 0)}; }
// ETA, W, G
RuleResult sgd(const RuleArguments& a) { return {same(a, 1), same(a, 2)}; }
TypedShape sequence(const RuleArguments& a, std::size_t i) { return {a.in(i).type, {}, true}; }
// learning rate, weights, gradients: whether the step was done, weights
RuleResult sgd_of_sequences(const RuleArguments& a) { return {TypedShape{DataType::boolean, {1}}, sequence(a, 1)}; }
// learning rate, step, weights, gradients, two moments: whether the step was done, weights, two moments
RuleResult adamw_of_sequences(const RuleArguments& a) {
  return {TypedShape{DataType::boolean, {1}}, sequence(a, 2), sequence(a, 4), sequence(a, 5)};
}
// R, T, W, G, two moments, W of 16 bits
RuleResult adam(const RuleArguments& a) {
  RuleResult result{same(a, 1), same(a, 4), same(a, 5), same(a, 2), same(a, 3), std::nullopt};
  if (a.has(6)) result.back() = same(a, 6);
  return result;
}

constexpr RuleEntry training_table[] = {
    {ShapeRule::pool_gradient, pool_gradient},
    {ShapeRule::convolution_gradient, convolution_gradient},
    {ShapeRule::adam, adam},
    {ShapeRule::adamw_of_sequences, adamw_of_sequences},
    {ShapeRule::batch_norm_internal, batch_norm_internal},
    {ShapeRule::norm_gradient, norm_gradient},
    {ShapeRule::axes_of_broadcast, axes_of_broadcast},
    {ShapeRule::concatenation, concatenation},
    {ShapeRule::picked_gradient, picked_gradient},
    {ShapeRule::gather_gradient, gather_gradient},
    {ShapeRule::accumulator, accumulator},
    {ShapeRule::sum_over_axes, sum_over_axes},
    {ShapeRule::sgd, sgd},
    {ShapeRule::sgd_of_sequences, sgd_of_sequences},
    {ShapeRule::loss_with_log_prob, loss_with_log_prob},
    {ShapeRule::parts_along_axis, parts_along_axis},
};

}  // namespace

RuleTable training_rules() { return training_table; }

}  // namespace benanza::importer
