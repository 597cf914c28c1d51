// SPDX-License-Identifier: Apache-2.0
// Normalizations, and softmax.
#pragma once

#include <benanza/base/detail/magnitudes.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/normalization.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<BatchNorm> BatchNorm::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  auto x = detail::batch_channels_inner(x_value.dims);
  if (!x || node.attribute<std::int64_t>("training_mode", 0) != 0) return std::nullopt;
  if (node.opset < 9 && node.attribute<std::int64_t>("spatial", 1) == 0)
    x = TensorShape{(*x)[0], checked_product((*x)[1], (*x)[2]), 1};
  return BatchNorm{.type = x_value.type, .x = *x};
}

BENANZA_INLINE Operands BatchNorm::operands() const {
  const TensorShape channels{x[1]};
  Operands result{
      .inputs = {{.name = "x", .type = type, .shape = x},
                 {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                 {.name = "b",
                  .type = type,
                  .shape = channels,
                  .constant = true,
                  .exponent = detail::norm_addend_exponent(type)},
                 {.name = "mean", .type = type, .shape = channels, .constant = true},
                 {.name = "var", .type = type, .shape = channels, .constant = true, .contents = Contents::positive}},
      .outputs = {{.name = "y", .type = type, .shape = x}}};
  detail::append_epilogue_operands(result, post, type, x, 1);
  return result;
}

BENANZA_INLINE Arithmetic BatchNorm::arithmetic() const {
  return {.flops = (2.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool BatchNorm::consistent() const { return detail::are_sizes(x, 3) && detail::fits(post, x); }

BENANZA_INLINE std::optional<ChannelNorm> ChannelNorm::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  if (node.op_type == "BatchNormalization") {
    const auto x = detail::batch_channels_inner(dims);
    if (!x) return std::nullopt;
    return ChannelNorm{.type = x_value.type, .x = *x, .running = node.has_output(1) && node.has_output(2)};
  }
  std::vector<bool> kept(dims.size(), true);
  for (auto given : node.attribute<detail::Dims>("axes", {0, 2, 3})) {
    const auto axis = detail::to_axis(given, dims.size());
    if (!axis) return std::nullopt;
    kept[*axis] = false;
  }
  const auto first = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), true) - kept.begin());
  const auto past = static_cast<std::size_t>(
      std::find(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), false) - kept.begin());
  if (std::find(kept.begin() + static_cast<std::ptrdiff_t>(past), kept.end(), true) != kept.end()) return std::nullopt;
  return ChannelNorm{.type = x_value.type,
                     .x = {detail::product(dims, 0, first), detail::product(dims, first, past),
                           detail::product(dims, past, dims.size())},
                     .affine = false};
}

BENANZA_INLINE Operands ChannelNorm::operands() const {
  const TensorShape channels{x[1]};
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                  .outputs = {{.name = "y", .type = type, .shape = x}}};
  const auto add_input = [&](std::string_view name, Contents contents) {
    result.inputs.push_back({.name = name, .type = type, .shape = channels, .contents = contents});
  };
  if (affine) {
    add_input("scale", Contents::positive);
    add_input("b", Contents::uniform);
  }
  if (running) {
    add_input("input_mean", Contents::uniform);
    add_input("input_var", Contents::positive);
    result.outputs.push_back({.name = "running_mean", .type = type, .shape = channels});
    result.outputs.push_back({.name = "running_var", .type = type, .shape = channels});
  }
  return result;
}

BENANZA_INLINE Arithmetic ChannelNorm::arithmetic() const {
  return {.flops = 5.0 * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool ChannelNorm::consistent() const { return detail::are_sizes(x, 3) && (affine || !running); }

BENANZA_INLINE std::optional<LayerNorm> LayerNorm::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), dims.size());
  if (!axis) return std::nullopt;
  const bool skips = node.op_type.starts_with("Skip");
  const std::size_t scale = skips ? 2 : 1;
  LayerNorm norm{.type = x_value.type,
                 .x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size())},
                 .rms = node.op_type != "LayerNormalization" && node.op_type != "SkipLayerNormalization",
                 .scale = node.has_input(scale)};
  norm.bias = !norm.rms && node.has_input(scale + 1);
  if (!skips) return norm;
  if (graph.input(node, 1).dims != dims) return std::nullopt;
  norm.residual = node.has_output(3) ? Residual::kept : Residual::added;
  norm.x_bias = node.has_input(norm.rms ? 3 : 4);
  return norm;
}

