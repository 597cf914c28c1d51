// SPDX-License-Identifier: Apache-2.0
// make_model_layers: a model's layers in both forms; measurable_layers: those that have to be measured.
#pragma once

#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/model/model_layers.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace benanza {

[[nodiscard]] ModelLayers make_model_layers(const Graph& graph, std::span<const Pattern> patterns);
/// Uses the default patterns.
[[nodiscard]] ModelLayers make_model_layers(const Graph& graph);

/// Adds the layers that have to be measured for a model's bounds: its single layers, the groups of its fused form, and
/// those parts of groups that are also one call. Free and opaque layers are not added.
inline void add_measurable(const ModelLayers& model, LayerSet& set) {
  const auto add = [&](const SharedLayer& layer, const Occurrence& at, std::int64_t Users::*count) {
    if (is_free(layer) || is_opaque(layer)) return;
    Users user{.model = model.single.model, .node = at.nodes.front()};
    user.*count = at.repeat;
    set.add(layer, user);
  };
  for (const auto& at : model.single.layers) add(at.layer, at, &Users::count);
  for (const auto& at : model.fused.layers) {
    add(at.layer, at, &Users::fused);
    for (std::size_t i = 1; i < at.pieces.size(); ++i) add(at.pieces[i].layer, at, &Users::parts);
  }
}
[[nodiscard]] inline LayerSet measurable_layers(const ModelLayers& model) {
  LayerSet layers;
  add_measurable(model, layers);
  return layers;
}

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/fusion/model_layers_inl.hpp>
#endif
