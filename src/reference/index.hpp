// SPDX-License-Identifier: Apache-2.0
// Arithmetic of row-major indices.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <cstdint>
#include <span>

namespace benanza::reference {

/// Coordinates of a flat row-major index.
[[nodiscard]] inline TensorShape coordinates(const TensorShape& shape, std::int64_t flat) {
  TensorShape result = TensorShape::filled(shape.size(), 0);
  for (std::size_t i = shape.size(); i-- > 0;) {
    result[i] = flat % shape[i];
    flat /= shape[i];
  }
  return result;
}

/// Row-major distances between neighbours along each axis.
[[nodiscard]] inline TensorShape strides(const TensorShape& shape) {
  TensorShape result = TensorShape::filled(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

/// Flat index of coordinates.
[[nodiscard]] inline std::int64_t flat_index(const TensorShape& shape, const TensorShape& at) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + at[i];
  return flat;
}

/// Flat index in an operand of `shape` that broadcasts (NumPy's rule) to a result with coordinates `at`.
[[nodiscard]] inline std::int64_t broadcast_index(const TensorShape& shape, const TensorShape& at) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t coordinate = shape[i] == 1 ? 0 : at[i + at.size() - shape.size()];
    flat = flat * shape[i] + coordinate;
  }
  return flat;
}

/// Steps `at` to the next coordinates in row-major order; false after the last.
[[nodiscard]] inline bool advance(const TensorShape& shape, TensorShape& at) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i]) return true;
    at[i] = 0;
  }
  return false;
}

/// Dimensions [begin, end) of a shape.
[[nodiscard]] inline TensorShape part(const TensorShape& shape, std::size_t begin, std::size_t end) {
  return TensorShape(std::span(shape.begin() + begin, shape.begin() + end));
}

}  // namespace benanza::reference
