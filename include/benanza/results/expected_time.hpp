// SPDX-License-Identifier: Apache-2.0
// The expected time of one call of a measured row, and the part of it that a bound counts.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/results/measurement.hpp>

namespace benanza {

/// The median over the rounds of a measured row; if no round counts, the median over its samples.
[[nodiscard]] inline Seconds expected_time(const Measurement& row) {
  const double median = detail::quantile(row.rounds_s, 0.5);
  return std::isfinite(median) ? Seconds{median} : row.times->median;
}

/// The same without launches; rows are ranked by this time.
[[nodiscard]] inline Seconds counted_time(const Measurement& row) { return without_launch(row, expected_time(row)); }

}  // namespace benanza
