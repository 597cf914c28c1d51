// SPDX-License-Identifier: Apache-2.0
// Movement of elements by size only, and the small loops of pooling, interpolation and products.
#include "kernels.hpp"
#include "kernels/simd.hpp"

#include <utility>  // integer_sequence: types only

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

struct Wide {
  std::uint64_t low, high;
};

void copy(const void* from, void* to, std::size_t bytes) { __builtin_memcpy(to, from, bytes); }
void stream(const void* from, void* to, std::size_t bytes) { stream_copy(to, from, bytes); }
void fence() { stream_fence(); }

template <class T>
void fill(const void* element, void* to, Index n) {
  const T value = *static_cast<const T*>(element);
  auto* y = static_cast<T*>(to);
  for (Index i = 0; i < n; ++i) y[i] = value;
}
template <class T>
void strided(const void* from, Index stride, void* to, Index n) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  if (stride == -1) {
    for (Index i = 0; i < n; ++i) y[i] = x[-i];
  } else if (stride == 2) {
    for (Index i = 0; i < n; ++i) y[i] = x[2 * i];
  } else {
    for (Index i = 0; i < n; ++i) y[i] = x[i * stride];
  }
}
/// Keeps a loop scalar: on many processors (all of Zen's, and Intel's with microcode against Downfall), gather
/// instructions take longer than the same number of loads.
inline void scalar_step() { asm volatile(""); }

template <class T, class At>
void gather(const void* from, Index size, const void* indices, void* to, Index n) {
  const auto* x = static_cast<const T*>(from);
  const auto* index = static_cast<const At*>(indices);
  auto* y = static_cast<T*>(to);
  for (Index i = 0; i < n; ++i) {
    y[i] = x[index[i] + (index[i] < 0 ? size : 0)];
    scalar_step();
  }
}
template <class T, class At>
void gather_columns(const void* from, Index size, Index stride, const void* indices, void* to, Index n) {
  const auto* x = static_cast<const T*>(from);
  const auto* index = static_cast<const At*>(indices);
  auto* y = static_cast<T*>(to);
  for (Index i = 0; i < n; ++i) {
    y[i] = x[(index[i] + (index[i] < 0 ? size : 0)) * stride + i];
    scalar_step();
  }
}

template <class T>
void add_size(Kernels& kernels, std::size_t at) {
  kernels.fill[at] = fill<T>;
  kernels.strided[at] = strided<T>;
  kernels.gather[at][0] = gather<T, std::int32_t>;
  kernels.gather[at][1] = gather<T, std::int64_t>;
  kernels.gather_columns[at][0] = gather_columns<T, std::int32_t>;
  kernels.gather_columns[at][1] = gather_columns<T, std::int64_t>;
}

template <int... k>
inline F every_other(F low, F high, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(low, high, (2 * k)...);
}

template <class Combine>
inline void slide(const float* x, float* y, Index n, Index taps, Index stride, Index dilation, Combine combine) {
  Index i = 0;
  if (stride == 1) {
    for (; i + lanes <= n; i += lanes) {
      F v = load(x + i);
      for (Index k = 1; k < taps; ++k) v = combine(v, load(x + i + k * dilation));
      store(y + i, v);
    }
  } else if (stride == 2) {
    // Taps run along two adjacent vectors, and every other element is kept at the end. One element more than needed is
    // read, so the last vector takes the slow path.
    for (; i + lanes < n; i += lanes) {
      F low = load(x + 2 * i), high = load(x + 2 * i + lanes);
      for (Index k = 1; k < taps; ++k) {
        low = combine(low, load(x + 2 * i + k * dilation));
        high = combine(high, load(x + 2 * i + lanes + k * dilation));
      }
      store(y + i, every_other(low, high, std::make_integer_sequence<int, lanes>{}));
    }
  }
  for (; i < n; ++i) {
    F v = splat(x[i * stride]);
    for (Index k = 1; k < taps; ++k) v = combine(v, splat(x[i * stride + k * dilation]));
    y[i] = v[0];
  }
}
template <bool sums>
inline F folded(F a, F b) {
  return sums ? a + b : max(a, b);
}
template <bool sums>
void fold_lines(const float* x, Index stride, Index rows, float* y, Index n) {
  for (Index i = 0; i < n; i += lanes) {
    F result = load(x + i);
    for (Index row = 1; row < rows; ++row) result = folded<sums>(result, load(x + row * stride + i));
    store(y + i, result);
  }
}
template <bool sums>
void slide_blocks(const float* x, float* y, Index n, Index taps, Index stride, Index dilation, const float* scale) {
  for (Index i = 0; i < n; ++i) {
    const float* const from = x + i * stride * lanes;
    F result = load(from);
    for (Index tap = 1; tap < taps; ++tap) result = folded<sums>(result, load(from + tap * dilation * lanes));
    store(y + i * lanes, sums ? result * scale[i] : result);
  }
}

