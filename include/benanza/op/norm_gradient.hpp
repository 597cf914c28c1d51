// SPDX-License-Identifier: Apache-2.0
// Gradient of batch and of layer normalisation, from the operand and the statistics that forward has kept: to the
// operand and, where they are wanted, to scale and bias, in one call.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class NormGradientOf : std::uint8_t { batch, layer };
[[nodiscard]] constexpr auto enum_names(NormGradientOf) { return std::array<std::string_view, 2>{"batch", "layer"}; }

/// Batch: statistics by channel, over batch and inner. Layer: by row, over the normalised dimensions, which are one.
struct NormGradient {
  static constexpr std::string_view kind = "NormGradient";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"benanza.BatchNormalizationGrad",
                                                              "benanza.LayerNormalizationGrad"};
  DataType type = DataType::f32;
  NormGradientOf of = NormGradientOf::batch;
  TensorShape x{};     ///< batch: N C inner; layer: rows normalised
  bool affine = true;  ///< there are a scale and a bias, and both gradients are wanted

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("of", self.of);
    visit("x", self.x);
    visit("affine", self.affine);
  }
  constexpr bool operator==(const NormGradient&) const = default;

  /// Inputs dy, x, scale, both statistics; outputs dx, dscale, dbias. One without the other is left to Opaque.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<NormGradient, decltype(graph)> {
    const Value& x_value = graph.input(node, 1);
    const bool affine = node.has_output(2);
    if (node.inputs.size() != 5 || node.outputs.size() != (affine ? 3 : 1) || node.has_input(2) != affine)
      return std::nullopt;
    NormGradient gradient{.type = x_value.type, .affine = affine};
    if (node.op_type == "BatchNormalizationGrad") {
      const auto x = detail::batch_channels_inner(x_value.dims);
      if (!x) return std::nullopt;
      gradient.x = *x;
      return gradient;
    }
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), x_value.dims.size());
    if (!axis) return std::nullopt;
    gradient.of = NormGradientOf::layer;
    gradient.x = {detail::product(x_value.dims, 0, *axis), detail::product(x_value.dims, *axis, x_value.dims.size())};
    return gradient;
  }

  /// Elements of scale, of its gradient and of the bias's.
  [[nodiscard]] constexpr std::int64_t weights() const { return x[1]; }
  /// Elements of mean and variance.
  [[nodiscard]] constexpr std::int64_t statistics() const { return of == NormGradientOf::batch ? x[1] : x[0]; }

  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "dy", .type = type, .shape = x}, {.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "dx", .type = type, .shape = x}}};
    if (affine)
      result.inputs.push_back({.name = "scale", .type = type, .shape = {weights()}, .contents = Contents::positive});
    result.inputs.push_back({.name = "mean", .type = type, .shape = {statistics()}});
    result.inputs.push_back({.name = "var", .type = type, .shape = {statistics()}, .contents = Contents::positive});
    if (affine) {
      result.outputs.push_back({.name = "dscale", .type = type, .shape = {weights()}});
      result.outputs.push_back({.name = "dbias", .type = type, .shape = {weights()}});
    }
    return result;
  }

  /// Ioffe and Szegedy 2015, section 3: sums of dy and of dy x (3 operations an element), and dx as a sum of dy, x and
  /// a number, the former two with factors (4); of a layer's, dy times scale besides.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double steps = 7.0 + (of == NormGradientOf::layer && affine ? 1.0 : 0.0);
    return {.flops = steps * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, of == NormGradientOf::batch ? 3 : 2); }
};

}  // namespace benanza::op
