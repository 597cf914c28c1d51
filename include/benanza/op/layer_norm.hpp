// SPDX-License-Identifier: Apache-2.0
// Layer and RMS normalisation over the innermost dimensions.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct LayerNorm {
  static constexpr std::string_view kind = "LayerNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 4> onnx_types{"LayerNormalization", "RMSNormalization",
                                                              "SimplifiedLayerNormalization",
                                                              "com.microsoft.SimplifiedLayerNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};   ///< outer inner: the normalised dimensions folded into the last
  bool rms = false;  ///< RMS norm: no mean is subtracted
  bool scale = true;
  bool bias = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("rms", self.rms);
    visit("scale", self.scale);
    visit("bias", self.bias);
  }
  constexpr bool operator==(const LayerNorm&) const = default;

  /// Over any number of trailing dimensions; the statistics that may be further outputs are ignored.
  [[nodiscard]] static std::optional<LayerNorm> from(const Node& node, const Graph& graph) {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), dims.size());
    if (!axis) return std::nullopt;
    const bool rms = node.op_type != "LayerNormalization";
    return LayerNorm{.type = x_value.type,
                     .x = {detail::product(dims, 0, *axis), detail::product(dims, *axis, dims.size())},
                     .rms = rms,
                     .scale = node.has_input(1),
                     .bias = !rms && node.has_input(2)};
  }

  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = type, .shape = x}}};
    const TensorShape inner{x[1]};
    if (scale)
      result.inputs.push_back(
          {.name = "scale", .type = type, .shape = inner, .constant = true, .contents = Contents::positive});
    if (bias) result.inputs.push_back({.name = "b", .type = type, .shape = inner, .constant = true});
    return result;
  }

  /// ONNX LayerNormalization: mean (1 an element), variance (2), normalise (2), scale (1), bias (1); RMSNormalization
  /// lacks the mean and its subtraction. Epsilon does not decide the speed and is 1e-5 in checks.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double steps = (rms ? 3.0 : 5.0) + (scale ? 1.0 : 0.0) + (bias ? 1.0 : 0.0);
    return {.flops = steps * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 2); }
};
static_assert(Operator<LayerNorm>, "LayerNorm: fields() must visit every member");

}  // namespace benanza::op
