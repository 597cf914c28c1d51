// SPDX-License-Identifier: Apache-2.0
// Resizing and padding by tables of positions, one for each axis: a thread writes adjacent elements along the
// innermost.
#include "launch.cuh"

namespace benanza::cuda {

namespace {

/// The numbers of taps of all axes multiply, so combinations are counted like digits. n divides the innermost size.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    resize_kernel(ResizeShape shape, int combinations, const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t i = first_item() * n; i < shape.elements; i += item_step() * n) {
    std::int64_t cell[most_dims], rest = i;
    for (int k = shape.rank - 1; k >= 0; --k) cell[k] = take(rest, shape.sizes[k]);
    float sum[n]{};
    for (int c = 0; c < combinations; ++c) {
      int digits = c;
      std::int64_t from[n]{};
      float weight[n];
      for (float& w : weight) w = 1;
      for (int k = shape.rank - 1; k >= 0; --k) {
        const int tap = digits % shape.taps[k];
        digits /= shape.taps[k];
        for (int j = 0; j < n; ++j) {
          const std::int64_t at = tap * shape.sizes[k] + cell[k] + (k == shape.rank - 1 ? j : 0);
          from[j] += shape.at[k][at] * shape.x_strides[k];
          if (shape.taps[k] > 1) weight[j] *= shape.weight[k][at];
        }
      }
      for (int j = 0; j < n; ++j) sum[j] += weight[j] * to_f32(x[from[j]]);
    }
    store(y + i, sum);
  }
}

template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    pad_kernel(ResizeShape shape, const T* __restrict__ x, T* __restrict__ y) {
  const int inner = shape.rank - 1;
  for (std::int64_t i = first_item() * n; i < shape.elements; i += item_step() * n) {
    std::int64_t rest = i, row = 0;
    const std::int64_t column = take(rest, shape.sizes[inner]);
    bool inside = true;
    for (int k = inner - 1; k >= 0; --k) {
      const std::int32_t at = shape.at[k][take(rest, shape.sizes[k])];
      inside = inside && at >= 0;
      row += at * shape.x_strides[k];
    }
    Pack<T, n> pack;
    for (int j = 0; j < n; ++j) {
      const std::int32_t at = shape.at[inner][column + j];
      pack.value[j] = inside && at >= 0 ? x[row + at * shape.x_strides[inner]] : T{};
    }
    *reinterpret_cast<Pack<T, n>*>(y + i) = pack;
  }
}

}  // namespace

void resize(const ResizeShape& shape, Element element, const void* x, void* y, cudaStream_t stream) {
  int combinations = 1;
  for (int k = 0; k < shape.rank; ++k) combinations *= shape.taps[k];
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    with_pack<T>(shape.elements, shape.sizes[shape.rank - 1], [&](auto n, unsigned blocks) {
      resize_kernel<T, n>
          <<<blocks, threads_per_block, 0, stream>>>(shape, combinations, static_cast<const T*>(x), static_cast<T*>(y));
    });
  });
}

void pad(const ResizeShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream) {
  with_cell(element_bytes, [&](auto cell) {
    using T = decltype(cell);
    with_pack<T>(shape.elements, shape.sizes[shape.rank - 1], [&](auto n, unsigned blocks) {
      pad_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(shape, static_cast<const T*>(x), static_cast<T*>(y));
    });
  });
}

}  // namespace benanza::cuda
