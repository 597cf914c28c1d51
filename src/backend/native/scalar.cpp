// SPDX-License-Identifier: Apache-2.0
// Reductions and softmax in types without vector kernels, f64 and integers: plain loops, one strip of adjacent results
// at a time.
#include "context.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace benanza::native {

namespace {

using Fn = op::ReduceFn;

constexpr Index strip_length = 128;

/// Dimensions that are kept and those that are reduced, with their strides in x.
struct Walk {
  TensorShape kept{}, kept_strides{}, reduced{}, reduced_strides{};

  explicit Walk(const op::Reduce& op) {
    Index stride = element_count(op.x);
    for (std::size_t i = 0; i < op.x.size(); ++i) {
      stride /= op.x[i];
      const bool is_reduced = std::find(op.axes.begin(), op.axes.end(), static_cast<Index>(i)) != op.axes.end();
      (is_reduced ? reduced : kept).push_back(op.x[i]);
      (is_reduced ? reduced_strides : kept_strides).push_back(stride);
    }
  }

  static Index offset(const TensorShape& dims, const TensorShape& strides, Index flat) {
    Index result = 0;
    for (std::size_t i = dims.size(); i-- > 0;) {
      result += flat % dims[i] * strides[i];
      flat /= dims[i];
    }
    return result;
  }
  [[nodiscard]] Index reduced_offset(Index i) const { return offset(reduced, reduced_strides, i); }
  [[nodiscard]] Index kept_offset(Index i) const { return offset(kept, kept_strides, i); }
  [[nodiscard]] Index count() const { return element_count(reduced); }
  /// The number of results from `at` on that are equally spaced in x, and their distance.
  [[nodiscard]] std::pair<Index, Index> run_from(Index at) const {
    if (kept.empty()) return {1, 0};
    return {kept.back() - at % kept.back(), kept_strides.back()};
  }
};

/// Folds one element into a result. Integers wrap around.
template <class T>
T folded(Fn fn, T result, T x) {
  using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  const U a = static_cast<U>(result), b = static_cast<U>(x);
  switch (fn) {
    case Fn::max: return std::max(result, x);
    case Fn::min: return std::min(result, x);
    case Fn::prod: return static_cast<T>(a * b);
    case Fn::l1: return static_cast<T>(x < 0 ? a - b : a + b);
    case Fn::l2:
    case Fn::sum_square: return static_cast<T>(a + b * b);
    default: return static_cast<T>(a + b);
  }
}

template <class T>
T neutral(Fn fn) {
  using Limits = std::numeric_limits<T>;
  switch (fn) {
    case Fn::max: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case Fn::min: return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Fn::prod: return T{1};
    default: return T{0};
  }
}

template <class T>
T finished(Fn fn, T value, Index count) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (fn) {
      case Fn::mean: return value / static_cast<T>(count);
      case Fn::l2: return std::sqrt(value);
      case Fn::log_sum: return std::log(value);
      default: break;
    }
  }
  return value;
}

/// Computes results [begin, end).
template <class T>
void reduce(const Walk& walk, Fn fn, const T* x, T* y, Index begin, Index end) {
  const Index count = walk.count();
  for (Index at = begin; at < end;) {
    const auto [run, stride] = walk.run_from(at);
    const Index width = std::min({run, end - at, strip_length});
    const T* const from = x + walk.kept_offset(at);
    std::array<T, strip_length> strip;
    const auto fold_all = [&, stride = stride](Fn how) {
      std::fill_n(strip.begin(), width, neutral<T>(how));
      for (Index i = 0; i < count; ++i) {
        const T* const row = from + walk.reduced_offset(i);
        for (Index j = 0; j < width; ++j)
          strip[static_cast<std::size_t>(j)] = folded(how, strip[static_cast<std::size_t>(j)], row[j * stride]);
      }
    };
    if (fn == Fn::log_sum_exp) {
      if constexpr (std::is_floating_point_v<T>) {
        fold_all(Fn::max);
        std::fill_n(y + at, width, T{0});
        for (Index i = 0; i < count; ++i) {
          const T* const row = from + walk.reduced_offset(i);
          for (Index j = 0; j < width; ++j) y[at + j] += std::exp(row[j * stride] - strip[static_cast<std::size_t>(j)]);
        }
        for (Index j = 0; j < width; ++j) y[at + j] = strip[static_cast<std::size_t>(j)] + std::log(y[at + j]);
      }
    } else {
      fold_all(fn);
      for (Index j = 0; j < width; ++j) y[at + j] = finished(fn, strip[static_cast<std::size_t>(j)], count);
    }
    at += width;
  }
}

