// SPDX-License-Identifier: Apache-2.0
#include "run_latencies.hpp"

#include "study/run_latencies.hpp"
#include <benanza/error.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/study/make_study.hpp>

#include <set>

namespace benanza::original2019 {

namespace {

std::set<std::string> devices_of(const Data& data) {
  std::set<std::string> devices;
  for (const auto* list : {&data.databases, &data.tables})
    for (const auto& results : *list) devices.insert(device_name(results.device));
  for (const auto& total : data.totals) devices.insert(device_name(total.device));
  for (const auto& table : data.printed) devices.insert(device_name(table.is.device));
  return devices;
}

}  // namespace

std::vector<StudyLatency> latencies_of(const ProfileFolder& folder, const Data& data, std::vector<std::string>& notes) {
  const auto add_choices = [&](const EngineProfile& profile, StudyLatency& latency) {
    if (latency.type || profile.calls.empty()) return;
    std::vector<const Results*> fitting;
    for (const auto& database : data.databases)
      if (database.batches.contains(latency.batch) && same_device(latency.device, database.device))
        fitting.push_back(&database);
    if (fitting.size() > 1 && latency.device.empty()) {
      notes.push_back(latency.file + ": which device? There are databases of several; a manifest.csv can say it");
      return;
    }
    for (const auto* database : fitting) {
      const auto found = find_slower_algorithms(profile.calls, *database).chosen_over_best();
      if (!found) continue;
      latency.chosen_over_best = found;
      latency.device = database->device;
    }
  };
  return read_runs(folder, add_choices, notes);
}

void add_printed_tables(const ProfileFolder& folder, Data& data, std::vector<std::string>& notes) {
  const std::set<std::string> devices = devices_of(data);
  for (const auto& run : folder.tables) {
    const std::string file = run.files.front().string();
    std::string device = run.device;
    if (device.empty() && devices.size() == 1) device = *devices.begin();
    if (device.empty()) {
      notes.push_back(file + ": which device? A manifest.csv can say it");
      continue;
    }
    try {
      PrintedTable table{.rows = read_results(run.files)};
      Seconds sum{};
      for (const auto& row : table.rows.printed) sum += row.time;
      const Seconds total = table.rows.printed_total.value_or(sum);
      // A total that is lower than the sum by more than this share is that of layers that run in parallel.
      constexpr double least = 1e-3;
      table.is = {.device = device,
                  .model = run.model,
                  .batch = run.batch,
                  .source = "printed",
                  .parallel = total < sum * (1 - least),
                  .type = run.type.value_or(DataType::f32),
                  .time = total};
      table.rows.device = device;
      data.printed.push_back(std::move(table));
    } catch (const InputError& error) {
      notes.push_back("not read: " + std::string(error.what()));
    }
  }
}

}  // namespace benanza::original2019
