// SPDX-License-Identifier: Apache-2.0
// Gradients of pools, losses and look-ups, and an optimizer's step.
#include "evaluate.hpp"
#include "index.hpp"
#include <benanza/base/detail/window.hpp>

#include <cmath>

namespace benanza::reference {

namespace {

detail::Window window_of(const op::PoolGradient& pool, std::size_t axis) {
  return detail::window(pool.x, axis, pool.kernel[axis], pool.pads, pool.strides, pool.dilations);
}

/// The number of cells over which an average at `at` is taken: those inside x or, with include_pad, inside the padded
/// x.
double counted_cells(const op::PoolGradient& pool, const TensorShape& at) {
  double inside = 1, whole = 1;
  for (std::size_t i = 0; i < pool.kernel.size(); ++i) {
    const auto axis = window_of(pool, i);
    double cells = 0, padded = 0;
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const std::int64_t place = at[i] * axis.stride + tap * axis.dilation - axis.pad_begin;
      if (place >= 0 && place < axis.size) cells += 1;
      if (place < axis.size + axis.pad_end - detail::at_or(pool.ceil_pads, i, 0)) padded += 1;
    }
    inside *= cells;
    whole *= padded;
  }
  return std::max(pool.include_pad ? whole : inside, 1.0);
}

/// dx at `at` (N C spatial...): the sum over the windows of which it is a tap.
double average_gradient(const op::PoolGradient& pool, const ConstTensor& dy, const TensorShape& at) {
  const TensorShape y = pool.y(), places = part(y, 2, y.size());
  const std::int64_t base = (at[0] * pool.x[1] + at[1]) * element_count(places);
  TensorShape tap = TensorShape::filled(pool.kernel.size(), 0), place = tap;
  double sum = 0;
  do {
    bool reached = true;
    for (std::size_t i = 0; i < tap.size() && reached; ++i) {
      const auto axis = window_of(pool, i);
      const std::int64_t offset = at[i + 2] + axis.pad_begin - tap[i] * axis.dilation;
      place[i] = offset / axis.stride;
      reached = offset >= 0 && offset % axis.stride == 0 && place[i] < places[i];
    }
    if (reached) sum += dy[base + flat_index(places, place)] / counted_cells(pool, place);
  } while (advance(pool.kernel, tap));
  return sum;
}

}  // namespace

Elements compute(const op::PoolGradient& pool, const Query& query) {
  const ConstTensor& dy = query.input(0);
  if (pool.mode == op::PoolMode::average)
    return query.map([&](std::int64_t flat) { return average_gradient(pool, dy, coordinates(pool.x, flat)); });
  const std::int64_t plane = pool.plane(), results = element_count(pool.y()) / (pool.x[0] * pool.x[1]);
  const ConstTensor& indices = query.input(1);
  Elements result(query.size());
  query.for_each_group([&](std::int64_t flat) { return flat / plane; },
                       [&](std::int64_t image, std::span<const std::size_t> positions) {
                         Elements sums(static_cast<std::size_t>(plane));
                         for (std::int64_t i = image * results; i < (image + 1) * results; ++i)
                           sums.at(static_cast<std::size_t>(indices[i])) += dy[i];
                         for (auto position : positions)
                           result[position] = sums[static_cast<std::size_t>(query.indices[position] % plane)];
                       });
  return result;
}

/// With softmax, dx = (exp(log_prob) - one at the target) at a position, times the gradient of its loss. Without
/// softmax, dx = minus that gradient at the target.
Elements compute(const op::LossGradient& loss, const Query& query) {
  const std::int64_t classes = loss.x[1], inner = loss.x[2];
  const ConstTensor &dy = query.input(0), &target = query.input(loss.target());
  const auto weight_of = [&](std::int64_t place) {
    const auto at = static_cast<std::int64_t>(target[place]);
    if (query.parameters.ignored_target == at) return 0.0;
    return loss.weighted ? query.input(loss.target() + 1)[at] : 1.0;
  };
  double all = 1;
  if (loss.reduction == op::LossReduction::mean) {
    all = 0;
    for (std::int64_t place = 0; place < loss.targets(); ++place) all += weight_of(place);
  }
  return query.map([&](std::int64_t flat) {
    const std::int64_t place = flat / (classes * inner) * inner + flat % inner, at = flat / inner % classes;
    const double of_loss = dy[loss.reduction == op::LossReduction::none ? place : 0] * weight_of(place) / all;
    const double own = static_cast<std::int64_t>(target[place]) == at ? 1 : 0;
    return of_loss * ((loss.softmax ? std::exp(query.input(1)[flat]) : 0) - own);
  });
}

Elements compute(const op::GatherGradient& gather, const Query& query) {
  const std::int64_t axis = gather.x[1], inner = gather.x[2], count = gather.indices;
  const ConstTensor &dy = query.input(0), &indices = query.input(1);
  return query.map([&](std::int64_t flat) {
    const std::int64_t outer = flat / (axis * inner), row = flat / inner % axis, column = flat % inner;
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::int64_t>(indices[i]);
      if ((at < 0 ? at + axis : at) == row) sum += dy[(outer * count + i) * inner + column];
    }
    return sum;
  });
}

/// PyTorch's SGD, Adam and AdamW at their first step: velocity = decay velocity + dw; the moments are divided by
/// 1 - beta.
Elements compute(const op::OptimizerStep& step, const Query& query) {
  using Step = op::OptimizerStep;
  const ConstTensor& weights = query.input(step.master ? 2 : 0);
  const ConstTensor& gradients = query.input(1);
  const std::size_t states = step.master ? 3 : 2, first_state = step.master ? 2 : 1;
  return query.map([&](std::int64_t i) {
    const double w = weights[i], g = gradients[i];
    if (step.rule == op::OptimizerRule::sgd) return w - Step::rate * g;
    if (step.rule == op::OptimizerRule::momentum) {
      const double velocity = Step::decay_of_velocity * query.input(states)[i] + g;
      return query.output == first_state ? velocity : w - Step::rate * velocity;
    }
    const double moment = Step::beta1 * query.input(states)[i] + (1 - Step::beta1) * g;
    const double variance = Step::beta2 * query.input(states + 1)[i] + (1 - Step::beta2) * g * g;
    if (query.output == first_state) return moment;
    if (query.output == first_state + 1) return variance;
    const double decayed = step.rule == op::OptimizerRule::adamw ? w * (1 - Step::rate * Step::weight_decay) : w;
    const double root = std::sqrt(variance / (1 - Step::beta2)) + Step::epsilon;
    return decayed - Step::rate * moment / (1 - Step::beta1) / root;
  });
}

}  // namespace benanza::reference
