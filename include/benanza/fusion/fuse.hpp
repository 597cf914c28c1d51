// SPDX-License-Identifier: Apache-2.0
// Fusion: which nodes one library call can do together, and which need no call.
#pragma once

#include <benanza/fusion/pattern.hpp>
#include <benanza/model/layer_graph.hpp>

#include <span>

namespace benanza {

/// Fused form of a single-form graph. Patterns make groups. Then the remaining layers of movement become views if the
/// layers around them read or write with strides.
[[nodiscard]] LayerGraph fuse(const LayerGraph& single, std::span<const Pattern> patterns);
[[nodiscard]] inline LayerGraph make_layer_graph(const Graph& graph, std::span<const Pattern> patterns) {
  return fuse(make_layer_graph(graph), patterns);
}

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/fusion/fuse_inl.hpp>
#endif
