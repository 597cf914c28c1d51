// SPDX-License-Identifier: Apache-2.0
// Geometric means of ratios, with their confidence intervals.
#pragma once

#include <benanza/base/detail/confidence_interval.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace benanza {

/// `low` to `high` holds the mean of the distribution that the ratios are drawn from with 95 % confidence, if their
/// logarithms are normally distributed: Student's t of the logarithms. For a single ratio the interval is not known.
struct GeometricMean {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> low{}, high{};
};

/// The geometric mean of positive numbers; empty if there are none.
[[nodiscard]] inline std::optional<GeometricMean> geometric_mean(std::span<const double> ratios) {
  if (ratios.empty()) return std::nullopt;
  const auto count = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += std::log(ratio) / count;
  GeometricMean made{.count = ratios.size(), .mean = std::exp(mean)};
  if (ratios.size() < 2) return made;
  for (const double ratio : ratios) squares += (std::log(ratio) - mean) * (std::log(ratio) - mean);
  const double half = detail::student_t(ratios.size() - 1) * std::sqrt(squares / (count - 1) / count);
  made.low = std::exp(mean - half);
  made.high = std::exp(mean + half);
  return made;
}

}  // namespace benanza
