// SPDX-License-Identifier: Apache-2.0
// benanza machine: the machine that would be measured.
#include "commands.hpp"
#include "measuring.hpp"
#include "output.hpp"
#include "stored.hpp"
#include <benanza/isolation/supervisor.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/plan/backends.hpp>
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/session/backends.hpp>

#include <CLI/CLI.hpp>

#include <memory>

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
  const auto measured =
      named.empty() ? std::vector<std::shared_ptr<const Backend>>{} : usable_backends(named, terminal::warn);
  MachineReport report{.machine = bench::machine_of(measured)};
  std::vector<BackendVersion> versions;
  for (const auto& backend : bench::all_backends()) {
    MachineReport::BackendLine line{.name = std::string(backend->name()), .version = backend->version()};
    if (const auto availability = backend->availability(); const auto* why = std::get_if<Unsupported>(&availability))
      line.unavailable = why->reason;
    versions.push_back({line.name, line.version});
    report.backends.push_back(std::move(line));
  }
  ResultDatabase database = ResultDatabase::open(options.measuring.database).select(report.machine, versions);
  if (!options.output.quiet) warn_of_faults(database);
  if (options.remeasure || highest(database).empty()) {
    terminal::ProgressBar bar(options.output.quiet);
    Run fresh = bench::measure_supervised(
        {}, measured,
        {.threads = options.measuring.threads, .progress = [&](const bench::Progress& p) { bar.show(p); }});
    fresh.name = "machine";
    report.warnings = fresh.warnings;
    database.append(std::move(fresh), options.measuring.database);
  } else if (!report.machine.is_device()) {
    report.warnings = bench::watch_conditions(Seconds{0.3});
  }
  report.ceilings = highest(database);
  emit(report, options.output);
  return done;
}

}  // namespace

void add_machine(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MachineCommand>();
  auto* command =
      app.add_subcommand("machine", "the machine that would be measured: device, libraries, measured ceilings, timer");
  command->footer("example: benanza machine");
  options->measuring.add_to(*command);
  options->output.add_to(*command);
  command->add_flag("--remeasure", options->remeasure, "measures the ceilings afresh; the highest ever seen are shown");
  command->callback(
      [options, &exit_code] { exit_code = run_measuring(options->measuring, [&] { return run(*options); }); });
}

}  // namespace benanza::tool
