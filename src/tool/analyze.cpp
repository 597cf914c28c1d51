// SPDX-License-Identifier: Apache-2.0
// benanza analyze: bounds from stored results alone; nothing is measured and no device is needed.
#include "analyze_model.hpp"
#include "assertion.hpp"
#include "commands.hpp"
#include "declared_machine.hpp"
#include "models.hpp"
#include "output.hpp"
#include "stored.hpp"
#include "terminal.hpp"
#include "validators.hpp"
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/session/backends.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace benanza::tool {

namespace {

struct AnalyzeCommand {
  ModelOptions models{};
  OutputOptions output{};
  std::vector<std::string> results{};
  MachineChoice of{};
  std::vector<std::string> backends{};
  std::string machine{};
  std::string rules{}, device{};
  std::vector<std::string> assertions{};
  int threads = 0;
  bool plans = false;
  bool require_complete = false, take_provisional = false;
};

/// By the accounting of the original Benanza, from its databases or tables.
BoundReport report_of_2019(const AnalyzeCommand& options) {
  const original2019::Results results = load_results_2019(options.results, options.device);
  BoundReport report{.machine = {.device = results.device}, .backends = results.backends, .warnings = results.warnings};
  for (const auto& graph : load_graphs(options.models, options.output.quiet)) {
    auto [analysis, warnings] = original2019::analyze(graph, results);
    report.warnings.insert(report.warnings.end(), warnings.begin(), warnings.end());
    report.models.push_back(std::move(analysis));
  }
  if (!options.output.quiet)
    for (const auto& warning : report.warnings) terminal::warn(warning);
  return report;
}

/// From stored rows of one machine and the newest version of each backend; two versions never share a total.
BoundReport stored_report(const AnalyzeCommand& options) {
  const std::vector<std::string> backends = expand_backends(options.backends);
  StoredResults stored = load_results(options.results, backends, options.of);
  if (!options.output.quiet) warn_of_stored(stored);
  BoundReport report = std::move(stored.report);
  report.training = options.models.training.training;
  for (const auto& model : load_models(options.models, options.output.quiet))
    report.models.push_back(analyze_model(
        model, stored.results, {.threads = options.threads, .backends = backends, .candidates = options.plans}));
  if (options.models.sweeps()) report.sweeps = make_sweeps(report.models);
  return report;
}

/// Suggests the command that makes a suite of what a partial bound lacks.
void say_what_is_missing(const AnalyzeCommand& options, const BoundReport& report) {
  std::size_t lacking = 0;
  for (const auto& model : report.models) lacking += model.partial() ? 1 : 0;
  if (lacking == 0) return;
  std::string command = "benanza generate";
  for (const auto& model : options.models.models) command += " " + detail::shell_word(model);
  command += options.models.text();
  for (const auto& results : options.results) command += " --missing-from " + detail::shell_word(results);
  terminal::say("a suite of what the results lack: " + command + " -o missing.cpp");
}

int run(const AnalyzeCommand& options) {
  check_writable(options.output);
  std::vector<Assertion> assertions;
  for (const auto& text : options.assertions) assertions.push_back(parse_assertion(text));
  if (options.machine.empty() == options.results.empty())
    throw UsageError("give either --results (measured) or --machine (declared)");
  const BoundReport report = !options.machine.empty()
                                 ? declared_report(options.machine, options.models, options.output.quiet)
                             : options.rules.empty() ? stored_report(options)
                                                     : report_of_2019(options);
  const bool is_complete = std::none_of(report.models.begin(), report.models.end(), [&](const auto& model) {
    return model.partial() || model.analytic || (model.provisional() && !options.take_provisional);
  });
  emit(report, options.output);
  if (options.rules.empty() && options.machine.empty() && !options.output.quiet) say_what_is_missing(options, report);
  if (!hold(assertions, report.models, options.take_provisional)) return assertion_failed;
  return !is_complete && options.require_complete ? incomplete : done;
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AnalyzeCommand>();
  auto* command =
      app.add_subcommand("analyze", "bounds from stored results alone: nothing is measured, no device is needed");
  command->footer("benanza analyze resnet50.onnx --results results.json");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command->add_option("--results", options->results, "results files or folders (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_machine_choice(*command, options->of);
  command->add_option("--backend", options->backends, "libraries to count (default: all in the results)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-t,--threads", options->threads,
                   "the most threads an engine would use (default: the machine's cores)")
      ->type_name("N")
      ->check(positive_number());
  command
      ->add_option("--assert-latency", options->assertions,
                   "fails with exit code 4 unless the rung (default: the headline) is at most this")
      ->type_name("[RUNG=]12ms")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--plans", options->plans, "shows every candidate of each layer, or why it is excluded");
  command
      ->add_option("--rules", options->rules,
                   "2019: the accounting of the original Benanza, for its databases (JSON) and printed tables (CSV)")
      ->type_name("YEAR")
      ->check(CLI::IsMember({"2019"}))
      ->needs("--results");
  command->add_option("--device", options->device, "with --rules: the GPU whose rows of a table to take")
      ->type_name("NAME")
      ->needs("--rules");
  add_declared_machine(*command, options->machine, {"--results", "--backend", "--threads"});
  command->add_flag("--require-complete", options->require_complete,
                    "exit code 3 when a bound is partial or provisional");
  command->add_flag("--take-provisional", options->take_provisional,
                    "for --require-complete and assertions: a provisional bound counts (docs/measuring.md)");
  options->output.add_to(*command);
  options->output.add_pictures_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
