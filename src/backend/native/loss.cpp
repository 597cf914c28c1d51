// SPDX-License-Identifier: Apache-2.0
// Loss and its gradient. For each position, the logarithm of the sum of its exponentials, then the score of its target.
// For a sum over all positions, each thread first computes its own.
#include "context.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

namespace {

constexpr Index most_places = 256;

/// The logarithms of the sums of exponentials at `n` adjacent positions.
void log_sums(const Kernels& kernels, const float* x, Index classes, Index inner, Index n, float* result) {
  const auto max = static_cast<std::size_t>(Fold::max);
  if (inner == 1) {
    const auto largest = static_cast<float>(kernels.fold[max](x, classes));
    *result = largest + static_cast<float>(std::log(kernels.sum_of_exp(x, classes, largest)));
    return;
  }
  float largest[most_places], sum[most_places] = {};
  std::copy_n(x, n, largest);
  if (classes > 1) kernels.fold_rows[max](largest, x + inner, inner, classes - 1, n);
  for (Index c = 0; c < classes; ++c) kernels.add_exp(sum, x + c * inner, largest, n);
  for (Index i = 0; i < n; ++i) result[i] = largest[i] + std::log(sum[i]);
}

struct Sums {
  double loss = 0, weight = 0;
};

}  // namespace

Result plans(const op::Loss& op, const Context& context) {
  const auto index = index_class(op.target_type);
  if (op.type != DataType::f32 || !index) return unsupported(op.kind, op.type);
  const Index classes = op.x[1], inner = op.x[2];
  return one_plan(
      context, op.operands(), op.softmax ? "softmax_loss" : "loss",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        auto* sums = static_cast<Sums*>(arguments.workspace);
        pool->parallel(threads, [&](int thread) {
          const Range mine = share(op.targets(), threads, thread);
          Sums own;
          float log_sum[most_places] = {};
          for (Index at = mine.begin; at < mine.end;) {
            const Index first = at % inner, n = std::min({mine.end - at, inner - first, most_places});
            const Index begin = at / inner * classes * inner + first;
            const float* x = input<float>(arguments, 0) + begin;
            if (op.softmax) log_sums(kernels, x, classes, inner, n, log_sum);
            for (Index c = 0; op.log_prob && c < classes; ++c)
              for (Index i = 0; i < n; ++i)
                output<float>(arguments, 1)[begin + c * inner + i] = x[c * inner + i] - log_sum[i];
            for (Index i = 0; i < n; ++i) {
              const Index target = index_at(arguments.inputs[1], *index, at + i, classes);
              const float weight = op.weighted ? input<float>(arguments, 2)[target] : 1;
              const float loss = weight * (log_sum[i] - x[target * inner + i]);
              if (op.reduction == op::LossReduction::none) output<float>(arguments)[at + i] = loss;
              own.loss += static_cast<double>(loss);
              own.weight += static_cast<double>(weight);
            }
            at += n;
          }
          sums[thread] = own;
        });
        if (op.reduction == op::LossReduction::none) return;
        Sums all;
        for (int t = 0; t < threads; ++t) {
          all.loss += sums[t].loss;
          all.weight += sums[t].weight;
        }
        *output<float>(arguments) =
            static_cast<float>(op.reduction == op::LossReduction::mean ? all.loss / all.weight : all.loss);
      },
      sizeof(Sums) * static_cast<std::size_t>(context.threads));
}

namespace {

/// The sum of the targets' weights, by which a mean divides.
double sum_of_weights(const op::LossGradient& op, const Arguments& arguments, std::size_t index) {
  if (!op.weighted) return static_cast<double>(op.targets());
  double sum = 0;
  for (Index at = 0; at < op.targets(); ++at)
    sum += static_cast<double>(
        input<float>(arguments, op.target() + 1)[index_at(arguments.inputs[op.target()], index, at, op.x[1])]);
  return sum;
}

}  // namespace

Result plans(const op::LossGradient& op, const Context& context) {
  const auto index = index_class(op.target_type);
  if (op.type != DataType::f32 || !index) return unsupported(op.kind, op.type);
  const Index classes = op.x[1], inner = op.x[2];
  const auto f32 = static_cast<std::size_t>(Arithmetic::f32);
  const auto exp = context.kernels.unary[f32][static_cast<std::size_t>(ElementwiseFn::exp)];
  const auto multiply =
      context.kernels
          .binary[f32][static_cast<std::size_t>(Form::vectors)][static_cast<std::size_t>(ElementwiseFn::mul)];
  return one_plan(
      context, op.operands(), op.softmax ? "softmax_loss_gradient" : "loss_gradient",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const auto* const dy = input<float>(arguments, 0);
        const float all = op.reduction == op::LossReduction::mean
                              ? static_cast<float>(1 / sum_of_weights(op, arguments, *index))
                              : 1.0F;
        pool->split(op.targets(), threads, 1, [&](Index begin, Index end) {
          float factors[most_places];
          for (Index at = begin; at < end;) {
            const Index first = at % inner, n = std::min({end - at, inner - first, most_places});
            const Index place = at / inner * classes * inner + first;
            float* const dx = output<float>(arguments) + place;
            for (Index i = 0; i < n; ++i) {
              const Index target = index_at(arguments.inputs[op.target()], *index, at + i, classes);
              factors[i] = dy[op.reduction == op::LossReduction::none ? at + i : 0] * all *
                           (op.weighted ? input<float>(arguments, op.target() + 1)[target] : 1);
            }
            const Index rows = inner == 1 ? 1 : classes, length = inner == 1 ? classes : n;
            for (Index c = 0; c < rows; ++c) {
              float* const row = dx + c * inner;
              if (!op.softmax) {
                std::fill_n(row, length, 0.0F);
                continue;
              }
              exp(input<float>(arguments, 1) + place + c * inner, row, length, 0, 0);
              if (inner == 1) kernels.affine_scalar[0](row, factors[0], 0, row, length);
              else multiply(row, factors, row, length);
            }
            for (Index i = 0; i < n; ++i)
              dx[index_at(arguments.inputs[op.target()], *index, at + i, classes) * inner + i] -= factors[i];
            at += n;
          }
        });
      });
}

}  // namespace benanza::native
