// SPDX-License-Identifier: Apache-2.0
// Prints the fused form of x -> Neg -> Abs -> Softmax.
#include "support/graph_builder.hpp"
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstdio>

int main() {
  benanza::testing::GraphBuilder model;
  const auto magnitude = model.map("Abs", {model.map("Neg", {model.input({4, 8})})});
  model.output(model.map("Softmax", {magnitude}, {{"axis", std::int64_t{0}}}));
  for (const auto& group : benanza::make_layer_graph(model.graph(), benanza::default_patterns()).layers)
    std::puts(benanza::LayerSignature(group.layer).text().c_str());
}
