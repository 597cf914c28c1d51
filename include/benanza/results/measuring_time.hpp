// SPDX-License-Identifier: Apache-2.0
// measuring_time: the least time that it took to measure a row.
#pragma once

#include <benanza/results/results.hpp>

#include <map>
#include <string>

namespace benanza {

/// The time that a measured row took: its timed calls, and the preparation of its plan. Rows do not record how long
/// warm-ups and the check against the reference took.
[[nodiscard]] inline Seconds measuring_time(const Measurement& row) {
  const auto calls = static_cast<double>(row.calls_per_sample) *
                     (static_cast<double>(row.samples) + static_cast<double>(row.rounds_s.size()));
  return row.times->median * calls + row.preparation.value_or(Seconds{});
}

/// The same per signature, over all rows of a database.
[[nodiscard]] inline std::map<std::string, Seconds> measuring_times(const ResultDatabase& results) {
  std::map<std::string, Seconds> times;
  for (const auto& run : results.runs())
    for (const auto& row : run.rows)
      if (row.measured()) times[row.signature] += measuring_time(row);
  return times;
}

}  // namespace benanza
