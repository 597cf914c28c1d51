// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers, which libraries have no plan for: few multiply-adds for each byte read, so
// a thread takes neighbouring outputs of a row and its taps' weights serve all of them.
#include "launch.cuh"

namespace benanza::cuda {

namespace {

template <class Y, int n>
__device__ void store_sums(Y* to, const std::int32_t (&sum)[n], const DepthwiseShape& shape) {
  if constexpr (std::is_same_v<Y, std::int32_t>) {
    for (int j = 0; j < n; ++j) to[j] = shape.relu ? max(sum[j], 0) : sum[j];
  } else {
    float value[n];
    for (int j = 0; j < n; ++j) {
      value[j] = static_cast<float>(sum[j]) * shape.rescale;
      if (shape.relu) value[j] = fmaxf(value[j], 0.0F);
    }
    store(to, value);
  }
}

/// n divides a row of y. Taps beyond the border do not count.
template <class X, class W, class Y, int n>
__global__ void __launch_bounds__(threads_per_block)
    depthwise_kernel(DepthwiseShape shape, const X* __restrict__ x, const W* __restrict__ w,
                     const std::int32_t* __restrict__ bias, Y* __restrict__ y) {
  for (std::int64_t i = first_item() * n; i < shape.elements; i += item_step() * n) {
    std::int64_t rest = i;
    const std::int64_t column = take(rest, shape.outputs[1]) * shape.strides[1] - shape.pads[1];
    const std::int64_t row = take(rest, shape.outputs[0]) * shape.strides[0] - shape.pads[0];
    const std::int64_t plane = rest / shape.outputs_of_channel, channel = take(rest, shape.channels);
    const X* const from = x + plane * shape.sizes[0] * shape.sizes[1];
    const W* const weights = w + channel * shape.kernel[0] * shape.kernel[1];
    std::int32_t sum[n];
    for (int j = 0; j < n; ++j) sum[j] = bias != nullptr ? bias[channel] : 0;
    for (int a = 0; a < shape.kernel[0]; ++a) {
      const std::int64_t at = row + a * shape.dilations[0];
      if (at < 0 || at >= shape.sizes[0]) continue;
      for (int b = 0; b < shape.kernel[1]; ++b) {
        const std::int32_t weight = weights[a * shape.kernel[1] + b] - shape.w_zero;
        for (int j = 0; j < n; ++j) {
          const std::int64_t place = column + j * shape.strides[1] + b * shape.dilations[1];
          if (place < 0 || place >= shape.sizes[1]) continue;
          sum[j] += (from[at * shape.sizes[1] + place] - shape.x_zero) * weight;
        }
      }
    }
    store_sums(y + i, sum, shape);
  }
}

template <class Body>
void with_integer(Element element, const Body& body) {
  if (element == Element::u8) body(std::uint8_t{});
  else body(std::int8_t{});
}
template <class Body>
void with_result(DepthwiseResult result, const Body& body) {
  switch (result) {
    case DepthwiseResult::i8: return body(std::int8_t{});
    case DepthwiseResult::u8: return body(std::uint8_t{});
    case DepthwiseResult::i32: return body(std::int32_t{});
    case DepthwiseResult::f32: return body(float{});
  }
}

}  // namespace

void depthwise(const DepthwiseShape& shape, Element x_element, Element w_element, DepthwiseResult result, const void* x,
               const void* w, const void* bias, void* y, cudaStream_t stream) {
  with_integer(x_element, [&](auto x_zero) {
    with_integer(w_element, [&](auto w_zero) {
      with_result(result, [&](auto y_zero) {
        using X = decltype(x_zero);
        using W = decltype(w_zero);
        using Y = decltype(y_zero);
        with_pack<float>(shape.elements, shape.outputs[1], [&](auto n, unsigned blocks) {
          depthwise_kernel<X, W, Y, n>
              <<<blocks, threads_per_block, 0, stream>>>(shape, static_cast<const X*>(x), static_cast<const W*>(w),
                                                         static_cast<const std::int32_t*>(bias), static_cast<Y*>(y));
        });
      });
    });
  });
}

}  // namespace benanza::cuda
