// SPDX-License-Identifier: Apache-2.0
// Band: the elements of a matrix near its diagonal, such as the triangle that a causal mask leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace benanza {

/// Elements with `least` <= column - row <= `most`. Empty if `least` is greater.
struct Band {
  static constexpr std::int64_t below = std::numeric_limits<std::int64_t>::min() / 4,
                                above = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t least = below, most = above;
  bool operator==(const Band&) const = default;

  [[nodiscard]] bool empty() const { return least > most; }
  [[nodiscard]] bool covers(std::int64_t rows, std::int64_t columns) const {
    return least <= 1 - rows && most >= columns - 1;
  }
  /// Whether each row has an element.
  [[nodiscard]] bool reaches_each_row(std::int64_t rows, std::int64_t columns) const {
    return !empty() && most >= 0 && least <= columns - rows;
  }
  [[nodiscard]] Band transposed() const { return {-most, -least}; }
  /// The band of the submatrix that begins at a row and a column.
  [[nodiscard]] Band from(std::int64_t row, std::int64_t column) const {
    return {least - column + row, most - column + row};
  }
  /// All other elements, if they form a band.
  [[nodiscard]] std::optional<Band> complement() const {
    if (empty()) return Band{};
    if (least <= below / 2 && most >= above / 2) return Band{1, 0};
    if (least <= below / 2) return Band{most + 1, above};
    if (most >= above / 2) return Band{below, least - 1};
    return std::nullopt;
  }
};
[[nodiscard]] inline Band common(const Band& a, const Band& b) {
  return {std::max(a.least, b.least), std::min(a.most, b.most)};
}
/// The smallest band that contains both.
[[nodiscard]] inline Band around(const Band& a, const Band& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

/// A constant whose last two axes contain one number outside of a band, and one or several numbers within it. The band
/// is the same in all matrices.
struct BandedNumbers {
  Band band{};
  double inside = 0, outside = 0;
  bool differ = false;  ///< numbers within the band differ: `inside` is one of them
  bool operator==(const BandedNumbers&) const = default;
};

}  // namespace benanza
