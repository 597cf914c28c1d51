// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "execution/npy.hpp"
#include "validators.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/shell_word.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <glob.h>
#include <set>
#include <system_error>

namespace benanza::tool {

namespace {

template <class Number>
Number parse_number(std::string_view text, const std::string& option) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(option + ": '" + std::string(text) + "' is not a number");
  return value;
}

std::pair<std::string, std::string> split_pair(const std::string& text, const std::string& option) {
  const auto at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(option + ": '" + text + "', expected NAME=VALUE");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::int64_t> each_once(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> result;
  for (const auto size : sizes)
    if (std::find(result.begin(), result.end(), size) == result.end()) result.push_back(size);
  return result;
}

/// `seq=128`, `512`, `width=3`: a bare number is another size for the preceding name.
std::map<std::string, std::vector<std::int64_t>> sizes_by_name(const std::vector<std::string>& dims) {
  std::map<std::string, std::vector<std::int64_t>> result;
  std::string name;
  for (const auto& text : dims) {
    const bool bare = !name.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const auto [given, value] = bare ? std::pair(name, text) : split_pair(text, "--dim");
    result[given].push_back(parse_number<std::int64_t>(value, "--dim"));
    name = given;
  }
  return result;
}

std::vector<std::filesystem::path> expand(const std::string& name) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  if (fs::is_directory(name)) {
    for (const auto& entry : fs::directory_iterator(name))
      if (entry.path().extension() == ".onnx") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    if (found.empty()) throw InputError(name + ": the folder holds no .onnx file");
    return found;
  }
  if (!fs::exists(name) && name.find_first_of("*?[") != std::string::npos) {
    glob_t matches{};
    if (glob(name.c_str(), 0, nullptr, &matches) == 0)
      for (std::size_t i = 0; i < matches.gl_pathc; ++i) found.emplace_back(matches.gl_pathv[i]);
    globfree(&matches);
    if (found.empty()) throw InputError(name + ": matches no file");
    return found;
  }
  if (!fs::exists(name)) throw InputError(name + ": no such file");
  return {name};
}

}  // namespace

HelpGroup::HelpGroup(CLI::App& app, const std::string& name) : app_(app), before_(app.option_defaults()->get_group()) {
  app.option_defaults()->group(name);
}

HelpGroup::~HelpGroup() { app_.option_defaults()->group(before_); }

void ModelOptions::add_to(CLI::App& app, const std::string& option) {
  const HelpGroup group(app, "Model");
  if (option.empty())
    app.add_option("models", models, "ONNX files, folders or globs")->required()->type_name("MODEL...");
  else
    app.add_option(option, models, "ONNX file, folder or glob (may be repeated)")
        ->type_name("MODEL")
        ->allow_extra_args(false);
  app.add_option("-b,--batch", batches, "batch size, written through the whole graph; several are a sweep")
      ->type_name("N,...")
      ->check(positive_number())
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-d,--dim", dims, "binds a symbolic dimension; several sizes, NAME=128,512, are a sweep")
      ->type_name("NAME=N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--input", inputs, "shape of an input: NAME=1x3x224x224")
      ->type_name("NAME=SHAPE")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--dims-from", dims_from,
                 "a NumPy file whose shape an input has; NAME= may be left out for the only one")
      ->type_name("NAME=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--shapes", shapes,
                 "sizes by model where no option says them: {\"a.onnx\": {\"dim\": {\"height\": 320}}}")
      ->type_name("FILE.json");
  app.add_option("--value", values, "value of a scalar input, e.g. a trip count")
      ->type_name("NAME=N")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--type", type,
         "what if f32 were computed in f32, tf32, f16, bf16, f8e4m3, f8e5m2, i8 (symmetric), or u8 with i8 weights")
      ->type_name("TYPE");
}

void TrainingFlags::add_to(CLI::App& app) {
  const HelpGroup group(app, "Training");
  auto* flag = app.add_flag("--training", training, "one iteration of training (docs/training.md)");
  add_settings_to(app);
  for (const auto* option : {"--optimizer", "--precision", "--recompute", "--loss", "--frozen"})
    app.get_option(option)->needs(flag);
}

