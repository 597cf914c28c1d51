// SPDX-License-Identifier: Apache-2.0
// An optimizer's step, in place: each thread traverses its part of all tensors once. In mixed precision, a block of
// gradients is widened, the f32 weights are updated with it, and the 16-bit weights are rounded from them.
#include "context.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

OptimizerNumbers numbers_of(op::OptimizerRule rule) {
  using Step = op::OptimizerStep;
  const auto f = [](double value) { return static_cast<float>(value); };
  OptimizerNumbers numbers{.rate = f(Step::rate),
                           .decay = f(Step::decay_of_velocity),
                           .beta1 = f(Step::beta1),
                           .beta2 = f(Step::beta2),
                           .epsilon = f(Step::epsilon),
                           .correction1 = f(1 - Step::beta1),
                           .correction2 = f(1 - Step::beta2)};
  if (rule == op::OptimizerRule::adamw) numbers.keep = f(1 - Step::rate * Step::weight_decay);
  return numbers;
}

constexpr Index optimizer_block = 1024;  // floats that fit the first-level cache along with all states

}  // namespace

Result plans(const op::OptimizerStep& op, const Context& context) {
  const auto type = stored(op.type);
  if (!type || (op.type != DataType::f32 && !op.master)) return unsupported(op.kind, op.type);
  const Index count = op.x[0];
  const std::size_t master = op.master ? 1 : 0;
  return one_plan(
      context, op.operands(), op.master ? "optimizer:mixed" : "optimizer",
      [=, &kernels = context.kernels, states = op.states(), numbers = numbers_of(op.rule),
       step = context.kernels.optimizer[static_cast<std::size_t>(op.rule)], pool = context.pool,
       bytes = static_cast<Index>(bytes_of(op.type)), threads = context.threads](const Arguments& arguments) {
        auto* const weights = output<float>(arguments, master);
        float* const a = states > 0 ? output<float>(arguments, master + 1) : nullptr;
        float* const b = states > 1 ? output<float>(arguments, master + 2) : nullptr;
        const auto past = [](float* state, Index i) { return state == nullptr ? nullptr : state + i; };
        pool->split(count, threads, 16, [&](Index begin, Index end) {
          if (master == 0)
            return step(weights + begin, input<float>(arguments, 1) + begin, past(a, begin), past(b, begin),
                        end - begin, numbers);
          float gradients[optimizer_block];
          for (Index i = begin; i < end; i += optimizer_block) {
            const Index n = std::min(optimizer_block, end - i);
            kernels.to_f32[static_cast<std::size_t>(*type)](input<std::byte>(arguments, 1) + i * bytes, gradients, n);
            step(weights + i, gradients, past(a, i), past(b, i), n, numbers);
            kernels.from_f32[static_cast<std::size_t>(*type)](weights + i, output<std::byte>(arguments) + i * bytes, n);
          }
        });
      },
      0, op.master ? benanza::tolerance(op.type) : 1e-4);
}

}  // namespace benanza::native
