// SPDX-License-Identifier: Apache-2.0
// benanza gap: compares an engine's run with the bounds of its model: where it loses time, and what to do about it.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "gap_commands.hpp"
#include "measuring.hpp"
#include "models.hpp"
#include "output.hpp"
#include "prove.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include "witnesses.hpp"
#include <benanza/base/detail/duration.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/report/gap_report.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/training/derive_training.hpp>
#include <benanza/training/layer_phases.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace benanza::tool {

namespace {

struct GapCommand {
  ModelOptions models{};
  MeasuringOptions measuring{};
  std::string of{};  ///< as in `MachineChoice`
  OutputOptions output{};
  std::vector<std::string> profiles{}, latencies{}, results{}, types{};
  std::string rules{}, device{};
  std::string rung{};  ///< empty: the headline
  std::string budget{};
  WitnessFlags witness{};
  std::optional<std::int64_t> warm_ups{}, passes{};
  double most_ratio = 0;
  bool prove = false;
  bool require_complete = false, take_provisional = false;
};

std::optional<RungName> rung_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::string known;
  for (std::size_t i = 0; i < rung_count; ++i) {
    const auto name = static_cast<RungName>(i);
    if (name == RungName::roofline_memory) continue;  // an indication, not a bound
    if (enum_names(RungName{})[i] == text) return name;
    known += (known.empty() ? "" : ", ") + std::string(enum_names(RungName{})[i]);
  }
  throw UsageError("--rung: '" + text + "' is not a rung, expected one of " + known);
}

template <class Model>
Model the_one(std::vector<Model> models) {
  if (models.size() == 1) return std::move(models.front());
  throw UsageError(fmt::format("gap compares one model at one size with one run of an engine, not {}", models.size()));
}

EngineProfile profile_of(const GapCommand& options) {
  if (options.profiles.empty() && options.latencies.empty())
    throw UsageError("give --profile or --latency: they say what the engine did");
  std::vector<Seconds> latencies;
  for (const auto& text : options.latencies) {
    latencies.push_back(detail::parse_duration(text, "--latency"));
    if (latencies.back().value <= 0) throw UsageError("--latency: '" + text + "' is not a positive time");
  }
  if (options.profiles.empty()) return latency_profile(std::move(latencies));
  const std::vector<std::filesystem::path> files(options.profiles.begin(), options.profiles.end());
  EngineProfile profile = read_profile(files, {.warm_ups = options.warm_ups, .passes = options.passes});
  if (!latencies.empty()) {  // taken without the profiler, which costs time
    profile.latencies = std::move(latencies);
    profile.latencies_apart = true;
  }
  return profile;
}

/// The types that the what-if asks for, by default those with a known peak.
std::vector<DataType> other_types(const GapCommand& options, const Analysis& analysis) {
  std::vector<DataType> types;
  for (const auto& text : options.types) {
    const auto type = data_type_from_name(text);
    if (!type) throw UsageError("--what-if: '" + text + "' is not an element type, expected e.g. bf16, f16 or i8");
    types.push_back(*type);
  }
  if (!types.empty() || analysis.type != DataType::f32) return types;
  for (const DataType type : {DataType::tf32, DataType::bf16, DataType::f16, DataType::i8})
    if (analysis.ceilings.peaks.contains(type)) types.push_back(type);
  return types;
}

ModelLayers in_type(const Graph& graph, DataType type) { return both_forms(retype(graph, type)); }

struct BoundedModel {
  BoundReport report{};
  ResultDatabase results{};
  AnalysisOptions analysis{};
  std::optional<Session> session{};  ///< empty if results are stored ones
  Outcome measured{};
};

Seconds budget_of(const GapCommand& options, const ModelLayers& model) {
  return parse_budget(options.budget).value_or(default_budget(std::span(&model, 1)));
}

BoundedModel bounds_of(const GapCommand& options, const ModelLayers& model, int threads) {
  BoundedModel made;
  if (!options.results.empty()) {
    const std::vector<std::string> backends = expand_backends(options.measuring.backends);
    StoredResults stored =
        load_results(options.results, backends, {.of = options.of, .accept = options.measuring.accept});
    if (!options.output.quiet) warn_of_stored(stored);
    made.report = std::move(stored.report);
    made.results = std::move(stored.results);
    made.analysis = {.threads = threads, .backends = backends};
  } else {
    MeasuringOptions measuring = options.measuring;
    measuring.threads = threads;
    made.session = open_session(measuring, options.output.quiet);
    Session& session = *made.session;
    made.measured = watched(
        session, options.output.quiet,
        {.budget = budget_of(options, model), .again = options.budget.empty() ? Again::nothing : Again::uncertain},
        [&](const BoundOptions& bound) { return session.measure_missing(std::span(&model, 1), bound); });
    made.results = session.database();
    made.analysis = session.analysis_options();
    made.report = {.machine = session.machine(),
                   .backends = session.versions(),
                   .footer = how_measured(made.measured, session),
                   .warnings = warnings_of(made.results),
                   .runs = summarize_runs(made.results)};
  }
  made.analysis.candidates = true;
  made.report.models = {analyze_model(model, made.results, made.analysis)};
  return made;
}

