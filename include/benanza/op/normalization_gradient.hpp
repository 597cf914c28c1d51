// SPDX-License-Identifier: Apache-2.0
// Gradients of normalizations and of softmax.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class NormGradientOf : std::uint8_t { batch, layer, group, rms };
[[nodiscard]] constexpr auto enum_names(NormGradientOf) {
  return std::array<std::string_view, 4>{"batch", "layer", "group", "rms"};
}

/// Gradient of batch, layer, group and RMS normalisation, from the operand and the statistics that the forward pass has
/// kept. One call computes the gradient of the operand and, if they are wanted, those of scale and bias. Batch:
/// statistics per channel, over batch and inner. Layer and RMS: per row, over the normalised dimensions, which are
/// folded into one. Group: per image and group of channels; instance normalisation has one group per channel.
struct NormGradient {
  static constexpr std::string_view kind = "NormGradient";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 6> onnx_types{
      "benanza.BatchNormalizationGrad", "benanza.LayerNormalizationGrad",
      "benanza.GroupNormalizationGrad", "benanza.InstanceNormalizationGrad",
      "benanza.RMSNormalizationGrad",   "benanza.SimplifiedLayerNormalizationGrad"};
  DataType type = DataType::f32;
  NormGradientOf of = NormGradientOf::batch;
  TensorShape x{};          ///< batch and group: N C inner; layer and RMS: rows normalised
  std::int64_t groups = 1;  ///< group normalisation only
  bool affine = true;       ///< there is a scale, and its gradient is wanted
  bool bias = true;         ///< there is a bias too, and its gradient is wanted; never for RMS

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("of", self.of);
    visit("x", self.x);
    visit("groups", self.groups);
    visit("affine", self.affine);
    visit("bias", self.bias);
  }
  constexpr bool operator==(const NormGradient&) const = default;

  /// Inputs: dy, x, scale, the statistics. Outputs: dx, dscale, dbias. Without a scale there is no bias.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<NormGradient, decltype(graph)> {
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

  /// Elements of scale, of its gradient, and of the gradient of the bias.
  [[nodiscard]] constexpr std::int64_t weights() const { return x[1]; }
  /// Elements of mean and variance.
  [[nodiscard]] constexpr std::int64_t statistics() const {
    return of == NormGradientOf::batch ? x[1] : of == NormGradientOf::group ? checked_product(x[0], groups) : x[0];
  }
  [[nodiscard]] constexpr bool has_mean() const { return of != NormGradientOf::rms; }
  /// Whether x has channels and an inner dimension.
  [[nodiscard]] constexpr bool by_channel() const { return of == NormGradientOf::batch || of == NormGradientOf::group; }

  [[nodiscard]] Operands operands() const {
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

  /// Ioffe and Szegedy 2015, section 3: the sums of dy and of dy x (3 operations per element), and dx as a sum of dy, x
  /// and a number, the first two with factors (4). If scales differ among the elements of a statistic, dy times scale
  /// is one more. RMS has neither the sum of dy nor the number.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double steps = (has_mean() ? 7.0 : 5.0) + (of != NormGradientOf::batch && affine ? 1.0 : 0.0);
    return {.flops = steps * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x, by_channel() ? 3 : 2) || !detail::is_size(groups)) return false;
    if (of == NormGradientOf::rms) return groups == 1 && !bias;
    if (!affine && !bias) return false;  // only one valid form: without a scale, `bias` has its default value
    return of == NormGradientOf::group ? x[1] % groups == 0 : groups == 1;
  }
};

/// Gradient of softmax and log-softmax along one axis, from the result: dx = y (dy - sum(dy y)), or dx = dy - exp(y)
/// sum(dy).
struct SoftmaxGradient {
  static constexpr std::string_view kind = "SoftmaxGradient";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"benanza.SoftmaxGrad", "benanza.LogSoftmaxGrad"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  bool log = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("log", self.log);
  }
  constexpr bool operator==(const SoftmaxGradient&) const = default;

  /// `flattens`: as before opset 13, all dimensions from the axis on are one.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<SoftmaxGradient, decltype(graph)> {
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

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "dy", .type = type, .shape = x}, {.name = "y", .type = type, .shape = x}},
            .outputs = {{.name = "dx", .type = type, .shape = x}}};
  }

  /// Per element a product and a sum for the row's sum, and a difference and a product for the result. The gradient of
  /// the logarithm has an exponential more and a product less.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 4.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
};

}  // namespace benanza::op
