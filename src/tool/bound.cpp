// SPDX-License-Identifier: Apache-2.0
// benanza bound, the main command: measures what the database lacks and prints the ladder of bounds.
#include "analyze_model.hpp"
#include "assertion.hpp"
#include "commands.hpp"
#include "declared_machine.hpp"
#include "measuring.hpp"
#include "models.hpp"
#include "output.hpp"
#include "plan/backends.hpp"
#include "witnesses.hpp"
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/bounds/model_diff.hpp>
#include <benanza/plan/choose_backends.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace benanza::tool {

namespace {

struct BoundCommand {
  ModelOptions models{};
  MeasuringOptions measuring{};
  OutputOptions output{};
  std::string budget{}, machine{};
  std::vector<std::string> assertions{};
  WitnessFlags witness{};
  bool plans = false;
  bool repeat = false;
  bool rounds = false;
  bool require_complete = false, take_provisional = false;
};

Outcome measure_missing(Session& session, const std::vector<ModelLayers>& models, Seconds budget, Again again,
                        bool quiet) {
  return watched(session, quiet, {.budget = budget, .again = again},
                 [&](const BoundOptions& options) { return session.measure_missing(models, options); });
}

using Analyses = std::vector<Analysis>;

Analyses analyze_all(const std::vector<ModelLayers>& models, const ResultDatabase& results,
                     const AnalysisOptions& options) {
  Analyses result;
  for (const auto& model : models) result.push_back(analyze_model(model, results, options));
  return result;
}

/// Whether two sessions agree on every model.
bool all_agree(const Analyses& a, const Analyses& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (const auto name : {RungName::library, RungName::library_fused, RungName::library_fused_resident})
      if (!agree(a[i][name], b[i][name])) return false;
  return true;
}

/// Adds every candidate that any session timed, with the last session's results for the chosen ones.
void show_candidates(Analyses& analyses, const ResultDatabase& results) {
  const auto all = results.newest_rows();
  for (auto& analysis : analyses)
    for (auto& row : analysis.rows)
      if (const auto found = all.find(row.signature); found != all.end()) row.candidates = found->second;
}

/// Measures again, in rounds, until a session agrees with the one before it. Returns the answer of the last session.
Analyses repeat(Session& session, const std::vector<ModelLayers>& models, Analyses before, Seconds budget,
                const BoundCommand& options, Outcome& total) {
  constexpr int most = 10;
  for (int i = 0; i < most && total.interrupted == 0; ++i) {
    const Outcome result = measure_missing(session, models, budget, Again::all, options.output.quiet);
    total.took += result.took;
    total.interrupted = result.interrupted;
    if (total.not_kept.empty()) total.not_kept = result.not_kept;
    // Uses the session's own rows: with those of all sessions, each would take the least of more rows and agree with
    // the one before.
    Analyses after = analyze_all(models, session.database().of_run(result.run), session.analysis_options());
    if (all_agree(before, after)) return after;
    before = std::move(after);
  }
  if (total.interrupted == 0)  // an answer to the request, which --quiet does not silence
    terminal::warn(fmt::format("still not stable after {} sessions; the last one is shown", most + 1));
  return before;
}

/// The requested backends that this program was built without. Without names, all backends that measure layers on a
/// processor are requested.
std::vector<MissingBackend> missing_backends(const std::vector<std::string>& names) {
  const std::vector<std::string> wanted = expand_backends(names);
  std::vector<MissingBackend> result;
  for (const auto& absent : plan::absent_backends()) {
    const bool is_asked_for = names.empty() ? !absent.on_device && !absent.collectives
                                            : std::find(wanted.begin(), wanted.end(), absent.name) != wanted.end();
    if (is_asked_for) result.push_back({.name = absent.name, .needs = absent.needs});
  }
  return result;
}

int declared(const BoundCommand& options, const std::vector<Assertion>& assertions) {
  const BoundReport report = declared_report(options.machine, options.models, options.output.quiet);
  emit(report, options.output);
  if (!hold(assertions, report.models, options.take_provisional)) return assertion_failed;
  return options.require_complete ? incomplete : done;  // no rung of libraries is known
}

int run(const BoundCommand& options) {
  check_writable(options.output);
  std::vector<Assertion> assertions;
  options.witness.check();
  for (const auto& text : options.assertions) assertions.push_back(parse_assertion(text));
  if (!options.machine.empty()) return declared(options, assertions);
  const auto given = parse_budget(options.budget);
  const auto models = load_models(options.models, options.output.quiet);
  Session session = open_session(options.measuring, options.output.quiet);
  session.keep_candidates(options.plans);
  const Seconds budget = given.value_or(default_budget(models));
  const Again again = options.rounds                              ? Again::all
                      : options.repeat || !options.budget.empty() ? Again::uncertain
                                                                  : Again::nothing;
  Outcome measured = measure_missing(session, models, budget, again, options.output.quiet);
  Analyses analyses = session.analyze(models);
  if (options.repeat) analyses = repeat(session, models, std::move(analyses), budget, options, measured);
  if (options.repeat && options.plans) show_candidates(analyses, session.database());
  const bool is_complete = std::none_of(analyses.begin(), analyses.end(), [&](const Analysis& analysis) {
    return analysis.partial() || (analysis.provisional() && !options.take_provisional);
  });
  Executed executed;
  if (options.witness.witness && measured.interrupted == 0) {
    executed = make_witnesses(options.witness, options.models, session, options.output.quiet);
    measured.interrupted = executed.measured.interrupted;
    if (measured.not_kept.empty()) measured.not_kept = executed.measured.not_kept;
  }
  BoundReport report{.machine = session.machine(),
                     .backends = session.versions(),
                     .missing_backends = missing_backends(options.measuring.backends),
                     .models = std::move(analyses),
                     .witnesses = std::move(executed.witnesses),
                     .footer = how_measured(measured, session),
                     .warnings = warnings_of(session.database()),
                     .runs = summarize_runs(session.database()),
                     .training = options.models.training.training};
  if (options.models.sweeps()) report.sweeps = make_sweeps(report.models);
  emit(report, options.output);
  if (!measured.not_kept.empty()) throw EnvironmentError(measured.not_kept);
  if (measured.interrupted != 0) return measured.interrupted;
  if (!hold(assertions, report.models, options.take_provisional)) return assertion_failed;
  return !is_complete && options.require_complete ? incomplete : done;
}

}  // namespace

