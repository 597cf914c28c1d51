// SPDX-License-Identifier: Apache-2.0
// Reductions, ArgMax and ArgMin. Kept and reduced dimensions alternate; the innermost of the two decides whether runs
// are folded to numbers or rows to rows. If there are fewer results than threads, the reduced elements are divided
// among the threads.
#include "context.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace benanza::native {

namespace {

using Fn = op::ReduceFn;

/// Kept and reduced dimensions with their strides in x; the innermost dimension of x is separate.
struct Shape {
  TensorShape kept{}, kept_strides{}, reduced{}, reduced_strides{};  // without the innermost
  Index inner = 1;
  bool inner_reduced = true;

  [[nodiscard]] static Index offset(const TensorShape& dims, const TensorShape& strides, Index flat) {
    Index result = 0;
    for (std::size_t i = dims.size(); i-- > 0;) {
      result += flat % dims[i] * strides[i];
      flat /= dims[i];
    }
    return result;
  }
  [[nodiscard]] Index kept_count() const { return element_count(kept); }
  [[nodiscard]] Index reduced_count() const { return element_count(reduced); }
};

Shape shape_of(const op::Reduce& op) {
  Shape shape;
  Index stride = 1;
  TensorShape strides = TensorShape::filled(op.x.size(), 1);
  for (std::size_t i = op.x.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= op.x[i];
  }
  const auto is_reduced = [&](std::size_t i) {
    return std::find(op.axes.begin(), op.axes.end(), static_cast<std::int64_t>(i)) != op.axes.end();
  };
  for (std::size_t i = 0; i < op.x.size(); ++i) {
    const bool reduced = is_reduced(i);
    if (i + 1 == op.x.size()) {
      shape.inner = op.x[i];
      shape.inner_reduced = reduced;
    } else if (reduced) {
      shape.reduced.push_back(op.x[i]);
      shape.reduced_strides.push_back(strides[i]);
    } else {
      shape.kept.push_back(op.x[i]);
      shape.kept_strides.push_back(strides[i]);
    }
  }
  return shape;
}

Fold fold_of(Fn fn) {
  switch (fn) {
    case Fn::max: return Fold::max;
    case Fn::min: return Fold::min;
    case Fn::prod: return Fold::prod;
    case Fn::l1: return Fold::l1;
    case Fn::l2:
    case Fn::sum_square: return Fold::sum_square;
    default: return Fold::sum;
  }
}
double neutral(Fold fold) {
  switch (fold) {
    case Fold::max: return -std::numeric_limits<double>::infinity();
    case Fold::min: return std::numeric_limits<double>::infinity();
    case Fold::prod: return 1;
    default: return 0;
  }
}
double combine(Fold fold, double a, double b) {
  switch (fold) {
    case Fold::max: return std::max(a, b);
    case Fold::min: return std::min(a, b);
    case Fold::prod: return a * b;
    default: return a + b;
  }
}
/// The operation after the fold.
float finish(Fn fn, double value, Index count) {
  switch (fn) {
    case Fn::mean: return static_cast<float>(value / static_cast<double>(count));
    case Fn::l2: return static_cast<float>(std::sqrt(value));
    case Fn::log_sum: return static_cast<float>(std::log(value));
    default: return static_cast<float>(value);
  }
}

/// Maximum and the sum of exponentials relative to it.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  void add(double other_largest, double other_sum) {
    if (other_sum == 0 || largest == std::numeric_limits<double>::infinity()) return;
    const double now = std::max(largest, other_largest);
    sum = (sum == 0 ? 0 : sum * std::exp(largest - now)) + other_sum * std::exp(other_largest - now);
    largest = now;
  }
  void add_run(const Kernels& kernels, const float* x, Index n) {
    const double m = kernels.fold[static_cast<std::size_t>(Fold::max)](x, n);
    if (std::isinf(m)) {  // an exponential relative to it would be NaN
      if (m > 0) largest = m, sum = 1;
      return;
    }
    add(m, kernels.sum_of_exp(x, n, static_cast<float>(m)));
  }
};

/// Result number `result` if runs are reduced; only over `part` of the reduced runs' elements.
double reduce_runs(const Kernels& kernels, const Shape& shape, Fn fn, const float* x, Index result, Range part) {
  const Fold fold = fold_of(fn);
  if (shape.reduced.empty() && shape.kept.size() <= 1 && fn != Fn::log_sum_exp)  // adjacent runs
    return kernels.fold[static_cast<std::size_t>(fold)](x + result * shape.inner + part.begin, part.size());
  const float* base = x + Shape::offset(shape.kept, shape.kept_strides, result);
  double value = neutral(fold);
  LogSum log_sum;
  for (Index at = part.begin; at < part.end;) {
    const Index run = at / shape.inner, column = at % shape.inner, n = std::min(part.end - at, shape.inner - column);
    const float* from = base + Shape::offset(shape.reduced, shape.reduced_strides, run) + column;
    if (fn == Fn::log_sum_exp) log_sum.add_run(kernels, from, n);
    else value = combine(fold, value, kernels.fold[static_cast<std::size_t>(fold)](from, n));
    at += n;
  }
  return fn == Fn::log_sum_exp ? log_sum.largest + std::log(log_sum.sum) : value;
}

