// SPDX-License-Identifier: Apache-2.0
// benanza run: executes a model once and writes its outputs.
#include "commands.hpp"
#include "execution/npy.hpp"
#include "models.hpp"
#include "plan/cpu_set.hpp"
#include "run_inputs.hpp"
#include "terminal.hpp"
#include "validators.hpp"
#include "watchdog.hpp"
#include <benanza/session/backends.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>

namespace benanza::tool {

namespace {

constexpr std::uint64_t default_input_seed = 2020;  // the same as in benchmarks/engines/compare.py

struct RunCommand {
  ModelOptions models{};
  std::vector<std::string> backends{};
  int threads = 1;
  std::string output{}, weights{};
  std::optional<std::uint64_t> seed{};  ///< if given: inputs without a file are random
  bool allow_nan = false, check = false, quiet = false;
};

/// The only model at the only size that is to be run.
Graph load_one(const RunCommand& options) {
  if (options.models.what_if())
    throw UsageError("--type is a question about bounds: a run computes the model as it is");
  const auto training = options.models.training.options();
  if (training && training->precision != Precision::f32)
    throw UsageError("--precision: an iteration is run in f32, its weights are those of the file");
  if (options.models.files().size() > 1 || options.models.sweeps()) throw UsageError("run takes one model at one size");
  return std::move(load_graphs(options.models, options.quiet).front());
}

/// Minimum, maximum and mean; NaN, without a sign, if any element is.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), largest = -least, mean = 0;
};

Extent extent_of(const Tensor& tensor) {
  Extent extent;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = tensor[i];
    if (constexpr double nan = std::numeric_limits<double>::quiet_NaN(); std::isnan(value)) return {nan, nan, nan};
    extent.least = std::min(extent.least, value);
    extent.largest = std::max(extent.largest, value);
    extent.mean += value / static_cast<double>(tensor.elements());
  }
  if (std::isnan(extent.mean)) extent.mean = std::numeric_limits<double>::quiet_NaN();  // inf - inf
  return extent;
}

std::string cut_to(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void print_outputs(const Executor& executor, const Execution& execution) {
  constexpr std::size_t name_width = 26, shape_width = 19;
  fmt::print("{:<{}}  {:<{}} {:>9} {:>9} {:>9}\n", "output", name_width, "type and shape", shape_width, "min", "max",
             "mean");
  for (const auto& info : executor.outputs()) {
    const auto found = execution.outputs.find(info.name);
    if (found == execution.outputs.end()) continue;
    const Tensor& tensor = found->second;
    const std::string shape = described(tensor.type(), tensor.dims());
    fmt::print("{:<{}}  {:<{}}", cut_to(info.name, name_width), name_width, cut_to(shape, shape_width), shape_width);
    if (tensor.elements() == 0) {
      fmt::print("   no elements\n");
      continue;
    }
    const Extent extent = extent_of(tensor);
    fmt::print(" {:9.3g} {:9.3g} {:9.3g}\n", extent.least, extent.largest, extent.mean);
  }
}

/// What the reference ran, by operator, longest first.
void print_reference(const Execution& execution) {
  struct Share {
    std::string op_type{};
    int nodes = 0;
    Seconds time{};
  };
  std::map<std::string, Share> by_type;
  for (const auto& run : execution.nodes) {
    if (run.plan != "reference") continue;
    Share& share = by_type[run.op_type];
    share.op_type = run.op_type;
    ++share.nodes;
    share.time += run.time;
  }
  if (by_type.empty()) return fmt::print("no layer was run by the reference\n");
  std::vector<Share> shares;
  for (const auto& [type, share] : by_type) shares.push_back(share);
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  const auto percent = [&](Seconds time) { return 100 * (time / execution.time); };
  fmt::print("by the reference: {:.1f} % of the time\n", percent(execution.by_reference()));
  constexpr std::size_t shown = 6;
  for (std::size_t i = 0; i < std::min(shown, shares.size()); ++i)
    fmt::print("  {:6.1f} %  {:>4} {}\n", percent(shares[i].time), shares[i].nodes, shares[i].op_type);
  if (shares.size() > shown) fmt::print("  and {} more operators\n", shares.size() - shown);
}

/// A file name: every character except letters, digits and `._-` becomes `_`; no two names are equal.
std::string file_name(const std::string& output, std::set<std::string>& taken) {
  constexpr std::size_t longest = 100;
  std::string stem = output.substr(0, longest);
  for (char& c : stem) {
    const bool safe =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!safe) c = '_';
  }
  if (stem.empty() || stem.front() == '.' || stem.front() == '-') stem = "_" + stem;
  std::string name = stem;
  for (int i = 2; !taken.insert(name).second; ++i) name = stem + "-" + std::to_string(i);
  return name + ".npy";
}

void write_outputs(const Executor& executor, const Execution& execution, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(folder.string() + ": cannot be made: " + error.message());
  std::set<std::string> taken;
  for (const auto& info : executor.outputs())
    if (const auto found = execution.outputs.find(info.name); found != execution.outputs.end())
      write_npy(folder / file_name(info.name, taken), found->second);
}

