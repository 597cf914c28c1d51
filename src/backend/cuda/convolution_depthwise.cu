// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers, for which libraries have no plan. There are few multiply-adds for each byte
// read, so a thread takes adjacent outputs of a row and reuses the weights of the taps for all of them.
#include "integers.cuh"

namespace benanza::cuda {

namespace {

/// n divides a row of y. Taps outside the border do not count.
template <class X, class W, class Y, int n>
__global__ void __launch_bounds__(threads_per_block)
    depthwise_kernel(DepthwiseShape shape, const X* __restrict__ x, const W* __restrict__ w,
                     const std::int32_t* __restrict__ bias, Y* __restrict__ y) {
  for (std::int64_t i = first_item() * n; i < shape.elements; i += item_step() * n) {
    std::int64_t rest = i;
    const std::int64_t column = take(rest, shape.windows.outputs[1]) * shape.windows.strides[1] - shape.windows.pads[1];
    const std::int64_t row = take(rest, shape.windows.outputs[0]) * shape.windows.strides[0] - shape.windows.pads[0];
    const std::int64_t plane = rest / shape.outputs_of_channel, channel = take(rest, shape.channels);
    const X* const from = x + plane * shape.windows.sizes[0] * shape.windows.sizes[1];
    const W* const weights = w + channel * shape.windows.kernel[0] * shape.windows.kernel[1];
    std::int32_t sum[n];
    for (int j = 0; j < n; ++j) sum[j] = bias != nullptr ? bias[channel] : 0;
    for (int a = 0; a < shape.windows.kernel[0]; ++a) {
      const std::int64_t at = row + a * shape.windows.dilations[0];
      if (at < 0 || at >= shape.windows.sizes[0]) continue;
      for (int b = 0; b < shape.windows.kernel[1]; ++b) {
        const std::int32_t weight = weights[a * shape.windows.kernel[1] + b] - shape.windows.w_zero;
        for (int j = 0; j < n; ++j) {
          const std::int64_t place = column + j * shape.windows.strides[1] + b * shape.windows.dilations[1];
          if (place < 0 || place >= shape.windows.sizes[1]) continue;
          sum[j] += (from[at * shape.windows.sizes[1] + place] - shape.windows.x_zero) * weight;
        }
      }
    }
    store_sums(y + i, sum, shape.windows);
  }
}

}  // namespace

void depthwise(const DepthwiseShape& shape, Element x_element, Element w_element, IntegerResult result, const void* x,
               const void* w, const void* bias, void* y, cudaStream_t stream) {
  with_integer(x_element, [&](auto x_zero) {
    with_integer(w_element, [&](auto w_zero) {
      with_result(result, [&](auto y_zero) {
        using X = decltype(x_zero);
        using W = decltype(w_zero);
        using Y = decltype(y_zero);
        with_pack<float>(shape.elements, shape.windows.outputs[1], [&](auto n, unsigned blocks) {
          depthwise_kernel<X, W, Y, n>
              <<<blocks, threads_per_block, 0, stream>>>(shape, static_cast<const X*>(x), static_cast<const W*>(w),
                                                         static_cast<const std::int32_t*>(bias), static_cast<Y*>(y));
        });
      });
    });
  });
}

}  // namespace benanza::cuda
