// SPDX-License-Identifier: Apache-2.0
// Layer, RMS and local response normalisation, and the moments that group normalisation takes.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// `term` of the n elements of a last vector, and 0 for the missing ones.
template <class Term>
inline F some_terms(const float* x, Index n, Term term) {
  const float zeros[lanes] = {};
  return select(load_some(zeros, n, 1.0F) == 1.0F, splat(0.0F), term(load_some(x, n, 0.0F)));
}

template <class Term>
inline float sum_of(const float* x, Index n, Term term) {
  F total[4] = {};
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes)
    for (int j = 0; j < 4; ++j) total[j] += term(load(x + i + j * lanes));
  for (; i + lanes <= n; i += lanes) total[0] += term(load(x + i));
  if (i < n) total[1] += some_terms(x + i, n - i, term);
  return sum((total[0] + total[1]) + (total[2] + total[3]));
}

/// Blocks that fit the first-level cache, each in two exact passes, combined by the formula of Chan, Golub and LeVeque
/// (1979): one pass over memory, and no cancellation however far the mean is from zero.
void moments(const float* x, Index n, Moments& m) {
  constexpr Index block = 2048;
  for (Index i = 0; i < n; i += block) {
    const Index some = i + block < n ? block : n - i;
    const float mean = sum_of(x + i, some, [](F v) { return v; }) / static_cast<float>(some);
    const F center = splat(mean);
    const float m2 = sum_of(x + i, some, [&](F v) { return (v - center) * (v - center); });
    const double count = static_cast<double>(some), total = m.count + count, delta = mean - m.mean;
    m.m2 += m2 + delta * delta * m.count * count / total;
    m.mean += delta * count / total;
    m.count = total;
  }
}

/// y = (x - mean) * factor * scale + bias.
inline void normalize(const float* x, const float* scale, const float* bias, float* y, Index n, float mean,
                      float factor) {
  const F m = splat(mean), f = splat(factor);
  const auto at = [&](Index i, Index some, bool whole) {
    const auto take = [&](const float* p) { return whole ? load(p + i) : load_some(p + i, some, 0.0F); };
    F v = (take(x) - m) * f;
    if (scale != nullptr) v = v * take(scale);
    if (bias != nullptr) v = v + take(bias);
    return v;
  };
  Index i = 0;
  if (scale != nullptr && bias != nullptr) {  // the usual case, without tests in the loop
    for (; i + lanes <= n; i += lanes) store(y + i, (load(x + i) - m) * f * load(scale + i) + load(bias + i));
  } else {
    for (; i + lanes <= n; i += lanes) store(y + i, at(i, lanes, true));
  }
  if (i < n) store_some(y + i, at(i, n - i, false), n - i);
}

void normalize_run(const float* x, float* y, Index n, float mean, float scale, float bias) {
  const F m = splat(mean), s = splat(scale), b = splat(bias);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) store(y + i, (load(x + i) - m) * s + b);
  if (i < n) store_some(y + i, (load_some(x + i, n - i, 0.0F) - m) * s + b, n - i);
}

void layer_norm(const float* x, const float* scale, const float* bias, float* y, Index rows, Index n, float epsilon) {
  const float reciprocal = 1.0F / static_cast<float>(n);
  for (Index r = 0; r < rows; ++r) {
    if (n > 4096) {
      Moments m;
      moments(x + r * n, n, m);
      const float variance = static_cast<float>(m.m2 / m.count);
      normalize(x + r * n, scale, bias, y + r * n, n, static_cast<float>(m.mean),
                1.0F / __builtin_sqrtf(variance + epsilon));
      continue;
    }
    const float mean = sum_of(x + r * n, n, [](F v) { return v; }) * reciprocal;
    const F center = splat(mean);
    const float variance = sum_of(x + r * n, n, [&](F v) { return (v - center) * (v - center); }) * reciprocal;
    normalize(x + r * n, scale, bias, y + r * n, n, mean, 1.0F / __builtin_sqrtf(variance + epsilon));
  }
}
void rms_norm(const float* x, const float* scale, const float* bias, float* y, Index rows, Index n, float epsilon) {
  for (Index r = 0; r < rows; ++r) {
    const float squares = sum_of(x + r * n, n, [](F v) { return v * v; });
    normalize(x + r * n, scale, bias, y + r * n, n, 0.0F,
              1.0F / __builtin_sqrtf(squares / static_cast<float>(n) + epsilon));
  }
}

enum class Power : std::uint8_t { half, three_quarters, one, any };

/// v * s^-beta. The usual 3/4 is two reciprocal square roots, since division and square root take far longer than the
/// memory access.
template <Power power>
inline F damp(F v, F s, F beta) {
  if constexpr (power == Power::half) return v * reciprocal_sqrt(s);
  else if constexpr (power == Power::one) return v / s;
  else if constexpr (power == Power::any) return v * exp(-beta * log(s));
  else {
    const F r = reciprocal_sqrt(s);
    return v * r * (r * reciprocal_sqrt(r));
  }
}

/// Strips of columns that stay in the first-level cache while the window slides over the channels.
template <Power power>
void lrn_strips(const float* x, float* y, Index channels, Index inner, Index size, float beta, float factor, float bias,
                Index begin, Index end) {
  const Index before = (size - 1) / 2, behind = size - 1 - before;
  const F b = splat(beta), f = splat(factor), offset = splat(bias);
  constexpr Index strip = 16 * lanes;
  for (Index column = begin; column < end; column += strip) {
    const Index width = column + strip < end ? strip : end - column;
    for (Index c = 0; c < channels; ++c) {
      const Index first = c - before > 0 ? c - before : 0, last = c + behind < channels ? c + behind : channels - 1;
      Index i = 0;
      for (; i + 2 * lanes <= width; i += 2 * lanes) {
        const float* p = x + first * inner + column + i;
        F s[2] = {};
        for (Index k = first; k <= last; ++k, p += inner) {
          s[0] += load(p) * load(p);
          s[1] += load(p + lanes) * load(p + lanes);
        }
        const float* v = x + c * inner + column + i;
        store(y + c * inner + column + i, damp<power>(load(v), s[0] * f + offset, b));
        store(y + c * inner + column + i + lanes, damp<power>(load(v + lanes), s[1] * f + offset, b));
      }
      for (; i < width; i += lanes) {
        const Index some = width - i < lanes ? width - i : lanes;
        const auto take = [&](const float* p) { return some == lanes ? load(p) : load_some(p, some, 0.0F); };
        F s{};
        for (Index k = first; k <= last; ++k) {
          const F v = take(x + k * inner + column + i);
          s += v * v;
        }
        const F v = damp<power>(take(x + c * inner + column + i), s * f + offset, b);
        if (some == lanes) store(y + c * inner + column + i, v);
        else store_some(y + c * inner + column + i, v, some);
      }
    }
  }
}
void lrn(const float* x, float* y, Index channels, Index inner, Index size, float beta, float factor, float bias,
         Index begin, Index end) {
  const auto strips = beta == 0.75F  ? lrn_strips<Power::three_quarters>
                      : beta == 0.5F ? lrn_strips<Power::half>
                      : beta == 1.0F ? lrn_strips<Power::one>
                                     : lrn_strips<Power::any>;
  strips(x, y, channels, inner, size, beta, factor, bias, begin, end);
}

}  // namespace

void add_normalize(Kernels& kernels) {
  kernels.moments = moments;
  kernels.normalize_run = normalize_run;
  kernels.layer_norm = layer_norm;
  kernels.rms_norm = rms_norm;
  kernels.lrn = lrn;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
