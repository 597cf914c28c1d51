// SPDX-License-Identifier: Apache-2.0
// Fusion: which nodes one library call can do together, and which need no call.
#pragma once

#include <benanza/fusion/pattern.hpp>
#include <benanza/model/layer_graph.hpp>

#include <span>
#include <vector>

namespace benanza {

/// SiLU, GELU (erf and tanh forms), hard-swish, RMS and layer norm, rotary embeddings written out in parts;
/// scale-mask-softmax attention; zeros around a convolution; then convolution, matrix product, resize, batch norm or
/// an element-wise function with everything that follows in its epilogue; products of one input; a gated product; then
/// a norm with the sum before it, where that is left.
[[nodiscard]] std::vector<Pattern> default_patterns();

/// Fused form of a single-form graph: groups by patterns; then what is left of movement becomes views where the layers
/// around it read or write with strides.
[[nodiscard]] LayerGraph fuse(const LayerGraph& single, std::span<const Pattern> patterns);
[[nodiscard]] inline LayerGraph make_layer_graph(const Graph& graph, std::span<const Pattern> patterns) {
  return fuse(make_layer_graph(graph), patterns);
}

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/fusion/detail/fuse.hpp>
#endif
