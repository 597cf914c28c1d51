// SPDX-License-Identifier: Apache-2.0
// Reductions: one team of threads per output if the reduced elements are contiguous or there are few outputs; otherwise
// one thread per output or per several adjacent outputs. If there are few outputs with long reductions, each is split
// over blocks, whose parts are combined in a second launch.
#include "team.cuh"

#include <cfloat>

namespace benanza::cuda {

namespace {

__device__ float prepared(Reduction reduction, float x, float most) {
  switch (reduction) {
    case Reduction::l1: return fabsf(x);
    case Reduction::l2:
    case Reduction::sum_square: return x * x;
    case Reduction::log_sum_exp: return expf(x - most);
    default: return x;
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
struct Combine {
  Reduction reduction;
  __device__ float operator()(float a, float b) const {
    switch (reduction) {
      case Reduction::max: return fmaxf(a, b);
      case Reduction::min: return fminf(a, b);
      case Reduction::prod: return a * b;
      default: return a + b;
    }
  }
};

__device__ std::int64_t walk(std::int64_t i, int rank, const std::int64_t* sizes, const std::int64_t* strides) {
  std::int64_t at = 0;
  for (int k = rank - 1; k > 0; --k) at += take(i, sizes[k]) * strides[k];
  return at + i * strides[0];
}

/// A team for each of `splits` shares of each output. n divides the innermost of the reduced dimensions, contiguous if
/// n > 1. `parts` is null, or space for the unfinished shares of all outputs.
template <class Team, class T, int n>
__global__ void __launch_bounds__(Team::most_threads)
    reduce_rows_kernel(Reduction reduction, ReduceShape shape, std::int64_t splits, const T* __restrict__ x,
                       T* __restrict__ y, float* __restrict__ parts) {
  const Combine combine{reduction};
  const std::int64_t share = (shape.length / n + splits - 1) / splits * n;
  for (std::int64_t row = Team::first_row(); row < shape.outputs * splits; row += Team::row_step()) {
    const std::int64_t output = row / splits, begin = row % splits * share;
    const std::int64_t end = begin + share < shape.length ? begin + share : shape.length;
    const T* const from = x + walk(output, shape.kept_rank, shape.kept_sizes, shape.kept_strides);
    const auto for_all = [&](auto use) {
      for (std::int64_t i = begin + Team::rank() * n; i < end; i += Team::size() * n) {
        float value[n];
        load(from + walk(i, shape.reduced_rank, shape.reduced_sizes, shape.reduced_strides), value);
        for (const float v : value) use(v);
      }
    };
    float most = 0;
    if (reduction == Reduction::log_sum_exp) {
      most = -FLT_MAX;
      for_all([&](float v) { most = fmaxf(most, v); });
      most = Team::all(most, -FLT_MAX, Most());
    }
    float value = neutral(reduction);
    for_all([&](float v) { value = combine(value, prepared(reduction, v, most)); });
    value = Team::all(value, neutral(reduction), combine);
    if (Team::rank() != 0) continue;
    if (parts != nullptr) parts[row] = value;
    else y[output] = from_f32<T>(finished(reduction, value, static_cast<float>(shape.length), most));
  }
}

/// One warp per output.
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    finish_kernel(Reduction reduction, std::int64_t outputs, std::int64_t splits, float length,
                  const float* __restrict__ parts, T* __restrict__ y) {
  const Combine combine{reduction};
  for (std::int64_t output = Warp::first_row(); output < outputs; output += Warp::row_step()) {
    float value = neutral(reduction);
    for (std::int64_t i = Warp::rank(); i < splits; i += Warp::size())
      value = combine(value, parts[output * splits + i]);
    value = Warp::all(value, neutral(reduction), combine);
    if (Warp::rank() == 0) y[output] = from_f32<T>(finished(reduction, value, length, 0));
  }
}

/// n divides the innermost of the kept dimensions, contiguous if n > 1: each thread takes n adjacent outputs.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    reduce_columns_kernel(Reduction reduction, ReduceShape shape, const T* __restrict__ x, T* __restrict__ y) {
  const Combine combine{reduction};
  for (std::int64_t output = first_item() * n; output < shape.outputs; output += item_step() * n) {
    const T* const from = x + walk(output, shape.kept_rank, shape.kept_sizes, shape.kept_strides);
    const auto for_all = [&](auto use) {
      for (std::int64_t i = 0; i < shape.length; ++i) {
        float value[n];
        load(from + walk(i, shape.reduced_rank, shape.reduced_sizes, shape.reduced_strides), value);
        for (int j = 0; j < n; ++j) use(j, value[j]);
      }
    };
    float most[n], result[n];
    for (int j = 0; j < n; ++j) {
      most[j] = reduction == Reduction::log_sum_exp ? -FLT_MAX : 0;
      result[j] = neutral(reduction);
    }
    if (reduction == Reduction::log_sum_exp) for_all([&](int j, float v) { most[j] = fmaxf(most[j], v); });
    for_all([&](int j, float v) { result[j] = combine(result[j], prepared(reduction, v, most[j])); });
    for (int j = 0; j < n; ++j) result[j] = finished(reduction, result[j], static_cast<float>(shape.length), most[j]);
    store(y + output, result);
  }
}

/// Adjacent threads should read adjacent elements: along the reduced dimension if that is innermost.
bool by_rows(const ReduceShape& shape) {
  return shape.length >= warp && (shape.reduced_strides[shape.reduced_rank - 1] == 1 || shape.outputs < 4096);
}

/// Blocks that share one output: enough to fill a device, but each with enough work.
std::int64_t splits_of(Reduction reduction, const ReduceShape& shape) {
  constexpr std::int64_t wanted_blocks = 512, least_share = 8192;
  if (!by_rows(shape) || reduction == Reduction::log_sum_exp) return 1;  // needs the maximum of all shares first
  return std::max<std::int64_t>(1, std::min(wanted_blocks / shape.outputs, shape.length / least_share));
}

}  // namespace

std::size_t reduce_workspace(Reduction reduction, const ReduceShape& shape) {
  const std::int64_t splits = splits_of(reduction, shape);
  return splits == 1 ? 0 : static_cast<std::size_t>(splits * shape.outputs) * sizeof(float);
}

void reduce(Reduction reduction, const ReduceShape& shape, Element element, const void* x, void* y, void* workspace,
            cudaStream_t stream) {
  with_element(element, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(x);
    auto* to = static_cast<T*>(y);
    if (!by_rows(shape)) {
      const int inner = shape.kept_rank - 1;
      const std::int64_t neighbors = shape.kept_strides[inner] == 1 ? shape.kept_sizes[inner] : 1;
      return with_pack<T>(shape.outputs, columns_together(shape.outputs, neighbors), [&](auto n, unsigned blocks) {
        reduce_columns_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(reduction, shape, from, to);
      });
    }
    const int inner = shape.reduced_rank - 1;
    const std::int64_t neighbors = shape.reduced_strides[inner] == 1 ? shape.reduced_sizes[inner] : 1;
    const std::int64_t splits = splits_of(reduction, shape);
    auto* parts = splits == 1 ? nullptr : static_cast<float*>(workspace);
    with_pack<T>(shape.length, neighbors, [&](auto pack, unsigned) {
      constexpr int n = pack;
      with_team(shape.outputs * splits, shape.length / n / splits, [&](auto team, unsigned blocks, int threads) {
        reduce_rows_kernel<decltype(team), T, n>
            <<<blocks, threads, 0, stream>>>(reduction, shape, splits, from, to, parts);
      });
    });
    if (parts == nullptr) return;
    finish_kernel<T><<<blocks_for(shape.outputs, threads_per_block / warp), threads_per_block, 0, stream>>>(
        reduction, shape.outputs, splits, static_cast<float>(shape.length), parts, to);
  });
}

}  // namespace benanza::cuda