void add_bound(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BoundCommand>();
  auto* command = app.add_subcommand("bound", "measures a model's layers and prints its ladder of lower bounds");
  command->footer("benanza bound examples/models/modern/resnet50.onnx");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  options->measuring.add_to(*command);
  options->measuring.add_metrics_to(*command);
  options->output.add_to(*command);
  options->output.add_pictures_to(*command);
  command
      ->add_option("--budget", options->budget,
                   "time to spend on measuring (default: 45s for one model, 36s for each of several, more for one of "
                   "some 100 GMAC)")
      ->type_name("60s");
  command
      ->add_option("--assert-latency", options->assertions,
                   "fails with exit code 4 unless the rung (default: the headline) is at most this")
      ->type_name("[RUNG=]12ms")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--repeat", options->repeat,
                    "measures again until two sessions agree within their uncertainties; the budget is for each");
  command
      ->add_flag("--rounds", options->rounds,
                 "times known layers again with the plans that were best, and selects no plans anew")
      ->excludes("--repeat");
  command->add_flag("--plans", options->plans, "shows every candidate of each layer, or why it is excluded");
  options->witness.add_to(*command);
  add_declared_machine(*command, options->machine,
                       {"--witness", "--backend", "--threads", "--database", "--budget", "--rounds", "--repeat",
                        "--plans", "--cache", "--metrics", "--isolate", "--accept"});
  command->add_flag("--require-complete", options->require_complete,
                    "exit code 3 when a bound is partial or provisional");
  command->add_flag("--take-provisional", options->take_provisional,
                    "for --require-complete and assertions: a provisional bound counts (docs/measuring.md)");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
