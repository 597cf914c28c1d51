// SPDX-License-Identifier: Apache-2.0
#include "predict2019.hpp"

#include "stored.hpp"
#include <benanza/error.hpp>
#include <benanza/rules2019/rules2019.hpp>

#include <algorithm>

namespace benanza::tool {

void add_rows_2019(FastestRows& rows, const Analysis& analysis) {
  for (const auto& row : analysis.rows) {
    if (row.form != Form::single || !row.chosen) continue;
    const auto [at, added] = rows.try_emplace(row.signature, *row.chosen);
    if (!added && expected_time(*row.chosen) < expected_time(at->second)) at->second = *row.chosen;
  }
}

void add_rows_2019(std::vector<PredictionTarget>& targets, const ModelOptions& models,
                   const std::vector<std::string>& files) {
  const std::vector<Graph> graphs = load_graphs(models, true);
  std::string found;
  bool used = false;
  for (const auto& file : files_of(files)) {
    std::vector<std::string> devices = devices_2019(file);
    if (devices.empty() && targets.size() > 1)
      throw InputError(file.string() + ": it does not say of which GPU it is, and --to names several");
    if (devices.empty()) devices.emplace_back();
    for (const auto& device : devices) {
      found += (found.empty() ? "'" : ", '") + device + "'";
      const auto target = std::find_if(targets.begin(), targets.end(), [&](const PredictionTarget& one) {
        return device.empty() || one.record.is_called(device);
      });
      if (target == targets.end()) continue;
      const Results2019 results = load_results_2019({file.string()}, device);
      for (const auto& graph : graphs) try {
          add_rows_2019(target->rows, analyze_2019(graph, results).analysis);
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

}  // namespace benanza::tool
