// SPDX-License-Identifier: Apache-2.0
// benanza scale: how much faster several workers train than one, and the bandwidth that this requires.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "largest_batch.hpp"
#include "models.hpp"
#include "output.hpp"
#include "parse_rates.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include <benanza/base/detail/duration.hpp>
#include <benanza/bounds/unit_shares.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/scale_report.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/scale/make_iteration.hpp>
#include <benanza/training/derive_training.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
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
  MachineChoice of{};
  std::string machine{}, iteration{}, phases{}, overhead{}, backend{}, reached{};
};

/// Where the times of an iteration come from.
struct IterationTimes {
  ResultDatabase results{};
  ResultDatabase network{};  ///< rows of `--backend`
  AnalysisOptions analysis{};
  std::string text{};
  std::vector<std::string> warnings{};
};

IterationTimes times_of(const ScaleCommand& options) {
  const bool measured_network = !options.backend.empty();
  if (measured_network && options.results.empty())
    throw UsageError("--backend " + options.backend + ": needs --results, which have what its all-reduces take");
  if (options.machine.empty() && options.results.empty())
    throw UsageError("give --results (measured by benanza bound --training) or --machine (declared)");
  if (!options.machine.empty() && !options.results.empty() && !measured_network)
    throw UsageError("give either --results or --machine; both go together with --backend, the network's results");
  IterationTimes result;
  if (measured_network) result.network = load_results(options.results, {options.backend}, options.of).results;
  if (!options.machine.empty()) {
    Run run = read_machine_file(options.machine);
    result.text = "the roofline of " + run.machine.device + " with direct algorithms, declared by " + options.machine;
    result.analysis = {.threads = 1, .analytic = true, .direct = true};
    result.results.add(std::move(run));
  } else {
    StoredResults stored = load_results(options.results, {}, options.of);
    if (!options.output.quiet) warn_of_stored(stored);
    result.text = "the best plans of fused layers, measured on " + stored.report.machine.device;
    result.warnings = std::move(stored.report.warnings);
    result.results = std::move(stored.results);
  }
  if (!options.phases.empty()) result.text += "; scaled so that forward, backward and optimizer take " + options.phases;
  if (!options.iteration.empty()) result.text += "; all of them scaled so that an iteration takes " + options.iteration;
  return result;
}