Result arg_plans(const op::Reduce& op, const Context& context) {
  if (op.axes.size() != 1) return Unsupported{"ArgMax over several axes"};
  const auto axis = static_cast<std::size_t>(op.axes[0]);
  Index outer = 1, inner = 1;
  for (std::size_t i = 0; i < axis; ++i) outer *= op.x[i];
  for (std::size_t i = axis + 1; i < op.x.size(); ++i) inner *= op.x[i];
  const Index n = op.x[axis];
  const bool largest = op.fn == Fn::arg_max;
  const auto& kernels = context.kernels;
  if (inner == 1) {
    return one_plan(context, op.operands(), "arg:runs",
                    [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      pool->split(outer, threads, 1, [&](Index begin, Index end) {
                        for (Index o = begin; o < end; ++o) {
                          const float* x = input<float>(arguments, 0) + o * n;
                          const double best =
                              kernels.fold[static_cast<std::size_t>(largest ? Fold::max : Fold::min)](x, n);
                          output<std::int64_t>(arguments)[o] = kernels.find(x, n, static_cast<float>(best));
                        }
                      });
                    });
  }
  constexpr Index block = 1024;
  return one_plan(
      context, op.operands(), "arg:rows",
      [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(outer * inner, threads, 16, [&](Index begin, Index end) {
          float best[block];
          for (Index at = begin; at < end;) {
            const Index o = at / inner, first = at % inner, width = std::min({block, inner - first, end - at});
            const float* x = input<float>(arguments, 0) + o * n * inner + first;
            std::int64_t* y = output<std::int64_t>(arguments) + at;
            std::copy_n(x, width, best);
            std::fill_n(y, width, 0);
            for (Index i = 1; i < n; ++i) kernels.arg_into[largest ? 0 : 1](best, y, x + i * inner, width, i);
            at += width;
          }
        });
      });
}

}  // namespace

Result plans(const op::Reduce& op, const Context& context) {
  if (op.type != DataType::f32) return scalar_plans(op, context);
  if (op.fn == Fn::arg_max || op.fn == Fn::arg_min) return arg_plans(op, context);
  const Shape shape = shape_of(op);
  const auto& kernels = context.kernels;
  const int threads = context.threads;

  if (shape.inner_reduced) {
    const Index results = shape.kept_count(), count = shape.reduced_count() * shape.inner;
    if (results >= threads) {
      return one_plan(
          context, op.operands(), "reduce:runs", [=, &kernels, pool = context.pool](const Arguments& arguments) {
            pool->split(results, threads, 1, [&](Index begin, Index end) {
              for (Index r = begin; r < end; ++r)
                output<float>(arguments)[r] =
                    finish(op.fn, reduce_runs(kernels, shape, op.fn, input<float>(arguments, 0), r, {0, count}), count);
            });
          });
    }
    return one_plan(
        context, op.operands(), "reduce:shares",
        [=, &kernels, pool = context.pool](const Arguments& arguments) {
          auto* parts = static_cast<double*>(arguments.workspace);  // results x threads
          pool->parallel(threads, [&](int thread) {
            for (Index r = 0; r < results; ++r)
              parts[r * threads + thread] =
                  reduce_runs(kernels, shape, op.fn, input<float>(arguments, 0), r, share(count, threads, thread, 64));
          });
          for (Index r = 0; r < results; ++r) {
            double value = parts[r * threads];
            for (int t = 1; t < threads; ++t) {
              const double part = parts[r * threads + t];
              if (op.fn == Fn::log_sum_exp && !std::isinf(std::max(value, part)))
                value = std::max(value, part) + std::log1p(std::exp(-std::fabs(value - part)));
              else if (op.fn == Fn::log_sum_exp) value = std::max(value, part);
              else value = combine(fold_of(op.fn), value, part);
            }
            output<float>(arguments)[r] = finish(op.fn, value, count);
          }
        },
        sizeof(double) * static_cast<std::size_t>(results * threads));
  }

  // Rows are folded into rows, one strip at a time.
  constexpr Index strip = 1024;
  return one_plan(
      context, op.operands(), "reduce:rows", [=, &kernels, pool = context.pool](const Arguments& arguments) {
        const Index count = shape.reduced_count(), inner = shape.inner;
        const Fold fold = fold_of(op.fn);
        const bool log_sum_exp = op.fn == Fn::log_sum_exp;
        pool->split(shape.kept_count() * inner, threads, 16, [&](Index begin, Index end) {
          float shift[strip];
          for (Index at = begin; at < end;) {
            const Index row = at / inner, first = at % inner, width = std::min({strip, inner - first, end - at});
            const float* x = input<float>(arguments, 0) + Shape::offset(shape.kept, shape.kept_strides, row) + first;
            float* y = output<float>(arguments) + at;
            const auto fold_all = [&](Fold how, float* accumulator) {
              std::fill_n(accumulator, width, static_cast<float>(neutral(how)));
              // The kernel traverses the innermost reduced dimension.
              const Index rows = shape.reduced.empty() ? 1 : shape.reduced.back(),
                          stride = shape.reduced.empty() ? 0 : shape.reduced_strides.back();
              for (Index r = 0; r < count; r += rows)
                kernels.fold_rows[static_cast<std::size_t>(how)](
                    accumulator, x + Shape::offset(shape.reduced, shape.reduced_strides, r), stride, rows, width);
            };
            if (log_sum_exp) {
              fold_all(Fold::max, shift);
              std::fill_n(y, width, 0.0F);
              for (Index r = 0; r < count; ++r)
                kernels.add_exp(y, x + Shape::offset(shape.reduced, shape.reduced_strides, r), shift, width);
              for (Index i = 0; i < width; ++i) y[i] = std::isinf(shift[i]) ? shift[i] : shift[i] + std::log(y[i]);
            } else {
              fold_all(fold, y);
              if (op.fn == Fn::mean || op.fn == Fn::l2 || op.fn == Fn::log_sum)
                for (Index i = 0; i < width; ++i) y[i] = finish(op.fn, static_cast<double>(y[i]), count);
            }
            at += width;
          }
        });
      });
}

}  // namespace benanza::native
