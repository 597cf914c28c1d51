// SPDX-License-Identifier: Apache-2.0
// benanza memory: what fills the memory of a model or of a training iteration, when, and what would change that.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "largest_batch.hpp"
#include "models.hpp"
#include "output.hpp"
#include "stored.hpp"
#include <benanza/base/detail/saturated.hpp>
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/memory/detail/read_constants.hpp>
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/report/memory_report.hpp>
#include <benanza/results/machine_file.hpp>
#include <benanza/training/derive_training.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

namespace benanza::tool {

namespace {

struct MemoryCommand {
  ModelOptions models{};
  OutputOptions output{};
  std::string saved = "least", capacity{};
  std::vector<std::string> results{};
  MachineChoice of{};
  std::string machine{};
};

/// How the memory of one model is counted.
struct Setting {
  std::optional<TrainingOptions> training{};
  Saved saved = Saved::least;
};

std::string text_of(const Setting& setting) {
  if (!setting.training) return "";
  const TrainingOptions& t = *setting.training;
  std::string frozen;
  for (const auto& one : t.frozen) frozen += " --frozen " + detail::shell_word(one);
  const auto name = [](auto value) { return std::string(enum_names(value)[static_cast<std::size_t>(value)]); };
  return " --optimizer " + name(t.optimizer) + " --precision " + name(t.precision) + " --recompute " +
         (t.recompute_every > 0 ? "every:" + std::to_string(t.recompute_every) : "none") + frozen + " --saved " +
         name(setting.saved);
}

/// The entry of the sweep from which a graph was made.
ModelAt model_of(const ModelOptions& options, const Graph& graph) {
  const auto is_bound = [&](const auto& dim) {
    const auto found = graph.dims.find(dim.first);
    return found == graph.dims.end() || found->second == dim.second;
  };
  for (ModelAt one : wanted_models(options))
    if (one.file.string() == graph.file && std::all_of(one.point.dims.begin(), one.point.dims.end(), is_bound)) {
      one.point.batch = graph.batch;
      return one;
    }
  throw InputError(graph.name + ": its file is not among the models");
}
ModelAt at_batch(ModelAt model, std::int64_t batch) {
  model.point.batch = batch;
  return model;
}

using Workspaces = std::map<std::string, double>;  // by signature

/// Multiply-adds of convolutions and products.
double products(const Graph& graph) {
  double macs = 0;
  for (const Node& node : graph.nodes)
    if (node.bodies.empty() && (may_be(Family::convolution, node) || may_be(Family::product, node)))
      if (const Layer layer = make_layer(node, graph); is_product(layer)) macs += static_cast<double>(cost(layer).macs);
  return macs;
}

/// Elements of the constants of the file that nodes read, without running statistics and lists of integers.
std::int64_t parameters_of(const Graph& graph) {
  constexpr std::size_t first_statistic = 3;
  std::int64_t sum = 0;
  for (const auto& [value, node, input, layer] : detail::read_constants(graph)) {
    const bool is_statistic = node && node->op_type == "BatchNormalization" && input >= first_statistic;
    const bool is_list = value->literal && !is_float(value->type);
    if (!is_statistic && !is_list) detail::add_saturated(sum, value->elements());
  }
  return sum;
}

struct Counted {
  MemoryProfile profile{};
  std::int64_t parameters = 0;
  double macs = 0;
};

MemoryOptions options_of(const Setting& setting, const Workspaces& workspaces) {
  MemoryOptions options{.saved = setting.saved};
  if (setting.training) options.optimizer = setting.training->optimizer;
  if (!workspaces.empty())
    options.workspace = [&](const Layer& layer) -> std::optional<double> {
      const auto found = workspaces.find(signature(layer).text());
      return found == workspaces.end() ? std::nullopt : std::optional(found->second);
    };
  return options;
}

Counted count(const Graph& graph, const Setting& setting, const Workspaces& workspaces) {
  const MemoryOptions options = options_of(setting, workspaces);
  Counted counted;
  if (setting.training) {
    const TrainingGraph iteration = derive_training(graph, *setting.training);
    counted.profile = make_memory_profile(iteration, options);
    for (const Parameter& one : iteration.parameters) detail::add_saturated(counted.parameters, one.elements);
    counted.macs = products(iteration.graph);
    return counted;
  }
  counted.macs = products(graph);
  counted.profile = make_memory_profile(graph, options);
  counted.parameters = parameters_of(graph);
  return counted;
}

/// Bytes at the peak, without workspaces.
double peak_of(Graph graph, const Setting& setting) {
  MemoryOptions options = options_of(setting, {});
  options.lists = false;
  if (!setting.training) return make_memory_profile(graph, options).peak_bytes();
  return make_memory_profile(derive_training(std::move(graph), *setting.training), options).peak_bytes();
}

/// The bytes that do not depend on the batch.
double fixed_bytes(const MemoryProfile& profile) {
  return profile.of(MemoryCategory::weights) + profile.of(MemoryCategory::buffers) +
         profile.of(MemoryCategory::gradients) + profile.of(MemoryCategory::optimizer_state);
}

/// Other settings of the iteration, each with one change; for recomputation, the one that needs least. Workspaces are
/// those of the same layers in the same type, if results have them.
std::vector<MemoryWhatIf> what_ifs(const Graph& graph, const Setting& asked, const Counted& now,
                                   const Workspaces& workspaces, const auto& largest) {
  std::vector<MemoryWhatIf> result;
  if (!asked.training) return result;
  const auto add = [&](const std::string& options, const Setting& other, const Counted& counted) {
    result.push_back({.options = options,
                      .peak_bytes = counted.profile.peak_bytes(),
                      .kept_bytes = counted.profile.kept_bytes(),
                      .work = now.macs > 0 ? counted.macs / now.macs : 1,
                      .largest_batch = largest(other, counted)});
  };
  const auto try_one = [&](const std::string& options, const auto& change) {
    Setting other = asked;
    change(other);
    add(options, other, count(graph, other, workspaces));
  };
  if (asked.saved == Saved::least) try_one("--saved eager", [](Setting& s) { s.saved = Saved::eager; });
  else try_one("--saved least", [](Setting& s) { s.saved = Saved::least; });
  result.back().only_counts = true;
  const auto with_recomputation = [&](Setting other, const std::string& prefix) {
    std::optional<std::pair<Setting, Counted>> best;
    for (std::int64_t every = 2; every <= 64; every *= 2) {
      other.training->recompute_every = every;
      Counted counted = count(graph, other, workspaces);
      if (!best || counted.profile.peak_bytes() < best->second.profile.peak_bytes())
        best.emplace(other, std::move(counted));
    }
    add(prefix + "--recompute every:" + std::to_string(best->first.training->recompute_every), best->first,
        best->second);
  };
  if (asked.training->recompute_every == 0) with_recomputation(asked, "");
  if (asked.training->precision == Precision::f32) {
    try_one("--precision mixed", [](Setting& s) { s.training->precision = Precision::mixed_bf16; });
    Setting both = asked;
    both.training->precision = Precision::mixed_bf16;
    if (asked.training->recompute_every == 0) with_recomputation(both, "--precision mixed ");
  }
  return result;
}

/// Where times and workspaces come from, and what this source says about the machine.
struct TimesOf {
  ResultDatabase results{};
  AnalysisOptions analysis{};
  std::string text{};
  std::optional<Bytes> memory{};  ///< memory of that machine, if known
  std::string device{};
};

std::optional<TimesOf> times_of(const MemoryCommand& options) {
  if (options.machine.empty() && options.results.empty()) return std::nullopt;
  TimesOf made;
  if (!options.machine.empty()) {
    Run run = read_machine_file(options.machine);
    made.device = run.machine.device;
    made.text = "the roofline of " + made.device + " with direct algorithms, declared by " + options.machine;
    made.memory = run.machine.memory;
    made.analysis = {.threads = 1, .analytic = true, .direct = true};
    made.results.add(std::move(run));
    return made;
  }
  StoredResults stored = load_results(options.results, {}, options.of);
  made.device = stored.report.machine.device;
  made.text = "the best plans of fused layers, measured on " + made.device;
  if (stored.report.machine.memory.value > 0) made.memory = stored.report.machine.memory;
  made.results = std::move(stored.results);
  return made;
}

/// The bound of an iteration, or of a run, and the workspaces of the plans in it, if known.
struct Timed {
  std::optional<Seconds> latency{};
  Workspaces workspaces{};
};
Timed time_of(const Graph& graph, const TimesOf& times) {
  Timed timed;
  const Analysis analysis = analyze_model(both_forms(graph), times.results, times.analysis);
  if (times.analysis.analytic) timed.latency = analysis[RungName::roofline].bound;
  else if (const Rung& rung = analysis[analysis.headline()]; !analysis.partial() && !rung.mostly_floor())
    timed.latency = rung.bound;
  for (const auto& row : analysis.rows)
    if (row.chosen) timed.workspaces[row.signature] = static_cast<double>(row.chosen->workspace_bytes);
  return timed;
}

/// The number of bytes that must hold it, and a name for what provides them.
std::pair<double, std::string> capacity_of(const MemoryCommand& options, const std::optional<TimesOf>& times) {
  if (!options.capacity.empty()) return {parse_bytes("--capacity", options.capacity), "--capacity " + options.capacity};
  if (times && times->memory) return {times->memory->value, "the memory of " + times->device};
  return {static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)),
          "this machine's memory"};
}

