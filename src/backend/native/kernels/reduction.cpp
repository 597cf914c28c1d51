// SPDX-License-Identifier: Apache-2.0
// Folding runs to a number and rows to a row, and searching.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

template <Fold fold>
inline F step(F accumulator, F v) {
  if constexpr (fold == Fold::sum) return accumulator + v;
  else if constexpr (fold == Fold::max) return max(accumulator, v);
  else if constexpr (fold == Fold::min) return min(accumulator, v);
  else if constexpr (fold == Fold::prod) return accumulator * v;
  else if constexpr (fold == Fold::l1) return accumulator + abs(v);
  else return accumulator + v * v;
}
template <Fold fold>
constexpr float neutral = fold == Fold::prod  ? 1.0F
                          : fold == Fold::max ? -__builtin_inff()
                          : fold == Fold::min ? __builtin_inff()
                                              : 0.0F;

/// Blocks are summed in single precision, four chains at a time, and combined in double precision.
template <Fold fold>
double fold_run(const float* x, Index n) {
  constexpr Index block = 4096;
  double result = static_cast<double>(neutral<fold>);
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = begin + block < n ? begin + block : n;
    F a[4];
    for (int j = 0; j < 4; ++j) a[j] = splat(neutral<fold>);
    Index i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes)
      for (int j = 0; j < 4; ++j) a[j] = step<fold>(a[j], load(x + i + j * lanes));
    for (; i + lanes <= end; i += lanes) a[0] = step<fold>(a[0], load(x + i));
    if (i < end) a[1] = step<fold>(a[1], load_some(x + i, end - i, neutral<fold>));
    float of_block = 0;
    if constexpr (fold == Fold::max) of_block = max_of(max(max(a[0], a[1]), max(a[2], a[3])));
    else if constexpr (fold == Fold::min) of_block = min_of(min(min(a[0], a[1]), min(a[2], a[3])));
    else if constexpr (fold == Fold::prod)
      of_block = reduce_lanes((a[0] * a[1]) * (a[2] * a[3]), [](auto p, auto q) { return p * q; });
    else of_block = sum((a[0] + a[1]) + (a[2] + a[3]));
    const auto value = static_cast<double>(of_block);
    if constexpr (fold == Fold::max) result = value > result ? value : result;
    else if constexpr (fold == Fold::min) result = value < result ? value : result;
    else if constexpr (fold == Fold::prod) result *= value;
    else result += value;
  }
  return result;
}

/// Several rows at a time, so that the accumulator is read and written less often.
template <Fold fold, int rows>
inline void fold_few_rows(float* accumulator, const float* x, Index stride, Index n) {
  const auto folded = [&](F a, Index i, Index some) {
#pragma GCC unroll 4
    for (int k = 0; k < rows; ++k)
      a = step<fold>(a, some == lanes ? load(x + k * stride + i) : load_some(x + k * stride + i, some, 0.0F));
    return a;
  };
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const F first = folded(load(accumulator + i), i, lanes),
            second = folded(load(accumulator + i + lanes), i + lanes, lanes);
    store(accumulator + i, first);
    store(accumulator + i + lanes, second);
  }
  if (i + lanes <= n) {
    store(accumulator + i, folded(load(accumulator + i), i, lanes));
    i += lanes;
  }
  if (i < n) store_some(accumulator + i, folded(load_some(accumulator + i, n - i, 0.0F), i, n - i), n - i);
}
template <Fold fold>
void fold_rows(float* accumulator, const float* x, Index stride, Index rows, Index n) {
  for (; rows >= 4; rows -= 4, x += 4 * stride) fold_few_rows<fold, 4>(accumulator, x, stride, n);
  if (rows == 3) fold_few_rows<fold, 3>(accumulator, x, stride, n);
  if (rows == 2) fold_few_rows<fold, 2>(accumulator, x, stride, n);
  if (rows == 1) fold_few_rows<fold, 1>(accumulator, x, stride, n);
}

/// As `fold_run`.
double sum_of_products(const float* x, const float* w, Index n) {
  constexpr Index block = 4096;
  double result = 0;
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = begin + block < n ? begin + block : n;
    F a[4] = {};
    Index i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes)
      for (int j = 0; j < 4; ++j) a[j] += load(x + i + j * lanes) * load(w + i + j * lanes);
    for (; i + lanes <= end; i += lanes) a[0] += load(x + i) * load(w + i);
    if (i < end) a[1] += load_some(x + i, end - i, 0.0F) * load_some(w + i, end - i, 0.0F);
    result += static_cast<double>(sum((a[0] + a[1]) + (a[2] + a[3])));
  }
  return result;
}

