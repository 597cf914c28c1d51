// SPDX-License-Identifier: Apache-2.0
// Storages: the memory that holds each value of a graph.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace benanza {

/// The result of a view or a movement of elements shares its operand's storage, because readers can read through it. A
/// result of the graph has no reader: a movement writes it.
class Storages {
 public:
  /// `selects`: a single position along an axis is also a view, as in PyTorch, and so keeps the whole tensor of which
  /// it is a part.
  explicit Storages(const Graph& graph, bool selects = false) : of_(graph.values.size()) {
    std::iota(of_.begin(), of_.end(), ValueId{0});
    std::vector<bool> is_result(graph.values.size());  // or a result is a view of it
    for (const ValueId id : graph.outputs) is_result[id] = true;
    for (std::size_t n = graph.nodes.size(); n-- > 0;)
      if (const Node& node = graph.nodes[n]; node.has_input(0) && node.has_output(0) && is_result[*node.outputs[0]])
        if (is_view(node) && reads_through(node, graph)) is_result[*node.inputs[0]] = true;
    for (const auto* nodes : {&graph.constant_nodes, &graph.nodes})
      for (const Node& node : *nodes) {
        if (!node.has_input(0) || !(reads_through(node, graph) || (selects && is_selection(node, graph)))) continue;
        if (nodes == &graph.constant_nodes && facts_of(node).moves == Moves::selection) continue;  // made before a run
        for (const auto& output : node.outputs)
          if (output && (is_view(node) || !is_result[*output])) of_[*output] = of_[*node.inputs[0]];
      }
  }
  [[nodiscard]] ValueId of(ValueId id) const { return of_[id]; }
  [[nodiscard]] std::size_t size() const { return of_.size(); }

 private:
  /// The same elements in the same order.
  [[nodiscard]] static bool is_view(const Node& node) {
    const Moves moves = facts_of(node).moves;
    return moves == Moves::shape || moves == Moves::unchanged;
  }
  [[nodiscard]] static bool is_selection(const Node& node, const Graph& graph) {
    return node.domain.empty() && node.op_type == "Gather" && node.has_input(1) &&
           graph.value(*node.inputs[1]).constant && graph.value(*node.inputs[1]).dims.empty();
  }
  [[nodiscard]] static bool reads_through(const Node& node, const Graph& graph) {
    if (!node.bodies.empty() || !node.domain.empty()) return false;
    if (facts_of(node).is(Trait::strided)) return true;
    const auto is_empty = [&graph](const auto& id) { return id && graph.value(*id).elements() == 0; };
    const auto& movers = op::View::onnx_types;
    const bool may_be_free = std::find(movers.begin(), movers.end(), node.op_type) != movers.end() ||
                             std::any_of(node.outputs.begin(), node.outputs.end(), is_empty);
    return may_be_free && is_free(make_layer(node, graph));
  }
  std::vector<ValueId> of_;
};

}  // namespace benanza
