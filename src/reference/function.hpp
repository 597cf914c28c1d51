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

/// The value modulo 2^bits, in the range of the integer type. Numbers of other types are returned unchanged.
[[nodiscard]] double wrap(DataType type, double value);

/// Whether ONNX defines the function on integers, where it wraps. The others occur on 8-bit tensors between a
/// dequantise and a quantise.
[[nodiscard]] constexpr bool is_exact_on_integers(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return fn == ElementwiseFn::abs || fn == bitwise_not || fn == neg || fn == sign || fn == square;
}

}  // namespace benanza::reference
