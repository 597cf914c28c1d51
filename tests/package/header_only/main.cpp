// SPDX-License-Identifier: Apache-2.0
// A graph made by hand and its layers in both forms, with headers alone.
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstdio>

int main() {
  benanza::Graph graph;
  graph.values = {{.name = "x", .dims = {1, 3, 8, 8}},
                  {.name = "w", .dims = {4, 3, 3, 3}, .constant = true},
                  {.name = "c", .dims = {1, 4, 6, 6}},
                  {.name = "y", .dims = {1, 4, 6, 6}}};
  graph.inputs = {0};
  graph.outputs = {3};
  benanza::Node conv, relu;
  conv.name = "conv", conv.op_type = "Conv", conv.opset = 20, conv.inputs = {0, 1}, conv.outputs = {2};
  relu.name = "relu", relu.op_type = "Relu", relu.opset = 20, relu.inputs = {2}, relu.outputs = {3};
  graph.nodes = {conv, relu};
  const auto model = benanza::make_model_layers(graph);
  for (const auto& layer : model.fused.layers) std::puts(benanza::LayerSignature(layer.layer).text().c_str());
  return model.single.layers.size() == 2 && model.fused.layers.size() == 1 ? 0 : 1;
}
