// SPDX-License-Identifier: Apache-2.0
// Magnitudes: powers of two by which the operands of a sum of products are scaled when they are filled. A sum of
// thousands of products is much larger than a bias or a residual of its own type. Without these powers, a plan that
// leaves out the bias or residual would stay within its tolerance, and every activation after the sum would be in
// saturation. Powers of two change no significant bit.
#pragma once

#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace benanza::detail {

/// Zero points of the two factors of a product of 8-bit operands. Zero points of signed elements are negative, so that
/// means are 0 or more. A mean far below 0 would leave an unsigned result at 0, whatever is added.
[[nodiscard]] constexpr double zero_point_a(DataType type) { return type == DataType::u8 ? 1 : -1; }
[[nodiscard]] constexpr double zero_point_b(DataType type) { return type == DataType::u8 ? 2 : -2; }

/// The mean of a product of 8-bit operands. Unsigned operands are 1 to 3, or 2, 4 and 6 (fill); signed ones have a mean
/// of 0. `a_zero`, `b_zero`: whether they have zero points.
[[nodiscard]] constexpr double mean_product(DataType a, bool a_zero, DataType b, bool b_zero) {
  const double of_a = (a == DataType::u8 ? 2 : 0) - (a_zero ? zero_point_a(a) : 0);
  const double of_b = (b == DataType::u8 ? 4 : 0) - (b_zero ? zero_point_b(b) : 0);
  return of_a * of_b;
}

/// The rescaling of an 8-bit result divides by two to this power. For operands of 1 to 3 and of 2, 4, 6 in magnitude
/// (fill), a product has a root mean square of 9.3, and a sum of `depth` products sqrt(depth) times as much. A
/// deviation of at most 24 leaves five deviations within 127. A sum of at most 96 on average, whose deviation is
/// smaller, fits into u8 as well, and into i8 with few exceptions. `mean` is the mean of one product.
[[nodiscard]] inline int rescale_exponent(std::int64_t depth, double mean) {
  const double count = static_cast<double>(depth), deviation = 9.3 * std::sqrt(count);
  const double most = std::fmax(deviation / 24, mean * count / 96);
  return static_cast<int>(std::ceil(std::log2(std::fmax(most, 1))));
}

/// Exponent of two for the addend of a normalised and scaled value. Scales of coarse types are up to 4 (fill).
[[nodiscard]] constexpr int norm_addend_exponent(DataType type) { return has_coarse_steps(type) ? 2 : 0; }

/// Exponents of two for the operands of a sum of products and of its epilogue.
struct Magnitudes {
  int factor = 0;  ///< one factor of each product
  int bias = 0;    ///< a 32-bit bias, which is rescaled with the sum
  int addend = 0;  ///< whatever else is added to the sum or compared with it

  /// For elements of `type` times elements of `factor_type`, with `depth` products per sum. `zero`, `factor_zero`:
  /// whether these have zero points.
  [[nodiscard]] static Magnitudes of_sum(DataType type, DataType factor_type, DataType result, std::int64_t depth,
                                         bool zero = false, bool factor_zero = false) {
    if (is_8_bit(type)) {
      if (result == DataType::i32) return {};  // not rescaled, and compared exactly
      // With a deviation of 12 to 24, the largest of several samples is about three times the deviation.
      return {.bias = rescale_exponent(depth, mean_product(type, zero, factor_type, factor_zero)),
              .addend = is_float(result) ? 4 : 0};
    }
    // Uniform operands (fill) give sums whose deviation is sqrt(depth) / 3. An f16 stays normal down to a factor of
    // 2^-8.
    const int growth = std::min(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(depth))) / 2, 8);
    const bool has_range = is_float(factor_type) && bits(factor_type) >= 16;
    return has_range ? Magnitudes{.factor = -growth} : Magnitudes{.addend = growth};
  }
};

}  // namespace benanza::detail
