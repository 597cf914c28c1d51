// SPDX-License-Identifier: Apache-2.0
// The layer times of four GPUs that the original Benanza published, and predictions of one GPU from another.
#pragma once

#include "support/data2019.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/predict/detail/ratio_database.hpp>
#include <benanza/predict/detail/wave_scaling.hpp>
#include <benanza/results/csv_table.hpp>
#include <benanza/results/device_record.hpp>
#include <benanza/results/whole_file.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace devices2019 {

using namespace benanza;

inline constexpr std::array gpus{"Tesla_V100-SXM2-16GB", "Tesla_T4", "TITAN_Xp", "Tesla_K80"};
inline constexpr std::array records{"v100_sxm2", "t4", "titan_xp", "k80"};
inline constexpr std::array<std::int64_t, 3> batches{1, 8, 32};

/// A node of a model: its operations by the published count, and all bytes of its operands and its result.
struct Layer {
  std::string model{}, node{}, family{}, shape{};
  std::int64_t batch = 1;
  LayerFeatures features{};
  std::array<Seconds, gpus.size()> time{};
};

/// Models of one family have layers in common: ResNets of any depth, VGGs, Inceptions.
inline std::string family_of(const std::string& model) {
  for (const std::string name : {"ResNet", "VGG", "Inception"})
    if (model.starts_with(name)) return name;
  return model;
}

/// Signature and bytes of each node.
inline std::map<std::string, std::pair<std::string, Bytes>> nodes_of(const std::string& model, std::int64_t batch) {
  std::map<std::string, std::pair<std::string, Bytes>> nodes;
  const LayerGraph graph = make_layer_graph(data2019::model(model, batch));
  for (const auto& at : graph.layers) {
    Bytes bytes{};
    for (const auto& input : at.inputs)
      if (input) bytes += graph.tensors[*input].bytes();
    if (!at.outputs.empty()) bytes += graph.tensors[at.outputs.front()].bytes();
    nodes[at.nodes.front()] = {std::string(LayerSignature(at.layer).text()), bytes};
  }
  return nodes;
}

inline std::vector<Layer> read_layers() {
  const std::string file = data2019::file("devices.csv.gz").string(), text = read_whole(file);
  results::CsvTable table(file, text);
  std::map<std::pair<std::string, std::int64_t>, std::map<std::string, std::pair<std::string, Bytes>>> nodes;
  std::vector<Layer> layers;
  while (table.next()) {
    Layer layer{.model = table["model"], .node = table["layer"], .batch = table.positive("batch")};
    auto [of_model, added] = nodes.try_emplace({layer.model, layer.batch});
    if (added) of_model->second = nodes_of(layer.model, layer.batch);
    std::tie(layer.shape, layer.features.bytes) = of_model->second.at(layer.node);
    layer.family = family_of(layer.model);
    layer.features.kind = table["kind"];
    layer.features.flops = {table.number("flops")};
    for (std::size_t g = 0; g < gpus.size(); ++g)
      layer.time[g] = nanoseconds(table.number(std::string(gpus[g]) + " ns"));
    layers.push_back(std::move(layer));
  }
  // Behind a Reshape to batch 1, the rows of larger batches are those of batch 1: their FLOPs do not grow.
  const auto of_one = [](const Layer& layer) { return layer.features.flops.value / static_cast<double>(layer.batch); };
  std::map<std::pair<std::string, std::string>, double> most;
  for (const auto& layer : layers) {
    double& flops = most[{layer.model, layer.node}];
    flops = std::max(flops, of_one(layer));
  }
  std::erase_if(layers, [&](const Layer& layer) { return of_one(layer) < 0.999 * most.at({layer.model, layer.node}); });
  return layers;
}

inline const std::vector<Layer>& layers() {
  static const std::vector<Layer> read = read_layers();
  return read;
}

