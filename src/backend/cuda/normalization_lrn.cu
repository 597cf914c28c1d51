// SPDX-License-Identifier: Apache-2.0
// Local response normalisation across channels: adjacent channels are read through the caches.
#include "launch.cuh"

namespace benanza::cuda {

namespace {

/// n divides `inner`.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    lrn_kernel(std::int64_t elements, std::int64_t channels, std::int64_t inner, int before, int behind, float alpha,
               float beta, float bias, const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t i = first_item() * n; i < elements; i += item_step() * n) {
    const std::int64_t channel = i / inner % channels;
    float value[n], sum[n]{};
    for (int d = -before; d <= behind; ++d) {
      if (channel + d < 0 || channel + d >= channels) continue;
      load(x + i + d * inner, value);
      for (int j = 0; j < n; ++j) sum[j] += value[j] * value[j];
    }
    load(x + i, value);
    for (int j = 0; j < n; ++j) value[j] *= powf(bias + alpha * sum[j], -beta);
    store(y + i, value);
  }
}

}  // namespace

void lrn(std::int64_t batch, std::int64_t channels, std::int64_t inner, int before, int behind, float alpha, float beta,
         float bias, Element element, const void* x, void* y, cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t elements = batch * channels * inner;
    with_pack<T>(elements, inner, [&](auto n, unsigned blocks) {
      lrn_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(elements, channels, inner, before, behind, alpha, beta,
                                                                 bias, static_cast<const T*>(x), static_cast<T*>(y));
    });
  });
}

}  // namespace benanza::cuda
