// SPDX-License-Identifier: Apache-2.0
// Softmax, AxisNorm, LayerNorm, GroupNorm, ChannelNorm and Lrn.
#include "context.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

Result plans(const op::Softmax& op, const Context& context) {
  if (op.type != DataType::f32) return scalar_plans(op, context);
  const Index outer = op.x[0], axis = op.x[1], inner = op.x[2];
  const auto& kernels = context.kernels;
  if (inner == 1) {
    return one_plan(context, op.operands(), "softmax:rows",
                    [=, rows = op.log ? kernels.log_softmax : kernels.softmax, pool = context.pool,
                     threads = context.threads](const Arguments& arguments) {
                      pool->split(outer, threads, 1, [&](Index begin, Index end) {
                        rows(input<float>(arguments, 0) + begin * axis, output<float>(arguments) + begin * axis,
                             end - begin, axis);
                      });
                    });
  }
  return one_plan(context, op.operands(), "softmax:columns",
                  [=, columns = op.log ? kernels.log_softmax_columns : kernels.softmax_columns, pool = context.pool,
                   threads = context.threads](const Arguments& arguments) {
                    pool->split(outer * inner, threads, 16, [&](Index begin, Index end) {
                      for (Index at = begin; at < end;) {
                        const Index o = at / inner, first = at % inner, past = std::min(inner, first + end - at);
                        columns(input<float>(arguments, 0) + o * axis * inner,
                                output<float>(arguments) + o * axis * inner, axis, inner, first, past);
                        at += past - first;
                      }
                    });
                  });
}

Result plans(const op::LayerNorm& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const auto& kernels = context.kernels;
  const std::string algorithm = op.rms ? "rms_norm" : "layer_norm";
  const auto kernel = op.rms ? kernels.rms_norm : kernels.layer_norm;
  const auto weights = [op, at = op.first_weight()](const Arguments& arguments) {
    return std::pair{op.scale ? input<float>(arguments, at) : nullptr,
                     op.bias ? input<float>(arguments, op.scale ? at + 1 : at) : nullptr};
  };
  const Index rows = op.x[0], inner = op.x[1];
  const auto epsilon = static_cast<float>(context.numbers.epsilon);
  if (op.residual == op::Residual::none)
    return one_plan(context, op.operands(), algorithm,
                    [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      const auto [scale, bias] = weights(arguments);
                      pool->split(rows, threads, 1, [&, scale = scale, bias = bias](Index begin, Index end) {
                        kernel(input<float>(arguments, 0) + begin * inner, scale, bias,
                               output<float>(arguments) + begin * inner, end - begin, inner, epsilon);
                      });
                    });
  // A row's sum, stored in its output or in place, is normalised while the first-level cache holds it.
  const auto sum = kernels.binary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(Form::vectors)]
                                 [static_cast<std::size_t>(ElementwiseFn::add)];
  return one_plan(context, op.operands(), "residual_" + algorithm,
                  [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                    const auto [scale, bias] = weights(arguments);
                    pool->split(rows, threads, 1, [&, scale = scale, bias = bias](Index begin, Index end) {
                      for (Index at = begin * inner; at < end * inner; at += inner) {
                        float* const y = output<float>(arguments) + at;
                        float* const x = op.residual == op::Residual::kept ? output<float>(arguments, 1) + at : y;
                        sum(input<float>(arguments, 0) + at, input<float>(arguments, 1) + at, x, inner);
                        if (op.x_bias) sum(x, input<float>(arguments, 2), x, inner);
                        kernel(x, scale, bias, y, 1, inner, epsilon);
                      }
                    });
                  });
}

Result plans(const op::GroupNorm& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index channels = op.x[1], inner = op.x[2], in_group = channels / op.groups, groups = op.x[0] * op.groups;
  const auto& kernels = context.kernels;
  const auto epsilon = static_cast<float>(context.numbers.epsilon);
  // Normalises channels [begin, end) of a group whose moments are known.
  const auto normalize = [=, &kernels](const Arguments& arguments, Index group, const Moments& m, Index begin,
                                       Index end) {
    const float factor = 1.0F / std::sqrt(static_cast<float>(m.m2 / m.count) + epsilon),
                mean = static_cast<float>(m.mean);
    for (Index c = begin; c < end; ++c) {
      const Index channel = group % (channels / in_group) * in_group + c, at = (group * in_group + c) * inner;
      kernels.normalize_run(input<float>(arguments, 0) + at, output<float>(arguments) + at, inner, mean,
                            input<float>(arguments, 1)[channel] * factor, input<float>(arguments, 2)[channel]);
    }
  };
  if (groups >= context.threads) {
    return one_plan(context, op.operands(), "group_norm:groups",
                    [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      pool->split(groups, threads, 1, [&](Index begin, Index end) {
                        for (Index group = begin; group < end; ++group) {
                          Moments m;
                          kernels.moments(input<float>(arguments, 0) + group * in_group * inner, in_group * inner, m);
                          normalize(arguments, group, m, 0, in_group);
                        }
                      });
                    });
  }
  // If there are fewer groups than threads, each group is divided, moments first.
  return one_plan(
      context, op.operands(), "group_norm:shares",
      [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        auto* parts = static_cast<Moments*>(arguments.workspace);
        for (Index group = 0; group < groups; ++group) {
          const Index count = in_group * inner;
          pool->parallel(threads, [&](int thread) {
            const Range mine = share(count, threads, thread, 64);
            Moments m;
            if (mine.size() > 0)
              kernels.moments(input<float>(arguments, 0) + group * count + mine.begin, mine.size(), m);
            parts[thread] = m;
          });
          Moments m = parts[0];
          for (int t = 1; t < threads; ++t) {
            const Moments& part = parts[t];
            if (part.count == 0) continue;
            const double total = m.count + part.count, delta = part.mean - m.mean;
            m.m2 += part.m2 + delta * delta * m.count * part.count / total;
            m.mean += delta * part.count / total;
            m.count = total;
          }
          pool->split(in_group, threads, 1,
                      [&](Index begin, Index end) { normalize(arguments, group, m, begin, end); });
        }
      },
      sizeof(Moments) * static_cast<std::size_t>(context.threads));
}