Seconds since(std::chrono::steady_clock::time_point begin) {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

/// An optimizer's states are 0 before the first step, unless a file gives other values.
template <class Files>
void clear_states(std::map<std::string, Tensor>& inputs, const Files& files) {
  for (auto& [name, tensor] : inputs) {
    if (!is_state(name) || files.contains(name)) continue;
    const std::vector<double> zeros(static_cast<std::size_t>(tensor.elements()));
    tensor = Tensor::of(tensor.type(), tensor.dims(), zeros);
  }
}

/// Files must give all inputs: a forgotten one is not made up.
[[noreturn]] void refuse_missing(const std::vector<std::string>& missing) {
  std::string text = "--input: input '" + missing.front() + "' has no file";
  if (missing.size() > 1) text += ", and " + std::to_string(missing.size() - 1) + " more have none";
  throw InputError(text + "; --seed N makes inputs without a file random");
}

void print_random(const std::vector<std::string>& names, std::uint64_t seed) {
  constexpr std::size_t line = 80;
  std::string text = "random inputs (seed " + std::to_string(seed) + "):";
  for (const auto& name : names) text += (&name == &names.front() ? " " : ", ") + name;
  fmt::print("{}\n", cut_to(text, line));
}

void print_check(const Execution& execution) {
  for (const auto& one : execution.disagreements)
    fmt::print("{}: {} differs by {:.2g} of the largest magnitude, allowed {:.2g}\n", cut_to(one.node, 30), one.plan,
               one.difference, one.tolerance);
  fmt::print("checked: {} of {} outputs of plans agree with the reference\n",
             execution.checked - execution.disagreements.size(), execution.checked);
}

[[noreturn]] void refuse_not_computed(const std::string& file, const std::vector<std::string>& outputs) {
  std::string text = file + ": output '" + outputs.front() + "' is computed by no layer";
  if (outputs.size() > 1) text += ", and " + std::to_string(outputs.size() - 1) + " more are not";
  throw InputError(text);
}

int run_model(RunCommand options) {
  if (const std::size_t most = usable_processors(); static_cast<std::size_t>(options.threads) > most)
    throw UsageError(
        fmt::format("--threads {}: expected at most {}, the processors that may be used", options.threads, most));
  const auto seed = weight_seed(options.weights);
  const auto files = take_input_files(options.models);
  options.models.executable = true;
  const auto begin = std::chrono::steady_clock::now();
  Graph graph = load_one(options);
  const std::string file = graph.file;
  const Watchdog watchdog(file, Watchdog::Task::run);
  Executor executor = naming(file, [&] {
    return Executor::load(std::move(graph), {.backends = usable_backends(options.backends, terminal::warn),
                                             .threads = options.threads,
                                             .weight_seed = seed});
  });
  const Seconds loading = since(begin);
  const auto random = inputs_without_file(files, executor.inputs(), options.models.training.training);
  const std::uint64_t input_seed = options.seed.value_or(default_input_seed);
  auto inputs = naming(file, [&] { return read_inputs(files, executor.inputs(), input_seed, options.allow_nan); });
  if (!files.empty() && !options.seed && !random.empty()) refuse_missing(random);
  if (options.models.training.training) clear_states(inputs, files);
  const Execution execution = naming(file, [&] { return executor.run(inputs, {.check = options.check}); });
  if (!options.output.empty()) write_outputs(executor, execution, options.output);
  fmt::print("{}: loaded in {:.2f} s, run in {:.3f} s on {} thread{}\n", executor.graph().name, loading.value,
             execution.time.value, options.threads, options.threads == 1 ? "" : "s");
  if (!random.empty()) print_random(random, input_seed);
  print_outputs(executor, execution);
  print_reference(execution);
  if (options.check) print_check(execution);
  if (!execution.not_computed.empty()) refuse_not_computed(file, execution.not_computed);
  return execution.disagreements.empty() ? done : assertion_failed;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  auto* command = app.add_subcommand(
      "run",
      "executes a model once and writes its outputs\n"
      "--input takes NumPy files too, NAME=FILE.npy. Where there is none at all, or with --seed, the other inputs are "
      "random: floats close to normally distributed, integers 0 or 1, booleans true (docs/running.md).");
  command->footer("benanza run examples/models/zoo2019/MNIST.onnx --weights random:1 -o out");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  command->add_option("-o,--output", options->output, "writes each output into this folder as NAME.npy")
      ->type_name("FOLDER");
  command->add_option("--weights", options->weights, "random numbers for weights that a ConstantOfShape fills")
      ->type_name("random:SEED");
  command
      ->add_option("--seed", options->seed, "seed of random inputs (default: 2020); inputs without a file are random")
      ->type_name("N")
      ->check(whole_number_from_zero());
  command->add_flag("--allow-nan", options->allow_nan, "accepts files of inputs that hold NaNs");
  command->add_option("--backend", options->backends, "runs layers by these only (default: all of the processor)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "of each layer")->type_name("N")->check(positive_number());
  command->add_flag("--check", options->check, "compares the output of every plan with the reference; exit code 4");
  command->add_flag("--quiet", options->quiet, "does not report assumed sizes");
  command->callback([options, &exit_code] { exit_code = run_model(*options); });
}

}  // namespace benanza::tool
