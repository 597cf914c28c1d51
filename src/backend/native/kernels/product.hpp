// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with a few vectors of columns, with the sums in registers.
#pragma once

#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// y[r][0 .. width vectors) (+)= sum over i of x[r * x_stride + i * x_step] * w[i * w_stride ...].
template <int rows, int width>
inline void product(const float* x, Index x_stride, const float* w, Index w_stride, Index n, float* y, Index y_stride,
                    bool add) {
  F acc[rows][width];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) acc[r][j] = add ? load(y + r * y_stride + j * lanes) : splat(0.0F);
  for (Index i = 0; i < n; ++i) {
    F operand[width];
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) operand[j] = load(w + i * w_stride + j * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const F broadcast = splat(x[r * x_stride + i]);
#pragma GCC unroll 8
      for (int j = 0; j < width; ++j) acc[r][j] += broadcast * operand[j];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) store(y + r * y_stride + j * lanes, acc[r][j]);
}
/// The last columns, fewer than fill a vector.
inline void product_tail(const float* x, const float* w, Index w_stride, Index n, float* y, Index some, bool add) {
  F acc = add ? load(y) : splat(0.0F);
  for (Index i = 0; i < n; ++i) acc += splat(x[i]) * load_some(w + i * w_stride, some, 0.0F);
  store(y, acc);
}

/// The best number of rows for this many vectors: 12 accumulators, the operands and a broadcast fit 16 registers.
template <int width>
constexpr int rows_at_once = width >= 3 ? 12 / width : 6;

template <int width>
void product_of_rows(Index rows, const float* x, Index x_stride, const float* w, Index w_stride, Index n, float* y,
                     Index y_stride, bool add) {
  switch (rows) {
    case 1: return product<1, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
    case 2: return product<2, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
    case 3: return product<3, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
    case 4: return product<4, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
    case 5: return product<5, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
    default: return product<6, width>(x, x_stride, w, w_stride, n, y, y_stride, add);
  }
}

}  // namespace
}  // namespace benanza::native::BENANZA_NATIVE_ISA