/// A column is folded once and stays in registers for all windows that contain it.
template <bool sums, int rows, int taps, int stride>
inline void window_of(const float* x, Index row, Index columns, Index pad, float* y, Index n, const float* scale) {
  const auto column = [&](Index c) {
    if (c < 0 || c >= columns) return splat(sums ? 0.0F : -__builtin_inff());
    F v = load(x + c * lanes);
#pragma GCC unroll 2
    for (int r = 1; r < rows; ++r) v = folded<sums>(v, load(x + r * row + c * lanes));
    return v;
  };
  constexpr int kept = taps - stride;  // columns kept from the previous window
  F before[kept > 0 ? kept : 1];
  for (int k = 0; k < kept; ++k) before[k] = column(k - pad);
  for (Index i = 0; i < n; ++i) {
    F all[taps];
    for (int k = 0; k < taps; ++k) all[k] = k < kept ? before[k] : column(i * stride - pad + k);
    for (int k = 0; k < kept; ++k) before[k] = all[k + stride];
    F result = all[0];
    for (int k = 1; k < taps; ++k) result = folded<sums>(result, all[k]);
    store(y + i * lanes, sums ? result * scale[i] : result);
  }
}
template <bool sums, int rows>
inline void window_of_rows(const float* x, Index row, Index columns, Index pad, float* y, Index n, Index taps,
                           Index stride, const float* scale) {
  if (taps == 2) window_of<sums, rows, 2, 2>(x, row, columns, pad, y, n, scale);
  else if (stride == 2) window_of<sums, rows, 3, 2>(x, row, columns, pad, y, n, scale);
  else window_of<sums, rows, 3, 1>(x, row, columns, pad, y, n, scale);
}
template <bool sums>
void fast_window(const float* x, Index row, Index rows, Index columns, Index pad, float* y, Index n, Index taps,
                 Index stride, const float* scale) {
  if (rows == 1) window_of_rows<sums, 1>(x, row, columns, pad, y, n, taps, stride, scale);
  else if (rows == 2) window_of_rows<sums, 2>(x, row, columns, pad, y, n, taps, stride, scale);
  else window_of_rows<sums, 3>(x, row, columns, pad, y, n, taps, stride, scale);
}

void slide_max(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) {
  slide(x, y, n, taps, stride, dilation, [](F a, F b) { return max(a, b); });
}
void slide_sum(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) {
  slide(x, y, n, taps, stride, dilation, [](F a, F b) { return a + b; });
}

void scale_add(float* accumulator, const float* x, float factor, Index n) {
  for (Index i = 0; i < n; ++i) accumulator[i] += factor * x[i];
}
void multiply_add(float* accumulator, const float* a, const float* b, Index n) {
  for (Index i = 0; i < n; ++i) accumulator[i] += a[i] * b[i];
}
float dot(const float* a, const float* b, Index n) {
  F total[4] = {};
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (int j = 0; j < 4; ++j) total[j] += load(a + i + j * lanes) * load(b + i + j * lanes);
  for (; i + lanes <= n; i += lanes) total[0] += load(a + i) * load(b + i);
  if (i < n) total[1] += load_some(a + i, n - i, 0.0F) * load_some(b + i, n - i, 0.0F);
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

void interpolate(const float* x, const std::int32_t* index, const float* weight, Index taps, float* y, Index n) {
  if (taps == 2) {
    for (Index i = 0; i < n; ++i) {
      y[i] = weight[i] * x[index[i]] + weight[n + i] * x[index[n + i]];
      scalar_step();
    }
    return;
  }
  for (Index i = 0; i < n; ++i) {
    float total = 0;
    for (Index t = 0; t < taps; ++t) {
      total += weight[t * n + i] * x[index[t * n + i]];
      scalar_step();
    }
    y[i] = total;
  }
}

void rotary_halves(const float* x, const float* cosines, const float* sines, float* y, Index pairs, Index second) {
  const float* const behind = x + pairs;
  for (Index i = 0; i < pairs; ++i) y[i] = x[i] * cosines[i] - behind[i] * sines[i];
  cosines += second;
  sines += second;
  for (Index i = 0; i < pairs; ++i) y[pairs + i] = behind[i] * cosines[i] + x[i] * sines[i];
}
/// If there is an angle for each element, the angles are interleaved too.
void rotary_neighbors(const float* x, const float* cosines, const float* sines, float* y, Index pairs, Index second) {
  const Index step = second + 1;
  for (Index i = 0; i < pairs; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = a * cosines[step * i] - b * sines[step * i];
    y[2 * i + 1] = b * cosines[step * i + second] + a * sines[step * i + second];
  }
}

}  // namespace

void add_move(Kernels& kernels) {
  kernels.copy = copy;
  kernels.stream = stream;
  kernels.fence = fence;
  add_size<std::uint8_t>(kernels, 0);
  add_size<std::uint16_t>(kernels, 1);
  add_size<std::uint32_t>(kernels, 2);
  add_size<std::uint64_t>(kernels, 3);
  add_size<Wide>(kernels, 4);
  kernels.slide_max = slide_max;
  kernels.fold_lines[0] = fold_lines<false>;
  kernels.fold_lines[1] = fold_lines<true>;
  kernels.fast_window[0] = fast_window<false>;
  kernels.fast_window[1] = fast_window<true>;
  kernels.slide_blocks[0] = slide_blocks<false>;
  kernels.slide_blocks[1] = slide_blocks<true>;
  kernels.slide_sum = slide_sum;
  kernels.scale_add = scale_add;
  kernels.multiply_add = multiply_add;
  kernels.dot = dot;
  kernels.rotary[0] = rotary_halves;
  kernels.rotary[1] = rotary_neighbors;
  kernels.interpolate = interpolate;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
