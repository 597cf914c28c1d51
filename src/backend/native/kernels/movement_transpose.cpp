// SPDX-License-Identifier: Apache-2.0
// Tiles of a 2-D transpose, for elements of 1 to 16 bytes.
#include "kernels.hpp"
#include "kernels/movement_transpose_block.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

struct Wide {
  std::uint64_t low, high;
};

template <class T>
void simple(const T* x, Index x_stride, T* y, Index y_stride, Index rows, Index columns) {
  if (rows < columns) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) y[j * y_stride + i] = x[i * x_stride + j];
  } else {
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i) y[j * y_stride + i] = x[i * x_stride + j];
  }
}

/// Matrices of `width` columns (or, in the other direction, rows) without gaps, as in images: with a stride known at
/// compile time, the compiler uses shuffles.
template <class T, int width>
void split_columns(const T* x, T* y, Index y_stride, Index rows) {
  for (Index i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < width; ++j) y[j * y_stride + i] = x[i * width + j];
}
template <class T, int width>
void join_rows(const T* x, Index x_stride, T* y, Index columns) {
  for (Index j = 0; j < columns; ++j)
#pragma GCC unroll 4
    for (int i = 0; i < width; ++i) y[j * width + i] = x[i * x_stride + j];
}
template <class T>
bool narrow(const T* x, Index x_stride, T* y, Index y_stride, Index rows, Index columns) {
  if (columns == 2 && x_stride == 2) split_columns<T, 2>(x, y, y_stride, rows);
  else if (columns == 3 && x_stride == 3) split_columns<T, 3>(x, y, y_stride, rows);
  else if (columns == 4 && x_stride == 4) split_columns<T, 4>(x, y, y_stride, rows);
  else if (rows == 2 && y_stride == 2) join_rows<T, 2>(x, x_stride, y, columns);
  else if (rows == 3 && y_stride == 3) join_rows<T, 3>(x, x_stride, y, columns);
  else if (rows == 4 && y_stride == 4) join_rows<T, 4>(x, x_stride, y, columns);
  else return false;
  return true;
}

/// Whole lines of x are copied to a contiguous buffer once, and lines of y are written one after another: with strides
/// near a power of two, the lines of a tile share a few sets of the cache and would evict each other.
template <class T>
void by_lines(const T* x, Index x_stride, T* y, Index y_stride, Index rows, Index columns) {
  constexpr Index n = Block<T>::size, line = 64 / static_cast<Index>(sizeof(T));
  alignas(64) T buffer[line * line];
  for (Index i = 0; i < rows; i += line) {
    for (Index j = 0; j < columns; j += line) {
      for (Index r = 0; r < line; ++r) __builtin_memcpy(buffer + r * line, x + (i + r) * x_stride + j, 64);
      for (Index c = 0; c < line; c += n)
        for (Index r = 0; r < line; r += n)
          transpose_block(buffer + r * line + c, line, y + (j + c) * y_stride + i + r, y_stride);
    }
  }
}

template <class T>
void transpose(const void* from, Index x_stride, void* to, Index y_stride, Index rows, Index columns) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  if constexpr (__is_same(T, Wide)) {
    simple(x, x_stride, y, y_stride, rows, columns);
  } else {
    if ((rows < 5 || columns < 5) && narrow(x, x_stride, y, y_stride, rows, columns)) return;
    constexpr Index n = Block<T>::size, line = 64 / static_cast<Index>(sizeof(T));
    if (x_stride * static_cast<Index>(sizeof(T)) % 512 == 0 && rows % line == 0 && columns % line == 0)
      return by_lines(x, x_stride, y, y_stride, rows, columns);
    const Index whole_rows = rows / n * n, whole_columns = columns / n * n;
    for (Index j = 0; j < whole_columns; j += n) {
      for (Index i = 0; i < whole_rows; i += n)
        transpose_block(x + i * x_stride + j, x_stride, y + j * y_stride + i, y_stride);
      simple(x + whole_rows * x_stride + j, x_stride, y + j * y_stride + whole_rows, y_stride, rows - whole_rows, n);
    }
    simple(x + whole_columns, x_stride, y + whole_columns * y_stride, y_stride, rows, columns - whole_columns);
  }
}

/// Uses a buffer in the first-level cache, whose rows are then written without the caches. The driver's tiles fit: 16
/// KiB.
template <class T>
void transpose_stream(const void* from, Index x_stride, void* to, Index y_stride, Index rows, Index columns) {
  alignas(64) unsigned char buffer[16384];
  auto* y = static_cast<T*>(to);
  const Index columns_at_once = static_cast<Index>(sizeof(buffer) / sizeof(T)) / rows;
  for (Index j = 0; j < columns; j += columns_at_once) {
    const Index some = j + columns_at_once < columns ? columns_at_once : columns - j;
    transpose<T>(static_cast<const T*>(from) + j, x_stride, buffer, rows, rows, some);
    for (Index l = 0; l < some; ++l)
      stream_copy(y + (j + l) * y_stride, buffer + static_cast<std::size_t>(l * rows) * sizeof(T),
                  static_cast<std::size_t>(rows) * sizeof(T));
  }
}

template <class T>
void add_size(Kernels& kernels, std::size_t at) {
  kernels.transpose[at] = transpose<T>;
  kernels.transpose_stream[at] = transpose_stream<T>;
}

}  // namespace

void add_transpose(Kernels& kernels) {
  add_size<std::uint8_t>(kernels, 0);
  add_size<std::uint16_t>(kernels, 1);
  add_size<std::uint32_t>(kernels, 2);
  add_size<std::uint64_t>(kernels, 3);
  add_size<Wide>(kernels, 4);
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
