// SPDX-License-Identifier: Apache-2.0
// benanza study: many models, devices, frameworks and batch sizes in one table and on one page; nothing is measured.
#include "analyze_model.hpp"
#include "commands.hpp"
#include "models.hpp"
#include "original2019/run_latencies.hpp"
#include "output.hpp"
#include "stored.hpp"
#include "study/account.hpp"
#include "study/device_names.hpp"
#include "study/run_latencies.hpp"
#include <benanza/model/retype.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/original2019/study.hpp>
#include <benanza/report/study_report.hpp>
#include <benanza/session/backends.hpp>
#include <benanza/study/make_study.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace benanza::tool {

namespace {

struct StudyCommand {
  ModelOptions models{};
  OutputOptions output{};
  std::vector<std::string> results{}, latencies{}, profiles{}, backends{};
  std::string rules{};
  int threads = 0;
};

using Names = std::set<std::string>;

/// The inputs of the study, before it is made.
struct Material {
  std::vector<StudyAccount> accounts{};
  std::vector<StudyLatency> latencies{};
  std::vector<std::string> notes{};
};

/// Compares names without case and punctuation; empty for a model that is not among them.
std::optional<std::string> model_of(const std::string& name, const Names& models) {
  for (const auto& model : models)
    if (plain_name(model) == plain_name(name)) return model;
  return std::nullopt;
}

void add_latencies(const std::vector<EngineLatency>& rows, const Names& models, Material& material) {
  Names unknown;
  for (const auto& row : rows) {
    const auto model = model_of(row.model, models);
    if (!model) {
      unknown.insert(row.model);
      continue;
    }
    material.latencies.push_back({.model = *model,
                                  .device = row.device,
                                  .framework = row.framework,
                                  .batch = row.batch,
                                  .time = row.time,
                                  .lowest = row.lowest,
                                  .highest = row.highest,
                                  .file = row.file});
  }
  if (!unknown.empty())
    material.notes.push_back(fmt::format("latencies of {} models that are not studied are left out, first {}",
                                         unknown.size(), *unknown.begin()));
}

Names names_of(const std::vector<std::filesystem::path>& files) {
  const std::vector<std::string> all = model_names(files);
  return {all.begin(), all.end()};
}

/// The paper's count of layers, with the times of the first table or database that has them.
std::map<std::string, CountedLayers> counted_layers(const StudyCommand& options, const original2019::Data& data) {
  ModelOptions models = options.models;
  models.batches.clear();
  models.executable = true;
  const original2019::Results* table = data.table_of_paper();
  Names timed;
  if (table)
    for (const auto& row : table->printed) timed.insert(row.model);
  std::map<std::string, CountedLayers> counted;
  for (auto& [name, layers] : from_each_graph(models, true, [&](Graph&& graph) {
         return std::pair(graph.name, original2019::count_layers(graph, timed.contains(graph.name) ? table : nullptr));
       }))
    counted[name] = std::move(layers);
  return counted;
}

Study study_of_2019(const StudyCommand& options, const Names& names) {
  original2019::Data data = original2019::read_data(options.results);
  Material material;
  material.notes = data.warnings;
  std::vector<StudyLatency> profiled;
  for (const auto& place : options.profiles) {
    const ProfileFolder folder = read_profile_folder(place, names);
    material.notes.insert(material.notes.end(), folder.notes.begin(), folder.notes.end());
    original2019::add_printed_tables(folder, data, material.notes);
    const auto made = original2019::latencies_of(folder, data, material.notes);
    profiled.insert(profiled.end(), made.begin(), made.end());
  }
  for (const auto& file : options.latencies) add_latencies(read_latencies(file), names, material);
  add_latencies(data.latencies, names, material);
  material.latencies.insert(material.latencies.end(), profiled.begin(), profiled.end());
  material.accounts = original2019::accounts_of_totals(data, names);

  const auto is_wanted = [&](std::int64_t batch) {
    const auto& given = options.models.batches;
    return given.empty() || std::find(given.begin(), given.end(), batch) != given.end();
  };
  std::set<std::int64_t> batches;
  for (const auto& name : names)
    for (const auto batch : data.batches(name))
      if (is_wanted(batch)) batches.insert(batch);
  std::vector<std::string> defects;
  for (const auto batch : batches) {
    ModelOptions at_batch = options.models;
    at_batch.batches = {batch};
    const auto made = from_each_graph(at_batch, true, [&](Graph&& graph) {
      std::pair<std::vector<StudyAccount>, std::vector<std::string>> one;
      if (data.has_rows(graph.name, batch)) one.first = original2019::accounts_of_rows(data, graph, one.second);
      return one;
    });
    for (const auto& [accounts, warnings] : made) {
      material.accounts.insert(material.accounts.end(), accounts.begin(), accounts.end());
      defects.insert(defects.end(), warnings.begin(), warnings.end());
    }
  }
  std::erase_if(material.accounts, [&](const auto& account) { return !is_wanted(account.batch); });
  std::erase_if(material.latencies, [&](const auto& latency) { return !is_wanted(latency.batch); });
  Study study = make_study(std::move(material.accounts), std::move(material.latencies));
  study.claims = original2019::check_claims(study, counted_layers(options, data));
  study.notes.insert(study.notes.end(), material.notes.begin(), material.notes.end());
  const auto differing = original2019::differing_totals(study);
  study.notes.insert(study.notes.end(), differing.begin(), differing.end());
  if (!defects.empty())
    study.notes.push_back(
        fmt::format("known defects of the data touch {} model and batch pairs (benanza analyze --rules 2019 "
                    "names them), first: {}",
                    defects.size(), defects.front()));
  return study;
}

Study study_of_results(const StudyCommand& options, const Names& names) {
  const std::vector<std::string> backends = expand_backends(options.backends);
  Material material;
  for (const auto& file : options.latencies) add_latencies(read_latencies(file), names, material);
  const std::vector<Graph> graphs = load_graphs(options.models, options.output.quiet);
  std::vector<ModelLayers> models;
  for (const auto& graph : graphs) models.push_back(naming(graph.file, [&] { return both_forms(graph); }));
  std::vector<Analyzed> analyzed;
  const std::vector<StoredResults> all = load_all_results(options.results, backends);
  std::vector<Machine> machines;
  for (const auto& stored : all) machines.push_back(stored.report.machine);
  const std::vector<std::string> devices = device_names(machines);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const StoredResults& stored = all[k];
    if (!options.output.quiet) warn_of_stored(stored);
    AnalysisOptions analysis_options{.threads = options.threads, .backends = backends};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      analysis_options.candidates = true;
      Analysis analysis = analyze_model(models[i], stored.results, analysis_options);
      if (analysis.coverage[Status::measured] == 0) {
        material.notes.push_back(
            fmt::format("{}, batch {}: no result of {}", analysis.model, analysis.batch, devices[k]));
        continue;
      }
      analysis_options.candidates = false;
      std::vector<Analysis> narrower;
      if (analysis.type == DataType::f32)
        for (const DataType type : {DataType::tf32, DataType::bf16, DataType::f16, DataType::i8})
          narrower.push_back(analyze_model(both_forms(retype(graphs[i], type)), stored.results, analysis_options));
      material.accounts.push_back(account_of(analysis, narrower));
      material.accounts.back().device = devices[k];
      analyzed.push_back({&models[i], std::move(analysis), devices[k]});
    }
  }
  std::stable_partition(material.accounts.begin(), material.accounts.end(),
                        [](const StudyAccount& account) { return account.missing == 0; });
  for (const auto& place : options.profiles) {
    const ProfileFolder folder = read_profile_folder(place, names);
    material.notes.insert(material.notes.end(), folder.notes.begin(), folder.notes.end());
    for (const auto& table : folder.tables)
      material.notes.push_back(table.files.front().string() + ": a table of 2019, which --rules 2019 reads");
    const auto made = latencies_of(folder, analyzed, material.notes);
    material.latencies.insert(material.latencies.end(), made.begin(), made.end());
  }
  Study study = make_study(std::move(material.accounts), std::move(material.latencies));
  study.notes.insert(study.notes.end(), material.notes.begin(), material.notes.end());
  return study;
}

