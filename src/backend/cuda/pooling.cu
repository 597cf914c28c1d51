// SPDX-License-Identifier: Apache-2.0
// Pooling, one thread per output: adjacent threads share what they read through the caches.
#include "launch.cuh"

#include <cmath>

namespace benanza::cuda {

namespace {

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    pool_kernel(PoolShape shape, const T* __restrict__ x, T* __restrict__ y) {
  const std::int64_t plane = shape.sizes[0] * shape.sizes[1] * shape.sizes[2];
  for (std::int64_t i = first_item(); i < shape.elements; i += item_step()) {
    std::int64_t rest = i, first[3];
    for (int k = 2; k >= 0; --k) first[k] = take(rest, shape.outputs[k]) * shape.strides[k] - shape.pads[k];
    const T* const from = x + rest * plane;
    float value = shape.average ? 0 : -INFINITY;
    int taps = 0;
    for (int a = 0; a < shape.kernel[0]; ++a) {
      const std::int64_t z = first[0] + a * shape.dilations[0];
      if (z < 0 || z >= shape.sizes[0]) continue;
      for (int b = 0; b < shape.kernel[1]; ++b) {
        const std::int64_t row = first[1] + b * shape.dilations[1];
        if (row < 0 || row >= shape.sizes[1]) continue;
        for (int c = 0; c < shape.kernel[2]; ++c) {
          const std::int64_t column = first[2] + c * shape.dilations[2];
          if (column < 0 || column >= shape.sizes[2]) continue;
          const float element = to_f32(from[(z * shape.sizes[1] + row) * shape.sizes[2] + column]);
          value = shape.average ? value + element : fmaxf(value, element);
          ++taps;
        }
      }
    }
    if (shape.average)
      value /=
          static_cast<float>(shape.include_pad ? shape.kernel[0] * shape.kernel[1] * shape.kernel[2] : max(taps, 1));
    y[i] = from_f32<T>(value);
  }
}

}  // namespace

void pool(const PoolShape& shape, Element element, const void* x, void* y, cudaStream_t stream) {
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    pool_kernel<T><<<blocks_for(shape.elements), threads_per_block, 0, stream>>>(shape, static_cast<const T*>(x),
                                                                                 static_cast<T*>(y));
  });
}

}  // namespace benanza::cuda