void TrainingFlags::add_settings_to(CLI::App& app) {
  const HelpGroup group(app, "Training");
  app.add_option("--optimizer", optimizer, "sgd, momentum, adam or adamw (default: sgd)")->type_name("NAME");
  app.add_option("--precision", precision, "f32 (default), or mixed: 16 bits but for the optimizer; bf16, or mixed:f16")
      ->type_name("NAME");
  app.add_option("--recompute", recompute, "none (default), or every:N, the layers after which something is kept")
      ->type_name("every:N");
  app.add_option("--loss", loss, "cross-entropy (default) or mse, unless the model computes its loss")
      ->type_name("NAME");
  app.add_option("--frozen", frozen, "a parameter that is not trained (may be repeated)")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

namespace {

std::int64_t parse_recompute(const std::string& text) {
  if (text == "none") return 0;
  constexpr std::string_view prefix = "every:";
  std::int64_t every = 0;
  const char* end = text.data() + text.size();
  if (text.starts_with(prefix))
    if (const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, every);
        error == std::errc{} && stop == end && every > 0)
      return every;
  throw UsageError("--recompute: '" + text + "', expected none or every:N");
}

}  // namespace

std::optional<TrainingOptions> TrainingFlags::options() const {
  const auto named = [](const auto& names, const std::string& text, const std::string& option) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
      std::string known;
      for (const auto name : names) known += (known.empty() ? "" : ", ") + std::string(name);
      throw UsageError(option + ": '" + text + "' is none of " + known);
    }
    return static_cast<std::uint8_t>(found - names.begin());
  };
  TrainingOptions made;
  made.optimizer = static_cast<Optimizer>(named(enum_names(Optimizer{}), optimizer, "--optimizer"));
  made.loss = static_cast<TrainingLoss>(named(enum_names(TrainingLoss{}), loss, "--loss"));
  made.precision = static_cast<Precision>(named(enum_names(Precision{}), precision, "--precision"));
  made.recompute_every = parse_recompute(recompute);
  made.frozen = frozen;
  return training ? std::optional(made) : std::nullopt;
}

std::string TrainingFlags::text() const {
  if (!training) return "";
  std::string text = " --training";
  if (optimizer != TrainingFlags{}.optimizer) text += " --optimizer " + optimizer;
  if (precision != TrainingFlags{}.precision) text += " --precision " + precision;
  if (recompute != TrainingFlags{}.recompute) text += " --recompute " + recompute;
  if (loss != TrainingFlags{}.loss) text += " --loss " + loss;
  for (const auto& name : frozen) text += " --frozen " + detail::shell_word(name);
  return text;
}

std::string ModelOptions::text() const {
  std::string result;
  for (std::size_t i = 0; i < batches.size(); ++i) result += (i ? "," : " --batch ") + std::to_string(batches[i]);
  const auto list = [&](const char* option, const std::vector<std::string>& values_of) {
    for (const auto& value : values_of) result += std::string(" ") + option + " " + detail::shell_word(value);
  };
  list("--dim", dims);
  list("--input", inputs);
  list("--value", values);
  list("--dims-from", dims_from);
  if (!shapes.empty()) result += " --shapes " + detail::shell_word(shapes);
  if (!type.empty()) result += " --type " + type;
  return result + training.text();
}

std::optional<DataType> ModelOptions::what_if() const {
  if (type.empty()) return std::nullopt;
  const auto found = data_type_from_name(type);
  if (!found) throw UsageError("--type: '" + type + "' is not an element type, expected e.g. bf16, f16 or i8");
  return found;
}

std::vector<ImportOptions> ModelOptions::import_options() const {
  ImportOptions options;
  for (const auto& text : values) {
    const auto [name, value] = split_pair(text, "--value");
    options.values[name] = parse_number<std::int64_t>(value, "--value");
  }
  for (const auto& text : inputs) {
    const auto [name, value] = split_pair(text, "--input");
    std::vector<std::int64_t> shape;
    for (std::size_t at = 0; at <= value.size();) {
      const std::size_t end = std::min(value.find('x', at), value.size());
      shape.push_back(parse_number<std::int64_t>(std::string_view(value).substr(at, end - at), "--input"));
      at = end + 1;
    }
    options.inputs[name] = shape;
  }
  for (const auto& text : dims_from) {
    const auto at = text.find('=');
    const bool named = at != std::string::npos && !std::filesystem::exists(text);
    options.inputs[named ? text.substr(0, at) : ""] = read_npy_header(named ? text.substr(at + 1) : text).dims;
  }
  options.node_inputs = node_inputs;
  options.executable = executable;
  options.training = tells_weights || training.training;
  std::vector<ImportOptions> points{options};
  for (const auto& [name, sizes] : sizes_by_name(dims)) {
    std::vector<ImportOptions> next;
    for (const auto& point : points)
      for (auto size : each_once(sizes)) (next.emplace_back(point)).dims[name] = size;
    points = std::move(next);
  }
  if (batches.empty()) return points;
  std::vector<ImportOptions> next;
  for (const auto& point : points)
    for (auto batch : each_once(batches)) (next.emplace_back(point)).batch = batch;
  return next;
}

