// SPDX-License-Identifier: Apache-2.0
// benanza predict: the time of a model on a device that is not available, from rows measured on another.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "models.hpp"
#include "original2019/prediction.hpp"
#include "output.hpp"
#include "stored.hpp"
#include "validators.hpp"
#include <benanza/original2019/rules.hpp>
#include <benanza/predict/make_prediction.hpp>
#include <benanza/report/predict_report.hpp>
#include <benanza/results/device_record.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::tool {

namespace {

struct PredictCommand {
  ModelOptions models{};
  OutputOptions output{};
  std::vector<std::string> from{}, to{}, target_results{};
  MachineChoice of{};  ///< of `from`
  std::string from_machine{}, rules{}, device{};
  std::vector<double> prices{};
  int from_threads = 0, to_threads = 0;
};

/// Results are a folder or a file that describes the circumstances of its measurement; a machine file does not.
bool are_results(const std::string& name) {
  if (std::filesystem::is_directory(name) || name.ends_with(".gz")) return true;
  return read_whole(name).find("\"benchmarks\"") != std::string::npos;
}

/// The record of an accelerator among the files next to the targets' files.
DeviceRecord record_beside(const std::string& device, const std::vector<std::string>& targets) {
  std::set<std::filesystem::path> folders;
  std::string places;
  for (const auto& target : targets)
    if (std::filesystem::is_regular_file(target))
      if (const auto folder = std::filesystem::path(target).parent_path();
          folders.insert(folder.empty() ? "." : folder).second)
        places += (places.empty() ? "" : ", ") + (folder.empty() ? std::string(".") : folder.string());
  for (const auto& folder : folders) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".json" && !are_results(entry.path().string())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) try {
        const DeviceRecord record = read_device_record(file.string());
        if (record.is_called(device)) return record;
      } catch (const InputError&) {  // the folder may also contain other files
        continue;
      }
  }
  throw InputError("--from: the rows are from '" + device + "', but no machine file" +
                   (places.empty() ? "" : " in " + places) + " describes it; give one with --from-machine FILE");
}

int threads_of(int wanted, const Machine& machine) { return wanted > 0 ? wanted : machine.cores; }

std::string named(const DeviceRecord& record, const Machine& machine, int threads) {
  if (machine.is_device()) return record.device;
  return fmt::format("{} {}, {} thread{}", machine.device, machine.isa, threads, threads == 1 ? "" : "s");
}

/// A target with results.
PredictionTarget measured_target(const std::string& name, const PredictCommand& options) {
  const StoredResults stored = load_results({name}, {});
  const Machine& machine = stored.report.machine;
  const int threads = threads_of(options.to_threads, machine);
  PredictionTarget target{.record = measured_record(stored.results, threads),
                          .rows = fastest_rows(stored.results, threads)};
  target.record.device = named(target.record, machine, threads);
  return target;
}

/// Adds the rows of --target-results to their targets.
void add_rows(std::vector<PredictionTarget>& targets, const PredictCommand& options) {
  if (options.target_results.empty()) return;
  for (const auto& stored : load_all_results(options.target_results, {})) {
    const Machine& machine = stored.report.machine;
    const auto found = std::find_if(targets.begin(), targets.end(), [&](const PredictionTarget& target) {
      return target.record.is_called(machine.device);
    });
    if (found == targets.end())
      throw InputError("--target-results: the rows are of '" + machine.device +
                       "', which none of --to is called: its record needs the name among its \"names\"");
    const int threads = threads_of(options.to_threads, machine);
    for (auto& [signature, row] : fastest_rows(stored.results, threads)) found->rows.insert_or_assign(signature, row);
    const Ceilings measured = stored.results.ceilings(threads);
    for (const auto& [type, peak] : measured.peaks) found->record.measured_peaks[type] = {peak.value, "results"};
    if (const auto bandwidth = measured.memory_bandwidth(); bandwidth.value > 0)
      found->record.measured_bandwidth = SourcedFigure{bandwidth.value, "results"};
  }
}

