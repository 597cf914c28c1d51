// SPDX-License-Identifier: Apache-2.0
// DrawnRun: where the records of a profile stand on a time axis. Means and medians of starts and times fit no single
// pass: drawn side by side they would show holes that never were. So one real pass is drawn, or, where starts are not
// known of each pass, the times of the table one after the other.
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
  std::string what{};                             ///< in words
  std::vector<std::optional<DrawnSpan>> spans{};  ///< one for each of Gap::records; nothing for what that pass lacks
};

/// The counted pass of median latency (or sum of records) with its own starts and times; else each lane's records one
/// after the other with the times of the gap.
[[nodiscard]] DrawnRun drawn_run(const GapReport& report);

}  // namespace benanza::report