/// The profile provides sizes that no option gives.
ModelOptions sized_by(const GapCommand& options, const EngineProfile& profile) {
  ModelOptions models = options.models;
  models.node_inputs = node_inputs(profile);
  return models;
}

/// By the accounting of the original Benanza. Its database holds single calls, each with its launch, which shows totals
/// and algorithms, but not what a layer costs between others.
void compare_2019(const GapCommand& options, GapReport& report) {
  const original2019::Results results = load_results_2019(options.results, options.device);
  const Graph graph = the_one(load_graphs(sized_by(options, report.profile), options.output.quiet));
  auto [analysis, warnings] = original2019::analyze(graph, results);
  const original2019::AlgorithmFindings found = original2019::find_slower_algorithms(report.profile.calls, results);
  const GapOptions gap_options{.rung = rung_of(options.rung), .algorithms = original2019::choices_of(found, analysis)};
  report.bound = {.machine = {.device = results.device},
                  .backends = results.backends,
                  .models = {std::move(analysis)},
                  .warnings = std::move(warnings)};
  if (report.profile.total_only.empty())
    report.profile.total_only = "the rules of 2019 cover single calls: only totals and algorithms are compared";
  report.profile.warnings.push_back(
      "the times of 2019 are of single calls including launches: a whole run may be faster");
  if (found.compared > 0)
    report.profile.warnings.push_back(
        fmt::format("{} calls of a pass were compared, {} could not be", found.compared, found.not_compared.size()));
  report.gap = compare(report.bound.models.front(), both_forms(graph), report.profile, gap_options);
}

/// Whether measured / bound is at most `most`; reports on stderr why it is not.
bool holds_ratio(const Gap& gap, double most, bool take_provisional) {
  const RungRatio& compared = gap.ratio(gap.rung);
  const std::string rung(enum_names(gap.rung)[static_cast<std::size_t>(gap.rung)]);
  std::string why;
  if (!gap.latency || !compared.ratio || *compared.ratio <= 0) why = "measured / " + rung + " is not known";
  else if (gap.partial) why = rung + " is partial";
  else if (!gap.doubt.empty() && !take_provisional) why = rung + " is provisional (" + gap.doubt + ")";
  else if (gap.unreadable > 0) why = "records cannot be read, and the latency is the sum of the others";
  else if (gap.incomplete) why = "layers are in no record, and the latency is the sum of records";
  else if (!gap.outside.empty()) why = gap.outside;
  else if (1 / *compared.ratio > most) why = fmt::format("measured / {} is {:.4g}", rung, 1 / *compared.ratio);
  if (why.empty()) return true;
  fmt::print(stderr, "benanza: {}: {}, asserted at most {:.4g}\n", gap.model, why, most);
  return false;
}

int verdict(const GapCommand& options, const Gap& gap) {
  if (options.most_ratio > 0 && !holds_ratio(gap, options.most_ratio, options.take_provisional))
    return assertion_failed;
  const bool in_doubt = !gap.doubt.empty() && !options.take_provisional;
  return (gap.partial || in_doubt || gap.incomplete) && options.require_complete ? incomplete : done;
}

