// SPDX-License-Identifier: Apache-2.0
// Tolerances by element type: how far a correct result may be from the reference, which computes in double precision
// from the same rounded operands.
#pragma once

#include <benanza/model/data_type.hpp>

namespace benanza {

/// Tolerance for results whose operands or elements have this floating-point type, relative to the largest magnitude.
/// For f16 and bf16 it is four times the rounding of one number (2^-12, 2^-9), since fused steps may round in between,
/// and the same for 8-bit floats (2^-5, 2^-4). For tf32, whose operands keep 11 significant bits, it is the same as for
/// f16; for f32, which is summed in another order, 1e-4. 8-bit integers may be one unit off (reference::agree).
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
