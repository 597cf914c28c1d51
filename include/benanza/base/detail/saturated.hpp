// SPDX-License-Identifier: Apache-2.0
// Arithmetic on counts of what loops repeat: results that do not fit are the largest number. A file can have loops of
// 2^62 passes.
#pragma once

#include <cstdint>
#include <limits>

namespace benanza::detail {

/// a + b for counts, which are not negative.
[[nodiscard]] constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

/// a * b for counts, which are not negative.
[[nodiscard]] constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// Adds to a count.
constexpr void add_saturated(std::int64_t& count, std::int64_t more) { count = saturated_sum(count, more); }

}  // namespace benanza::detail
