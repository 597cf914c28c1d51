// SPDX-License-Identifier: Apache-2.0
// Softmax and log-softmax. Along contiguous rows: maximum, then exp and sum, then scale, over a row that fits the
// caches. Across columns: the same with a vector of adjacent columns in each step.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

constexpr float lowest = -3.402823466e+38F;

template <bool log>
inline void row(const float* x, float* y, Index n) {
  const Index whole = n / lanes * lanes;
  const float infinity = __builtin_inff();
  const F tail = whole < n ? load_some(x + whole, n - whole, -infinity) : splat(-infinity);
  F m[4] = {tail, tail, tail, tail};
  Index i = 0;
  for (; i + 4 * lanes <= whole; i += 4 * lanes)
    for (int j = 0; j < 4; ++j) m[j] = max(m[j], load(x + i + j * lanes));
  for (; i < whole; i += lanes) m[0] = max(m[0], load(x + i));
  const float largest = max_of(max(max(m[0], m[1]), max(m[2], m[3])));
  const F shift = splat(largest > lowest ? largest : lowest);  // avoids NaN in a row of only -infinity

  F total[2] = {};
  for (i = 0; i + 2 * lanes <= whole; i += 2 * lanes) {
    const F first = exp_bounded(load(x + i) - shift), second = exp_bounded(load(x + i + lanes) - shift);
    total[0] += first;
    total[1] += second;
    if constexpr (!log) {
      store(y + i, first);
      store(y + i + lanes, second);
    }
  }
  if (i < whole) {
    const F e = exp_bounded(load(x + i) - shift);
    total[0] += e;
    if constexpr (!log) store(y + i, e);
  }
  if (whole < n) {
    const F e = exp_bounded(tail - shift);
    total[1] += e;
    if constexpr (!log) store_some(y + whole, e, n - whole);
  }
  const float denominator = sum(total[0] + total[1]);
  if constexpr (log) {
    const F offset = shift + BENANZA_NATIVE_ISA::log(splat(denominator));
    for (i = 0; i < whole; i += lanes) store(y + i, load(x + i) - offset);
    if (whole < n) store_some(y + whole, tail - offset, n - whole);
  } else {
    const F factor = splat(1.0F / denominator);
    for (i = 0; i < whole; i += lanes) store(y + i, load(y + i) * factor);
    if (whole < n) store_some(y + whole, load_some(y + whole, n - whole, 0.0F) * factor, n - whole);
  }
}

template <bool log>
void rows_of(const float* x, float* y, Index rows, Index n) {
  for (Index r = 0; r < rows; ++r) row<log>(x + r * n, y + r * n, n);
}

/// `some` columns (a whole vector, or the last few).
template <bool log>
inline void vector_of_columns(const float* x, float* y, Index n, Index inner, Index some) {
  const auto take = [&](const float* p) { return some == lanes ? load(p) : load_some(p, some, 0.0F); };
  const auto put = [&](float* p, F v) {
    if (some == lanes) store(p, v);
    else store_some(p, v, some);
  };
  F largest = splat(lowest);
  for (Index i = 0; i < n; ++i) largest = max(largest, take(x + i * inner));
  F total{};
  for (Index i = 0; i < n; ++i) {
    const F e = exp_bounded(take(x + i * inner) - largest);
    total += e;
    if constexpr (!log) put(y + i * inner, e);
  }
  if constexpr (log) {
    const F offset = largest + BENANZA_NATIVE_ISA::log(total);
    for (Index i = 0; i < n; ++i) put(y + i * inner, take(x + i * inner) - offset);
  } else {
    const F factor = 1.0F / total;
    for (Index i = 0; i < n; ++i) put(y + i * inner, take(y + i * inner) * factor);
  }
}

/// As above for many vectors side by side: longer runs of memory, which prefetching can follow, and independent
/// operations.
constexpr int strip_vectors = 64 / lanes * 4;  // 1 KiB
template <bool log>
void strip_of_columns(const float* x, float* y, Index n, Index inner) {
  F largest[strip_vectors], total[strip_vectors];
  for (int j = 0; j < strip_vectors; ++j) largest[j] = load(x + j * lanes);
  for (Index i = 1; i < n; ++i)
    for (int j = 0; j < strip_vectors; ++j) largest[j] = max(largest[j], load(x + i * inner + j * lanes));
  for (int j = 0; j < strip_vectors; ++j) {
    largest[j] = max(largest[j], splat(lowest));
    total[j] = splat(0.0F);
  }
  for (Index i = 0; i < n; ++i) {
    for (int j = 0; j < strip_vectors; ++j) {
      const F e = exp_bounded(load(x + i * inner + j * lanes) - largest[j]);
      total[j] += e;
      if constexpr (!log) store(y + i * inner + j * lanes, e);
    }
  }
  for (int j = 0; j < strip_vectors; ++j)
    total[j] = log ? largest[j] + BENANZA_NATIVE_ISA::log(total[j]) : 1.0F / total[j];
  for (Index i = 0; i < n; ++i) {
    for (int j = 0; j < strip_vectors; ++j) {
      const Index at = i * inner + j * lanes;
      store(y + at, log ? load(x + at) - total[j] : load(y + at) * total[j]);
    }
  }
}

template <bool log>
void columns_of(const float* x, float* y, Index n, Index inner, Index begin, Index end) {
  Index c = begin;
  constexpr Index strip = strip_vectors * lanes;
  for (; c + strip <= end; c += strip) strip_of_columns<log>(x + c, y + c, n, inner);
  for (; c < end; c += lanes) vector_of_columns<log>(x + c, y + c, n, inner, end - c < lanes ? end - c : lanes);
}

}  // namespace

void add_softmax(Kernels& kernels) {
  kernels.softmax = rows_of<false>;
  kernels.log_softmax = rows_of<true>;
  kernels.softmax_columns = columns_of<false>;
  kernels.log_softmax_columns = columns_of<true>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
