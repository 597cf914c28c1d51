// SPDX-License-Identifier: Apache-2.0
// The layers of a model, each once, with how often it occurs and what it computes.
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/onnx.hpp>

#include <cstdio>

int main() {
  const benanza::Graph graph = benanza::import_onnx("examples/models/zoo2019/MNIST.onnx");
  const benanza::LayerGraph layers = benanza::make_layer_graph(graph);

  benanza::LayerSet unique;
  for (const auto& at : layers.layers) unique.add(at.layer, layers.model, at.nodes.front(), at.repeat);

  std::puts("count      MACs   bytes  layer");
  for (const auto& [signature, entry] : unique.layers()) {
    const benanza::Cost cost = benanza::cost(entry.layer);
    std::printf("%4dx %9lld %7.0f  %s\n", static_cast<int>(entry.count()), static_cast<long long>(cost.macs),
                cost.bytes().value, signature.text().c_str());
  }
  std::printf("%zu layers, %zu of them unique\n", layers.layers.size(), unique.size());
}