double sum_of_exp(const float* x, Index n, float shift) {
  const F offset = splat(shift);
  double result = 0;
  constexpr Index block = 4096;
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = begin + block < n ? begin + block : n;
    F total[2] = {};
    Index i = begin;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      total[0] += exp_bounded(load(x + i) - offset);
      total[1] += exp_bounded(load(x + i + lanes) - offset);
    }
    for (; i < end; i += lanes)
      total[0] += exp_bounded((end - i < lanes ? load_some(x + i, end - i, -__builtin_inff()) : load(x + i)) - offset);
    result += static_cast<double>(sum(total[0] + total[1]));
  }
  return result;
}
void add_exp(float* accumulator, const float* x, const float* shift, Index n) {
  for (Index i = 0; i < n; i += lanes) {
    const Index some = n - i < lanes ? n - i : lanes;
    const F e = exp_bounded(load_some(x + i, some, 0.0F) - load_some(shift + i, some, 0.0F));
    store_some(accumulator + i, load_some(accumulator + i, some, 0.0F) + e, some);
  }
}

template <class Holds>
inline Index search(const float* x, Index n, Holds holds) {
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    I found = holds(load(x + i));
    for (int j = 1; j < 4; ++j) found |= holds(load(x + i + j * lanes));
    if (any(found)) break;
  }
  for (; i < n; ++i)
    if (holds(splat(x[i]))[0] != 0) return i;
  return n;
}
Index find(const float* x, Index n, float value) {
  const F wanted = splat(value);
  return search(x, n, [&](F v) { return v == wanted; });
}
Index find_above(const float* x, Index n, float limit) {
  const F wanted = splat(limit);
  return search(x, n, [&](F v) { return ~(v <= wanted); });
}
Index find_below(const float* x, Index n, float limit) {
  const F wanted = splat(limit);
  return search(x, n, [&](F v) { return ~(v >= wanted); });
}

template <bool above>
void arg_into(float* best, std::int64_t* at, const float* x, Index n, std::int64_t position) {
  for (Index i = 0; i < n; ++i) {
    const bool better = above ? x[i] > best[i] : x[i] < best[i];
    best[i] = better ? x[i] : best[i];
    at[i] = better ? position : at[i];
  }
}

void max_into(float* best, std::int32_t* at, const float* x, Index n, std::int32_t position) {
  const I here = splat(position), nothing = splat(nothing_taken);
  Index i = 0;
  for (; i + lanes <= n; i += lanes) {
    const F v = load(x + i), b = load(best + i);
    I from;
    __builtin_memcpy(&from, at + i, sizeof(I));
    const I better = (v > b) | (from == nothing);
    from = (better & here) | (~better & from);
    store(best + i, select(better, v, b));
    __builtin_memcpy(at + i, &from, sizeof(I));
  }
  for (; i < n; ++i)
    if (x[i] > best[i] || at[i] == nothing_taken) {
      best[i] = x[i];
      at[i] = position;
    }
}
void positions(const std::int32_t* at, Index first, Index step, std::int64_t* y, Index n) {
  for (Index i = 0; i < n; ++i) y[i] = first + at[i] + i * step;
}

template <Fold fold>
void add_fold(Kernels& kernels) {
  kernels.fold[static_cast<std::size_t>(fold)] = fold_run<fold>;
  kernels.fold_rows[static_cast<std::size_t>(fold)] = fold_rows<fold>;
}

}  // namespace

void add_reduce(Kernels& kernels) {
  add_fold<Fold::sum>(kernels);
  add_fold<Fold::max>(kernels);
  add_fold<Fold::min>(kernels);
  add_fold<Fold::prod>(kernels);
  add_fold<Fold::l1>(kernels);
  add_fold<Fold::sum_square>(kernels);
  kernels.sum_of_products = sum_of_products;
  kernels.sum_of_exp = sum_of_exp;
  kernels.add_exp = add_exp;
  kernels.find = find;
  kernels.find_above = find_above;
  kernels.find_below = find_below;
  kernels.arg_into[0] = arg_into<true>;
  kernels.arg_into[1] = arg_into<false>;
  kernels.max_into = max_into;
  kernels.positions = positions;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
