// SPDX-License-Identifier: Apache-2.0
// The element-wise functions on numbers.
#pragma once

#include <benanza/data_type.hpp>
#include <benanza/elementwise.hpp>

namespace benanza::reference {

/// A function of one operand, computed in its element type: integers wrap around.
[[nodiscard]] double apply(ElementwiseFn fn, DataType type, double x, double alpha, double beta);
/// A function of two operands.
[[nodiscard]] double apply(ElementwiseFn fn, DataType type, double a, double b);

/// The value modulo 2^bits, as the integer type holds it; numbers of other types unchanged.
[[nodiscard]] double wrap(DataType type, double value);

}  // namespace benanza::reference