inline const std::array<DeviceRecord, gpus.size()>& devices() {
  static const auto read = [] {
    std::array<DeviceRecord, gpus.size()> all;
    for (std::size_t g = 0; g < gpus.size(); ++g)
      all[g] = read_device_record(
          (std::filesystem::path(BENANZA_MODELS).parent_path() / "machines" / (std::string(records[g]) + ".json"))
              .string());
    return all;
  }();
  return read;
}

/// Predicts from FLOPs and bytes.
inline Seconds large_wave(const Layer& layer, std::size_t from, std::size_t to) {
  const RatesOfBoth rates = rates_of(devices()[from], devices()[to], DataType::f32);
  const double weight =
      memory_weight(layer.features.flops.value / layer.features.bytes.value, rates.to.value().ridge());
  return layer.time[from] * large_wave_ratio(*rates.from, *rates.to, weight);
}

/// The total of a model on one GPU: measured, and predicted from another GPU in several ways.
struct Totals {
  std::string model{};
  std::int64_t batch = 1;
  std::size_t from = 0, to = 0;
  Seconds measured{}, by_bandwidth{}, by_formula{}, by_ratio{};
  double refused = 0;  ///< share of by_ratio that is taken from by_formula, because the database has no basis for it
  struct LayerTime {
    Seconds origin{}, measured{}, by_formula{};
    std::optional<Seconds> by_ratio{};  ///< empty if refused
  };
  std::vector<LayerTime> layers{};
};

/// Totals of every model at one batch size.
inline std::vector<Totals> totals(std::int64_t batch, std::size_t from, std::size_t to) {
  const auto features = [&](const Layer& layer) {
    LayerFeatures made = layer.features;
    made.time = layer.time[from];
    return made;
  };
  RatioDatabase ratios;
  std::set<std::pair<std::string, std::string>> added;
  for (const auto& layer : layers())
    if (layer.batch == batch && added.emplace(layer.shape, layer.family).second)
      ratios.add({.layer = features(layer),
                  .shape = layer.shape,
                  .family = layer.family,
                  .ratio = layer.time[to] / layer.time[from]});
  const double bandwidth = devices()[from].best_known_bandwidth().value / devices()[to].best_known_bandwidth().value;
  std::map<std::pair<std::string, std::string>, std::variant<NearestRatio, std::string>> known;
  std::map<std::string, Totals> all;
  for (const auto& layer : layers()) {
    if (layer.batch != batch) continue;
    Totals& of = all.try_emplace(layer.model, Totals{.model = layer.model, .batch = batch, .from = from, .to = to})
                     .first->second;
    auto [ratio, is_new] = known.try_emplace({layer.shape, layer.family});
    if (is_new)
      ratio->second = ratios.find(features(layer), [&](const RatioSample& sample) {
        return sample.family == layer.family && sample.shape == layer.shape;
      });
    of.measured += layer.time[to];
    of.by_bandwidth += layer.time[from] * bandwidth;
    Totals::LayerTime times{
        .origin = layer.time[from], .measured = layer.time[to], .by_formula = large_wave(layer, from, to)};
    if (const auto* nearest = std::get_if<NearestRatio>(&ratio->second))
      times.by_ratio = layer.time[from] * nearest->ratio;
    else of.refused += times.by_formula.value;
    of.by_formula += times.by_formula;
    of.by_ratio += times.by_ratio.value_or(times.by_formula);
    of.layers.push_back(times);
  }
  std::vector<Totals> result;
  for (auto& [model, of] : all) {
    of.refused /= of.by_ratio.value;
    result.push_back(of);
  }
  return result;
}

/// All models, batch sizes and ordered pairs of GPUs.
inline const std::vector<Totals>& all_totals() {
  static const std::vector<Totals> made = [] {
    std::vector<Totals> all;
    for (const auto batch : batches)
      for (std::size_t from = 0; from < gpus.size(); ++from)
        for (std::size_t to = 0; to < gpus.size(); ++to)
          if (from != to)
            for (auto& one : totals(batch, from, to)) all.push_back(std::move(one));
    return all;
  }();
  return made;
}

}  // namespace devices2019
