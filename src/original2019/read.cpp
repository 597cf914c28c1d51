// SPDX-License-Identifier: Apache-2.0
#include "read.hpp"

#include <benanza/error.hpp>
#include <benanza/results/csv_table.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>

namespace benanza::original2019 {

void settle_device(Results& results, const std::string& device, const std::string& where) {
  if (device.empty()) return;
  if (!results.device.empty() && results.device != device)
    throw InputError(where + ": of '" + device + "', but what came before is of '" + results.device +
                     "': two GPUs never share a total");
  results.device = device;
}

Results read_results(std::span<const std::filesystem::path> files, const std::string& device) {
  Results results;
  for (const auto& path : files) {
    const std::string file = path.string();
    const std::string text = read_whole(path, text_padding);
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) throw InputError(file + ": empty, expected a database or a table of 2019");
    if (text[first] == '{') add_database(file, text, results);
    else add_table(file, text, device, results);
    results.files.push_back(file);
  }
  if (!results.printed.empty() && !(results.calls.empty() && results.failed.empty()))
    throw InputError(results.files.front() +
                     ": a database and a printed table together: one or the other says how long "
                     "a layer takes");
  if (!device.empty() && !results.device.empty() && results.device != device)
    throw InputError(results.files.front() + ": of '" + results.device + "', but '" + device + "' is asked for");
  for (auto& [key, calls] : results.calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.time < b.time; });
    results.failed.erase(key);
  }
  return results;
}

std::vector<std::string> devices_in(const std::filesystem::path& file) {
  const std::string text = read_whole(file, text_padding);
  const auto first = text.find_first_not_of(" \t\r\n");
  std::vector<std::string> devices;
  const auto add = [&devices](const std::string& device) {
    if (!device.empty() && std::find(devices.begin(), devices.end(), device) == devices.end())
      devices.push_back(device);
  };
  if (first != std::string::npos && text[first] == '{') {
    Results results;
    add_database(file.string(), text, results);
    add(results.device);
  } else {
    benanza::results::CsvTable table(file.string(), text);
    while (table.next()) add(benanza::results::device_of(table));
  }
  return devices;
}

}  // namespace benanza::original2019
