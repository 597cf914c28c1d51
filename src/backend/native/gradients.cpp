// SPDX-License-Identifier: Apache-2.0
// Gradients of element-wise functions, of softmax and of normalisations. With n = (x - mean) / deviation, g = dy scale
// and sums over the elements that share a statistic: dx = (g - sum(g) / count - n sum(g n) / count) / deviation, which
// is dy times a factor, plus x times a slope, plus a shift.
#include "context.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

namespace {

struct GradientSums {
  double dy = 0, product = 0;  // sums of dy and of dy (x - mean)
};

/// The coefficients of dx.
struct GradientLine {
  float factor = 1, slope = 0, shift = 0;

  GradientLine(double inverse, double mean, GradientSums sums, double count)
      : factor(static_cast<float>(inverse)),
        slope(static_cast<float>(-inverse * inverse * inverse * sums.product / count)),
        shift(static_cast<float>(-sums.dy / count * inverse -
                                 mean * -inverse * inverse * inverse * sums.product / count)) {}
};

double inverse_deviation(float variance, double epsilon) {
  return 1 / std::sqrt(static_cast<double>(variance) + epsilon);
}

/// The positions of a layer's operands.
struct NormPlaces {
  std::size_t mean = 0, var = 0;
  explicit NormPlaces(const op::NormGradient& op) : mean(op.affine ? 3 : 2), var(op.has_mean() ? mean + 1 : mean) {}
};

/// Batch and group: sums for each channel of each image, then for the elements that share a statistic, then dx.
Result channel_plans(const op::NormGradient& op, const Context& context) {
  const Index images = op.x[0], channels = op.x[1], inner = op.x[2], in_group = channels / op.groups;
  const bool batch = op.of == op::NormGradientOf::batch;
  const Index statistics = op.statistics();
  const NormPlaces at(op);
  const auto statistic_of = [=](Index plane) { return batch ? plane % channels : plane / in_group; };
  const double count = static_cast<double>(inner) * static_cast<double>(batch ? images : in_group);
  const auto planes = static_cast<std::size_t>(images * channels);
  return one_plan(
      context, op.operands(), "norm_gradient:channels",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       epsilon = context.numbers.epsilon](const Arguments& arguments) {
        auto* const of_plane = static_cast<GradientSums*>(arguments.workspace);
        auto* const of_statistic = of_plane + planes;
        const auto *const dy = input<float>(arguments, 0), *const x = input<float>(arguments, 1);
        const float* const scale = op.affine ? input<float>(arguments, 2) : nullptr;
        const auto *const mean = input<float>(arguments, at.mean), *const var = input<float>(arguments, at.var);
        pool->split(static_cast<Index>(planes), threads, 1, [&](Index begin, Index end) {
          for (Index plane = begin; plane < end; ++plane) {
            double sums[2] = {};
            kernels.norm_gradient_sums(dy + plane * inner, x + plane * inner, nullptr, mean[statistic_of(plane)], inner,
                                       sums);
            of_plane[plane] = {sums[0], sums[1]};
          }
        });
        std::fill_n(of_statistic, statistics, GradientSums{});
        if (op.affine) std::fill_n(output<float>(arguments, 1), channels, 0.0F);
        if (op.affine && op.bias) std::fill_n(output<float>(arguments, 2), channels, 0.0F);
        for (Index plane = 0; plane < static_cast<Index>(planes); ++plane) {
          const Index channel = plane % channels, statistic = statistic_of(plane);
          const double factor = scale != nullptr ? static_cast<double>(scale[channel]) : 1;
          of_statistic[statistic].dy += factor * of_plane[plane].dy;
          of_statistic[statistic].product += factor * of_plane[plane].product;
          if (op.affine)
            output<float>(arguments, 1)[channel] +=
                static_cast<float>(of_plane[plane].product * inverse_deviation(var[statistic], epsilon));
          if (op.affine && op.bias) output<float>(arguments, 2)[channel] += static_cast<float>(of_plane[plane].dy);
        }
        pool->split(static_cast<Index>(planes), threads, 1, [&](Index begin, Index end) {
          for (Index plane = begin; plane < end; ++plane) {
            const Index statistic = statistic_of(plane);
            const GradientLine line(inverse_deviation(var[statistic], epsilon), static_cast<double>(mean[statistic]),
                                    of_statistic[statistic], count);
            const float factor = scale != nullptr ? line.factor * scale[plane % channels] : line.factor;
            kernels.norm_gradient(dy + plane * inner, x + plane * inner, nullptr, factor, line.slope, line.shift,
                                  output<float>(arguments) + plane * inner, inner);
          }
        });
      },
      sizeof(GradientSums) * (planes + static_cast<std::size_t>(statistics)));
}

