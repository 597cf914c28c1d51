// SPDX-License-Identifier: Apache-2.0
// Kernels that only move elements.
#include "launch.cuh"

namespace benanza::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    strided_kernel(CopyShape shape, const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t i = first_item(); i < shape.elements; i += item_step()) {
    std::int64_t rest = i, from = shape.x_offset, to = shape.y_offset;
#pragma unroll
    for (int k = most_dims - 1; k > 0; --k) {
      if (k >= shape.rank) continue;
      const std::int64_t at = take(rest, shape.sizes[k]);
      from += at * shape.x_strides[k];
      to += at * shape.y_strides[k];
    }
    y[to + rest * shape.y_strides[0]] = x[from + rest * shape.x_strides[0]];
  }
}

template <class T, bool join>
__global__ void __launch_bounds__(threads_per_block) piece_kernel(PieceShape shape, PieceBuffers buffers) {
  const std::int64_t row_cells = shape.ends[shape.pieces - 1];
  T* const whole = static_cast<T*>(buffers.whole);
  for (std::int64_t i = first_item(); i < shape.rows * row_cells; i += item_step()) {
    std::int64_t row = i;
    const std::int64_t column = take(row, row_cells);
    int p = 0;
    while (column >= shape.ends[p]) ++p;
    const std::int64_t begin = p == 0 ? 0 : shape.ends[p - 1];
    T& cell = static_cast<T*>(buffers.piece[p])[row * (shape.ends[p] - begin) + column - begin];
    if constexpr (join) whole[i] = cell;
    else cell = whole[i];
  }
}

constexpr int tile = 32, tile_rows = 8, tile_threads = tile * tile_rows;

