// SPDX-License-Identifier: Apache-2.0
// benanza machine: the machine that would be measured.
#include "commands.hpp"
#include "isolation/worker.hpp"
#include "measuring.hpp"
#include "output.hpp"
#include "plan/backends.hpp"
#include "stored.hpp"
#include <benanza/isolation/interrupt.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/plan/choose_backends.hpp>
#include <benanza/results/ceiling_rows.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace benanza::tool {

namespace {

struct MachineCommand {
  MeasuringOptions measuring{};
  OutputOptions output{};
  bool remeasure = false;
};

/// The highest value of each quantity at each thread count.
std::vector<CeilingRow> highest(const ResultDatabase& database) {
  std::vector<CeilingRow> all;
  for (const auto& run : database.runs()) all.insert(all.end(), run.ceilings.begin(), run.ceilings.end());
  return highest_ceilings(all);
}

int run(const MachineCommand& options) {
  check_writable(options.output);
  const auto& named = options.measuring.backends;
  std::optional<isolation::Worker> worker;
  if (auto command = worker_of(options.measuring); !command.empty())
    worker.emplace(std::move(command), isolation::WorkerOptions{.warn = terminal::warn});
  const auto all = plan::all_backends();
  const isolation::Surroundings found = worker ? worker->surroundings(named) : isolation::surroundings_of(all, named);
  if (!options.output.quiet)
    for (const auto& text : found.warnings) terminal::warn(text);
  MachineReport report{.machine = found.machine};
  std::vector<BackendVersion> versions;
  for (const auto& backend : found.all) {
    versions.push_back({backend.name, backend.version});
    report.backends.push_back({.name = backend.name, .version = backend.version, .unavailable = backend.unavailable});
  }
  for (const auto& backend : plan::absent_backends())
    report.backends.push_back({.name = backend.name, .unavailable = "not in this build; needs " + backend.needs});
  ResultDatabase database =
      ResultDatabase::open(options.measuring.database).select(report.machine, versions, options.measuring.accept);
  if (!options.output.quiet) warn_of_faults(database);
  if (options.remeasure || highest(database).empty()) {
    terminal::ProgressBar bar(options.output.quiet);
    const isolation::InterruptWatch interrupt;
    const measure::MeasureOptions measure{.threads = options.measuring.threads,
                                          .progress = [&](const measure::Progress& p) { bar.show(p); },
                                          .stop = interrupt.stop_token()};
    std::vector<std::string> names;
    for (const auto& backend : found.backends) names.push_back(backend.name);
    Run fresh =
        worker ? worker->measure({}, names, measure) : measure::measure({}, choose_backends(all, names), measure);
    if (interrupt.interrupted()) return interrupt.exit_code();
    fresh.name = "machine";
    report.warnings = fresh.warnings;
    database.append(std::move(fresh), options.measuring.database);
  } else if (!report.machine.is_device()) {
    report.warnings = measure::watch_conditions(Seconds{0.3});
  }
  report.ceilings = highest(database);
  if (options.output.quiet && options.output.json.empty()) report.warnings.clear();
  emit(report, options.output);
  return done;
}

}  // namespace

void add_machine(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MachineCommand>();
  auto* command =
      app.add_subcommand("machine", "the machine that would be measured: device, libraries, measured ceilings, timer");
  command->footer("benanza machine");
  options->measuring.add_to(*command);
  options->output.add_to(*command);
  command->add_flag("--remeasure", options->remeasure, "measures the ceilings afresh; the highest ever seen are shown");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