/// The device that was measured.
struct Origin {
  DeviceRecord record{};
  std::string name{};  ///< name in the report
  std::vector<Analysis> models{};
  Form form = Form::fused;  ///< form of the predicted layers
  FastestRows rows{};
  std::vector<std::string> warnings{};
};

std::vector<PredictionTarget> targets_of(const PredictCommand& options) {
  std::vector<PredictionTarget> targets;
  for (const auto& name : options.to)
    targets.push_back(options.rules.empty() && are_results(name)
                          ? measured_target(name, options)
                          : PredictionTarget{.record = read_device_record(name)});
  if (options.rules.empty()) add_rows(targets, options);
  else if (!options.target_results.empty()) {
    const std::vector<Graph> graphs = load_graphs(options.models, true);
    original2019::add_rows(targets, graphs, files_of(options.target_results));
  }
  if (!options.prices.empty())
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i].price = options.prices[i];
  return targets;
}

/// The common batch size of all convolutions and products of the rows; empty if they differ.
std::optional<std::string> batch_of(const FastestRows& rows) {
  std::set<std::string> sizes;
  for (const auto& [signature, row] : rows) {
    if (!signature.starts_with("Conv/") && !signature.starts_with("Pool/")) continue;
    if (const auto at = signature.find("/x="); at != std::string::npos)
      sizes.insert(signature.substr(at + 3, signature.find('x', at + 3) - at - 3));
  }
  return sizes.size() == 1 ? std::optional(*sizes.begin()) : std::nullopt;
}

void expect_rows(const Analysis& analysis, const Origin& origin) {
  const bool any = std::any_of(analysis.rows.begin(), analysis.rows.end(), [&](const LayerRow& row) {
    return row.form == origin.form && row.status == Status::measured;
  });
  if (any) return;
  const auto batch = batch_of(origin.rows);
  const bool another = batch && *batch != std::to_string(analysis.batch);
  throw InputError(fmt::format("{}: --from has no row of its layers at batch {}{}; benanza bound measures them",
                               analysis.model, analysis.batch,
                               another ? fmt::format(", its rows are of batch {}", *batch) : ""));
}

Origin stored_origin(const PredictCommand& options) {
  const StoredResults stored = load_results(options.from, {}, options.of);
  if (!options.output.quiet) warn_of_stored(stored);
  const Machine& machine = stored.report.machine;
  const int threads = threads_of(options.from_threads, machine);
  Origin origin{.record = !options.from_machine.empty() ? read_device_record(options.from_machine)
                          : machine.is_device()         ? record_beside(machine.device, options.to)
                                                        : measured_record(stored.results, threads),
                .rows = fastest_rows(stored.results, threads),
                .warnings = stored.report.warnings};
  if (!options.from_machine.empty() && !origin.record.is_called(machine.device))
    throw InputError("--from: the rows are of '" + machine.device + "', which " + options.from_machine +
                     " is not called: it needs the name among its \"names\"");
  origin.name = named(origin.record, machine, threads);
  for (const auto& model : load_models(options.models, options.output.quiet))
    origin.models.push_back(analyze_model(model, stored.results, {.threads = threads}));
  return origin;
}

/// From databases or printed tables of 2019: each node on its own, since tables have no other form.
Origin origin_of_2019(const PredictCommand& options) {
  const original2019::Results results = load_results_2019(options.from, options.device);
  if (results.device.empty() && options.from_machine.empty())
    throw InputError("--from: the files do not say of which GPU they are; give its record with --from-machine FILE");
  Origin origin{.record = options.from_machine.empty() ? record_beside(results.device, options.to)
                                                       : read_device_record(options.from_machine),
                .form = Form::single,
                .warnings = results.warnings};
  origin.name = origin.record.device;
  for (const auto& graph : load_graphs(options.models, options.output.quiet)) {
    auto [analysis, warnings] = original2019::analyze(graph, results);
    origin.warnings.insert(origin.warnings.end(), warnings.begin(), warnings.end());
    for (auto& row : analysis.rows)  // the algorithm is not known: any may have saved multiplications
      if (row.chosen) row.chosen->saves_multiplications = true;
    original2019::add_rows(origin.rows, analysis);
    origin.models.push_back(std::move(analysis));
  }
  if (!options.output.quiet)
    for (const auto& warning : origin.warnings) terminal::warn(warning);
  return origin;
}

