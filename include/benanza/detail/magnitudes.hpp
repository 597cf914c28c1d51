// SPDX-License-Identifier: Apache-2.0
// Magnitudes: powers of two by which the operands of a sum of products are filled. A sum of thousands of products is
// much larger than a bias or a residual of its own type: a plan that leaves these out would stay within its tolerance,
// and every activation after it would be in saturation. Powers of two change no significant bit.
#pragma once

#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace benanza::detail {

/// The rescaling of an 8-bit result divides by two to this power. Operands of 1 to 3 and of 2, 4, 6 in magnitude
/// (fill): a product has a root mean square of 9.3, a sum of `depth` of them sqrt(depth) times that. A deviation of at
/// most 24 leaves five of them within 127.
[[nodiscard]] inline int rescale_exponent(std::int64_t depth) {
  const double deviation = 9.3 * std::sqrt(static_cast<double>(depth));
  return static_cast<int>(std::ceil(std::log2(std::fmax(deviation / 24, 1))));
}

/// Exponents of two for the operands of a sum of products and of its epilogue.
struct Magnitudes {
  int factor = 0;  ///< one factor of each product
  int bias = 0;    ///< a 32-bit bias, which is rescaled with the sum
  int addend = 0;  ///< whatever else is added to the sum or compared with it

  /// For elements of `type` times elements of `factor_type`, `depth` products a sum.
  [[nodiscard]] static Magnitudes of_sum(DataType type, DataType factor_type, DataType result, std::int64_t depth) {
    if (is_8_bit(type)) {
      if (result == DataType::i32) return {};  // not rescaled, and compared exactly
      // With a deviation of 12 to 24, the largest of some samples is about three times as much.
      return {.bias = rescale_exponent(depth), .addend = is_float(result) ? 4 : 0};
    }
    // Uniform operands (fill) give sums whose deviation is sqrt(depth) / 3. Down to 2^-8 an f16 stays normal.
    const int growth = std::min(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth))) / 2, 8);
    const bool has_range = is_float(factor_type) && bits(factor_type) >= 16;
    return has_range ? Magnitudes{.factor = -growth} : Magnitudes{.addend = growth};
  }
};

}  // namespace benanza::detail
