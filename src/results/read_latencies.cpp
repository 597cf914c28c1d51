// SPDX-License-Identifier: Apache-2.0
#include <benanza/results/csv_table.hpp>
#include <benanza/results/latencies.hpp>
#include <benanza/results/whole_file.hpp>

#include <array>

namespace benanza {

std::vector<EngineLatency> read_latencies(const std::string& file) {
  const std::string text = read_whole(file);
  results::CsvTable table(file, text);
  const auto first_of = [&table](const auto& names) {
    for (const char* name : names)
      if (table.has(name)) return name;
    return "";
  };
  const std::string time = first_of(std::array{"mean_ms", "latency_ms", "median_ms"});
  const std::string device = first_of(std::array{"gpu", "device"});
  if (!table.has("model") || time.empty())
    table.fail("no latencies: expected the columns model and mean_ms (or latency_ms, or median_ms)");
  std::vector<EngineLatency> latencies;
  while (table.next()) {
    EngineLatency row{.framework = table["framework"], .device = table[device], .model = table["model"], .file = file};
    if (row.model.empty()) table.fail("the model has no name");
    if (!table["batch"].empty()) row.batch = table.positive("batch");
    row.time = row.lowest = row.highest = table.milliseconds(time);
    if (row.time.value <= 0) table.fail("a latency of 0");
    if (!table["min_ms"].empty()) row.lowest = table.milliseconds("min_ms");
    if (!table["max_ms"].empty()) row.highest = table.milliseconds("max_ms");
    if (row.lowest > row.highest) table.fail("min_ms is above max_ms");
    latencies.push_back(std::move(row));
  }
  if (latencies.empty()) table.fail("no rows");
  return latencies;
}

}  // namespace benanza
