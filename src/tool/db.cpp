// SPDX-License-Identifier: Apache-2.0
// benanza db: the database of results: list, merge, verify; diff is in db_diff.cpp.
#include "db.hpp"

#include "commands.hpp"
#include "output.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include <benanza/report/db_report.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace benanza::tool {

namespace fs = std::filesystem;

namespace {

struct DbCommand {
  std::vector<std::string> places{};
  std::string into{};
  double tolerance_percent = 100 * default_tolerance;
  OutputOptions output{};
};

int list(const DbCommand& options) {
  check_writable(options.output);
  const ResultDatabase database = read_places(options.places);
  DbList report{.unread = database.warnings()};
  for (const auto& run : database.runs()) {
    const auto refused = static_cast<std::size_t>(
        std::count_if(run.rows.begin(), run.rows.end(), [](const auto& row) { return !row.measured(); }));
    report.timed.push_back(run.rows.size() - refused);
    report.refused.push_back(refused);
    report.disagreeing.push_back(
        static_cast<std::size_t>(std::count_if(run.rows.begin(), run.rows.end(), no_method_agrees)));
    report.runs.push_back({.file = run.file,
                           .name = run.name,
                           .started = run.started,
                           .tool = run.tool,
                           .signature_version = run.signature_version,
                           .machine = run.machine,
                           .backends = run.backends,
                           .warnings = run.warnings,
                           .ceilings = run.ceilings});
  }
  if (!options.output.quiet)
    for (const auto& line : left_out(database)) terminal::warn(line);
  emit(report, options.output);
  return report.unread.empty() ? done : bad_input;
}

int verify(const DbCommand& options) {
  check_writable(options.output);
  const ResultDatabase database = read_places(options.places);
  DbVerification report{.files = database.runs().size() + database.warnings().size()};
  for (const auto& line : database.warnings()) report.findings.push_back({"not read", line});
  for (const auto& run : database.runs()) {
    report.rows += run.rows.size();
    report.ignored_elements += run.ignored;
    const auto found = check(run);
    report.findings.insert(report.findings.end(), found.begin(), found.end());
  }
  const auto damaged = damaged_rows(database);
  report.findings.insert(report.findings.end(), damaged.begin(), damaged.end());
  for (const auto& place : places_or_default(options.places)) {
    report.ignored_files += other_files(place);
    const auto found = leftovers(place);
    report.findings.insert(report.findings.end(), found.begin(), found.end());
  }
  report.conflicts = conflicts(database, options.tolerance_percent / 100);
  emit(report, options.output);
  return report.findings.empty() ? done : bad_input;
}

int merge(const DbCommand& options) {
  check_writable(options.output);
  const std::vector<fs::path> sources(options.places.begin(), options.places.end());
  DbMerge report{.folder = options.into, .merge = merge_results(sources, options.into)};
  const ResultDatabase merged = ResultDatabase::open(options.into);
  if (!options.output.quiet)
    for (const auto& line : left_out(merged)) terminal::warn(line);
  report.conflicts = conflicts(merged, options.tolerance_percent / 100);
  emit(report, options.output);
  return report.merge.refused.empty() ? done : bad_input;
}

using Action = int (*)(const DbCommand&);

/// A subcommand of `db` with the options that all of them have.
CLI::App* add(CLI::App& db, const char* name, const char* what, const char* example, Action action, int& exit_code,
              const std::shared_ptr<DbCommand>& options) {
  auto* command = db.add_subcommand(name, what);
  command->footer(example);
  options->output.add_to(*command);
  command->callback([options, action, &exit_code] { exit_code = action(*options); });
  return command;
}

void add_places(CLI::App& command, DbCommand& options) {
  command.add_option("places", options.places, "results files or folders (default: the user's database)")
      ->type_name("FILE|DIR...");
}

}  // namespace

std::vector<std::string> places_or_default(const std::vector<std::string>& places) {
  return places.empty() ? std::vector<std::string>{default_database().string()} : places;
}

ResultDatabase read_places(const std::vector<std::string>& places) {
  ResultDatabase all;
  for (const auto& place : places_or_default(places)) {
    if (!fs::exists(place)) throw InputError(place + ": no such file or folder");
    all.add(ResultDatabase::open(place));
  }
  return all;
}

void add_tolerance(CLI::App& command, double& percent) {
  command.add_option("--tolerance", percent, "a change of at most this many percent counts as same (default: 3)")
      ->type_name("PERCENT")
      ->check(number_from_zero());
}

void add_db(CLI::App& app, int& exit_code) {
  auto* db = app.add_subcommand("db", "the database of results: list, merge, diff, verify");
  db->footer("benanza db diff old new --model resnet50.onnx --fail-on slower");
  db->require_subcommand(1);
  auto listed = std::make_shared<DbCommand>(), verified = std::make_shared<DbCommand>(),
       merged = std::make_shared<DbCommand>();
  add_places(*add(*db, "list", "lists the runs by machine, with libraries, dates and counts", "benanza db list results",
                  list, exit_code, listed),
             *listed);
  auto* verifying =
      add(*db, "verify", "checks every file and row (exit code 1 if something is wrong) and shows where runs disagree",
          "benanza db verify results", verify, exit_code, verified);
  add_places(*verifying, *verified);
  add_tolerance(*verifying, verified->tolerance_percent);
  auto* merging =
      add(*db, "merge", "copies other runs into a folder, each as it was written; shows where runs disagree",
          "benanza db merge gpu1/results gpu2/results --into results", merge, exit_code, merged);
  merging->add_option("places", merged->places, "results files or folders")->required()->type_name("FILE|DIR...");
  merging->add_option("--into", merged->into, "folder to copy to")->required()->type_name("DIR");
  add_tolerance(*merging, merged->tolerance_percent);
  add_db_diff(*db, exit_code);
}

}  // namespace benanza::tool
