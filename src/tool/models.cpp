// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include <benanza/model/retype.hpp>

#include <utility>

namespace benanza::tool {

std::vector<ModelAt> wanted_models(const ModelOptions& options) {
  std::vector<ModelAt> result;
  const std::vector<ImportOptions> points = options.import_options();
  for (const auto& file : options.files())
    for (const auto& point : points) result.push_back({file, point, options.what_if()});
  return result;
}

Graph load_graph(const ModelAt& model) {
  Graph graph = import_onnx(model.file, model.point);
  return model.what_if ? retype(std::move(graph), *model.what_if) : graph;
}

std::vector<Graph> load_graphs(const ModelOptions& options) {
  return each_in_parallel(wanted_models(options), load_graph);
}

std::vector<ModelLayers> load_models(const ModelOptions& options) {
  return from_each_model(options, [](ModelLayers&& model) { return std::move(model); });
}

}  // namespace benanza::tool
