// SPDX-License-Identifier: Apache-2.0
// transpose_matrices: the change of layout that most plans need outside the timed region, for elements of any size.
#pragma once

#include <benanza/plan/element_order.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace benanza {

/// Transposes each of `count` row-major matrices of rows x columns elements. The buffers do not overlap.
inline void transpose_matrices(const void* from, void* to, std::int64_t count, std::int64_t rows, std::int64_t columns,
                               std::size_t element_bytes) {
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  const auto n = static_cast<std::size_t>(count), r = static_cast<std::size_t>(rows),
             c = static_cast<std::size_t>(columns), matrix = r * c * element_bytes;
  for (std::size_t i = 0; i < n; ++i, source += matrix, target += matrix)
    for (std::size_t column = 0; column < c; ++column)
      for (std::size_t row = 0; row < r; ++row)
        std::memcpy(target + (column * r + row) * element_bytes, source + (row * c + column) * element_bytes,
                    element_bytes);
}

/// Where `transpose_matrices` puts element `index`.
[[nodiscard]] constexpr std::int64_t transposed_index(std::int64_t index, std::int64_t rows, std::int64_t columns) {
  const std::int64_t within = index % (rows * columns);
  return index - within + within % columns * rows + within / columns;
}

/// The order in which `transpose_matrices` leaves the elements.
[[nodiscard]] inline ElementOrder transposed_order(std::int64_t count, std::int64_t rows, std::int64_t columns) {
  return ElementOrder(std::array{OrderDigit{count, rows * columns}, OrderDigit{columns, 1}, OrderDigit{rows, columns}});
}

}  // namespace benanza
