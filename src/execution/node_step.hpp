// SPDX-License-Identifier: Apache-2.0
// NodeStep: a node without bodies, prepared for the sizes of the graph or, where data decides these, for those that are
// there; it is prepared again when they change.
#pragma once

#include "layer_call.hpp"
#include <benanza/model/graph.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace benanza::execution {

/// What all nodes of a model share.
struct Resources {
  PlanChooser plans;
  std::optional<std::uint64_t> weight_seed{};
  bool check = false;
  Seconds checks{};                ///< what comparing has taken
  Execution* execution = nullptr;  ///< where runs are noted; null: nowhere
};

/// A node at certain sizes.
struct PreparedNode {
  std::map<ValueId, Value> inputs{};    ///< what it was prepared for, where sizes come from data
  std::vector<Tensor::Dims> outputs{};  ///< in the node's order
  std::optional<LayerCall> call{};
  NodeTensors folded{};  ///< outputs that follow from sizes and short lists of integers alone
};

class NodeStep {
 public:
  NodeStep(const Graph& graph, const Node& node) : graph_(&graph), node_(&node) {}

  /// Prepares what can be before data is there. Throws NotExecutable.
  void prepare(const NodeTensors& constants, Resources& resources);
  /// As of NodeRun, of a step that was prepared before data was there; empty for a layer that was not.
  [[nodiscard]] std::string plan_name() const;
  /// The node's outputs; nothing for one that is left out or not computed.
  [[nodiscard]] NodeTensors run(const NodeTensors& inputs, Resources& resources);

 private:
  [[nodiscard]] bool has_known_sizes(const NodeTensors& constants) const;
  [[nodiscard]] std::map<ValueId, Value> values_of(const NodeTensors& inputs) const;
  [[nodiscard]] PreparedNode prepared_for(std::map<ValueId, Value> values, const NodeTensors& inputs,
                                          Resources& resources) const;
  [[nodiscard]] NodeTensors call_layer(const NodeTensors& inputs, Resources& resources);

  const Graph* graph_;
  const Node* node_;
  bool is_static_ = false;
  NodeTensors constants_{};
  std::optional<PreparedNode> prepared_{};
};

}  // namespace benanza::execution