/// The first of the largest or smallest elements, counted along the single reduced axis.
template <class T>
void find_extremes(const Walk& walk, bool largest, const T* x, std::int64_t* y, Index begin, Index end) {
  const Index count = walk.count();
  for (Index at = begin; at < end; ++at) {
    const T* const from = x + walk.kept_offset(at);
    Index best = 0;
    for (Index i = 1; i < count; ++i) {
      const T value = from[walk.reduced_offset(i)], held = from[walk.reduced_offset(best)];
      if (largest ? value > held : value < held) best = i;
    }
    y[at] = best;
  }
}

template <class T>
Result reduce_plans(const op::Reduce& op, const Context& context) {
  const bool extreme = op.fn == Fn::arg_max || op.fn == Fn::arg_min;
  if (extreme && op.axes.size() != 1) return Unsupported{"ArgMax over several axes"};
  return one_plan(context, op.operands(), "reduce:scalar",
                  [walk = Walk(op), fn = op.fn, extreme, results = element_count(op.y()), pool = context.pool,
                   threads = context.threads](const Arguments& arguments) {
                    const auto* const x = input<T>(arguments, 0);
                    pool->split(results, threads, 1, [&](Index begin, Index end) {
                      if (extreme)
                        find_extremes(walk, fn == Fn::arg_max, x, output<std::int64_t>(arguments), begin, end);
                      else reduce(walk, fn, x, output<T>(arguments), begin, end);
                    });
                  });
}

/// One row of a softmax: `n` elements `stride` apart.
void softmax_row(const double* x, double* y, Index n, Index stride, bool log) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, x[i * stride]);
  for (Index i = 0; i < n; ++i) {
    const double power = std::exp(x[i * stride] - largest);
    sum += power;
    y[i * stride] = log ? x[i * stride] - largest : power;
  }
  const double shift = std::log(sum);
  for (Index i = 0; i < n; ++i) y[i * stride] = log ? y[i * stride] - shift : y[i * stride] / sum;
}

}  // namespace

Result scalar_plans(const op::Reduce& op, const Context& context) {
  if (op.type == DataType::f64) return reduce_plans<double>(op, context);
  const bool exact = op.fn != Fn::mean && op.fn != Fn::l2 && op.fn != Fn::log_sum && op.fn != Fn::log_sum_exp;
  if (exact && op.type == DataType::i32) return reduce_plans<std::int32_t>(op, context);
  if (exact && op.type == DataType::i64) return reduce_plans<std::int64_t>(op, context);
  return unsupported(op.kind, op.type);
}

Result scalar_plans(const op::Softmax& op, const Context& context) {
  if (op.type != DataType::f64) return unsupported(op.kind, op.type);
  return one_plan(context, op.operands(), "softmax:scalar",
                  [outer = op.x[0], axis = op.x[1], inner = op.x[2], log = op.log, pool = context.pool,
                   threads = context.threads](const Arguments& arguments) {
                    pool->split(outer * inner, threads, 1, [&](Index begin, Index end) {
                      for (Index at = begin; at < end; ++at) {
                        const Index first = at / inner * axis * inner + at % inner;
                        softmax_row(input<double>(arguments, 0) + first, output<double>(arguments) + first, axis, inner,
                                    log);
                      }
                    });
                  });
}

}  // namespace benanza::native
