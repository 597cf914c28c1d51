// SPDX-License-Identifier: Apache-2.0
// benanza analyze: bounds from stored results alone; nothing is measured and no device is needed.
#include "assertion.hpp"
#include "commands.hpp"
#include "models.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace benanza::tool {

namespace {

struct Options {
  ModelOptions models{};
  OutputOptions output{};
  std::vector<std::string> results{};
  std::vector<std::string> backends{};
  std::vector<std::string> assertions{};
  int threads = 0;
  bool plans = false;
  bool require_complete = false;
};

/// The newest version of each backend on that machine: two versions never share a total.
std::vector<BackendVersion> newest_versions(const ResultDatabase& database, const Machine& machine,
                                            const std::vector<std::string>& names) {
  std::map<std::string, std::pair<std::string, std::string>> newest;  // name -> (started, version)
  for (const auto& run : database.runs()) {
    if (run.machine.id() != machine.id()) continue;
    for (const auto& backend : run.backends) {
      if (!names.empty() && std::find(names.begin(), names.end(), backend.name) == names.end()) continue;
      newest[backend.name] = std::max(newest[backend.name], {run.started, backend.version});
    }
  }
  std::vector<BackendVersion> result;
  for (const auto& [name, entry] : newest) result.push_back({name, entry.second});
  return result;
}

int run(const Options& options) {
  check_writable(options.output);
  std::vector<Assertion> assertions;
  for (const auto& text : options.assertions) assertions.push_back(parse_assertion(text));
  std::vector<std::filesystem::path> files;
  for (const auto& name : options.results) {
    if (!std::filesystem::is_directory(name)) {
      files.emplace_back(name);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(name))
      if (entry.path().extension() == ".json" || entry.path().extension() == ".gz") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const ResultDatabase database = ResultDatabase::load(files);
  const auto machines = database.machines();
  if (machines.empty()) throw InputError("--results: the files hold no results");
  if (machines.size() > 1) {
    std::string text =
        "--results: the files are of " + std::to_string(machines.size()) + " machines, which never share a total:";
    for (const auto& machine : machines) text += " [" + machine.id() + "]";
    throw InputError(text);
  }
  const auto versions = newest_versions(database, machines.front(), options.backends);
  const ResultDatabase selected = database.select(machines.front(), versions);
  BoundReport report{.machine = machines.front(), .backends = versions, .runs = summarise_runs(selected)};
  bool partial = false;
  for (const auto& model : load_models(options.models)) {
    report.models.push_back(
        analyze(model, selected, {.threads = options.threads, .backends = options.backends, .rivals = options.plans}));
    partial = partial || report.models.back().partial();
  }
  if (options.models.sweeps()) report.sweeps = make_sweeps(report.models);
  emit(report, options.output);
  if (!hold(assertions, report.models)) return assertion_failed;
  return partial && options.require_complete ? incomplete : done;
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("analyze", "bounds from stored results alone: nothing is measured, no device is needed");
  command->footer("example: benanza analyze resnet50.onnx --results results.json");
  options->models.add_to(*command);
  command->add_option("--results", options->results, "results files or folders (may be repeated)")
      ->required()
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--backend", options->backends, "libraries to count (default: all in the results)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-t,--threads", options->threads,
                   "the most threads an engine would use (default: the machine's cores)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_option("--assert-latency", options->assertions, "fails with exit code 4 unless the rung is at most that")
      ->type_name("RUNG=12ms")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--plans", options->plans, "every rival of each layer shown, or why it is excluded");
  command->add_flag("--require-complete", options->require_complete, "exit code 3 when a bound is partial");
  options->output.add_to(*command);
  options->output.add_pictures_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
