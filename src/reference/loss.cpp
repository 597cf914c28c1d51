// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <cmath>
#include <limits>

namespace benanza::reference {

Elements compute(const op::Loss& loss, const Query& query) {
  const std::int64_t classes = loss.x[1], inner = loss.x[2];
  const ConstTensor &x = query.input(0), &target = query.input(1);
  const auto begin_of = [&](std::int64_t place) { return place / inner * classes * inner + place % inner; };
  // The logarithm of the sum of exponentials at a position, or 0 if the scores already are logarithms of probabilities.
  const auto log_sum = [&](std::int64_t place) {
    if (!loss.softmax) return 0.0;
    const std::int64_t begin = begin_of(place), end = begin + classes * inner;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = begin; i < end; i += inner) largest = std::max(largest, x[i]);
    for (std::int64_t i = begin; i < end; i += inner) sum += std::exp(x[i] - largest);
    return largest + std::log(sum);
  };
  if (query.output == 1)
    return query.map(
        [&](std::int64_t flat) { return x[flat] - log_sum(flat / (classes * inner) * inner + flat % inner); });

  const auto weight_of = [&](std::int64_t place) {
    const auto at = static_cast<std::int64_t>(target[place]);
    if (query.parameters.ignored_target == at) return 0.0;
    return loss.weighted ? query.input(2)[at] : 1.0;
  };
  const auto loss_of = [&](std::int64_t place) {
    const double weight = weight_of(place);
    if (query.parameters.ignored_target == static_cast<std::int64_t>(target[place])) return 0.0;
    return -weight * (x[begin_of(place) + static_cast<std::int64_t>(target[place]) * inner] - log_sum(place));
  };
  if (loss.reduction == op::LossReduction::none) return query.map(loss_of);
  double sum = 0, weights = 0;
  for (std::int64_t place = 0; place < loss.targets(); ++place) {
    sum += loss_of(place);
    weights += weight_of(place);
  }
  return Elements(query.size(), loss.reduction == op::LossReduction::mean ? sum / weights : sum);
}

}  // namespace benanza::reference
