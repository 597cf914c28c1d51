// SPDX-License-Identifier: Apache-2.0
// benanza db diff: what changed between two databases, two machines or two versions of a library.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "db.hpp"
#include "models.hpp"
#include "output.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include <benanza/bounds/model_diff.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/db_report.hpp>
#include <benanza/session/session.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace benanza::tool {

namespace {

struct DbDiffCommand {
  std::vector<std::string> places{};
  std::vector<std::string> before{}, after{};  ///< machine=TEXT or BACKEND=VERSION
  ModelOptions models{};
  OutputOptions output{};
  std::vector<std::string> accept{};  ///< as in `MachineChoice`, on each side
  std::vector<std::string> fail_on{};
  double tolerance_percent = 100 * default_tolerance;
  int threads = 0;
};

struct DiffInput {
  DbDiff::Side facts{};
  ResultDatabase results{};
};

/// Whether rows of another machine count as rows of this one.
bool counts(const Machine& machine, const Machine& other, const std::vector<std::string>& accept) {
  const auto facts = machine.differences(other);
  return std::all_of(facts.begin(), facts.end(), [&](const std::string& fact) {
    return std::find(accept.begin(), accept.end(), fact) != accept.end();
  });
}

/// The machine whose identity contains the text; without a text, the only machine.
Machine choose_machine(const ResultDatabase& database, const std::string& option, const MachineChoice& choice) {
  if (database.runs().empty()) throw InputError(option + ": the files hold no results");
  try {
    return database.machine(choice);
  } catch (const InputError& error) {
    throw InputError(option + " machine=TEXT: " + error.what());
  }
}

DiffInput choose_side(const std::string& place, const std::vector<std::string>& choices, const std::string& option,
                      const std::vector<std::string>& accept, bool quiet) {
  const ResultDatabase database = read_places({place});
  std::string machine;
  std::vector<BackendVersion> wanted;
  for (const auto& choice : choices) {
    const auto at = choice.find('=');
    if (at == std::string::npos || at == 0)
      throw UsageError(option + ": '" + choice + "', expected machine=TEXT or BACKEND=VERSION");
    if (choice.substr(0, at) == "machine") machine = choice.substr(at + 1);
    else wanted.push_back({choice.substr(0, at), choice.substr(at + 1)});
  }
  DiffInput side{
      .facts = {.place = place, .machine = choose_machine(database, option, {.of = machine, .accept = accept})}};
  side.facts.backends = database.newest_versions(side.facts.machine, accept);
  for (const auto& version : wanted) {
    const auto has = [&](const Run& run) {
      return counts(side.facts.machine, run.machine, accept) &&
             std::find(run.backends.begin(), run.backends.end(), version) != run.backends.end();
    };
    if (std::none_of(database.runs().begin(), database.runs().end(), has))
      throw InputError(option + ": no run of " + version.name + " " + version.version + " in " + place);
    for (auto& backend : side.facts.backends)
      if (backend.name == version.name) backend = version;
  }
  side.results = database.select(side.facts.machine, side.facts.backends, accept);
  side.facts.runs = side.results.runs().size();
  if (quiet) return side;
  warn_of_faults(side.results);
  if (const auto line = database.of_two_machines(side.facts.machine, accept)) terminal::warn(*line);
  return side;
}

void add_signatures(const ModelLayers& model, std::set<std::string>& signatures) {
  const LayerSet layers = measurable_layers(model);
  for (const auto& [layer_signature, unique] : layers.layers()) signatures.insert(layer_signature.text());
}

int run(const DbDiffCommand& options) {
  check_writable(options.output);
  const auto places = places_or_default(options.places);
  const DiffInput before =
                      choose_side(places.front(), options.before, "--before", options.accept, options.output.quiet),
                  after = choose_side(places.back(), options.after, "--after", options.accept, options.output.quiet);
  if (places.size() == 1 && counts(before.facts.machine, after.facts.machine, options.accept) &&
      before.facts.backends == after.facts.backends)
    throw UsageError("both sides are the same: give two databases, or --before and --after to choose in one");
  DbDiff report{.before = before.facts, .after = after.facts, .tolerance = options.tolerance_percent / 100};
  const DiffOptions diff_options{
      .tolerance = report.tolerance, .threads_before = options.threads, .threads_after = options.threads};
  std::set<std::string> signatures;
  if (!options.models.models.empty())
    for (const auto& model : load_models(options.models, options.output.quiet)) {
      add_signatures(model, signatures);
      report.diff.models.push_back(diff_models(analyze_model(model, before.results, {.threads = options.threads}),
                                               analyze_model(model, after.results, {.threads = options.threads}),
                                               diff_options));
    }
  report.diff.layers = diff_layers(before.results, after.results, diff_options, signatures);
  emit(report, options.output);
  constexpr auto names = enum_names(Verdict{});
  for (const auto& name : options.fail_on) {
    const auto verdict = static_cast<Verdict>(std::find(names.begin(), names.end(), name) - names.begin());
    if (!report.diff.has(verdict)) continue;
    terminal::say("--fail-on " + name + ": a " + (report.diff.models.empty() ? "layer" : "model") + " is");
    return assertion_failed;
  }
  const auto is_there = [&](std::string_view name) {
    const auto found = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    return name != "unknown" && report.diff.has(static_cast<Verdict>(found));
  };
  if (!options.fail_on.empty() && std::none_of(names.begin(), names.end(), is_there)) {
    terminal::say("--fail-on: nothing can be compared, all verdicts are unknown");
    return assertion_failed;
  }
  return done;
}

}  // namespace

void add_db_diff(CLI::App& db, int& exit_code) {
  auto options = std::make_shared<DbDiffCommand>();
  auto* command = db.add_subcommand("diff", "what changed between two databases, machines or versions of a library");
  command->footer(
      "benanza db diff old new --model resnet50.onnx --fail-on slower\n"
      "benanza db diff results --before onednn=3.2.0 --after onednn=3.3.0\n"
      "benanza db diff results --before machine=EPYC --after machine=Xeon");
  command
      ->add_option("places", options->places,
                   "results before and after: files or folders (one: both; default: the user's database)")
      ->type_name("BEFORE [AFTER]")
      ->expected(0, 2);
  for (auto* side : {&options->before, &options->after})
    command
        ->add_option(side == &options->before ? "--before" : "--after", *side,
                     "which part of the results: a machine by part of its identity, a library's version (default: the "
                     "only machine, the newest version)")
        ->type_name("machine=TEXT|BACKEND=VERSION,...")
        ->delimiter(',')
        ->allow_extra_args(false);
  add_accepted_facts(*command, options->accept);
  options->models.add_to(*command, "--model");
  command
      ->add_option("-t,--threads", options->threads,
                   "counts rows of at most this many threads (default: the machine's cores)")
      ->type_name("N")
      ->check(positive_number());
  command
      ->add_option("--fail-on", options->fail_on,
                   "exit code 4 if the headline of a model (without models: a layer) has this verdict")
      ->type_name("VERDICT,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"slower", "unknown", "faster", "same"}));
  add_tolerance(*command, options->tolerance_percent);
  options->output.add_to(*command);
  options->output.add_rungs_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
