// SPDX-License-Identifier: Apache-2.0
#include "prediction.hpp"

#include <benanza/error.hpp>
#include <benanza/original2019/results.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <string>

namespace benanza::original2019 {

void add_rows(FastestRows& rows, const Analysis& analysis) {
  for (const auto& row : analysis.rows) {
    if (row.form != Form::single || !row.chosen) continue;
    const auto [at, added] = rows.try_emplace(row.signature, *row.chosen);
    if (!added && expected_time(*row.chosen) < expected_time(at->second)) at->second = *row.chosen;
  }
}

void add_rows(std::vector<PredictionTarget>& targets, std::span<const Graph> graphs,
              std::span<const std::filesystem::path> files) {
  std::string found;
  bool used = false;
  for (const auto& file : files) {
    std::vector<std::string> devices = devices_in(file);
    if (devices.empty() && targets.size() > 1)
      throw InputError(file.string() + ": it does not say of which GPU it is, and --to names several");
    if (devices.empty()) devices.emplace_back();
    for (const auto& device : devices) {
      found += (found.empty() ? "'" : ", '") + device + "'";
      const auto target = std::find_if(targets.begin(), targets.end(), [&](const PredictionTarget& one) {
        return device.empty() || one.record.is_called(device);
      });
      if (target == targets.end()) continue;
      const Results results = read_results({&file, 1}, device);
      for (const auto& graph : graphs) try {
          add_rows(target->rows, analyze(graph, results).analysis);
        } catch (const InputError&) {  // a table may contain only some of the models
          continue;
        }
      used = true;
    }
  }
  if (!used)
    throw InputError("--target-results: the rows are of " + (found.empty() ? "no GPU" : found) +
                     ", which none of --to is called");
}

}  // namespace benanza::original2019
