// SPDX-License-Identifier: Apache-2.0
// What make_model_layers computes.
#pragma once

#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/detail/moved_strides.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_set.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// How much of the arithmetic of these layers is needed, and which readers use only a part of the results.
[[nodiscard]] inline LiveShare live_share(const LayerGraph& single, std::span<const std::size_t> members) {
  LiveShare result;
  Flops all{}, needed{};
  for (const auto member : members) {
    const Occurrence& at = single.layers[member];
    all += cost(at.layer).flops;
    needed += at.needed.flops;
    result.readers.insert(result.readers.end(), at.live.readers.begin(), at.live.readers.end());
    result.conditional = result.conditional || at.live.conditional;
  }
  if (all.value > 0) result.flops = needed / all;
  return result;
}

/// The fused form of a graph with moved strides, in terms of the single form of the original graph. No value if a
/// pattern puts an added Slice into a group.
[[nodiscard]] inline std::optional<LayerGraph> fuse(const MovedStrides& moved, const LayerGraph& single,
                                                    std::span<const Pattern> patterns) {
  const LayerGraph changed = make_layer_graph(moved.graph);
  std::vector<std::optional<std::size_t>> origin;
  std::size_t next = 0;
  for (const auto& at : changed.layers)
    origin.push_back(moved.slices.contains(at.nodes.front()) ? std::nullopt : std::optional(next++));
  LayerGraph fused = benanza::fuse(changed, patterns);
  for (auto& group : fused.layers) {
    std::vector<std::size_t> members;
    bool is_changed = false;
    for (std::size_t k = 0; k < group.members.size(); ++k) {
      const auto& layer = changed.layers[group.members[k]].layer;
      const auto before = origin[group.members[k]];
      if (!before && group.members.size() > 1) return std::nullopt;
      if (!before) continue;
      members.push_back(*before);
      if (single.layers[*before].layer == layer) continue;
      is_changed = true;
      if (!is_free(group.layer)) group.pieces.push_back({k, 1, layer});
    }
    group.members = std::move(members);
    if (is_changed) group.live = live_share(single, group.members);
  }
  return fused;
}

}  // namespace detail

BENANZA_INLINE ModelLayers make_model_layers(const Graph& graph, std::span<const Pattern> patterns) {
  ModelLayers result{.single = make_layer_graph(graph)};
  std::optional<LayerGraph> fused;
  if (const auto moved = move_strides(graph)) fused = detail::fuse(*moved, result.single, patterns);
  result.fused = fused ? *std::move(fused) : fuse(result.single, patterns);
  return result;
}
BENANZA_INLINE ModelLayers make_model_layers(const Graph& graph) {
  return make_model_layers(graph, default_patterns());
}

BENANZA_INLINE void add_measurable(const ModelLayers& model, LayerSet& set) {
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

BENANZA_INLINE LayerSet measurable_layers(const ModelLayers& model) {
  LayerSet layers;
  add_measurable(model, layers);
  return layers;
}

}  // namespace benanza