int run(const PredictCommand& options) {
  check_writable(options.output);
  if (!options.prices.empty() && options.prices.size() != options.to.size())
    throw UsageError(
        fmt::format("--price: {} prices for {} devices of --to", options.prices.size(), options.to.size()));
  std::vector<PredictionTarget> targets = targets_of(options);
  const Origin origin = options.rules.empty() ? stored_origin(options) : origin_of_2019(options);
  for (auto& target : targets) target.ratios = ratios_of(origin.rows, target.rows);
  PredictReport report{.warnings = origin.warnings};
  for (const auto& analysis : origin.models) {
    expect_rows(analysis, origin);
    PredictedModel made{.model = analysis.model, .file = analysis.file, .batch = analysis.batch, .origin = origin.name};
    for (const auto& target : targets) made.targets.push_back(predict(analysis, origin.record, target, origin.form));
    made.origin_time = made.targets.front().origin_time;
    for (const auto& layer : made.targets.front().layers)
      if (!layer.origin) made.origin_missing += layer.count;
    report.models.push_back(std::move(made));
  }
  emit(report, options.output);
  const auto has_basis = [](const Prediction& target) {
    return std::any_of(target.layers.begin(), target.layers.end(),
                       [](const PredictedLayer& layer) { return layer.time; });
  };
  for (const auto& model : report.models)
    if (!std::all_of(model.targets.begin(), model.targets.end(), has_basis)) return incomplete;
  return done;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PredictCommand>();
  auto* command = app.add_subcommand("predict", "what a model takes on a device that was not measured");
  command->footer("benanza predict resnet50.onnx --from results.json --to examples/machines/l4.json");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  const auto files = [&](const std::string& name, std::vector<std::string>& value, const std::string& help) {
    return command->add_option(name, value, help)->type_name("FILE")->allow_extra_args(false);
  };
  files("--from", options->from, "results of the device that was measured: files or folders (may be repeated)")
      ->required();
  add_machine_choice(*command, options->of, "--from");
  files("--to", options->to,
        "the device: its machine file, of which examples/machines has some, or results of it (may be repeated)")
      ->required();
  files("--target-results", options->target_results,
        "rows measured on a device of --to, possibly of other models (may be repeated)");
  command
      ->add_option("--from-machine", options->from_machine,
                   "the machine file of the device that was measured (default: beside those of --to)")
      ->type_name("FILE");
  command
      ->add_option("--price", options->prices, "price per hour of each device of --to, in their order, in any currency")
      ->type_name("0.35,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_that([](double price) { return price > 0; }, "a number above 0"));
  command
      ->add_option("--rules", options->rules,
                   "2019: --from and --target-results are databases (JSON) or printed tables (CSV) of the original "
                   "Benanza")
      ->type_name("YEAR")
      ->check(CLI::IsMember({"2019"}));
  command->add_option("--device", options->device, "with --rules: the GPU whose rows of a table of --from to take")
      ->type_name("NAME")
      ->needs("--rules");
  command
      ->add_option("--from-threads", options->from_threads, "the most threads of rows of --from (default: all cores)")
      ->type_name("N")
      ->check(positive_number());
  command->add_option("--to-threads", options->to_threads, "the same of rows of --to and --target-results")
      ->type_name("N")
      ->check(positive_number());
  options->output.add_to(*command);
  options->output.add_rungs_to(*command, "the totals");
  options->output.add_page_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
