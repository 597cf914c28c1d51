// SPDX-License-Identifier: Apache-2.0
// Tolerances by element type: how far a right result may be from the reference, which computes in double precision from
// the same rounded operands.
#pragma once

#include <benanza/model/data_type.hpp>

namespace benanza {

/// Tolerance for results whose operands or elements have this floating-point type, relative to the largest magnitude:
/// for f16 and bf16 four times the rounding of one number (2^-12, 2^-9), since fused steps may round in between, and
/// likewise for floats of 8 bits (2^-5, 2^-4); for tf32, whose operands keep 11 significant bits, the same as for f16;
/// for f32, summed in another order, 1e-4. Integers of 8 bits may be one unit off (reference::agree).
[[nodiscard]] constexpr double tolerance(DataType type) {
  switch (type) {
    case DataType::f8e5m2: return 0.25;
    case DataType::f8e4m3: return 0.125;
    case DataType::bf16: return 8e-3;
    case DataType::f16:
    case DataType::tf32: return 1e-3;
    default: return 1e-4;
  }
}

}  // namespace benanza
