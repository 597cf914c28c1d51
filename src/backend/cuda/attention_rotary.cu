// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings. A thread rotates as many pairs as one 16-byte access holds first elements.
#include "launch.cuh"

namespace benanza::cuda {

namespace {

/// Pairs [pair, pair + n) of a row.
template <class T, int n>
__device__ void load_pairs(const T* row, std::int64_t pair, const RotaryShape& shape, float (&first)[n],
                           float (&second)[n]) {
  if (!shape.interleaved) {
    load(row + pair, first);
    load(row + shape.depth / 2 + pair, second);
    return;
  }
  load(row + 2 * pair, first);
  load(row + 2 * pair + n, second);
  float both[2 * n];
  for (int j = 0; j < n; ++j) {
    both[j] = first[j];
    both[n + j] = second[j];
  }
  for (int j = 0; j < n; ++j) {
    first[j] = both[2 * j];
    second[j] = both[2 * j + 1];
  }
}

template <class T, int n>
__device__ void store_pairs(T* row, std::int64_t pair, const RotaryShape& shape, const float (&first)[n],
                            const float (&second)[n]) {
  if (!shape.interleaved) {
    store(row + pair, first);
    store(row + shape.depth / 2 + pair, second);
    return;
  }
  float both[2 * n], part[n];
  for (int j = 0; j < n; ++j) {
    both[2 * j] = first[j];
    both[2 * j + 1] = second[j];
  }
  for (int j = 0; j < n; ++j) part[j] = both[j];
  store(row + 2 * pair, part);
  for (int j = 0; j < n; ++j) part[j] = both[n + j];
  store(row + 2 * pair + n, part);
}

template <class T, int n>
__device__ void load_angles(const T* row, std::int64_t pair, const RotaryShape& shape, float (&first)[n],
                            float (&second)[n]) {
  if (shape.each_element) return load_pairs(row, pair, shape, first, second);
  load(row + pair, first);
  for (int j = 0; j < n; ++j) second[j] = first[j];
}

/// n divides the pairs of a row.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    rotary_kernel(RotaryShape shape, const T* __restrict__ x, const T* __restrict__ cosines,
                  const T* __restrict__ sines, T* __restrict__ y) {
  const std::int64_t pairs = shape.depth / 2;
  for (std::int64_t i = first_item() * n; i < shape.rows * pairs; i += item_step() * n) {
    std::int64_t rest = i, at = 0;
    const std::int64_t pair = take(rest, pairs), row = rest;
    for (int k = shape.rank - 1; k >= 0; --k) at += take(rest, shape.sizes[k]) * shape.strides[k];
    float a[n], b[n], cosine_a[n], cosine_b[n], sine_a[n], sine_b[n];
    load_pairs(x + row * shape.depth, pair, shape, a, b);
    load_angles(cosines + at, pair, shape, cosine_a, cosine_b);
    load_angles(sines + at, pair, shape, sine_a, sine_b);
    for (int j = 0; j < n; ++j) {
      const float first = a[j] * cosine_a[j] - b[j] * sine_a[j];
      b[j] = b[j] * cosine_b[j] + a[j] * sine_b[j];
      a[j] = first;
    }
    store_pairs(y + row * shape.depth, pair, shape, a, b);
  }
}

}  // namespace

void rotary(const RotaryShape& shape, Element element, const void* x, const void* cosines, const void* sines, void* y,
            cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t pairs = shape.depth / 2;
    with_pack<T>(shape.rows * pairs, pairs, [&](auto n, unsigned blocks) {
      rotary_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(shape, static_cast<const T*>(x),
                                                                    static_cast<const T*>(cosines),
                                                                    static_cast<const T*>(sines), static_cast<T*>(y));
    });
  });
}

}  // namespace benanza::cuda
