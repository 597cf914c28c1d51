// SPDX-License-Identifier: Apache-2.0
// Quantiles as R's type 7 (Hyndman and Fan 1996): linear between the order statistics, so that p10 of few samples is
// defined and changes smoothly with them. NaN marks a value that does not count.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace benanza::detail {

/// The values that count, ascending.
[[nodiscard]] inline std::vector<double> sorted_finite(std::span<const double> values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [](double value) { return std::isfinite(value); });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

/// Quantile `p` in [0, 1] of values in ascending order. NaN if there are none.
[[nodiscard]] inline double quantile_of_sorted(std::span<const double> sorted, double p) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

/// Quantile `p` of the values that count, in any order.
[[nodiscard]] inline double quantile(std::span<const double> values, double p) {
  return quantile_of_sorted(sorted_finite(values), p);
}

/// Sample standard deviation (n - 1) divided by the mean of the values that count. 0 for fewer than two values.
[[nodiscard]] inline double coefficient_of_variation(std::span<const double> values) {
  double mean = 0, squares = 0;
  std::size_t count = 0;
  for (double value : values) {  // Welford 1962
    if (!std::isfinite(value)) continue;
    const double step = value - mean;
    mean += step / static_cast<double>(++count);
    squares += step * (value - mean);
  }
  return count < 2 || mean == 0 ? 0 : std::sqrt(squares / static_cast<double>(count - 1)) / mean;
}

/// Half the range of a quantile over `groups` consecutive parts of the values, relative to the quantile of all values:
/// how much the statistic changed during the run (docs/measuring.md, "Uncertainty"). Infinite if a part has no finite
/// value.
[[nodiscard]] inline double group_uncertainty(std::span<const double> values, double p, std::size_t groups) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t begin = values.size() * g / groups, end = values.size() * (g + 1) / groups;
    const double statistic = quantile(values.subspan(begin, end - begin), p);
    if (!std::isfinite(statistic)) return std::numeric_limits<double>::infinity();
    least = std::min(least, statistic);
    most = std::max(most, statistic);
  }
  return (most - least) / 2 / quantile(values, p);
}

}  // namespace benanza::detail
