// SPDX-License-Identifier: Apache-2.0
#include <benanza/report/report.hpp>

namespace benanza {

std::vector<RunSummary> summarize_runs(const ResultDatabase& database) {
  std::vector<RunSummary> result;
  for (const auto& run : database.runs())
    result.push_back({.name = run.name, .started = run.started, .tool = run.tool, .rows = run.rows.size()});
  return result;
}

}  // namespace benanza
