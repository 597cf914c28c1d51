// SPDX-License-Identifier: Apache-2.0
#include "known_layers_options.hpp"

#include "models.hpp"
#include "stored.hpp"
#include <benanza/base/detail/saturated.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/results/measuring_time.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace benanza::tool {

namespace {

struct CountedModel {
  std::filesystem::path file{};
  std::string model{};
  CountedLayers layers{};
};

/// How layers are counted, and what they cost.
struct Counting {
  bool of_2019 = false, fused = false;
  std::optional<original2019::Results> results2019{};
  std::map<std::string, Seconds> times{};  ///< by signature

  [[nodiscard]] CountedLayers operator()(const Graph& graph) const {
    if (of_2019) return original2019::count_layers(graph, results2019 ? &*results2019 : nullptr);
    const ModelLayers model = both_forms(graph);
    CountedLayers layers;
    for (const auto& at : (fused ? model.fused : model.single).layers) {
      if (is_free(at.layer)) continue;  // it is not measured
      const std::string key = LayerSignature(at.layer).text();
      CountedLayer& layer = layers[key];
      detail::add_saturated(layer.count, at.repeat);
      if (const auto found = times.find(key); found != times.end()) layer.time = found->second;
    }
    return layers;
  }
};

std::vector<CountedModel> count(const Counting& counting, ModelOptions models) {
  models.executable = counting.of_2019;  // such an import keeps every node
  return from_each_graph(models, true, [&](Graph&& graph) {
    return CountedModel{std::filesystem::weakly_canonical(graph.file), graph.name, counting(graph)};
  });
}

bool has_models(const std::string& place) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(place)) return place.ends_with(".onnx");
  return std::any_of(fs::directory_iterator(place), fs::directory_iterator(),
                     [](const auto& entry) { return entry.path().extension() == ".onnx"; });
}

}  // namespace

void KnownLayersOptions::add_to(CLI::App& app) {
  app.add_option("--known", known, "models or results of them: shows how many layers a database of these has already")
      ->type_name("PLACE")
      ->allow_extra_args(false);
  app.add_option("--rules", rules, "2019: counts layers as the paper did: each node, told apart by inputs, attributes")
      ->type_name("YEAR")
      ->check(CLI::IsMember({"2019"}));
  app.add_option("--results", results, "with --known or --rules: results that say what a layer costs")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_machine_choice(app, of, {});
  app.add_option("--device", device, "with --rules: the GPU whose rows of a table to take")
      ->type_name("NAME")
      ->needs("--rules");
}

KnownLayersReport known_layers_report(const KnownLayersOptions& options, const ModelOptions& models, bool fused) {
  Counting counting{.of_2019 = !options.rules.empty(), .fused = fused};
  if (counting.of_2019 && fused) throw UsageError("--fused: the rules of 2019 count nodes, not groups");
  ModelOptions of_known;
  of_known.batches = models.batches;
  std::vector<std::string> known_results;
  for (const auto& place : options.known) (has_models(place) ? of_known.models : known_results).push_back(place);
  if (counting.of_2019 && !known_results.empty())
    throw UsageError("--known: '" + known_results.front() + "': with --rules 2019, models are expected");
  if (counting.of_2019 && !options.results.empty())
    counting.results2019 = load_results_2019(options.results, options.device);
  KnownLayersReport report{.rules = options.rules, .asked_known = !options.known.empty()};
  std::set<std::string> known;
  if (!known_results.empty()) {
    const auto measured = measuring_times(load_results(known_results, {}, options.of).results);
    for (const auto& [signature, time] : measured) known.insert(signature);
    counting.times = measured;
    report.of_results = true;
  }
  if (!counting.of_2019 && !options.results.empty())
    for (const auto& [signature, time] : measuring_times(load_results(options.results, {}, options.of).results))
      counting.times[signature] = time;

  const auto asked = count(counting, models);
  if (!of_known.models.empty())
    for (const auto& other : count(counting, of_known)) {
      if (std::any_of(asked.begin(), asked.end(), [&](const auto& one) { return one.file == other.file; })) continue;
      ++report.other_models;
      for (const auto& [key, layer] : other.layers) known.insert(key);
    }
  CountedLayers all;
  for (const auto& one : asked) {
    report.models.push_back(known_layers(one.model, one.layers, known));
    merge(all, one.layers);
  }
  report.models.push_back(known_layers("", all, known));
  return report;
}

}  // namespace benanza::tool
