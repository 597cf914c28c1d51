// SPDX-License-Identifier: Apache-2.0
// Conversion of elements from one type to another, several adjacent ones per thread if they share a scale.
#include "team.cuh"

namespace benanza::cuda {

namespace {

template <class From, class To, int n>
__global__ void __launch_bounds__(threads_per_block)
    cast_kernel(std::int64_t elements, const From* __restrict__ x, To* __restrict__ y) {
  for (std::int64_t i = first_item() * n; i < elements; i += item_step() * n) {
    float value[n];
    load(x + i, value);
    store(y + i, value);
  }
}

/// Calls `convert(i, channel)` for every n elements; n divides the length of a run with one scale.
template <int n, class Convert>
__device__ void for_each_pack(const QuantizeShape& shape, const Convert& convert) {
  for (std::int64_t i = first_item() * n; i < shape.elements; i += item_step() * n)
    convert(i, shape.channels == 1 ? 0 : i / shape.inner % shape.channels);
}

/// The quotient is rounded to the type of x, as ONNX defines it, and once more if the result is an integer.
template <class From, class To, int n>
__global__ void __launch_bounds__(threads_per_block)
    quantize_kernel(QuantizeShape shape, const From* __restrict__ x, const From* __restrict__ scale,
                    const To* __restrict__ zero, To* __restrict__ y) {
  for_each_pack<n>(shape, [&](std::int64_t i, std::int64_t c) {
    const float by = to_f32(scale[c]), shift = to_f32(zero[c]);
    float value[n];
    load(x + i, value);
    for (float& v : value) {
      const float quotient = by == 0 ? 0 : to_f32(from_f32<From>(v / by));
      v = (std::is_integral_v<To> ? rintf(quotient) : quotient) + shift;
    }
    store(y + i, value);
  });
}

template <class From, class To, int n>
__global__ void __launch_bounds__(threads_per_block)
    dequantize_kernel(QuantizeShape shape, const From* __restrict__ x, const To* __restrict__ scale,
                      const From* __restrict__ zero, To* __restrict__ y) {
  for_each_pack<n>(shape, [&](std::int64_t i, std::int64_t c) {
    const float by = to_f32(scale[c]), shift = to_f32(zero[c]);
    float value[n];
    load(x + i, value);
    for (float& v : value) v = (v - shift) * by;
    store(y + i, value);
  });
}

/// Each block handles its share of x: parts[2 b] = min(x, 0), parts[2 b + 1] = max(x, 0).
template <class From, int n>
__global__ void __launch_bounds__(threads_per_block)
    extremes_kernel(std::int64_t elements, const From* __restrict__ x, float* __restrict__ parts) {
  float low = 0, high = 0;
  for (std::int64_t i = first_item() * n; i < elements; i += item_step() * n) {
    float value[n];
    load(x + i, value);
    for (const float v : value) {
      low = fminf(low, v);
      high = fmaxf(high, v);
    }
  }
  low = Block::all(low, 0, Least());
  high = Block::all(high, 0, Most());
  if (threadIdx.x == 0) {
    parts[2 * blockIdx.x] = low;
    parts[2 * blockIdx.x + 1] = high;
  }
}

/// A single block maps [min(x, 0), max(x, 0)] of all parts to the range of the integers.
template <class From, class To>
__global__ void __launch_bounds__(threads_per_block)
    range_kernel(int count, const float* __restrict__ parts, double least, double largest, From* __restrict__ scale,
                 To* __restrict__ zero) {
  float low = 0, high = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    low = fminf(low, parts[2 * i]);
    high = fmaxf(high, parts[2 * i + 1]);
  }
  low = Block::all(low, 0, Least());
  high = Block::all(high, 0, Most());
  if (threadIdx.x != 0) return;
  *scale = from_f32<From>(static_cast<float>((static_cast<double>(high) - low) / (largest - least)));
  const double by = to_f32(*scale);
  *zero = from_f32<To>(by == 0 ? 0.0F : static_cast<float>(rint(least - low / by)));
}

}  // namespace

void cast(Element from, Element to, std::int64_t elements, const void* x, void* y, cudaStream_t stream) {
  with_element(from, [&](auto source) {
    with_float(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      with_pack<From, To>(elements, elements, [&](auto n, unsigned blocks) {
        cast_kernel<From, To, n>
            <<<blocks, threads_per_block, 0, stream>>>(elements, static_cast<const From*>(x), static_cast<To*>(y));
      });
    });
  });
}

void quantize(const QuantizeShape& shape, Element from, Element to, const void* x, const void* scale, const void* zero,
              void* y, cudaStream_t stream) {
  with_wide(from, [&](auto source) {
    with_8_bits(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      with_pack<From, To>(shape.elements, shape.inner, [&](auto n, unsigned blocks) {
        quantize_kernel<From, To, n><<<blocks, threads_per_block, 0, stream>>>(
            shape, static_cast<const From*>(x), static_cast<const From*>(scale), static_cast<const To*>(zero),
            static_cast<To*>(y));
      });
    });
  });
}

void quantize_dynamic(std::int64_t elements, Element from, Element to, const void* x, void* scale, void* zero, void* y,
                      float* parts, cudaStream_t stream) {
  const bool is_signed = to == Element::i8;
  const double least = is_signed ? -128 : 0, largest = is_signed ? 127 : 255;
  with_wide(from, [&](auto source) {
    with_8_bits(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      with_pack<From>(elements, elements, [&](auto n, unsigned wanted) {
        const unsigned blocks = std::min(most_parts, wanted);
        extremes_kernel<From, n>
            <<<blocks, threads_per_block, 0, stream>>>(elements, static_cast<const From*>(x), parts);
        range_kernel<From, To><<<1, threads_per_block, 0, stream>>>(static_cast<int>(blocks), parts, least, largest,
                                                                    static_cast<From*>(scale), static_cast<To*>(zero));
      });
    });
  });
  quantize({.elements = elements, .inner = elements}, from, to, x, scale, zero, y, stream);
}

void dequantize(const QuantizeShape& shape, Element from, Element to, const void* x, const void* scale,
                const void* zero, void* y, cudaStream_t stream) {
  with_8_bits(from, [&](auto source) {
    with_wide(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      with_pack<From, To>(shape.elements, shape.inner, [&](auto n, unsigned blocks) {
        dequantize_kernel<From, To, n><<<blocks, threads_per_block, 0, stream>>>(
            shape, static_cast<const From*>(x), static_cast<const To*>(scale), static_cast<const From*>(zero),
            static_cast<To*>(y));
      });
    });
  });
}

}  // namespace benanza::cuda