int run(const GapCommand& options, const CLI::App& command) {
  check_writable(options.output);
  if (options.prove && !options.results.empty())
    throw UsageError("--prove measures, but --results rules measuring out: give one of them");
  if (options.witness.witness && !options.results.empty())
    throw UsageError("--witness executes the model, but --results rules measuring out: give one of them");
  options.witness.check();
  GapOptions gap_options{.rung = rung_of(options.rung)};
  GapReport report{.profile = profile_of(options)};
  if (!options.rules.empty()) {
    compare_2019(options, report);
    emit(report, options.output);
    return verdict(options, report.gap);
  }
  ModelOptions as_it_is = sized_by(options, report.profile);
  as_it_is.type.clear();
  const auto training = options.models.training.options();
  as_it_is.training = {};
  as_it_is.tells_weights = training.has_value();
  Graph graph = the_one(load_graphs(as_it_is, options.output.quiet));
  std::optional<TrainingGraph> iteration;
  if (training) graph = iteration.emplace(derive_training(std::move(graph), *training)).graph;
  const auto type = options.models.what_if();
  const ModelLayers model = naming(graph.file, [&] { return type ? in_type(graph, *type) : both_forms(graph); });
  if (iteration) gap_options.phases = layer_phases(*iteration, model.single);
  const int threads = options.measuring.threads > 0 ? options.measuring.threads : report.profile.threads.value_or(0);
  BoundedModel bounds = bounds_of(options, model, threads);
  report.bound = std::move(bounds.report);
  report.bound.training = training.has_value();
  gap_options.commands =
      commands_of(command, options.measuring, threads, !bounds.session && report.bound.machine.is_device());
  const Analysis& analysis = report.bound.models.front();
  for (const DataType type : other_types(options, analysis)) {
    AnalysisOptions plain = bounds.analysis;
    plain.candidates = false;
    gap_options.other_types.push_back(analyze_model(in_type(graph, type), bounds.results, plain));
  }
  report.gap = compare(analysis, model, report.profile, gap_options);
  if (options.prove && bounds.session && bounds.measured.interrupted == 0) {
    Proved proved = prove(report, model, *bounds.session, budget_of(options, model), options.output.quiet,
                          [&](DataType type) { return in_type(graph, type); });
    report.proofs = std::move(proved.proofs);
    bounds.measured.interrupted = proved.interrupted;
  }
  if (options.witness.witness && bounds.session && bounds.measured.interrupted == 0) {
    Executed executed =
        make_witnesses(options.witness, sized_by(options, report.profile), *bounds.session, options.output.quiet);
    report.bound.witnesses = std::move(executed.witnesses);
    bounds.measured.interrupted = executed.measured.interrupted;
    if (bounds.measured.not_kept.empty()) bounds.measured.not_kept = executed.measured.not_kept;
  }
  emit(report, options.output);
  if (!bounds.measured.not_kept.empty()) throw EnvironmentError(bounds.measured.not_kept);
  if (bounds.measured.interrupted != 0) return bounds.measured.interrupted;
  return verdict(options, report.gap);
}

}  // namespace

void add_gap(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GapCommand>();
  auto* command =
      app.add_subcommand("gap", "how much slower an engine is than a model's bounds, where, and what to do about it");
  command->footer("benanza gap resnet50.onnx --profile onnxruntime_profile.json");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command
      ->add_option("--profile", options->profiles,
                   "a profiler's output; may be several files of one run, e.g. a trace and an API log")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--latency", options->latencies, "latency of whole runs, if there is no profile or it has none")
      ->type_name("12.3ms,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--warm-ups", options->warm_ups, "passes to drop (default: found from their times)")
      ->type_name("N")
      ->check(number_from_zero());
  command
      ->add_option("--passes", options->passes,
                   "passes in a profile that does not mark them (default: found by repetition)")
      ->type_name("N")
      ->check(positive_number());
  command
      ->add_option("--rung", options->rung,
                   "the rung that the engine is compared with (default: the headline, library_fused_resident; if it is "
                   "not known, library_fused or library)")
      ->type_name("RUNG");
  command
      ->add_option("--what-if", options->types,
                   "other arithmetic types to compare with (default: those whose peak was measured)")
      ->type_name("TYPE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--results", options->results, "results files or folders instead of measuring (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--of", options->of, "with --results: the machine whose rows count, by a part of its identity")
      ->type_name("MACHINE")
      ->needs("--results");
  command
      ->add_option("--rules", options->rules,
                   "2019: the accounting of the original Benanza, for its databases: totals and algorithms")
      ->type_name("YEAR")
      ->check(CLI::IsMember({"2019"}))
      ->needs("--results")
      ->excludes("--what-if");
  command->add_option("--device", options->device, "with --rules: the GPU whose rows of a table to take")
      ->type_name("NAME")
      ->needs("--rules");
  command
      ->add_option(
          "--budget", options->budget,
          "time to spend on measuring, and again with --prove (default: 45s, more for a model of some 100 GMAC)")
      ->type_name("TIME");
  command->add_flag("--prove", options->prove,
                    "measures what the advice would run; shows predicted and achieved gains");
  options->witness.add_to(*command);
  command
      ->add_option("--assert-ratio", options->most_ratio,
                   "fails with exit code 4 unless measured / bound (--rung) is at most this")
      ->type_name("1.3")
      ->check(positive_number());
  command->add_flag("--require-complete", options->require_complete,
                    "exit code 3 when the bound is provisional, or it or the profile lacks layers");
  command->add_flag("--take-provisional", options->take_provisional,
                    "for --require-complete and --assert-ratio: a provisional bound counts (docs/measuring.md)");
  options->measuring.add_to(*command);
  options->output.add_to(*command);
  options->output.add_pictures_to(*command);
  command->callback([options, command, &exit_code] { exit_code = run(*options, *command); });
}

}  // namespace benanza::tool
