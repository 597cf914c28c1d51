// SPDX-License-Identifier: Apache-2.0
// The element-wise functions on numbers.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/elementwise.hpp>

namespace benanza::reference {

/// A function of one operand, computed in its element type: integers wrap around.
[[nodiscard]] double apply(ElementwiseFn fn, DataType type, double x, double alpha, double beta);
/// A function of two operands.
[[nodiscard]] double apply(ElementwiseFn fn, DataType type, double a, double b);

[[nodiscard]] double sigmoid(double x);

/// The value modulo 2^bits, as the integer type holds it; numbers of other types unchanged.
[[nodiscard]] double wrap(DataType type, double value);

/// ONNX defines it on integers, where it wraps; the others appear on 8-bit tensors between a dequantise and a quantise.
[[nodiscard]] constexpr bool is_exact_on_integers(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return fn == ElementwiseFn::abs || fn == bitwise_not || fn == neg || fn == sign || fn == square;
}

}  // namespace benanza::reference
