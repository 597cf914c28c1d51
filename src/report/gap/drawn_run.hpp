// SPDX-License-Identifier: Apache-2.0
// DrawnRun: the places of a profile's records on a time axis. Means and medians of starts and times do not fit any
// single pass: drawn side by side, they would show gaps that never existed. Therefore, one real pass is drawn or, if
// starts are not known for each pass, the times of the table one after the other.
#pragma once

#include <benanza/report/gap_report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::report {

struct DrawnSpan {
  Seconds start{}, time{};
};

struct DrawnRun {
  std::string what{};                             ///< a description
  std::vector<std::optional<DrawnSpan>> spans{};  ///< one per element of Gap::records; empty for what that pass lacks
};

/// The counted pass of median latency (or median sum of records) with its own starts and times; otherwise, the records
/// of each lane one after the other with the times of the gap.
[[nodiscard]] DrawnRun drawn_run(const GapReport& report);

}  // namespace benanza::report