/// A block moves one tile: it reads rows of x along x's contiguous dimension and writes rows of y along y's. The extra
/// column avoids bank conflicts for both.
template <class T>
__global__ void __launch_bounds__(tile_threads)
    transpose_kernel(CopyShape shape, std::int64_t across, std::int64_t tiles_a, std::int64_t tiles_b,
                     const T* __restrict__ x, T* __restrict__ y) {
  __shared__ T cells[tile][tile + 1];
  const int a = shape.rank - 2, b = shape.rank - 1;  // contiguous in x, contiguous in y
  for (std::int64_t block = blockIdx.x; block < across; block += gridDim.x) {
    std::int64_t rest = block;
    const std::int64_t b_first = take(rest, tiles_b) * tile, a_first = take(rest, tiles_a) * tile;
    std::int64_t from = shape.x_offset, to = shape.y_offset;
    for (int k = a - 1; k >= 0; --k) {
      const std::int64_t at = take(rest, shape.sizes[k]);
      from += at * shape.x_strides[k];
      to += at * shape.y_strides[k];
    }
    for (int r = threadIdx.y; r < tile; r += tile_rows) {
      const std::int64_t i = a_first + threadIdx.x, j = b_first + r;
      if (i < shape.sizes[a] && j < shape.sizes[b]) cells[r][threadIdx.x] = x[from + i + j * shape.x_strides[b]];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < tile; r += tile_rows) {
      const std::int64_t i = a_first + r, j = b_first + threadIdx.x;
      if (i < shape.sizes[a] && j < shape.sizes[b]) y[to + i * shape.y_strides[a] + j] = cells[threadIdx.x][r];
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    gather_rows_kernel(const T* __restrict__ x, const void* __restrict__ indices, bool wide, T* __restrict__ y,
                       std::int64_t elements, std::int64_t axis, std::int64_t count, std::int64_t row) {
  for (std::int64_t i = first_item(); i < elements; i += item_step()) {
    std::int64_t rest = i;
    const std::int64_t column = take(rest, row), which = take(rest, count);
    y[i] = x[(rest * axis + index_at(indices, wide, which, axis)) * row + column];
  }
}

__device__ std::int64_t place(const IndexShape& shape, const void* indices, std::int64_t i) {
  std::int64_t rest = i, at = index_at(indices, shape.wide_index, i, shape.axis_size) * shape.strides[shape.axis];
  for (int k = shape.rank - 1; k >= 0; --k) {
    const std::int64_t coordinate = take(rest, shape.sizes[k]);
    if (k != shape.axis) at += coordinate * shape.strides[k];
  }
  return at;
}
__device__ std::int64_t place(const TupleShape& shape, const void* indices, std::int64_t i) {
  std::int64_t rest = i;
  const std::int64_t column = take(rest, shape.slice);
  std::int64_t at = 0;
  for (int k = 0; k < shape.tuple; ++k)
    at = at * shape.sizes[k] + index_at(indices, shape.wide_index, rest * shape.tuple + k, shape.sizes[k]);
  return rest / shape.tuples_a_batch * shape.batch_elements + at * shape.slice + column;
}
__host__ __device__ std::int64_t updates_of(const IndexShape& shape) { return shape.elements; }
__host__ __device__ std::int64_t updates_of(const TupleShape& shape) { return shape.tuples * shape.slice; }
/// Elements that are moved together to one location.
__host__ __device__ std::int64_t slice_of(const IndexShape&) { return 1; }
__host__ __device__ std::int64_t slice_of(const TupleShape& shape) { return shape.slice; }

template <class Shape, class T>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(Shape shape, const T* __restrict__ x, const void* __restrict__ indices, T* __restrict__ y) {
  for (std::int64_t i = first_item(); i < updates_of(shape); i += item_step()) y[i] = x[place(shape, indices, i)];
}

/// The first kernel marks every location that is updated as not yet won, the second one lets the last update win.
template <class Shape>
__global__ void __launch_bounds__(threads_per_block)
    no_winner_kernel(Shape shape, const void* __restrict__ indices, std::int32_t* winners) {
  const std::int64_t slice = slice_of(shape), slices = updates_of(shape) / slice;
  for (std::int64_t i = first_item(); i < slices; i += item_step())
    winners[place(shape, indices, i * slice) / slice] = -1;
}
template <class Shape>
__global__ void __launch_bounds__(threads_per_block)
    winner_kernel(Shape shape, const void* __restrict__ indices, std::int32_t* winners) {
  const std::int64_t slice = slice_of(shape), slices = updates_of(shape) / slice;
  for (std::int64_t i = first_item(); i < slices; i += item_step())
    atomicMax(winners + place(shape, indices, i * slice) / slice, static_cast<std::int32_t>(i));
}
template <class Shape, class T>
__global__ void __launch_bounds__(threads_per_block)
    scatter_kernel(Shape shape, const void* __restrict__ indices, const T* __restrict__ updates,
                   const std::int32_t* __restrict__ winners, T* __restrict__ y) {
  for (std::int64_t i = first_item(); i < updates_of(shape); i += item_step()) {
    const std::int64_t at = place(shape, indices, i);
    if (winners == nullptr || winners[at / slice_of(shape)] == i / slice_of(shape)) y[at] = updates[i];
  }
}
template <class Shape>
__global__ void __launch_bounds__(threads_per_block)
    scatter_add_kernel(Shape shape, const void* __restrict__ indices, const float* __restrict__ updates, float* y) {
  for (std::int64_t i = first_item(); i < updates_of(shape); i += item_step())
    atomicAdd(y + place(shape, indices, i), updates[i]);
}

/// The widest access size that divides this many bytes.
std::size_t cell_of(std::size_t bytes) {
  std::size_t cell = 16;
  while (bytes % cell != 0) cell /= 2;
  return cell;
}
/// Slices counted in cells of at least one element.
TupleShape in_cells(TupleShape shape, std::size_t element_bytes, std::size_t cell_bytes) {
  const auto elements = static_cast<std::int64_t>(cell_bytes / element_bytes);
  shape.slice /= elements;
  shape.batch_elements /= elements;
  return shape;
}

template <class Shape>
void gather(const Shape& shape, std::size_t element_bytes, const void* x, const void* indices, void* y,
            cudaStream_t stream) {
  with_cell(element_bytes, [&](auto cell) {
    using T = decltype(cell);
    gather_kernel<Shape, T><<<blocks_for(updates_of(shape)), threads_per_block, 0, stream>>>(
        shape, static_cast<const T*>(x), indices, static_cast<T*>(y));
  });
}
template <class Shape>
void scatter(const Shape& shape, std::size_t element_bytes, const void* indices, const void* updates,
             std::int32_t* winners, void* y, cudaStream_t stream) {
  if (const std::int64_t slices = updates_of(shape) / slice_of(shape); slices > 1) {
    no_winner_kernel<Shape><<<blocks_for(slices), threads_per_block, 0, stream>>>(shape, indices, winners);
    winner_kernel<Shape><<<blocks_for(slices), threads_per_block, 0, stream>>>(shape, indices, winners);
  } else {
    winners = nullptr;  // a single update has no competitor
  }
  with_cell(element_bytes, [&](auto cell) {
    using T = decltype(cell);
    scatter_kernel<Shape, T><<<blocks_for(updates_of(shape)), threads_per_block, 0, stream>>>(
        shape, indices, static_cast<const T*>(updates), winners, static_cast<T*>(y));
  });
}
template <class Shape>
void scatter_add(const Shape& shape, const void* indices, const void* updates, void* y, cudaStream_t stream) {
  scatter_add_kernel<Shape><<<blocks_for(updates_of(shape)), threads_per_block, 0, stream>>>(
      shape, indices, static_cast<const float*>(updates), static_cast<float*>(y));
}

template <bool join>
void move_pieces(const PieceShape& shape, std::size_t cell_bytes, const PieceBuffers& buffers, cudaStream_t stream) {
  const std::int64_t cells = shape.rows * shape.ends[shape.pieces - 1];
  with_cell(cell_bytes, [&](auto cell) {
    using T = decltype(cell);
    piece_kernel<T, join><<<blocks_for(cells), threads_per_block, 0, stream>>>(shape, buffers);
  });
}

}  // namespace

void copy_strided(const CopyShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream) {
  with_cell(element_bytes, [&](auto cell) {
    using T = decltype(cell);
    strided_kernel<T><<<blocks_for(shape.elements), threads_per_block, 0, stream>>>(shape, static_cast<const T*>(x),
                                                                                    static_cast<T*>(y));
  });
}

void join_pieces(const PieceShape& shape, std::size_t cell_bytes, const PieceBuffers& buffers, cudaStream_t stream) {
  move_pieces<true>(shape, cell_bytes, buffers, stream);
}
void part_pieces(const PieceShape& shape, std::size_t cell_bytes, const PieceBuffers& buffers, cudaStream_t stream) {
  move_pieces<false>(shape, cell_bytes, buffers, stream);
}

void copy_transposed(const CopyShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream) {
  const std::int64_t a = shape.sizes[shape.rank - 2], b = shape.sizes[shape.rank - 1];
  const std::int64_t tiles_a = (a + tile - 1) / tile, tiles_b = (b + tile - 1) / tile;
  const std::int64_t across = shape.elements / (a * b) * tiles_a * tiles_b;
  with_cell(element_bytes, [&](auto cell) {
    using T = decltype(cell);
    transpose_kernel<T><<<blocks_for(across, 1), dim3(tile, tile_rows), 0, stream>>>(
        shape, across, tiles_a, tiles_b, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void gather_rows(const void* x, const void* indices, bool wide_index, void* y, std::int64_t outer, std::int64_t axis,
                 std::int64_t count, std::size_t row_bytes, cudaStream_t stream) {
  const std::size_t cell_bytes = cell_of(row_bytes);
  const auto row = static_cast<std::int64_t>(row_bytes / cell_bytes);
  with_cell(cell_bytes, [&](auto cell) {
    using T = decltype(cell);
    gather_rows_kernel<T><<<blocks_for(outer * count * row), threads_per_block, 0, stream>>>(
        static_cast<const T*>(x), indices, wide_index, static_cast<T*>(y), outer * count * row, axis, count, row);
  });
}

void gather_elements(const IndexShape& shape, std::size_t element_bytes, const void* x, const void* indices, void* y,
                     cudaStream_t stream) {
  gather(shape, element_bytes, x, indices, y, stream);
}
void gather_tuples(const TupleShape& shape, std::size_t element_bytes, const void* x, const void* indices, void* y,
                   cudaStream_t stream) {
  const std::size_t cell_bytes = cell_of(static_cast<std::size_t>(shape.slice) * element_bytes);
  gather(in_cells(shape, element_bytes, cell_bytes), cell_bytes, x, indices, y, stream);
}
void scatter_elements(const IndexShape& shape, std::size_t element_bytes, const void* indices, const void* updates,
                      std::int32_t* winners, void* y, cudaStream_t stream) {
  scatter(shape, element_bytes, indices, updates, winners, y, stream);
}
void scatter_tuples(const TupleShape& shape, std::size_t element_bytes, const void* indices, const void* updates,
                    std::int32_t* winners, void* y, cudaStream_t stream) {
  const std::size_t cell_bytes = cell_of(static_cast<std::size_t>(shape.slice) * element_bytes);
  scatter(in_cells(shape, element_bytes, cell_bytes), cell_bytes, indices, updates, winners, y, stream);
}
void scatter_elements_add(const IndexShape& shape, const void* indices, const void* updates, void* y,
                          cudaStream_t stream) {
  scatter_add(shape, indices, updates, y, stream);
}
void scatter_tuples_add(const TupleShape& shape, const void* indices, const void* updates, void* y,
                        cudaStream_t stream) {
  scatter_add(shape, indices, updates, y, stream);
}

}  // namespace benanza::cuda
