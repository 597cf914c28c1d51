// SPDX-License-Identifier: Apache-2.0
#include "stored.hpp"

#include "options.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>
#include <benanza/results/result_check.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace benanza::tool {

std::vector<std::filesystem::path> files_of(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> files;
  for (const auto& name : names) {
    const auto found = result_files(name);
    files.insert(files.end(), found.begin(), found.end());
    if (found.empty() && !std::filesystem::exists(name)) files.emplace_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
}

namespace {

ResultDatabase open_all(const std::vector<std::string>& names) {
  ResultDatabase database;
  for (const auto& name : names) {
    if (std::filesystem::is_directory(name)) database.add(ResultDatabase::open(name));
    else database.add(read_run(name));
  }
  if (database.machines().empty()) {
    const auto& unread = database.warnings();
    throw InputError("--results: the files hold no results" + (unread.empty() ? "" : "; not read: " + unread.front()));
  }
  return database;
}

StoredResults of_machine(const ResultDatabase& database, const Machine& machine,
                         const std::vector<std::string>& backends, const std::vector<std::string>& accept = {}) {
  auto versions = database.newest_versions(machine, accept);
  std::erase_if(versions, [&](const BackendVersion& backend) {
    return !backends.empty() && std::find(backends.begin(), backends.end(), backend.name) == backends.end();
  });
  StoredResults stored;
  stored.results = database.select(machine, versions, accept);
  stored.report.machine = machine;
  stored.report.backends = versions;
  stored.report.warnings = warnings_of(stored.results);
  stored.report.runs = summarize_runs(stored.results);
  return stored;
}

}  // namespace

void add_machine_choice(CLI::App& app, MachineChoice& choice, const std::string& results) {
  const HelpGroup group(app, "Results");
  auto* const of =
      app.add_option("--of", choice.of, "the machine whose rows count, by a part of its identity (`benanza db list`)")
          ->type_name("MACHINE");
  if (!results.empty()) of->needs(results);
  add_accepted_facts(app, choice.accept);
}

StoredResults load_results(const std::vector<std::string>& names, const std::vector<std::string>& backends,
                           const MachineChoice& choice) {
  const ResultDatabase database = open_all(names);
  try {
    StoredResults stored = of_machine(database, database.machine(choice), backends, choice.accept);
    stored.not_counted = database.not_counted(stored.report.machine, choice.accept);
    return stored;
  } catch (const InputError& error) {
    throw InputError(std::string("--results: ") + error.what());
  }
}

std::vector<StoredResults> load_all_results(const std::vector<std::string>& names,
                                            const std::vector<std::string>& backends) {
  const ResultDatabase database = open_all(names);
  std::vector<StoredResults> all;
  for (const auto& machine : database.machines()) {
    all.push_back(of_machine(database, machine, backends));
    if (const auto line = database.of_two_machines(machine)) all.back().not_counted.push_back(*line);
  }
  return all;
}

original2019::Results load_results_2019(const std::vector<std::string>& names, const std::string& device) {
  const auto files = files_of(names);
  if (files.empty()) throw InputError("--results: the files hold no results");
  return original2019::read_results(files, device);
}

void warn_of_faults(const ResultDatabase& results) {
  for (const auto& file : results.warnings()) terminal::warn("not read: " + file);
  for (const auto& line : left_out(results)) terminal::warn(line);
}

void warn_of_stored(const StoredResults& stored) {
  warn_of_faults(stored.results);
  for (const auto& line : stored.not_counted) terminal::warn(line);
  const auto found = conflicts(stored.results);
  if (found.empty()) return;
  terminal::warn("the runs disagree on " + std::to_string(found.size()) + " rows, first on " + found.front().row +
                 "; `benanza db verify` shows them");
}

}  // namespace benanza::tool
