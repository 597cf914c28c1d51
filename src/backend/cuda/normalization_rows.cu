// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisations. Rows are read once per pass, from the caches after the first; a row that is a sum is
// recomputed in each pass.
#include "team.cuh"

#include <cfloat>

namespace benanza::cuda {

namespace {

/// n divides a row and, if scales do not run along it, also the run of elements with one scale.
template <class Team, bool softmax, class T, int n>
__global__ void __launch_bounds__(Team::most_threads)
    row_kernel(RowFunction function, RowShape shape, const T* __restrict__ x, const T* __restrict__ residual,
               const T* __restrict__ x_bias, const T* __restrict__ scale, const T* __restrict__ bias, T* __restrict__ y,
               T* __restrict__ sums) {
  [[maybe_unused]] const auto length = static_cast<float>(shape.length);
  for (std::int64_t row = Team::first_row(); row < shape.rows; row += Team::row_step()) {
    const auto take_row = [&](std::int64_t i, float(&value)[n]) {
      load(x + row * shape.length + i, value);
      if (softmax || residual == nullptr) return;
      float other[n];
      load(residual + row * shape.length + i, other);
      for (int j = 0; j < n; ++j) value[j] += other[j];
      if (x_bias == nullptr) return;
      load(x_bias + i, other);
      for (int j = 0; j < n; ++j) value[j] += other[j];
    };
    const auto for_all = [&](auto use) {
      for (std::int64_t i = Team::rank() * n; i < shape.length; i += Team::size() * n) {
        float value[n];
        take_row(i, value);
        for (const float v : value) use(v);
      }
    };
    float center = 0, factor = 1;
    if constexpr (softmax) {
      float most = -FLT_MAX, sum = 0;
      for_all([&](float v) { most = fmaxf(most, v); });
      center = Team::all(most, -FLT_MAX, Most());
      for_all([&](float v) { sum += expf(v - center); });
      sum = Team::all(sum, 0, Sum());
      factor = function == RowFunction::log_softmax ? logf(sum) : 1 / sum;
    } else {
      float sum = 0, squares = 0;
      if (function == RowFunction::layer_norm) {
        for_all([&](float v) { sum += v; });
        center = Team::all(sum, 0, Sum()) / length;
      }
      for_all([&](float v) { squares += (v - center) * (v - center); });
      factor = rsqrtf(Team::all(squares, 0, Sum()) / length + shape.epsilon);
    }
    for (std::int64_t i = Team::rank() * n; i < shape.length; i += Team::size() * n) {
      float value[n];
      take_row(i, value);
      if constexpr (softmax) {
        for (float& v : value) v = function == RowFunction::softmax ? expf(v - center) * factor : v - center - factor;
      } else {
        if (sums != nullptr) store(sums + row * shape.length + i, value);
        for (float& v : value) v = (v - center) * factor;
        std::int64_t channel = row * shape.length + i;
        if (!along_rows(shape)) {
          static_cast<void>(take(channel, shape.scale_length));
          channel = take(channel, shape.scale_count);
        }
        for (int j = 0; j < n; ++j) {
          const std::int64_t c = along_rows(shape) ? i + j : channel;
          if (scale != nullptr) value[j] *= to_f32(scale[c]);
          if (bias != nullptr) value[j] += to_f32(bias[c]);
        }
      }
      store(y + row * shape.length + i, value);
    }
  }
}

/// n divides `inner`: each thread takes n adjacent columns.
template <class T, int n>
__global__ void __launch_bounds__(threads_per_block)
    softmax_columns_kernel(std::int64_t columns, std::int64_t axis, std::int64_t inner, bool log,
                           const T* __restrict__ x, T* __restrict__ y) {
  for (std::int64_t column = first_item() * n; column < columns; column += item_step() * n) {
    const std::int64_t base = column / inner * axis * inner + column % inner;
    float value[n], most[n], factor[n];
    for (int j = 0; j < n; ++j) {
      most[j] = -FLT_MAX;
      factor[j] = 0;
    }
    for (std::int64_t i = 0; i < axis; ++i) {
      load(x + base + i * inner, value);
      for (int j = 0; j < n; ++j) most[j] = fmaxf(most[j], value[j]);
    }
    for (std::int64_t i = 0; i < axis; ++i) {
      load(x + base + i * inner, value);
      for (int j = 0; j < n; ++j) factor[j] += expf(value[j] - most[j]);
    }
    for (float& f : factor) f = log ? logf(f) : 1 / f;
    for (std::int64_t i = 0; i < axis; ++i) {
      load(x + base + i * inner, value);
      for (int j = 0; j < n; ++j) {
        const float distance = value[j] - most[j];
        value[j] = log ? distance - factor[j] : expf(distance) * factor[j];
      }
      store(y + base + i * inner, value);
    }
  }
}

}  // namespace

void run_rows(RowFunction function, const RowShape& shape, Element element, const RowBuffers& buffers,
              cudaStream_t stream) {
  const bool scaled = buffers.scale != nullptr || buffers.bias != nullptr;
  const std::int64_t together = scaled && !along_rows(shape) ? shape.scale_length : shape.length;
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    with_pack<T>(shape.rows * shape.length, together, [&](auto pack, unsigned) {
      constexpr int n = pack;
      with_team(shape.rows, shape.length / n, [&](auto team, unsigned blocks, int threads) {
        using Team = decltype(team);
        const bool softmax = function == RowFunction::softmax || function == RowFunction::log_softmax;
        const auto kernel = softmax ? row_kernel<Team, true, T, n> : row_kernel<Team, false, T, n>;
        const auto in = [](const void* buffer) { return static_cast<const T*>(buffer); };
        kernel<<<blocks, threads, 0, stream>>>(function, shape, in(buffers.x), in(buffers.residual), in(buffers.x_bias),
                                               in(buffers.scale), in(buffers.bias), static_cast<T*>(buffers.y),
                                               static_cast<T*>(buffers.sum));
      });
    });
  });
}

void softmax_columns(std::int64_t outer, std::int64_t axis, std::int64_t inner, bool log, Element element,
                     const void* x, void* y, cudaStream_t stream) {
  with_float(element, [&](auto zero) {
    using T = decltype(zero);
    with_pack<T>(outer * inner, columns_together(outer * inner, inner), [&](auto n, unsigned blocks) {
      softmax_columns_kernel<T, n><<<blocks, threads_per_block, 0, stream>>>(
          outer * inner, axis, inner, log, static_cast<const T*>(x), static_cast<T*>(y));
    });
  });
}

}  // namespace benanza::cuda
