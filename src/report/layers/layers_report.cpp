// SPDX-License-Identifier: Apache-2.0
#include <benanza/base/detail/saturated.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/report/report.hpp>

#include <iterator>
#include <unordered_map>
#include <utility>

namespace benanza {

namespace {

LayerSet unique_layers(const LayerGraph& form) {
  LayerSet result;
  std::unordered_map<const Layer*, UniqueLayer*> seen;  // most layers repeat, and equal ones are mostly one object
  for (const auto& at : form.layers) {
    const Users user{.model = form.model, .count = at.repeat, .node = at.nodes.front()};
    UniqueLayer*& one = seen[&*at.layer];
    if (one == nullptr) one = &result.add(at.layer, user);
    else one->add(user);
  }
  return result;
}

ModelSummary summarize_layers(const ModelLayers& model) {
  ModelSummary result{.model = model.single.model,
                      .file = model.single.file,
                      .batch = model.single.batch,
                      .dims = model.single.dims,
                      .assumed = model.single.assumed,
                      .weights = model.single.weights,
                      .unknown = model.single.unknown};
  for (const auto& at : model.single.layers) {
    const Cost c = cost(at.layer);
    detail::add_saturated(result.layers, at.repeat);
    detail::add_saturated(result.macs, detail::saturated_product(c.macs, at.repeat));
    result.flops += c.flops * static_cast<double>(at.repeat);
    result.bytes += (at.read_weights + at.read_activations + at.written) * static_cast<double>(at.repeat);
    if (is_free(at.layer)) detail::add_saturated(result.free, at.repeat);
    if (is_opaque(at.layer)) detail::add_saturated(result.opaque, at.repeat);
  }
  for (const auto& at : model.fused.layers) result.groups += is_free(at.layer) ? 0 : 1;
  return result;
}

}  // namespace

LayersReport make_layers_report(const ModelLayers& model, LayersForm form) {
  LayersReport report;
  LayerSet single = unique_layers(model.single);
  ModelSummary& summary = report.models.emplace_back(summarize_layers(model));
  summary.unique_layers = static_cast<std::int64_t>(single.size());
  report.layers = form == LayersForm::fused ? unique_layers(model.fused) : std::move(single);
  return report;
}

void LayersReport::merge(LayersReport other) {
  models.insert(models.end(), std::make_move_iterator(other.models.begin()),
                std::make_move_iterator(other.models.end()));
  layers.merge(std::move(other.layers));
  symbolic.insert(symbolic.end(), std::make_move_iterator(other.symbolic.begin()),
                  std::make_move_iterator(other.symbolic.end()));
}

}  // namespace benanza
