// SPDX-License-Identifier: Apache-2.0
// Columns: where the columns of a product of 8-bit integers come from: a matrix, or the windows of a convolution.
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

/// Gives columns [first, first + count) of the matrix that begins at `x`: `depth` rows of `width` elements that can be
/// read, of which `count` matter. Where they do not lie like that they are copied to `buffer`, depth x width elements.
using Columns =
    std::function<ByteRows(const std::uint8_t* x, std::int64_t first, std::int64_t count, std::uint8_t* buffer)>;

/// Columns of a matrix of depth x n, or in memory n x depth.
[[nodiscard]] Columns matrix_columns(Index depth, Index n, Index width, bool transposed);
/// A column for each place of the window in one group of channels of one image; `padding` outside of it.
[[nodiscard]] Columns window_columns(const op::Conv& op, std::uint8_t padding, Index width);

}  // namespace benanza::native
