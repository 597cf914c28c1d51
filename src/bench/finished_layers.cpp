// SPDX-License-Identifier: Apache-2.0
#include "finished_layers.hpp"

namespace benanza::bench {

void add_finished(Run& run, const Run& earlier, const std::set<std::string>& signatures) {
  ResultDatabase database;
  database.add(earlier);
  std::set<std::string> missing = signatures;
  for (const auto& row : run.rows) missing.erase(row.signature);
  const ResultDatabase selected = database.select(run.machine, run.backends);
  for (const auto& same : selected.runs()) {
    for (const auto& row : same.rows) {
      if (!missing.contains(row.signature)) continue;
      run.rows.push_back(row);
      run.rows.back().rounds_s.clear();
    }
  }
}

}  // namespace benanza::bench
