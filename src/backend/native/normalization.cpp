// SPDX-License-Identifier: Apache-2.0
// Softmax, LayerNorm, GroupNorm and Lrn.
#include "context.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

Result plans(const op::Softmax& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
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
  if (op.residual == op::Residual::none)
    return one_plan(context, op.operands(), algorithm,
                    [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      const auto [scale, bias] = weights(arguments);
                      pool->split(rows, threads, 1, [&, scale, bias](Index begin, Index end) {
                        kernel(input<float>(arguments, 0) + begin * inner, scale, bias,
                               output<float>(arguments) + begin * inner, end - begin, inner, epsilon);
                      });
                    });
  // A row's sum is normalised while the first-level cache has it: where it is an output, or in place.
  const auto sum = kernels.binary[static_cast<std::size_t>(Arithmetic::f32)][static_cast<std::size_t>(Form::vectors)]
                                 [static_cast<std::size_t>(ElementwiseFn::add)];
  return one_plan(context, op.operands(), "residual_" + algorithm,
                  [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                    const auto [scale, bias] = weights(arguments);
                    pool->split(rows, threads, 1, [&, scale, bias](Index begin, Index end) {
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
  // Channels [begin, end) of a group whose moments are known.
  const auto normalise = [=, &kernels](const Arguments& arguments, Index group, const Moments& m, Index begin,
                                       Index end) {
    const float factor = 1.0F / std::sqrt(static_cast<float>(m.m2 / m.count) + epsilon),
                mean = static_cast<float>(m.mean);
    for (Index c = begin; c < end; ++c) {
      const Index channel = group % (channels / in_group) * in_group + c, at = (group * in_group + c) * inner;
      const float scale = input<float>(arguments, 1)[channel] * factor;
      kernels.affine_scalar[0](input<float>(arguments, 0) + at, scale,
                               input<float>(arguments, 2)[channel] - mean * scale, output<float>(arguments) + at,
                               inner);
    }
  };
  if (groups >= context.threads) {
    return one_plan(context, op.operands(), "group_norm:groups",
                    [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      pool->split(groups, threads, 1, [&](Index begin, Index end) {
                        for (Index group = begin; group < end; ++group) {
                          Moments m;
                          kernels.moments(input<float>(arguments, 0) + group * in_group * inner, in_group * inner, m);
                          normalise(arguments, group, m, 0, in_group);
                        }
                      });
                    });
  }
  // Fewer groups than threads: each group is divided, moments first.
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
                      [&](Index begin, Index end) { normalise(arguments, group, m, begin, end); });
        }
      },
      sizeof(Moments) * static_cast<std::size_t>(context.threads));
}

Result plans(const op::Lrn& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index channels = op.x[1], inner = op.x[2], image = channels * inner;
  constexpr float alpha = 1e-4F, bias = 1.0F;  // do not decide the speed
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

}  // namespace benanza::native
