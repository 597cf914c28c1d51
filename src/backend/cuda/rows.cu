// SPDX-License-Identifier: Apache-2.0
// Kernels that combine elements: normalisations over rows, reductions, local response normalisation, resizing.
#include "block.cuh"
#include "launch.cuh"

#include <cfloat>

namespace benanza::cuda {

namespace {

template <RowFunction function, class T>
__global__ void row_kernel(RowShape shape, const T* __restrict__ x, const T* __restrict__ scale,
                           const T* __restrict__ bias, T* __restrict__ y) {
  constexpr bool softmax = function == RowFunction::softmax || function == RowFunction::log_softmax;
  [[maybe_unused]] const auto length = static_cast<float>(shape.length);
  for (std::int64_t row = blockIdx.x; row < shape.rows; row += gridDim.x) {
    const T* const from = x + row * shape.length;
    T* const to = y + row * shape.length;
    float center = 0, factor = 1;
    if constexpr (softmax) {
      float most = -FLT_MAX, sum = 0;
      for (std::int64_t i = threadIdx.x; i < shape.length; i += blockDim.x) most = fmaxf(most, to_f32(from[i]));
      center = of_block(most, -FLT_MAX, Most());
      for (std::int64_t i = threadIdx.x; i < shape.length; i += blockDim.x) sum += expf(to_f32(from[i]) - center);
      sum = of_block(sum, 0, Sum());
      factor = function == RowFunction::log_softmax ? logf(sum) : 1 / sum;
    } else {
      float sum = 0, squares = 0;
      if constexpr (function == RowFunction::layer_norm) {
        for (std::int64_t i = threadIdx.x; i < shape.length; i += blockDim.x) sum += to_f32(from[i]);
        center = of_block(sum, 0, Sum()) / length;
      }
      for (std::int64_t i = threadIdx.x; i < shape.length; i += blockDim.x) {
        const float distance = to_f32(from[i]) - center;
        squares += distance * distance;
      }
      factor = rsqrtf(of_block(squares, 0, Sum()) / length + shape.epsilon);
    }
    for (std::int64_t i = threadIdx.x; i < shape.length; i += blockDim.x) {
      const float distance = to_f32(from[i]) - center;
      float value = function == RowFunction::softmax       ? expf(distance) * factor
                    : function == RowFunction::log_softmax ? distance - factor
                                                           : distance * factor;
      if constexpr (!softmax) {
        const std::int64_t c = (row * shape.length + i) / shape.scale_length % shape.scale_count;
        if (scale != nullptr) value *= to_f32(scale[c]);
        if (bias != nullptr) value += to_f32(bias[c]);
      }
      to[i] = from_f32<T>(value);
    }
  }
}

template <class T>
__global__ void softmax_columns_kernel(std::int64_t columns, std::int64_t axis, std::int64_t inner, bool log,
                                       const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t column = first_item(); column < columns; column += item_step()) {
    const std::int64_t base = column / inner * axis * inner + column % inner;
    float most = -FLT_MAX, sum = 0;
    for (std::int64_t i = 0; i < axis; ++i) most = fmaxf(most, to_f32(x[base + i * inner]));
    for (std::int64_t i = 0; i < axis; ++i) sum += expf(to_f32(x[base + i * inner]) - most);
    const float factor = log ? logf(sum) : 1 / sum;
    for (std::int64_t i = 0; i < axis; ++i) {
      const float distance = to_f32(x[base + i * inner]) - most;
      y[base + i * inner] = from_f32<T>(log ? distance - factor : expf(distance) * factor);
    }
  }
}

__device__ float prepared(Reduction reduction, float x, float most) {
  switch (reduction) {
    case Reduction::l1: return fabsf(x);
    case Reduction::l2:
    case Reduction::sum_square: return x * x;
    case Reduction::log_sum_exp: return expf(x - most);
    default: return x;
  }
}
__device__ float combined(Reduction reduction, float a, float b) {
  switch (reduction) {
    case Reduction::max: return fmaxf(a, b);
    case Reduction::min: return fminf(a, b);
    case Reduction::prod: return a * b;
    default: return a + b;
  }
}
__device__ float neutral(Reduction reduction) {
  switch (reduction) {
    case Reduction::max: return -FLT_MAX;
    case Reduction::min: return FLT_MAX;
    case Reduction::prod: return 1;
    default: return 0;
  }
}
__device__ float finished(Reduction reduction, float value, float length, float most) {
  switch (reduction) {
    case Reduction::mean: return value / length;
    case Reduction::l2: return sqrtf(value);
    case Reduction::log_sum: return logf(value);
    case Reduction::log_sum_exp: return logf(value) + most;
    default: return value;
  }
}

__device__ std::int64_t walk(std::int64_t i, int rank, const std::int64_t* sizes, const std::int64_t* strides) {
  std::int64_t at = 0;
  for (int k = rank - 1; k >= 0; --k) at += take(i, sizes[k]) * strides[k];
  return at;
}

/// `gang` neighbouring threads work on one output, 1 of them or the whole block.
template <class T>
__global__ void reduce_kernel(Reduction reduction, ReduceShape shape, bool by_block, const T* __restrict__ x,
                              T* __restrict__ y) {
  const std::int64_t first = by_block ? blockIdx.x : first_item(), step = by_block ? gridDim.x : item_step();
  const std::int64_t lane = by_block ? threadIdx.x : 0, lanes = by_block ? blockDim.x : 1;
  for (std::int64_t o = first; o < shape.outputs; o += step) {
    const T* const from = x + walk(o, shape.kept_rank, shape.kept_sizes, shape.kept_strides);
    const auto element = [&](std::int64_t i) {
      return to_f32(from[walk(i, shape.reduced_rank, shape.reduced_sizes, shape.reduced_strides)]);
    };
    float most = 0;
    if (reduction == Reduction::log_sum_exp) {
      most = -FLT_MAX;
      for (std::int64_t i = lane; i < shape.length; i += lanes) most = fmaxf(most, element(i));
      if (by_block) most = of_block(most, -FLT_MAX, Most());
    }
    float value = neutral(reduction);
    for (std::int64_t i = lane; i < shape.length; i += lanes)
      value = combined(reduction, value, prepared(reduction, element(i), most));
    if (by_block)
      value = of_block(value, neutral(reduction), [&](float a, float b) { return combined(reduction, a, b); });
    if (lane == 0) y[o] = from_f32<T>(finished(reduction, value, static_cast<float>(shape.length), most));
  }
}

template <class T>
__global__ void lrn_kernel(std::int64_t elements, std::int64_t channels, std::int64_t inner, int before, int behind,
                           float alpha, float beta, float bias, const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t i = first_item(); i < elements; i += item_step()) {
    const std::int64_t channel = i / inner % channels;
    float sum = 0;
    for (int d = -before; d <= behind; ++d) {
      if (channel + d < 0 || channel + d >= channels) continue;
      const float value = to_f32(x[i + d * inner]);
      sum += value * value;
    }
    y[i] = from_f32<T>(to_f32(x[i]) * powf(bias + alpha * sum, -beta));
  }
}

