// SPDX-License-Identifier: Apache-2.0
// recompute: keeps the values that leave a part of forward, and computes the others again before the part's gradients.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/training/training_graph.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::training {

class Recomputation {
 public:
  Recomputation(TrainingGraph& iteration, std::int64_t every)
      : iteration_(&iteration), maker_(iteration.graph.values.size()) {
    const Graph& graph = iteration.graph;
    std::int64_t layers = 0;
    for (std::size_t i = 0; i < graph.nodes.size() && iteration.phases[i] == Phase::forward; ++i) {
      part_.push_back(layers / every);
      if (!is_free(make_layer(graph.nodes[i], graph))) ++layers;
      for (const auto& output : graph.nodes[i].outputs)
        if (output) maker_[*output] = i;
    }
    while (iteration.kept_from < part_.size() && part_[iteration.kept_from] != part_.back()) ++iteration.kept_from;
    leaves_.resize(graph.values.size());
    for (std::size_t i = 0; i < graph.nodes.size() && iteration.phases[i] < Phase::backward; ++i)
      for (const auto& input : graph.nodes[i].inputs)
        if (input && maker_[*input] && (i >= part_.size() || part_[*maker_[*input]] != part_[i]))
          leaves_[*input] = true;
    for (const ValueId output : graph.outputs)
      if (output < leaves_.size()) leaves_[output] = true;
  }

  void run() {
    Graph& graph = iteration_->graph;
    std::vector<Node> nodes = std::move(graph.nodes);
    std::vector<Phase> phases = std::move(iteration_->phases);
    std::vector<std::optional<std::size_t>> sources = std::move(iteration_->sources);
    graph.nodes.clear();
    iteration_->phases.clear();
    iteration_->sources.clear();
    std::vector<std::size_t> moved(nodes.size());
    forward_.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(part_.size()));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (phases[i] >= Phase::backward)
        for (auto& input : nodes[i].inputs)
          if (input) input = again(*input);
      moved[i] = graph.nodes.size();
      append(std::move(nodes[i]), phases[i], sources[i]);
    }
    for (Parameter& one : iteration_->parameters) one.node = moved[one.node];
  }

 private:
  void append(Node node, Phase phase, std::optional<std::size_t> source) {
    iteration_->graph.nodes.push_back(std::move(node));
    iteration_->phases.push_back(phase);
    iteration_->sources.push_back(source);
  }

  /// The value that backward uses: the kept one, or one that appended nodes compute again.
  ValueId again(ValueId id) {
    if (id >= maker_.size() || !maker_[id] || leaves_[id] || *maker_[id] >= iteration_->kept_from) return id;
    if (const auto found = made_.find(id); found != made_.end()) return found->second;
    Graph& graph = iteration_->graph;
    Node node = forward_[*maker_[id]];
    for (auto& input : node.inputs)
      if (input) input = again(*input);
    const std::string suffix = "/again";
    node.name += suffix;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      auto& output = node.outputs[i];
      if (!output) continue;
      const ValueId before = *output;
      if (node.op_type == "BatchNormalization" && (i == 1 || i == 2)) {  // running statistics change once
        output.reset();
        continue;
      }
      Value copy = graph.values[before];
      copy.name += suffix;
      graph.values.push_back(std::move(copy));
      output = graph.values.size() - 1;
      made_[before] = *output;
    }
    append(std::move(node), Phase::backward, std::nullopt);
    return made_.at(id);
  }

  TrainingGraph* iteration_;
  std::vector<std::optional<std::size_t>> maker_;  // by value: the node of forward that computes it
  std::vector<std::int64_t> part_{};               // by node of forward
  std::vector<bool> leaves_{};                     // by value: it is read outside of its part
  std::vector<Node> forward_{};
  std::map<ValueId, ValueId> made_{};
};

inline void recompute(TrainingGraph& iteration, std::int64_t every) { Recomputation(iteration, every).run(); }

}  // namespace benanza::training
