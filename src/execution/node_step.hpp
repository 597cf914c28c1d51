// SPDX-License-Identifier: Apache-2.0
// NodeStep: a node without bodies, prepared for the sizes in the graph. If these depend on data, it is prepared for the
// actual sizes, and again when they change.
#pragma once

#include "layer_call.hpp"
#include <benanza/model/graph.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace benanza::execution {

/// State that all nodes of a model share.
struct Resources {
  PlanChooser plans;
  std::optional<std::uint64_t> weight_seed{};
  bool check = false;
  Seconds checks{};                ///< time spent on comparisons
  std::int64_t passes = 0;         ///< of loops, in this run
  Execution* execution = nullptr;  ///< where runs are recorded, if not null
};

/// A node at given sizes.
struct PreparedNode {
  std::map<ValueId, Value> inputs{};    ///< what it was prepared for, if sizes depend on data
  std::vector<Tensor::Dims> outputs{};  ///< in the node's order
  std::optional<LayerCall> call{};
  NodeTensors folded{};  ///< outputs that depend only on sizes and short lists of integers
};

class NodeStep {
 public:
  NodeStep(const Graph& graph, const Node& node) : graph_(&graph), node_(&node) {}

  /// Prepares what does not depend on data. Throws NotExecutable.
  void prepare(const NodeTensors& constants, Resources& resources);
  /// Same as in NodeRun, for a step that was prepared without data. Empty for a layer that was not.
  [[nodiscard]] std::string plan_name() const;
  /// The node's outputs; empty if one is left out or not computed.
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
