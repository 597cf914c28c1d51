// SPDX-License-Identifier: Apache-2.0
// The signatures of the groups into which a graph made by hand is fused.
#pragma once

#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <string>
#include <vector>

namespace benanza::testing {

using Signatures = std::vector<std::string>;

[[nodiscard]] inline LayerGraph fused(GraphBuilder& g) { return make_model_layers(g.graph()).fused; }

[[nodiscard]] inline Signatures signatures(const LayerGraph& graph) {
  Signatures result;
  for (const auto& at : graph.layers) result.push_back(LayerSignature(at.layer).text());
  return result;
}

/// The only group into which a graph with the given result is fused.
inline std::string only_group(GraphBuilder& g, ValueId result) {
  const std::size_t nodes = g.graph().nodes.size();
  const auto layers = fused(g.output(result)).layers;
  CHECK(layers.size() == 1);
  CHECK(layers.front().members.size() == nodes);
  CHECK(layers.front().pieces.size() >= 1);
  return LayerSignature(layers.front().layer).text();
}

/// The canonical spelling, so that expected signatures may name fields in any order.
[[nodiscard]] inline std::string named(const std::string& text) { return LayerSignature::parse(text).text(); }

}  // namespace benanza::testing
