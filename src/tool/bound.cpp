// SPDX-License-Identifier: Apache-2.0
// benanza bound: the main job: measures what the database lacks and prints the ladder of bounds.
#include "assertion.hpp"
#include "commands.hpp"
#include "declared.hpp"
#include "measuring.hpp"
#include "models.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace benanza::tool {

namespace {

struct Options {
  ModelOptions models{};
  MeasuringOptions measuring{};
  OutputOptions output{};
  std::string budget{}, machine{};
  std::vector<std::string> assertions{};
  bool require_complete = false;
};

/// A model of ordinary size within a minute, a whole zoo within half an hour.
Seconds default_budget(std::size_t models) { return Seconds{models == 1 ? 45.0 : 36.0 * static_cast<double>(models)}; }

std::string how_measured(const MeasuringResult& result, const std::filesystem::path& database) {
  return fmt::format("{} layers measured in {:.1f} s, {} from the database; kept in {}", result.measured,
                     result.took.value, result.known, database.string());
}

int declared(const Options& options, const std::vector<Assertion>& assertions) {
  const BoundReport report = declared_report(options.machine, load_models(options.models));
  emit(report, options.output);
  if (!hold(assertions, report.models)) return assertion_failed;
  const bool partial =
      std::any_of(report.models.begin(), report.models.end(), [](const auto& m) { return m.partial(); });
  return partial && options.require_complete ? incomplete : done;
}

int run(const Options& options) {
  check_writable(options.output);
  std::vector<Assertion> assertions;
  for (const auto& text : options.assertions) assertions.push_back(parse_assertion(text));
  if (!options.machine.empty()) return declared(options, assertions);
  const Seconds given = options.budget.empty() ? Seconds{} : parse_duration(options.budget);
  const auto models = load_models(options.models);
  Session session = open_session(options.measuring);
  const MeasuringResult measured =
      measure_missing(session, models, options.budget.empty() ? default_budget(models.size()) : given,
                      options.measuring, options.output.quiet);
  BoundReport report{.machine = session.machine,
                     .backends = versions_of(session.backends),
                     .footer = how_measured(measured, options.measuring.database)};
  bool partial = false;
  for (const auto& model : models) {
    report.models.push_back(analyze(model, session.database, session.analysis));
    partial = partial || report.models.back().partial();
  }
  report.warnings = warnings_of(session.database);
  emit(report, options.output);
  if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
  if (measured.interrupted) return interrupted;
  if (!hold(assertions, report.models)) return assertion_failed;
  return partial && options.require_complete ? incomplete : done;
}

}  // namespace

void add_bound(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  options->measuring.database = default_database();
  auto* command = app.add_subcommand("bound", "measures a model's layers and prints its ladder of lower bounds");
  command->footer("example: benanza bound examples/models/modern/resnet50.onnx");
  options->models.add_to(*command);
  options->measuring.add_to(*command);
  options->output.add_to(*command);
  command
      ->add_option("--budget", options->budget,
                   "time to spend on measuring (default: 45s for one model, 36s for each of several)")
      ->type_name("60s");
  command->add_option("--assert-latency", options->assertions, "fails with exit code 4 unless the rung is at most that")
      ->type_name("RUNG=12ms")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_declared(*command, options->machine, {"--backend", "--threads", "--database", "--budget"});
  command->add_flag("--require-complete", options->require_complete, "exit code 3 when a bound is partial");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
