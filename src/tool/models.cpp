// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include <benanza/onnx.hpp>
#include <benanza/retype.hpp>

#include <utility>

namespace benanza::tool {

std::vector<ModelLayers> load_models(const ModelOptions& options) {
  const std::vector<ImportOptions> points = options.import_options();
  const auto what_if = options.what_if();
  std::vector<ModelLayers> result;
  for (const auto& file : options.files())
    for (const auto& point : points) {
      Graph graph = import_onnx(file, point);
      if (what_if) graph = retype(std::move(graph), *what_if);
      result.push_back(make_model_layers(graph));
    }
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