BENANZA_INLINE Operands LayerNorm::operands() const {
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                  .outputs = {{.name = "y", .type = type, .shape = x}}};
  const TensorShape inner{x[1]};
  if (residual != Residual::none) result.inputs.push_back({.name = "residual", .type = type, .shape = x});
  if (x_bias) result.inputs.push_back({.name = "x_bias", .type = type, .shape = inner, .constant = true});
  if (scale)
    result.inputs.push_back(
        {.name = "scale", .type = type, .shape = inner, .constant = true, .contents = Contents::positive});
  if (bias)
    result.inputs.push_back(
        {.name = "b", .type = type, .shape = inner, .constant = true, .exponent = detail::norm_addend_exponent(type)});
  if (residual == Residual::kept) result.outputs.push_back({.name = "sum", .type = type, .shape = x});
  return result;
}

BENANZA_INLINE Arithmetic LayerNorm::arithmetic() const {
  const double sums = (residual == Residual::none ? 0.0 : 1.0) + (x_bias ? 1.0 : 0.0);
  const double steps = sums + (rms ? 3.0 : 5.0) + (scale ? 1.0 : 0.0) + (bias ? 1.0 : 0.0);
  return {.flops = steps * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool LayerNorm::consistent() const {
  return detail::are_sizes(x, 2) && !(x_bias && residual == Residual::none);
}

BENANZA_INLINE std::optional<GroupNorm> GroupNorm::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto x = detail::batch_channels_inner(x_value.dims);
  if (!x) return std::nullopt;
  const bool instance = node.op_type == "InstanceNormalization";
  return GroupNorm{
      .type = x_value.type, .x = *x, .groups = instance ? (*x)[1] : node.attribute<std::int64_t>("num_groups", 1)};
}

BENANZA_INLINE Operands GroupNorm::operands() const {
  const TensorShape channels{x[1]};
  return {
      .inputs = {{.name = "x", .type = type, .shape = x},
                 {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                 {.name = "b",
                  .type = type,
                  .shape = channels,
                  .constant = true,
                  .exponent = detail::norm_addend_exponent(type)}},
      .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic GroupNorm::arithmetic() const {
  return {.flops = 5.0 * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool GroupNorm::consistent() const {
  return detail::are_sizes(x, 3) && detail::is_size(groups) && x[1] % groups == 0;
}

BENANZA_INLINE std::optional<Lrn> Lrn::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto x = detail::batch_channels_inner(x_value.dims);
  if (!x) return std::nullopt;
  return Lrn{.type = x_value.type,
             .x = *x,
             .size = node.attribute<std::int64_t>("size", 1),
             .beta = detail::decimal(node.attribute<double>("beta", 0.75))};
}

BENANZA_INLINE Operands Lrn::operands() const {
  return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic Lrn::arithmetic() const { return {.flops = 7.0 * static_cast<double>(element_count(x))}; }

BENANZA_INLINE bool Lrn::consistent() const { return detail::are_sizes(x, 3) && detail::is_size(size) && beta == beta; }

BENANZA_INLINE std::optional<Softmax> Softmax::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const bool flattens = node.opset < 13;
  const std::int64_t given = node.attribute<std::int64_t>("axis", flattens ? 1 : -1);
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto axis = flattens && given == rank ? std::optional(dims.size()) : detail::to_axis(given, dims.size());
  if (!axis) return std::nullopt;
  const TensorShape x = flattens
                            ? TensorShape{detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1}
                            : detail::around(dims, *axis);
  return Softmax{.type = x_value.type, .x = x, .log = node.op_type == "LogSoftmax"};
}

BENANZA_INLINE Operands Softmax::operands() const {
  return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic Softmax::arithmetic() const { return {.flops = 5.0 * static_cast<double>(element_count(x))}; }

BENANZA_INLINE bool Softmax::consistent() const { return detail::are_sizes(x, 3); }

BENANZA_INLINE std::optional<AxisNorm> AxisNorm::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const bool hardmax = node.op_type == "Hardmax", flattens = hardmax && node.opset < 13;
  const std::int64_t p = node.attribute<std::int64_t>("p", 2);
  const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", flattens ? 1 : -1), dims.size());
  if (!axis || (!hardmax && p != 1 && p != 2)) return std::nullopt;
  AxisNorm norm{.type = x_value.type,
                .fn = hardmax  ? AxisNormFn::hardmax
                      : p == 1 ? AxisNormFn::l1
                               : AxisNormFn::l2,
                .x = detail::around(dims, *axis)};
  if (flattens) norm.x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size()), 1};
  return norm;
}

BENANZA_INLINE Operands AxisNorm::operands() const {
  return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic AxisNorm::arithmetic() const {
  return {.flops = (fn == AxisNormFn::hardmax ? 1.0 : 3.0) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool AxisNorm::consistent() const { return detail::are_sizes(x, 3); }

}  // namespace benanza::op
