// SPDX-License-Identifier: Apache-2.0
// Fusion: which nodes one library call can do together, and which need no call.
#pragma once

#include <benanza/fusion/pattern.hpp>
#include <benanza/model/layer_graph.hpp>

#include <span>
#include <vector>

namespace benanza {

/// The patterns, in order: SiLU, GELU (erf and tanh forms), hard-swish, RMS and layer norm, and rotary embeddings that
/// are written out in parts; scale-mask-softmax attention; zeros around a convolution; then convolution, matrix
/// product, resize, batch norm or an element-wise function with everything that follows in its epilogue; products that
/// share an input; a gated product; finally a norm with the sum before it, if that is still single.
[[nodiscard]] std::vector<Pattern> default_patterns();

/// Fused form of a single-form graph. Patterns make groups. Then the remaining layers of movement become views if the
/// layers around them read or write with strides.
[[nodiscard]] LayerGraph fuse(const LayerGraph& single, std::span<const Pattern> patterns);
[[nodiscard]] inline LayerGraph make_layer_graph(const Graph& graph, std::span<const Pattern> patterns) {
  return fuse(make_layer_graph(graph), patterns);
}

}  // namespace benanza

#ifndef BENANZA_COMPILED_FUSION
#include <benanza/fusion/detail/fuse.hpp>
#endif
