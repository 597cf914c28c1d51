// SPDX-License-Identifier: Apache-2.0
// Quantization: the numbers that a quantised layer is measured and checked with. They decide no speed and are no fields
// of a layer, but whoever computes it, library and reference, has to use the same. Scales are powers of two, exact in
// every type.
#pragma once

#include <benanza/model/layer.hpp>

#include <cmath>
#include <cstdint>

namespace benanza {

/// y = rescale * (sum of (x - x_zero) * (w - w_zero) + bias), then the further steps of the epilogue, then rounded to
/// nearest even and saturated where y is an integer.
struct Quantization {
  double x_zero = 0, w_zero = 0;
  double rescale = 1;  ///< scale of x times scale of w, over the scale of y
};

/// Of a quantised convolution or matrix product; for other layers nothing is scaled.
[[nodiscard]] inline Quantization quantization(const Layer& layer) {
  if (!is_8_bit(type(layer))) return {};
  Quantization result;
  std::int64_t depth = 0;
  if (const auto* conv = std::get_if<op::Conv>(&layer)) {
    result = {.x_zero = conv->x_zero ? 1.0 : 0.0, .w_zero = conv->w_zero ? 2.0 : 0.0};
    depth = element_count(conv->w) / conv->w[0];
  } else if (const auto* conv_transpose = std::get_if<op::ConvTranspose>(&layer)) {
    depth = element_count(conv_transpose->w) / conv_transpose->w[1];
  } else if (const auto* product = std::get_if<op::MatMul>(&layer)) {
    result = {.x_zero = product->a_zero ? 1.0 : 0.0, .w_zero = product->b_zero ? 2.0 : 0.0};
    depth = product->k();
  } else {
    return result;
  }
  if (operands(layer).outputs[0].type == DataType::i32) return result;
  // Operands of 1 to 3 and of 2, 4, 6 in magnitude (fill): a product has a root mean square of 9.3, a sum of `depth` of
  // them sqrt(depth) times that. A deviation of at most 24 leaves five of them within 127.
  const double deviation = 9.3 * std::sqrt(static_cast<double>(depth));
  result.rescale = std::exp2(-std::ceil(std::log2(std::fmax(deviation / 24, 1))));
  return result;
}

}  // namespace benanza
