// SPDX-License-Identifier: Apache-2.0
#include <benanza/error.hpp>
#include <benanza/original2019/study.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace benanza::original2019 {

namespace {

namespace fs = std::filesystem;

bool is_table(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".json") || name.ends_with(".json.gz");
}

std::string stem_of(const fs::path& file) {
  std::string name = file.filename().string();
  for (const auto* end : {".gz", ".csv"})
    if (name.ends_with(end)) name.resize(name.size() - std::string_view(end).size());
  return name;
}

/// The description of a printed table as given by the names of its folders.
std::optional<Total> described_by(const fs::path& file) {
  const fs::path absolute = fs::weakly_canonical(file);
  std::vector<std::string> folders;
  for (const auto& part : absolute.parent_path()) folders.push_back(part.string());
  constexpr std::string_view word = "batchsize_";
  for (std::size_t i = 1; i + 1 < folders.size(); ++i) {
    if (!folders[i].starts_with(word)) continue;
    std::int64_t batch = 0;
    const char* end = folders[i].data() + folders[i].size();
    if (std::from_chars(folders[i].data() + word.size(), end, batch).ptr != end) continue;
    try {
      Total made = parse_variant(folders[i - 1]);
      made.source = "printed";
      made.device = folders[i + 1];
      made.batch = batch;
      made.model = stem_of(file);
      return made;
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void add_file(const fs::path& file, Data& data) {
  const std::string text = read_whole(file), head = text.substr(0, text.find('\n'));
  const auto has = [&head](std::string_view word) { return head.find(word) != std::string::npos; };
  const std::string name = file.string();
  if (has_totals(head)) {
    auto totals = read_totals(name);
    data.totals.insert(data.totals.end(), totals.begin(), totals.end());
  } else if (has("LayerName") && has("RealTime(ms)")) {
    auto is = described_by(file);
    if (!is)
      throw InputError(name +
                       ": a table of one model, of which the folders do not say batch size and device: expected "
                       "e.g. serial_latency/batchsize_32/Tesla_T4/MNIST.csv");
    PrintedTable table{.is = *is, .rows = read_results({&file, 1})};
    table.is.time = table.rows.printed_total.value_or(Seconds{});
    table.rows.device = is->device;
    data.printed.push_back(std::move(table));
  } else if (has("model") && (has("mean_ms") || has("latency_ms") || has("median_ms"))) {
    auto latencies = read_latencies(name);
    data.latencies.insert(data.latencies.end(), latencies.begin(), latencies.end());
  } else if (has("layer") && has("time_ms")) {
    for (const auto& device : devices_in(file)) data.tables.push_back(read_results({&file, 1}, device));
  } else {
    data.databases.push_back(read_results({&file, 1}));
  }
}

}  // namespace

std::set<std::int64_t> Data::batches(const std::string& model) const {
  std::set<std::int64_t> found;
  for (const auto& database : databases) found.insert(database.batches.begin(), database.batches.end());
  for (const auto& table : tables)
    for (const auto& row : table.printed)
      if (row.model == model) found.insert(row.batch);
  for (const auto& table : printed)
    if (table.is.model == model) found.insert(table.is.batch);
  for (const auto& total : totals)
    if (total.model == model) found.insert(total.batch);
  for (const auto& latency : latencies)
    if (latency.model == model) found.insert(latency.batch);
  return found;
}

bool Data::has_rows(const std::string& model, std::int64_t batch) const {
  const auto has = [&](const Results& table) {
    return std::any_of(table.printed.begin(), table.printed.end(),
                       [&](const auto& row) { return row.model == model && row.batch == batch; });
  };
  return std::any_of(databases.begin(), databases.end(), [&](const auto& d) { return d.batches.contains(batch); }) ||
         std::any_of(tables.begin(), tables.end(), has) ||
         std::any_of(printed.begin(), printed.end(),
                     [&](const auto& table) { return table.is.model == model && table.is.batch == batch; });
}

const Results* Data::table_of_paper() const {
  const Results* first = nullptr;
  for (const auto& table : tables) {
    if (std::none_of(table.printed.begin(), table.printed.end(), [](const auto& row) { return row.batch == 1; }))
      continue;
    if (table.device.find("V100") != std::string::npos) return &table;
    if (!first) first = &table;
  }
  return first;
}

Data read_data(const std::vector<std::string>& places) {
  Data data;
  for (const auto& place : places) {
    if (!fs::is_directory(place)) {
      add_file(place, data);
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(place))
      if (entry.is_regular_file() && is_table(entry.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      try {
        add_file(file, data);
      } catch (const InputError& error) {
        data.warnings.push_back("not read: " + std::string(error.what()));
      }
    }
  }
  const bool any = !data.databases.empty() || !data.tables.empty() || !data.printed.empty() || !data.totals.empty();
  if (!any) {
    const std::string why = data.warnings.empty() ? "" : "; " + data.warnings.front();
    throw InputError("--results: no databases, tables or totals of 2019" + why);
  }
  return data;
}

}  // namespace benanza::original2019
