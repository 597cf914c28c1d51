// SPDX-License-Identifier: Apache-2.0
// benanza scale: how much faster several workers train than one, and from which bandwidth on.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "largest_batch.hpp"
#include "models.hpp"
#include "output.hpp"
#include "parse_rates.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include <benanza/detail/parse_duration.hpp>
#include <benanza/report/scale_report.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/scale/make_iteration.hpp>
#include <benanza/training/derive_training.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace benanza::tool {

namespace {

struct ScaleCommand {
  ModelOptions models{};
  OutputOptions output{};
  std::int64_t workers = 8;
  std::string bandwidth = "1,10,25,100Gbps", latency = "0s", bucket = "25MB";
  std::string order = "fifo", algorithm = "ring";
  double efficiency = 0.9;
  std::vector<std::string> results{};
  std::string machine{}, iteration{};
};

/// Where the times of layers come from.
struct TimesOf {
  ResultDatabase results{};
  AnalysisOptions analysis{};
  std::string text{};
  std::vector<std::string> warnings{};
};

TimesOf times_of(const ScaleCommand& options) {
  if (options.results.empty() == options.machine.empty())
    throw UsageError("give either --results (measured by benanza bound --training) or --machine (declared)");
  TimesOf result;
  if (!options.machine.empty()) {
    Run run = read_machine_file(options.machine);
    result.text = "the roofline of " + run.machine.device + ", declared by " + options.machine;
    result.analysis = {.threads = 1, .analytic = true};
    result.results.add(std::move(run));
  } else {
    StoredResults stored = load_results(options.results, {});
    if (!options.output.quiet) warn_of_conflicts(stored.results);
    result.text = "the best plans of fused layers, measured on " + stored.report.machine.device;
    result.warnings = std::move(stored.report.warnings);
    result.results = std::move(stored.results);
  }
  if (!options.iteration.empty()) result.text += "; all of them scaled so that an iteration takes " + options.iteration;
  return result;
}

Iteration iteration_of(const Graph& graph, const TrainingOptions& training, const TimesOf& times) {
  const TrainingGraph derived = derive_training(graph, training);
  const ModelLayers layers = make_model_layers(derived.graph);
  const Analysis analysis = analyze_model(layers, times.results, times.analysis);
  if (!times.analysis.analytic && analysis.partial())
    throw InputError(
        fmt::format("{}: the results lack {} layers of an iteration, the first is {}; benanza bound "
                    "--training measures them",
                    graph.name, analysis.missing.size(), analysis.missing.front()));
  const auto fused = std::find_if(analysis.graphs.begin(), analysis.graphs.end(),
                                  [](const TimedGraph& one) { return one.form == Form::fused; });
  Iteration result = make_iteration(derived, layers.fused, *fused);
  if (!(result.time().value > 0))
    throw InputError(graph.name + ": the times of an iteration are not known: no layer has one");
  return result;
}

template <class Enum>
Enum named(const std::string& option, const std::string& text) {
  constexpr auto names = enum_names(Enum{});
  const auto* const found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  std::string known;
  for (const auto name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  throw UsageError(option + ": '" + text + "' is none of " + known);
}

int run(const ScaleCommand& options) {
  check_writable(options.output);
  ScalingOptions wanted{.workers = options.workers,
                        .bandwidths = parse_rates("--bandwidth", options.bandwidth),
                        .latency = detail::parse_duration(options.latency),
                        .algorithm = named<CollectiveAlgorithm>("--algorithm", options.algorithm),
                        .exchange = {.order = named<SendOrder>("--order", options.order),
                                     .bucket = {options.bucket == "0" ? 0 : parse_bytes("--bucket", options.bucket)}},
                        .efficiency = options.efficiency};
  std::optional<Seconds> measured;
  if (!options.iteration.empty()) {
    measured = detail::parse_duration(options.iteration);
    if (!(measured->value > 0)) throw UsageError("--iteration: '" + options.iteration + "', expected more than 0");
  }
  ModelOptions plain = options.models;  // the graph of the file: training is derived here
  plain.training = {};
  plain.tells_weights = true;
  TrainingFlags flags = options.models.training;
  flags.training = true;
  const TrainingOptions training = *flags.options();
  const TimesOf times = times_of(options);
  ScaleReport report{.times_of = times.text, .warnings = times.warnings};
  report.models = from_each_graph(plain, options.output.quiet, [&](Graph&& graph) {
    Iteration iteration = iteration_of(graph, training, times);
    if (measured) iteration = scaled_to(std::move(iteration), *measured);
    return make_scaling(std::move(iteration), wanted);
  });
  emit(report, options.output);
  return done;
}

}  // namespace

void add_scale(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ScaleCommand>();
  auto* command =
      app.add_subcommand("scale", "how much faster several workers train than one, and from which bandwidth on");
  command->footer(
      "example: benanza scale examples/models/training/resnet50.onnx --machine examples/machines/a100_sxm4_40gb.json "
      "--workers 8");
  options->models.add_to(*command);
  options->models.training.add_settings_to(*command);
  command->add_option("-n,--workers", options->workers, "the most workers, each with a batch of its own (default: 8)")
      ->type_name("N")
      ->check(number_that([](double n) { return n >= 2 && n <= (1 << 20); }, "a number from 2 to 1048576"));
  command->add_option("--bandwidth", options->bandwidth, "of each worker, in each direction (default: 1,10,25,100Gbps)")
      ->type_name("RATE,...");
  command->add_option("--latency", options->latency, "of one message (default: 0, so that times are lower bounds)")
      ->type_name("10us");
  command->add_option("--algorithm", options->algorithm, "of the all-reduce: ring (default) or tree")
      ->type_name("NAME");
  command
      ->add_option("--bucket", options->bucket,
                   "gradients are sent in parts of at least so much; 0: each alone (default: 25MB)")
      ->type_name("SIZE");
  command
      ->add_option("--order", options->order,
                   "what is sent first: fifo (default), or priority: what forward reads first")
      ->type_name("NAME");
  command->add_option("--efficiency", options->efficiency, "for which the least bandwidth is told (default: 0.9)")
      ->type_name("SHARE")
      ->check(number_that([](double e) { return e > 0 && e < 1; }, "a number between 0 and 1"));
  command->add_option("--results", options->results, "results of benanza bound --training (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--machine", options->machine,
                   "the roofline of a machine that you do not have; examples/machines has some")
      ->type_name("FILE")
      ->excludes("--results");
  command
      ->add_option("--iteration", options->iteration,
                   "what an iteration takes on one worker: the layers' times are scaled to it")
      ->type_name("120ms");
  options->output.add_to(*command);
  command->add_option("--html", options->output.html, "writes one self-contained page")->type_name("FILE");
  command
      ->add_option("--trace", options->output.trace, "writes the iterations for Chrome's and Perfetto's trace viewers")
      ->type_name("FILE");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
