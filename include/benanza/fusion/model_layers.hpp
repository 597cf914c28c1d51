// SPDX-License-Identifier: Apache-2.0
// ModelLayers: a model's layers in both forms, which is what `analyze` takes.
#pragma once

#include <benanza/fusion.hpp>

#include <span>

namespace benanza {

struct ModelLayers {
  LayerGraph single{};  ///< a layer is an ONNX node
  LayerGraph fused{};   ///< a layer is a group of nodes that one library call can do
};

[[nodiscard]] inline ModelLayers make_model_layers(const Graph& graph, std::span<const Pattern> patterns) {
  ModelLayers result{.single = make_layer_graph(graph)};
  result.fused = fuse(result.single, patterns);
  return result;
}
[[nodiscard]] inline ModelLayers make_model_layers(const Graph& graph) {
  return make_model_layers(graph, default_patterns());
}

}  // namespace benanza