Iteration iteration_of(const Graph& graph, const TrainingOptions& training, const IterationTimes& times, bool quiet) {
  const TrainingGraph derived = derive_training(graph, training);
  const ModelLayers layers = both_forms(derived.graph);
  const Analysis analysis = analyze_model(layers, times.results, times.analysis);
  if (!times.analysis.analytic && analysis.partial())
    throw InputError(
        fmt::format("{}: the results lack {} layers of an iteration, the first is {}; benanza bound "
                    "--training measures them",
                    graph.name, analysis.missing.size(), analysis.missing.front()));
  const auto fused = std::find_if(analysis.graphs.begin(), analysis.graphs.end(),
                                  [](const TimedGraph& one) { return one.form == Form::fused; });
  Iteration result = make_iteration(derived, layers.fused, *fused);
  result.units = unit_shares(analysis);
  const Rung& rung = analysis[RungName::library_fused];  // the sum of these times
  if (!rung.mostly_floor()) result.uncertainty = rung.uncertainty;
  else if (!quiet)
    terminal::warn(
        fmt::format("{}: {:.0f} % of an iteration is floors of layers without a time: its interval is unknown",
                    graph.name, 100 * rung.floor_share));
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

/// `118ms`, or an interval `118ms,124ms`. Throws UsageError.
struct GivenTime {
  Seconds time{};
  double uncertainty = 0;  ///< relative
};
std::optional<GivenTime> given_time(const std::string& option, const std::string& text, bool from_zero = false) {
  if (text.empty()) return std::nullopt;
  const auto comma = text.find(',');
  const Seconds least = detail::parse_duration(text.substr(0, comma), option);
  const Seconds most = comma == std::string::npos ? least : detail::parse_duration(text.substr(comma + 1), option);
  if (!((from_zero ? most : least).value > 0) || most < least)
    throw UsageError(option + ": '" + text + "', expected a time above 0, or two, the shorter one first");
  return GivenTime{(least + most) / 2, (most - least) / (most + least)};
}

/// `40ms,75ms,3ms`. Throws UsageError.
std::optional<PhaseTimes> given_phases(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto first = text.find(','), second = text.find(',', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    throw UsageError("--phases: '" + text + "', expected three times: forward, backward, optimizer");
  const PhaseTimes result{.forward = detail::parse_duration(text.substr(0, first), "--phases"),
                          .backward = detail::parse_duration(text.substr(first + 1, second - first - 1), "--phases"),
                          .update = detail::parse_duration(text.substr(second + 1), "--phases")};
  if (!(result.forward.value > 0 && result.backward.value > 0))
    throw UsageError("--phases: '" + text + "', expected times above 0 for forward and backward");
  return result;
}

/// `0.9,0.97`. Throws UsageError.
void read_reached(const std::string& text, ScalingOptions& wanted) {
  if (text.empty()) return;
  double least = 0, most = 0;
  const char *const begin = text.data(), *const end = begin + text.size();
  auto read = std::from_chars(begin, end, least);
  most = least;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == ',') read = std::from_chars(read.ptr + 1, end, most);
  if (read.ec != std::errc{} || read.ptr != end || !(least > 0) || !(most >= least) || most > 1)
    throw UsageError("--reached: '" + text + "', expected shares above 0 and up to 1, such as 0.9 or 0.9,0.97");
  wanted.reached_least = least;
  wanted.reached_most = most;
}

/// Throws InputError if an all-reduce lacks a measurement that a bucket needs, and says how to measure it.
void check_measured(const Iteration& iteration, const ScalingOptions& wanted) {
  if (!wanted.measured) return;
  if (wanted.measured->backend == "mpi" && bits(iteration.type) == 16)
    throw UsageError(fmt::format("--backend mpi: MPI adds up no {}; give --bandwidth", name(iteration.type)));
  std::set<double> sizes;
  for (const auto& bucket : make_buckets(iteration, wanted.exchange.bucket)) sizes.insert(bucket.bytes.value);
  if (std::all_of(sizes.begin(), sizes.end(),
                  [&](double bytes) { return wanted.measured->time(wanted.workers, {bytes}).has_value(); }))
    return;
  std::string text =
      fmt::format("{}: the results lack all-reduces by {} of {} ranks for buckets of {:.0f} to {:.0f} bytes",
                  iteration.model, wanted.measured->backend, wanted.workers, *sizes.begin(), *sizes.rbegin());
  text +=
      fmt::format("; {}benanza measure --backend {}",
                  wanted.measured->backend == "mpi" ? fmt::format("mpirun -n {} --bind-to none ", wanted.workers) : "",
                  wanted.measured->backend);
  for (const double bytes : std::set{*sizes.begin(), *sizes.rbegin()})
    text += " " + LayerSignature(op::AllReduce{.type = iteration.type,
                                               .n = static_cast<std::int64_t>(bytes * 8 / bits(iteration.type)),
                                               .ranks = wanted.workers})
                      .text();
  throw InputError(text + " measures the ends, and other sizes lie between");
}

int run(const ScaleCommand& options) {
  check_writable(options.output);
  ScalingOptions wanted{.workers = options.workers,
                        .bandwidths = options.backend.empty() ? parse_rates("--bandwidth", options.bandwidth)
                                                              : std::vector<BytesPerSecond>{},
                        .latency = detail::parse_duration(options.latency, "--latency"),
                        .algorithm = named<CollectiveAlgorithm>("--algorithm", options.algorithm),
                        .exchange = {.order = named<SendOrder>("--order", options.order),
                                     .bucket = {options.bucket == "0" ? 0 : parse_bytes("--bucket", options.bucket)}},
                        .efficiency = options.efficiency};
  read_reached(options.reached, wanted);
  if (const auto overhead = given_time("--overhead", options.overhead, true)) {
    wanted.exchange.overhead = overhead->time;
    wanted.overhead_uncertainty = overhead->uncertainty;
  }
  const std::optional<GivenTime> measured = given_time("--iteration", options.iteration);
  const std::optional<PhaseTimes> phases = given_phases(options.phases);
  ModelOptions plain = options.models;  // the graph of the file, since training is derived here
  plain.training = {};
  plain.tells_weights = true;
  TrainingFlags flags = options.models.training;
  flags.training = true;
  const TrainingOptions training = *flags.options();
  const IterationTimes times = times_of(options);
  ScaleReport report{.times_of = times.text, .warnings = times.warnings};
  report.models = from_each_graph(plain, options.output.quiet, [&](Graph&& graph) {
    Iteration iteration = iteration_of(graph, training, times, options.output.quiet);
    if (phases) {
      iteration = with_phases(std::move(iteration), *phases);
      iteration.uncertainty = 0;
      if (times.analysis.analytic) iteration.units.reset();  // these belong to another machine
    }
    if (measured) {
      iteration = scaled_to(std::move(iteration), measured->time);
      iteration.uncertainty = measured->uncertainty;
      if (times.analysis.analytic) iteration.units.reset();  // these belong to another machine
    }
    ScalingOptions of_model = wanted;
    if (!options.backend.empty()) of_model.measured = measured_network(times.network, options.backend, iteration.type);
    check_measured(iteration, of_model);
    return make_scaling(std::move(iteration), std::move(of_model));
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
      "benanza scale examples/models/training/resnet50.onnx --machine examples/machines/a100_sxm4_40gb.json "
      "--workers 8");
  options->models.add_to(*command);
  options->models.training.add_settings_to(*command);
  command->add_option("-n,--workers", options->workers, "the most workers, each with a batch of its own (default: 8)")
      ->type_name("N")
      ->check(number_that([](double n) { return n >= 2 && n <= (1 << 20); }, "a number from 2 to 1048576"));
  auto* bandwidth = command
                        ->add_option("--bandwidth", options->bandwidth,
                                     "of each worker, in each direction (default: 1,10,25,100Gbps)")
                        ->type_name("RATE,...");
  command
      ->add_option("--backend", options->backend,
                   "takes all-reduce times measured with it, from --results, not --bandwidth")
      ->type_name("NAME")
      ->check(CLI::IsMember({"mpi", "nccl"}))
      ->excludes(bandwidth);
  command
      ->add_option("--reached", options->reached,
                   "share of a bandwidth that exchanges reach, as measured; two: its interval (default: 1)")
      ->type_name("0.9,0.97");
  command
      ->add_option("--latency", options->latency, "latency of one message (default: 0, so that times are lower bounds)")
      ->type_name("10us");
  command->add_option("--algorithm", options->algorithm, "algorithm of the all-reduce: ring (default) or tree")
      ->type_name("NAME");
  command
      ->add_option("--bucket", options->bucket,
                   "gradients are sent in parts of at least so much; 0: each alone (default: 25MB)")
      ->type_name("SIZE");
  command
      ->add_option("--order", options->order,
                   "what is sent first: fifo (default), or priority: what forward reads first")
      ->type_name("NAME");
  command
      ->add_option("--efficiency", options->efficiency,
                   "the report gives the least bandwidth that reaches this efficiency (default: 0.9)")
      ->type_name("SHARE")
      ->check(number_that([](double e) { return e > 0 && e < 1; }, "a number between 0 and 1"));
  command->add_option("--results", options->results, "results of benanza bound --training (may be repeated)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_machine_choice(*command, options->of);
  command
      ->add_option("--machine", options->machine,
                   "the roofline of a machine that you do not have; examples/machines has some")
      ->type_name("FILE");
  command
      ->add_option("--iteration", options->iteration,
                   "what an iteration takes on one worker: the layers' times are scaled to it; two: its interval")
      ->type_name("118ms,124ms");
  command
      ->add_option("--phases", options->phases,
                   "what forward, backward and the optimizer take: the layers' times are scaled to it, phase by phase; "
                   "with --iteration, they give the ratios of the phases")
      ->type_name("40ms,75ms,3ms");
  command
      ->add_option("--overhead", options->overhead,
                   "what packing and unpacking all gradients takes of each worker's computation; two: its interval")
      ->type_name("9ms,11ms");
  options->output.add_to(*command);
  options->output.add_page_to(*command);
  command
      ->add_option("--trace", options->output.trace, "writes the iterations for Chrome's and Perfetto's trace viewers")
      ->group("Reports")
      ->type_name("FILE");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
