// SPDX-License-Identifier: Apache-2.0
// Quantization: the numbers with which a quantised layer is measured and checked. They do not affect the speed and are
// not fields of a layer, but library and reference must use the same ones. Scales are powers of two, which are exact in
// every type.
#pragma once

#include <benanza/model/layer.hpp>

#include <cmath>
#include <cstdint>

namespace benanza {

/// y = rescale * (sum of (x - x_zero) * (w - w_zero) + bias), then the further steps of the epilogue, then rounded to
/// nearest even and saturated if y is an integer.
struct Quantization {
  double x_zero = 0, w_zero = 0;
  double rescale = 1;  ///< scale of x times scale of w, over the scale of y
};

/// The numbers of a quantised convolution, matrix product or recurrence. Nothing is scaled in other layers. In a
/// recurrence, x and the states have the scale 1, and the weights have a scale that keeps it from saturating.
[[nodiscard]] inline Quantization quantization(const Layer& layer) {
  if (!is_8_bit(type(layer))) return {};
  Quantization result;
  std::int64_t depth = 0;
  DataType factor = type(layer);
  if (const auto* conv = std::get_if<op::Conv>(&layer)) {
    factor = conv->w_type.value_or(factor);
    depth = conv->depth();
    if (conv->x_zero) result.x_zero = detail::zero_point_a(conv->type);
    if (conv->w_zero) result.w_zero = detail::zero_point_b(factor);
  } else if (const auto* conv_transpose = std::get_if<op::ConvTranspose>(&layer)) {
    depth = conv_transpose->depth();
  } else if (const auto* product = std::get_if<op::MatMul>(&layer)) {
    factor = product->b_type.value_or(factor);
    depth = product->k();
    if (product->a_zero) result.x_zero = detail::zero_point_a(product->type);
    if (product->b_zero) result.w_zero = detail::zero_point_b(factor);
  } else if (const auto* recurrent = std::get_if<op::Recurrent>(&layer)) {
    result = {.x_zero = recurrent->type == DataType::u8 ? 2.0 : 0.0,
              .w_zero = recurrent->weight_type == DataType::u8 ? 2.0 : 0.0};
    result.rescale = std::exp2(-std::ceil(std::log2(3 * std::sqrt(static_cast<double>(recurrent->hidden)))));
    return result;
  } else {
    return result;
  }
  if (operands(layer).outputs[0].type == DataType::i32) return result;
  const double mean = detail::mean_product(type(layer), result.x_zero != 0, factor, result.w_zero != 0);
  result.rescale = std::exp2(-detail::rescale_exponent(depth, mean));
  return result;
}

}  // namespace benanza
