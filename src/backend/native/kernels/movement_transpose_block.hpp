// SPDX-License-Identifier: Apache-2.0
// Transposition of a square block in registers.
#pragma once

#include "kernels/simd.hpp"

#include <utility>  // integer_sequence: types only

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// Rows of a block: 16 bytes of small elements; a whole vector of 4-byte elements; 32 bytes of 8-byte elements if the
/// machine has such vectors.
template <class T>
struct Block;
template <>
struct Block<std::uint8_t> {
  static constexpr int size = 16;
  typedef std::uint8_t Row __attribute__((vector_size(16)));
};
template <>
struct Block<std::uint16_t> {
  static constexpr int size = 8;
  typedef std::uint16_t Row __attribute__((vector_size(16)));
};
template <>
struct Block<std::uint32_t> {
  static constexpr int size = lanes;
  typedef std::uint32_t Row __attribute__((vector_size(4 * lanes)));
};
template <>
struct Block<std::uint64_t> {
  static constexpr int size = lanes > 4 ? 4 : 2;
  typedef std::uint64_t Row __attribute__((vector_size(8 * size)));
};

template <int n, class Row, int... k>
inline Row interleave_low(Row a, Row b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, (k / 2 + (k & 1) * n)...);
}
template <int n, class Row, int... k>
inline Row interleave_high(Row a, Row b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, (n / 2 + k / 2 + (k & 1) * n)...);
}
template <int n, int step, class Row, int... k>
inline Row exchange_low(Row a, Row b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, ((k & step) == 0 ? k : n + k - step)...);
}
template <int n, int step, class Row, int... k>
inline Row exchange_high(Row a, Row b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, ((k & step) == 0 ? k + step : n + k)...);
}

/// Eklundh's method: exchanges the off-diagonal halves of increasingly large blocks. One instruction per exchange once
/// `step` spans 64 bits.
template <int n, int step, class Row>
inline void exchange(Row (&r)[n]) {
  if constexpr (step < n) {
    constexpr auto lanes_of_row = std::make_integer_sequence<int, n>{};
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if ((i & step) != 0) continue;
      const Row a = r[i], b = r[i + step];
      r[i] = exchange_low<n, step>(a, b, lanes_of_row);
      r[i + step] = exchange_high<n, step>(a, b, lanes_of_row);
    }
    exchange<n, 2 * step>(r);
  }
}
/// Rows of 16 bytes: log2(n) perfect shuffles; each exchange is one instruction of the baseline.
template <int n, int stage, class Row>
inline void shuffle(Row (&r)[n]) {
  if constexpr (stage < n) {
    constexpr auto lanes_of_row = std::make_integer_sequence<int, n>{};
    Row t[n];
#pragma GCC unroll 16
    for (int i = 0; i < n / 2; ++i) {
      t[2 * i] = interleave_low<n>(r[i], r[i + n / 2], lanes_of_row);
      t[2 * i + 1] = interleave_high<n>(r[i], r[i + n / 2], lanes_of_row);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) r[i] = t[i];
    shuffle<n, 2 * stage>(r);
  }
}

/// y[j * y_stride + i] = x[i * x_stride + j] for a whole block.
template <class T>
inline void transpose_block(const T* x, Index x_stride, T* y, Index y_stride) {
  constexpr int n = Block<T>::size;
  using Row = typename Block<T>::Row;
  Row r[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) __builtin_memcpy(&r[i], x + i * x_stride, sizeof(Row));
  if constexpr (sizeof(Row) == 16) shuffle<n, 1>(r);
  else exchange<n, 1>(r);
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) __builtin_memcpy(y + i * y_stride, &r[i], sizeof(Row));
}

}  // namespace
}  // namespace benanza::native::BENANZA_NATIVE_ISA
