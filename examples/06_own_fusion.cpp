// SPDX-License-Identifier: Apache-2.0
// A fusion pattern of your own: the logarithm of a softmax is one call, log-softmax. A pattern looks at one layer and
// says which group begins there. `fuse` checks that no value inside the group is used outside of it.
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cstdio>
#include <vector>

using namespace benanza;

namespace {

std::optional<Match> log_of_softmax(const LayerGraph& graph, std::size_t at) {
  const auto* softmax = std::get_if<op::Softmax>(&*graph.layers[at].layer);
  const auto& users = graph.tensors[graph.layers[at].outputs[0]].consumers;
  if (!softmax || softmax->log || users.size() != 1) return std::nullopt;
  const auto* next = std::get_if<op::Unary>(&*graph.layers[users[0]].layer);
  if (!next || next->fn != ElementwiseFn::log) return std::nullopt;

  op::Softmax both = *softmax;
  both.log = true;
  return Match{.members = {at, users[0]}, .pieces = {{.first = 0, .count = 2, .layer = both}}};
}

/// x -> Softmax -> Log, as an exporter would write it.
Graph two_nodes() {
  Graph graph;
  for (const char* name : {"x", "probabilities", "scores"}) graph.values.push_back({.name = name, .dims = {1, 1000}});
  for (std::size_t i = 0; i < 2; ++i) {
    Node& node = graph.nodes.emplace_back();
    node.op_type = node.name = i == 0 ? "Softmax" : "Log";
    node.opset = 20;
    node.inputs = {i};
    node.outputs = {i + 1};
  }
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

void print(const char* title, const LayerGraph& layers) {
  std::puts(title);
  for (const auto& at : layers.layers) std::printf("  %s\n", LayerSignature(at.layer).text().c_str());
}

}  // namespace

int main() {
  std::vector<Pattern> patterns = default_patterns();
  patterns.insert(patterns.begin(), {"log_of_softmax", log_of_softmax});
  print("default patterns", make_layer_graph(two_nodes(), default_patterns()));
  print("and mine", make_layer_graph(two_nodes(), patterns));
}