int run(const MemoryCommand& options) {
  check_writable(options.output);
  constexpr auto policies = enum_names(Saved{});
  const auto* const saved = std::find(policies.begin(), policies.end(), options.saved);
  if (saved == policies.end()) throw UsageError("--saved: '" + options.saved + "' is none of least, eager");
  MemoryReport report;
  report.sweep = options.models.sweeps() && options.models.files().size() == 1;
  const std::optional<TimesOf> times = times_of(options);
  if (times) report.times_of = times->text;
  std::tie(report.capacity_bytes, report.capacity_of) = capacity_of(options, times);
  const Setting asked{.training = options.models.training.options(),
                      .saved = static_cast<Saved>(saved - policies.begin())};

  ModelOptions plain = options.models;  // the graph of the file, since training is derived under several settings
  plain.training = {};
  plain.tells_weights = asked.training.has_value();
  report.models = from_each_graph(plain, options.output.quiet, [&](Graph&& graph, std::optional<OnnxFile>& file) {
    const ModelAt at = model_of(plain, graph);
    const Timed timed = !times           ? Timed{}
                        : asked.training ? time_of(derive_training(graph, *asked.training).graph, *times)
                                         : time_of(graph, *times);
    Counted counted = count(graph, asked, timed.workspaces);
    if (fixed_bytes(counted.profile) > report.capacity_bytes)
      throw InputError(fmt::format("{}: weights{} take {:.4g} MB, more than the capacity of {:.4g} MB", graph.file,
                                   asked.training ? ", buffers, gradients and optimizer state" : "",
                                   fixed_bytes(counted.profile) / 1e6, report.capacity_bytes / 1e6));
    const std::int64_t own_batch = graph.batch;
    const auto largest = [&](const Setting& setting, const Counted& now) {
      const double peak = timed.workspaces.empty() ? now.profile.peak_bytes() : peak_of(graph, setting);
      if (!asked.training) graph = {};  // its memory is needed for other batches
      return largest_batch(report.capacity_bytes,
                           {.batch = own_batch, .bytes = peak, .fixed = fixed_bytes(now.profile)},
                           [&](std::int64_t batch) { return peak_of(load_graph(at_batch(at, batch), file), setting); });
    };
    MemoryReport::Model model{.options = text_of(asked), .parameters = counted.parameters, .macs = counted.macs};
    model.warnings = graph.warnings;
    model.latency = timed.latency;
    model.largest_batch = largest(asked, counted);
    if (!report.sweep) model.what_ifs = what_ifs(graph, asked, counted, timed.workspaces, largest);
    model.profile = std::move(counted.profile);
    return model;
  });
  emit(report, options.output);
  return done;
}

}  // namespace

void add_memory(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<MemoryCommand>();
  auto* command =
      app.add_subcommand("memory", "what fills the memory of a model or of an iteration of its training, and when");
  command->footer("benanza memory examples/models/training/resnet50.onnx --training --capacity 80GB");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command->add_option("--saved", options->saved, "what forward keeps: least (default), or eager as PyTorch does")
      ->type_name("POLICY")
      ->needs("--training");
  command
      ->add_option("--capacity", options->capacity,
                   "memory that must hold the model (default: from --machine or --results, else this machine's)")
      ->type_name("80GB");
  auto* results =
      command->add_option("--results", options->results, "results, for throughput and workspaces (may be repeated)")
          ->type_name("FILE")
          ->allow_extra_args(false);
  add_machine_choice(*command, options->of);
  command
      ->add_option("--machine", options->machine,
                   "throughput by the roofline of a machine that you do not have; examples/machines has some")
      ->type_name("FILE")
      ->excludes(results);
  options->output.add_to(*command);
  options->output.add_page_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
