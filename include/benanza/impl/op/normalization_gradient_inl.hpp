// SPDX-License-Identifier: Apache-2.0
// Gradients of normalizations and of softmax.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/normalization_gradient.hpp>
#include <benanza/op/operator.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

BENANZA_INLINE std::optional<NormGradient> NormGradient::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 1);
  const std::string_view name = node.op_type;
  const bool rms = name.starts_with("RMS") || name.starts_with("Simplified");
  const bool affine = node.has_input(2);
  NormGradient gradient{.type = x_value.type, .affine = affine, .bias = node.has_output(2) || (!affine && !rms)};
  const std::size_t outputs = (affine ? 2U : 1U) + (affine && gradient.bias ? 1U : 0U);
  if (node.inputs.size() != (rms ? 4 : 5) || node.outputs.size() != outputs || (rms && gradient.bias))
    return std::nullopt;
  if (name.starts_with("Batch") || name.starts_with("Group") || name.starts_with("Instance")) {
    const auto x = detail::batch_channels_inner(x_value.dims);
    if (!x) return std::nullopt;
    gradient.x = *x;
    if (name.starts_with("Batch")) return gradient;
    gradient.of = NormGradientOf::group;
    gradient.groups = name.starts_with("Group") ? node.attribute<std::int64_t>("num_groups", 1) : (*x)[1];
    if (!gradient.consistent()) return std::nullopt;
    return gradient;
  }
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), x_value.dims.size());
  if (!axis) return std::nullopt;
  gradient.of = rms ? NormGradientOf::rms : NormGradientOf::layer;
  gradient.x = {detail::product(x_value.dims, 0, *axis), detail::product(x_value.dims, *axis, x_value.dims.size())};
  return gradient;
}

BENANZA_INLINE Operands NormGradient::operands() const {
  Operands result{.inputs = {{.name = "dy", .type = type, .shape = x}, {.name = "x", .type = type, .shape = x}},
                  .outputs = {{.name = "dx", .type = type, .shape = x}}};
  if (affine)
    result.inputs.push_back({.name = "scale", .type = type, .shape = {weights()}, .contents = Contents::positive});
  if (has_mean()) result.inputs.push_back({.name = "mean", .type = type, .shape = {statistics()}});
  result.inputs.push_back({.name = "var", .type = type, .shape = {statistics()}, .contents = Contents::positive});
  if (affine) {
    result.outputs.push_back({.name = "dscale", .type = type, .shape = {weights()}});
    if (bias) result.outputs.push_back({.name = "dbias", .type = type, .shape = {weights()}});
  }
  return result;
}

BENANZA_INLINE Arithmetic NormGradient::arithmetic() const {
  const double steps = (has_mean() ? 7.0 : 5.0) + (of != NormGradientOf::batch && affine ? 1.0 : 0.0);
  return {.flops = steps * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool NormGradient::consistent() const {
  if (!detail::are_sizes(x, by_channel() ? 3 : 2) || !detail::is_size(groups)) return false;
  if (of == NormGradientOf::rms) return groups == 1 && !bias;
  if (!affine && !bias) return false;  // only one valid form: without a scale, `bias` has its default value
  return of == NormGradientOf::group ? x[1] % groups == 0 : groups == 1;
}

BENANZA_INLINE std::optional<SoftmaxGradient> SoftmaxGradient::from(const Node& node, const Graph& graph) {
  const Value& y_value = graph.input(node, 1);
  const auto& dims = y_value.dims;
  const bool flattens = node.attribute<std::int64_t>("flattens", 0) != 0;
  const std::int64_t given = node.attribute<std::int64_t>("axis", flattens ? 1 : -1);
  const auto axis = flattens && given == static_cast<std::int64_t>(dims.size()) ? std::optional(dims.size())
                                                                                : detail::to_axis(given, dims.size());
  if (!axis) return std::nullopt;
  return SoftmaxGradient{
      .type = y_value.type,
      .x = flattens ? TensorShape{detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1}
                    : detail::around(dims, *axis),
      .log = node.op_type == "LogSoftmaxGrad"};
}

BENANZA_INLINE Operands SoftmaxGradient::operands() const {
  return {.inputs = {{.name = "dy", .type = type, .shape = x}, {.name = "y", .type = type, .shape = x}},
          .outputs = {{.name = "dx", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic SoftmaxGradient::arithmetic() const {
  return {.flops = 4.0 * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool SoftmaxGradient::consistent() const { return detail::are_sizes(x, 3); }

}  // namespace benanza::op
