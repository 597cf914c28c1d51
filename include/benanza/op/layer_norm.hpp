// SPDX-License-Identifier: Apache-2.0
// Layer and RMS normalisation over the innermost dimensions, of a tensor or of its sum with a residual. Fusion creates
// the latter if a model adds and then normalises.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/magnitudes.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// What is normalised: x, its sum with a residual, or this sum, which is then a second output too.
enum class Residual : std::uint8_t { none, added, kept };
[[nodiscard]] constexpr auto enum_names(Residual) { return std::array<std::string_view, 3>{"none", "added", "kept"}; }

struct LayerNorm {
  static constexpr std::string_view kind = "LayerNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 6> onnx_types{"LayerNormalization",
                                                              "RMSNormalization",
                                                              "SimplifiedLayerNormalization",
                                                              "com.microsoft.SimplifiedLayerNormalization",
                                                              "com.microsoft.SkipLayerNormalization",
                                                              "com.microsoft.SkipSimplifiedLayerNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};   ///< outer inner: the normalised dimensions folded into the last
  bool rms = false;  ///< RMS norm: no mean is subtracted
  bool scale = true;
  bool bias = false;
  Residual residual = Residual::none;
  bool x_bias = false;  ///< a vector is added to x in addition to the residual

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("rms", self.rms);
    visit("scale", self.scale);
    visit("bias", self.bias);
    visit("residual", self.residual);
    visit("x_bias", self.x_bias);
  }
  constexpr bool operator==(const LayerNorm&) const = default;

  /// Normalises any number of trailing dimensions. The statistics that may be further outputs are ignored. ONNX
  /// Runtime's Skip operators normalise the last dimension of a sum of two tensors of the same shape: their inputs are
  /// `skip`, gamma, beta and bias, and their fourth output is the sum. The simplified operator has no beta.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<LayerNorm, decltype(graph)> {
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

  /// The index of the scale among the inputs, or of the bias if there is no scale.
  [[nodiscard]] constexpr std::size_t first_weight() const {
    return 1 + (residual == Residual::none ? 0U : 1U) + (x_bias ? 1U : 0U);
  }
  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = type, .shape = x}}};
    const TensorShape inner{x[1]};
    if (residual != Residual::none) result.inputs.push_back({.name = "residual", .type = type, .shape = x});
    if (x_bias) result.inputs.push_back({.name = "x_bias", .type = type, .shape = inner, .constant = true});
    if (scale)
      result.inputs.push_back(
          {.name = "scale", .type = type, .shape = inner, .constant = true, .contents = Contents::positive});
    if (bias)
      result.inputs.push_back({.name = "b",
                               .type = type,
                               .shape = inner,
                               .constant = true,
                               .exponent = detail::norm_addend_exponent(type)});
    if (residual == Residual::kept) result.outputs.push_back({.name = "sum", .type = type, .shape = x});
    return result;
  }

  /// ONNX LayerNormalization: mean (1 operation per element), variance (2), normalise (2), scale (1), bias (1).
  /// RMSNormalization lacks the mean and its subtraction. Each sum before it adds one. Epsilon does not affect the
  /// speed and is 1e-5 in checks.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double sums = (residual == Residual::none ? 0.0 : 1.0) + (x_bias ? 1.0 : 0.0);
    const double steps = sums + (rms ? 3.0 : 5.0) + (scale ? 1.0 : 0.0) + (bias ? 1.0 : 0.0);
    return {.flops = steps * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 2) && !(x_bias && residual == Residual::none);
  }
};

}  // namespace benanza::op