int run(const StudyCommand& options) {
  check_writable(options.output);
  if (options.results.empty()) throw UsageError("give --results: what the bounds are made of");
  const Names names = names_of(options.models.files());
  const Study study = options.rules.empty() ? study_of_results(options, names) : study_of_2019(options, names);
  if (study.rows.empty())
    throw InputError("nothing to study: the results have none of the " + std::to_string(names.size()) + " models");
  emit(study, options.output);
  return done;
}

}  // namespace

void add_study(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StudyCommand>();
  auto* command = app.add_subcommand(
      "study", "many models, devices, frameworks and batch sizes: bounds, ratios, what each optimisation would bring");
  command->footer("benanza study models/*.onnx --results results --latency latencies.csv --html study.html");
  options->models.add_to(*command);
  command->add_option("--results", options->results, "results files or folders, of one machine or several")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--latency", options->latencies,
                   "latencies of frameworks: CSV with the columns model, mean_ms, framework, device, batch")
      ->type_name("FILE.csv")
      ->allow_extra_args(false);
  command
      ->add_option("--profile", options->profiles,
                   "folders of profiles and API logs, matched to models by FRAMEWORK_bBATCH_MODEL in the files' names, "
                   "or by a manifest.csv")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->add_option("--backend", options->backends, "libraries to count (default: all in the results)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-t,--threads", options->threads,
                   "the most threads an engine would use (default: the machine's cores)")
      ->type_name("N");
  command
      ->add_option("--rules", options->rules,
                   "2019: the results are what the original Benanza left: databases, printed tables and totals")
      ->type_name("YEAR")
      ->check(CLI::IsMember({"2019"}));
  options->output.add_to(*command);
  options->output.add_page_to(*command);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace benanza::tool
