// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include <benanza/onnx.hpp>
#include <benanza/retype.hpp>

#include <utility>

namespace benanza::tool {

namespace {

template <class Use>
void for_each_graph(const ModelOptions& options, Use&& use) {
  const std::vector<ImportOptions> points = options.import_options();
  const auto what_if = options.what_if();
  for (const auto& file : options.files())
    for (const auto& point : points) {
      Graph graph = import_onnx(file, point);
      if (what_if) graph = retype(std::move(graph), *what_if);
      use(std::move(graph));
    }
}

}  // namespace

std::vector<Graph> load_graphs(const ModelOptions& options) {
  std::vector<Graph> result;
  for_each_graph(options, [&result](Graph&& graph) { result.push_back(std::move(graph)); });
  return result;
}

std::vector<ModelLayers> load_models(const ModelOptions& options) {
  std::vector<ModelLayers> result;
  for_each_graph(options, [&result](Graph&& graph) { result.push_back(make_model_layers(graph)); });
  return result;
}

void add_measurable(const ModelLayers& model, LayerSet& set) {
  const auto add = [&](const Layer& layer, const Occurrence& at) {
    if (!is_free(layer) && !is_opaque(layer)) set.add(layer, model.single.model, at.nodes.front(), at.repeat);
  };
  for (const auto& at : model.single.layers) add(at.layer, at);
  for (const auto& at : model.fused.layers)
    for (const auto& piece : at.pieces) add(piece.layer, at);
}

}  // namespace benanza::tool