Result plans(const op::Lrn& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index channels = op.x[1], inner = op.x[2], image = channels * inner;
  const auto alpha = static_cast<float>(context.numbers.lrn_alpha), bias = static_cast<float>(context.numbers.lrn_bias);
  return one_plan(
      context, op.operands(), "lrn",
      [=, kernel = context.kernels.lrn, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(op.x[0] * inner, threads, 16, [&](Index begin, Index end) {
          for (Index at = begin; at < end;) {
            const Index n = at / inner, first = at % inner, past = std::min(inner, first + end - at);
            kernel(input<float>(arguments, 0) + n * image, output<float>(arguments) + n * image, channels, inner,
                   op.size, static_cast<float>(op.beta), alpha / static_cast<float>(op.size), bias, first, past);
            at += past - first;
          }
        });
      });
}

namespace {

/// Columns [first, first + n) of one outer index of an AxisNorm, at most `most_columns`.
constexpr Index most_columns = 256;
void normalize_columns(const op::AxisNorm& op, const Kernels& kernels, const float* x, float* y, Index n) {
  const Index length = op.x[1], inner = op.x[2];
  float factor[most_columns] = {};
  if (op.fn == op::AxisNormFn::hardmax) {
    std::int64_t at[most_columns] = {};
    std::copy_n(x, n, factor);
    for (Index i = 1; i < length; ++i) kernels.arg_into[0](factor, at, x + i * inner, n, i);
    for (Index i = 0; i < length; ++i) std::fill_n(y + i * inner, n, 0.0F);
    for (Index j = 0; j < n; ++j) y[at[j] * inner + j] = 1;
    return;
  }
  const bool squares = op.fn == op::AxisNormFn::l2;
  kernels.fold_rows[static_cast<std::size_t>(squares ? Fold::sum_square : Fold::l1)](factor, x, inner, length, n);
  for (Index j = 0; j < n; ++j) factor[j] = factor[j] == 0 ? 0 : 1 / (squares ? std::sqrt(factor[j]) : factor[j]);
  const auto multiply =
      kernels.binary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(Form::vectors)]
                    [static_cast<std::size_t>(ElementwiseFn::mul)];
  for (Index i = 0; i < length; ++i) multiply(x + i * inner, factor, y + i * inner, n);
}

void normalize_row(const op::AxisNorm& op, const Kernels& kernels, const float* x, float* y) {
  const Index length = op.x[1];
  const auto fold = [&](Fold fn) { return kernels.fold[static_cast<std::size_t>(fn)](x, length); };
  if (op.fn == op::AxisNormFn::hardmax) {
    const Index at = kernels.find(x, length, static_cast<float>(fold(Fold::max)));
    std::fill_n(y, length, 0.0F);
    y[at] = 1;
    return;
  }
  const double norm = op.fn == op::AxisNormFn::l1 ? fold(Fold::l1) : std::sqrt(fold(Fold::sum_square));
  kernels.affine_scalar[0](x, norm == 0 ? 0.0F : static_cast<float>(1 / norm), 0, y, length);
}

}  // namespace

Result plans(const op::AxisNorm& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index length = op.x[1], inner = op.x[2];
  return one_plan(
      context, op.operands(), inner == 1 ? "axis_norm:rows" : "axis_norm:columns",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(op.x[0] * inner, threads, inner == 1 ? 1 : 16, [&](Index begin, Index end) {
          for (Index at = begin; at < end;) {
            const Index first = at % inner, n = std::min({end - at, inner - first, most_columns});
            const Index place = at / inner * length * inner + first;
            const float* x = input<float>(arguments, 0) + place;
            if (inner == 1) normalize_row(op, kernels, x, output<float>(arguments) + place);
            else normalize_columns(op, kernels, x, output<float>(arguments) + place, n);
            at += n;
          }
        });
      });
}

Result plans(const op::ChannelNorm& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index outer = op.x[0], channels = op.x[1], inner = op.x[2];
  const auto momentum = static_cast<float>(context.numbers.momentum);
  const double epsilon = context.numbers.epsilon;
  return one_plan(
      context, op.operands(), "channel_norm",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(channels, threads, 1, [&](Index begin, Index end) {
          for (Index c = begin; c < end; ++c) {
            const auto* x = input<float>(arguments, 0);
            Moments moments;
            for (Index o = 0; o < outer; ++o) kernels.moments(x + (o * channels + c) * inner, inner, moments);
            const double variance = moments.m2 / moments.count;
            const double scale = 1 / std::sqrt(variance + epsilon) *
                                 (op.affine ? static_cast<double>(input<float>(arguments, 1)[c]) : 1);
            for (Index o = 0; o < outer; ++o) {
              const Index at = (o * channels + c) * inner;
              kernels.normalize_run(x + at, output<float>(arguments) + at, inner, static_cast<float>(moments.mean),
                                    static_cast<float>(scale), op.affine ? input<float>(arguments, 2)[c] : 0);
            }
            if (!op.running) continue;
            output<float>(arguments, 1)[c] =
                input<float>(arguments, 3)[c] * momentum + static_cast<float>(moments.mean) * (1 - momentum);
            output<float>(arguments, 2)[c] =
                input<float>(arguments, 4)[c] * momentum + static_cast<float>(variance) * (1 - momentum);
          }
        });
      });
}

}  // namespace benanza::native
