// SPDX-License-Identifier: Apache-2.0
// Determines which passes at the start of a run are warm-ups, from their times alone.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace benanza::detail {

/// The number of passes at the start that took more than a tenth longer than the median of the last half, and longer
/// than its spread explains; at most half of all passes. A single pass is never a warm-up.
[[nodiscard]] inline std::size_t warm_ups(std::span<const Seconds> passes) {
  if (passes.size() < 2) return 0;
  std::vector<double> settled, distance;
  for (std::size_t i = passes.size() / 2; i < passes.size(); ++i) settled.push_back(passes[i].value);
  const double typical = quantile(settled, 0.5);
  for (const double value : settled) distance.push_back(std::abs(value - typical));
  // 1.4826 turns the median distance into a standard deviation if times are normal; three of them are beyond chance.
  const double limit = typical + std::max(0.1 * typical, 3 * 1.4826 * quantile(distance, 0.5));
  std::size_t dropped = 0;
  while (dropped < passes.size() / 2 && passes[dropped].value > limit) ++dropped;
  return dropped;
}

}  // namespace benanza::detail
