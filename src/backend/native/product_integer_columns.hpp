// SPDX-License-Identifier: Apache-2.0
// Columns: the source of the columns of a product of 8-bit integers: a matrix, or the windows of a convolution.
#pragma once

#include "context.hpp"

#include <cstdint>
#include <functional>

namespace benanza::native {

/// Rows of a matrix, `stride` elements apart.
struct ByteRows {
  const std::uint8_t* data = nullptr;
  Index stride = 0;
};

/// Returns columns [first, first + count) of the matrix that begins at `x`: `depth` rows of `width` readable elements,
/// of which `count` are used. If the columns do not have this layout, they are copied to `buffer`, depth x width
/// elements.
using Columns =
    std::function<ByteRows(const std::uint8_t* x, std::int64_t first, std::int64_t count, std::uint8_t* buffer)>;

/// Columns of a matrix of depth x n, stored as n x depth if `transposed`.
[[nodiscard]] Columns matrix_columns(Index depth, Index n, Index width, bool transposed);
/// A column for each position of the window in one group of channels of one image, with `padding` outside.
[[nodiscard]] Columns window_columns(const op::Conv& op, std::uint8_t padding, Index width);

}  // namespace benanza::native