/// Layer and RMS: one row at a time; for the weights, each thread first accumulates its own sums.
Result row_plans(const op::NormGradient& op, const Context& context) {
  const Index rows = op.x[0], n = op.x[1];
  const NormPlaces at(op);
  const Index stride = (n + 15) / 16 * 16, of_thread = 2 * stride;
  return one_plan(
      context, op.operands(), "norm_gradient:rows",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads,
       epsilon = context.numbers.epsilon](const Arguments& arguments) {
        auto* const weights = static_cast<float*>(arguments.workspace);
        const float* const scale = op.affine ? input<float>(arguments, 2) : nullptr;
        pool->parallel(threads, [&](int thread) {
          const Range mine = share(rows, threads, thread);
          float* const dscale = weights + thread * of_thread;
          float* const dbias = op.bias ? dscale + stride : nullptr;
          if (op.affine) std::fill_n(dscale, of_thread, 0.0F);
          for (Index row = mine.begin; row < mine.end; ++row) {
            const float *const dy = input<float>(arguments, 0) + row * n, *const x =
                                                                              input<float>(arguments, 1) + row * n;
            const float mean = op.has_mean() ? input<float>(arguments, at.mean)[row] : 0;
            const double inverse = inverse_deviation(input<float>(arguments, at.var)[row], epsilon);
            double sums[2] = {};
            kernels.norm_gradient_sums(dy, x, scale, mean, n, sums);
            const GradientLine line(inverse, static_cast<double>(mean), {op.has_mean() ? sums[0] : 0, sums[1]},
                                    static_cast<double>(n));
            kernels.norm_gradient(dy, x, scale, line.factor, line.slope, line.shift, output<float>(arguments) + row * n,
                                  n);
            if (op.affine) kernels.norm_gradient_weights(dy, x, mean, line.factor, dscale, dbias, n);
          }
        });
        if (!op.affine) return;
        for (std::size_t which = 0; which < (op.bias ? 2U : 1U); ++which)
          for (Index i = 0; i < n; ++i) {
            float sum = 0;
            for (int thread = 0; thread < threads; ++thread)
              sum += weights[thread * of_thread + static_cast<Index>(which) * stride + i];
            output<float>(arguments, 1 + which)[i] = sum;
          }
      },
      op.affine ? sizeof(float) * static_cast<std::size_t>(of_thread) * static_cast<std::size_t>(context.threads) : 0);
}

/// One row of a softmax gradient: dx = y (dy - sum), or dx = dy - exp(y) sum.
void softmax_gradient_row(const Kernels& kernels, bool log, const float* dy, const float* y, float* dx, Index n) {
  if (!log) {
    const float sum = kernels.dot(dy, y, n);
    kernels.affine_scalar[0](dy, 1, -sum, dx, n);
    kernels.binary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(Form::vectors)]
                  [static_cast<std::size_t>(ElementwiseFn::mul)](dx, y, dx, n);
    return;
  }
  const auto sum = static_cast<float>(kernels.fold[static_cast<std::size_t>(Fold::sum)](dy, n));
  kernels.unary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(ElementwiseFn::exp)](y, dx, n, 0,
                                                                                                         0);
  kernels.affine_scalar[0](dx, -sum, 0, dx, n);
  kernels.scale_add(dx, dy, 1, n);
}

}  // namespace

Result plans(const op::UnaryGradient& op, const Context& context) {
  const auto kernel = context.kernels.unary_gradient[static_cast<std::size_t>(op.fn)];
  if (op.type != DataType::f32 || kernel == nullptr) return unsupported(op.kind, op.type);
  return one_plan(context, op.operands(), "unary_gradient",
                  [=, count = op.x[0], alpha = static_cast<float>(op.alpha), beta = static_cast<float>(op.beta),
                   pool = context.pool, threads = context.threads](const Arguments& arguments) {
                    pool->split(count, threads, 64, [&](Index begin, Index end) {
                      kernel(input<float>(arguments, 0) + begin, input<float>(arguments, 1) + begin,
                             output<float>(arguments) + begin, end - begin, alpha, beta);
                    });
                  });
}

Result plans(const op::SoftmaxGradient& op, const Context& context) {
  if (op.type != DataType::f32 || op.x[2] != 1) return unsupported(op.kind, op.type);
  const Index n = op.x[1];
  return one_plan(context, op.operands(), "softmax_gradient:rows",
                  [=, &kernels = context.kernels, rows = op.x[0], pool = context.pool,
                   threads = context.threads](const Arguments& arguments) {
                    pool->split(rows, threads, 1, [&](Index begin, Index end) {
                      for (Index at = begin * n; at < end * n; at += n)
                        softmax_gradient_row(kernels, op.log, input<float>(arguments, 0) + at,
                                             input<float>(arguments, 1) + at, output<float>(arguments) + at, n);
                    });
                  });
}

Result plans(const op::NormGradient& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  return op.by_channel() ? channel_plans(op, context) : row_plans(op, context);
}

}  // namespace benanza::native
