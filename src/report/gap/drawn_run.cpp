// SPDX-License-Identifier: Apache-2.0
#include "drawn_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace benanza::report {

namespace {

/// The number of passes for which all records know their starts; 0 if they do not.
std::size_t known_passes(const GapReport& report) {
  std::optional<std::size_t> passes;
  for (const auto& record : report.gap.records) {
    const ProfileRecord& said = report.profile.records[record.record];
    const bool single = said.times.size() == 1 && said.start;
    if (said.times.empty() || (said.starts_s.size() != said.times.size() && !single)) return 0;
    if (passes.value_or(said.times.size()) != said.times.size()) return 0;
    passes = said.times.size();
  }
  return passes.value_or(0);
}

std::size_t median_pass(const GapReport& report, std::size_t passes) {
  std::vector<Seconds> total(passes);
  if (report.profile.latencies.size() == passes && !report.profile.latencies_apart) total = report.profile.latencies;
  else
    for (const auto& record : report.gap.records)
      for (std::size_t p = 0; record.counted && p < passes; ++p)
        total[p] += report.profile.records[record.record].times[p];
  std::vector<std::size_t> order(passes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return total[a] < total[b]; });
  return order[(passes - 1) / 2];
}

}  // namespace

DrawnRun drawn_run(const GapReport& report) {
  DrawnRun drawn;
  if (const std::size_t passes = known_passes(report); passes > 0) {
    const std::size_t pass = median_pass(report, passes);
    drawn.what = fmt::format("pass {} of {}, the median one", pass + 1, passes);
    for (const auto& record : report.gap.records) {
      const ProfileRecord& said = report.profile.records[record.record];
      const double start = said.starts_s.empty() ? said.start->value : static_cast<double>(said.starts_s[pass]);
      auto& span = drawn.spans.emplace_back();
      if (!std::isnan(start)) span = DrawnSpan{{start}, said.times[pass]};
    }
    return drawn;
  }
  drawn.what = "the times of the gap, one after the other: the starts in each pass are not known";
  std::map<std::int64_t, Seconds> end;
  for (const auto& record : report.gap.records) {
    Seconds& at = end[report.profile.records[record.record].lane];
    drawn.spans.push_back(DrawnSpan{at, record.time});
    at += record.time;
  }
  return drawn;
}

}  // namespace benanza::report