std::vector<std::filesystem::path> ModelOptions::files() const {
  std::vector<std::filesystem::path> result;
  std::set<std::filesystem::path> known;  // canonical paths, since a file may have several
  for (const auto& name : models)
    for (const auto& file : expand(name)) {
      std::error_code absent;
      const std::filesystem::path one = std::filesystem::weakly_canonical(file, absent);
      if (known.insert(absent ? file : one).second) result.push_back(file);
    }
  return result;
}

void add_accepted_facts(CLI::App& app, std::vector<std::string>& accept) {
  // Rows of another device or instruction set would never be rows of this machine. Rows of another memory size always
  // are: the word is accepted, and changes nothing.
  app.add_option("--accept", accept, "also counts rows of a machine that differs in these facts")
      ->type_name("FACT,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"family", "model", "stepping", "microcode", "hypervisor", "cores", "cpus", "L1", "L2",
                             "L3", "L4", "driver", "settings", "memory"}));
}

void MeasuringOptions::add_to(CLI::App& app) {
  const HelpGroup group(app, "Measuring");
  add_accepted_facts(app, accept);
  app.add_option(
         "--backend", backends,
         "libraries to use; cuda stands for cudnn, cublas and cuda (default: every CPU library that is available)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-t,--threads", threads,
                 "the most threads an engine would use (default: one for each physical core of one NUMA node)")
      ->type_name("N")
      ->check(positive_number());
  const auto to_state = [](std::string& text) {
    for (const auto cache : cache_states)
      if (text == enum_names(cache)[static_cast<std::size_t>(cache)]) {
        text = std::to_string(static_cast<int>(cache));  // the form in which CLI11 reads an enumeration
        return std::string();
      }
    return "'" + text + "', expected hot, cold-weights or cold";
  };
  app.add_option("--cache", caches, "states to measure: hot, cold-weights, cold (default: the first two)")
      ->type_name("STATE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::Validator(to_state, ""));
  app.add_flag("--isolate,!--no-isolate", isolate,
               "measures in a separate process: a crash, hang or runaway allocation loses one row, not the run (the "
               "default; always so on a GPU)");
  app.add_option("--database", database, "folder of results (default: ~/.cache/benanza/results)")->type_name("DIR");
}

void MeasuringOptions::add_metrics_to(CLI::App& app) {
  const HelpGroup group(app, "Measuring");
  const auto to_metric = [](std::string& text) {
    if (const auto metric = detail::enum_from_name<KernelMetric>(text)) {
      text = std::to_string(static_cast<int>(*metric));  // the form in which CLI11 reads an enumeration
      return std::string();
    }
    return "'" + text + "', expected kernels, dram, flops or occupancy";
  };
  app.add_option("--metrics", metrics,
                 "keeps the kernels of the chosen plans with their rows, and hardware counters of them: kernels, dram, "
                 "flops, occupancy; on a GPU")
      ->type_name("METRIC,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(CLI::Validator(to_metric, ""));
}

void OutputOptions::add_to(CLI::App& app) {
  const HelpGroup group(app, "Reports");
  app.add_option("--json", json, "writes JSON; - replaces the table on stdout")->type_name("FILE");
  app.add_option("--csv", csv, "writes CSV; - replaces the table on stdout")->type_name("FILE");
  app.add_option("--md", md, "writes tables in GitHub's Markdown; - replaces the table on stdout")->type_name("FILE");
  app.add_flag("-a,--all", all, "every row, not only those that matter");
  app.add_flag("-q,--quiet", quiet, "no progress and no warnings");
}

void OutputOptions::add_page_to(CLI::App& app) {
  const HelpGroup group(app, "Reports");
  app.add_option("--html", html, "writes one self-contained page")->type_name("FILE");
}

void OutputOptions::add_rungs_to(CLI::App& app, const std::string& what) {
  const HelpGroup group(app, "Reports");
  app.add_option("--csv-rungs", csv_rungs, "writes " + what + " as CSV (--csv has the layers)")->type_name("FILE");
}

void OutputOptions::add_pictures_to(CLI::App& app) {
  add_rungs_to(app);
  add_page_to(app);
  const HelpGroup group(app, "Reports");
  app.add_option("--dot", dot, "writes the fused layer graph for graphviz, critical path in colour")->type_name("FILE");
  app.add_option("--trace", trace, "writes the bound's schedules for Chrome's and Perfetto's trace viewers")
      ->type_name("FILE");
}

}  // namespace benanza::tool