/// Taps of all axes: their numbers multiply, so they are counted like digits.
template <class T>
__global__ void resize_kernel(ResizeShape shape, int combinations, const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t i = first_item(); i < shape.elements; i += item_step()) {
    std::int64_t cell[most_dims], rest = i;
    for (int k = shape.rank - 1; k >= 0; --k) cell[k] = take(rest, shape.sizes[k]);
    float sum = 0;
    for (int c = 0; c < combinations; ++c) {
      int digits = c;
      std::int64_t from = 0;
      float weight = 1;
      for (int k = shape.rank - 1; k >= 0; --k) {
        const int tap = digits % shape.taps[k];
        digits /= shape.taps[k];
        const std::int64_t at = tap * shape.sizes[k] + cell[k];
        from += shape.at[k][at] * shape.x_strides[k];
        if (shape.taps[k] > 1) weight *= shape.weight[k][at];
      }
      sum += weight * to_f32(x[from]);
    }
    y[i] = from_f32<T>(sum);
  }
}

/// Whole warps, no more of them than a row has work for.
int threads_for(std::int64_t length) {
  int threads = 32;
  while (threads < 1024 && threads * 4 < length) threads *= 2;
  return threads;
}

}  // namespace

void run_rows(RowFunction function, const RowShape& shape, Element element, const void* x, const void* scale,
              const void* bias, void* y, cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [&](auto kernel) {
      kernel<<<blocks_for(shape.rows, 1), threads_for(shape.length), 0, stream>>>(
          shape, static_cast<const T*>(x), static_cast<const T*>(scale), static_cast<const T*>(bias),
          static_cast<T*>(y));
    };
    switch (function) {
      case RowFunction::softmax: return run(row_kernel<RowFunction::softmax, T>);
      case RowFunction::log_softmax: return run(row_kernel<RowFunction::log_softmax, T>);
      case RowFunction::layer_norm: return run(row_kernel<RowFunction::layer_norm, T>);
      case RowFunction::rms_norm: return run(row_kernel<RowFunction::rms_norm, T>);
    }
  });
}

void softmax_columns(std::int64_t outer, std::int64_t axis, std::int64_t inner, bool log, Element element,
                     const void* x, void* y, cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    softmax_columns_kernel<<<blocks_for(outer * inner), threads_per_block, 0, stream>>>(
        outer * inner, axis, inner, log, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void reduce(Reduction reduction, const ReduceShape& shape, Element element, const void* x, void* y,
            cudaStream_t stream) {
  // Neighbouring threads should read neighbouring elements: along what is reduced where that is innermost.
  const bool by_block =
      shape.length >= 32 && (shape.reduced_strides[shape.reduced_rank - 1] == 1 || shape.outputs < 4096);
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const unsigned blocks = by_block ? blocks_for(shape.outputs, 1) : blocks_for(shape.outputs);
    const int threads = by_block ? threads_for(shape.length) : threads_per_block;
    reduce_kernel<<<blocks, threads, 0, stream>>>(reduction, shape, by_block, static_cast<const T*>(x),
                                                  static_cast<T*>(y));
  });
}

void lrn(std::int64_t batch, std::int64_t channels, std::int64_t inner, int before, int behind, float alpha, float beta,
         float bias, Element element, const void* x, void* y, cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t elements = batch * channels * inner;
    lrn_kernel<<<blocks_for(elements), threads_per_block, 0, stream>>>(
        elements, channels, inner, before, behind, alpha, beta, bias, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void resize(const ResizeShape& shape, Element element, const void* x, void* y, cudaStream_t stream) {
  int combinations = 1;
  for (int k = 0; k < shape.rank; ++k) combinations *= shape.taps[k];
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    resize_kernel<<<blocks_for(shape.elements), threads_per_block, 0, stream>>>(
        shape, combinations, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

}  // namespace benanza::cuda
