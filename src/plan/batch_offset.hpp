// SPDX-License-Identifier: Apache-2.0
// The offsets of the matrices of a batched product, for libraries that take pointers or strides.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <cstddef>
#include <cstdint>

namespace benanza {

/// Offset, in elements, of the matrix that entry `flat` of a batch reads: `batch` is the broadcast shape, `operand` the
/// operand's, whose last two dimensions have `matrix` elements and whose leading ones broadcast as in NumPy.
[[nodiscard]] inline std::int64_t batch_offset(const TensorShape& batch, std::int64_t flat, const TensorShape& operand,
                                               std::int64_t matrix) {
  std::int64_t result = 0, stride = matrix;
  const std::size_t leading = operand.size() - 2;
  for (std::size_t i = 0; i < leading; ++i) {
    const std::int64_t size = batch[batch.size() - 1 - i], index = flat % size, own = operand[leading - 1 - i];
    flat /= size;
    if (own != 1) result += index * stride;
    stride *= own;
  }
  return result;
}

}  // namespace benanza
