// SPDX-License-Identifier: Apache-2.0
// fold_slices: slices that take all of a weight, each element once, become one Split, whose gradient is one Concat.
// PyTorch exports recurrent layers in this way to reorder gates.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/op/movement_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace benanza::training {

class SliceFolder {
 public:
  explicit SliceFolder(Graph& graph) : graph_(&graph) {}

  void fold() {
    std::map<ValueId, std::vector<std::size_t>> readers;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      for (const auto& input : graph_->nodes[i].inputs)
        if (input && graph_->value(*input).constant && is_float(graph_->value(*input).type))
          readers[*input].push_back(i);
    std::set<std::size_t> gone;
    for (const auto& [weight, nodes] : readers)
      if (nodes.size() > 1) join(weight, nodes, gone);
    std::vector<Node> kept;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (!gone.contains(i)) kept.push_back(std::move(graph_->nodes[i]));
    graph_->nodes = std::move(kept);
  }

 private:
  struct Part {
    std::int64_t first = 0, count = 0;
    std::size_t node = 0;
  };

  /// The part of a weight that a node takes along `axis`. Sets `axis` if it has no value yet. Nothing if the node
  /// slices along another axis.
  [[nodiscard]] std::optional<Part> part_of(std::size_t node, ValueId weight, std::optional<std::size_t>& axis) const {
    const Node& slice = graph_->nodes[node];
    if (slice.op_type != "Slice" || !slice.domain.empty() || slice.inputs[0] != weight || !slice.has_output(0))
      return std::nullopt;
    const auto box = op::Slice::taken_box(slice, *graph_);
    if (!box) return std::nullopt;
    const auto& dims = graph_->value(weight).dims;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (box->step[i] != 1) return std::nullopt;
      if (box->taken[i] == dims[i]) continue;
      if (axis && *axis != i) return std::nullopt;
      axis = i;
    }
    if (!axis) return std::nullopt;
    return Part{box->first[*axis], box->taken[*axis], node};
  }

  void join(ValueId weight, const std::vector<std::size_t>& nodes, std::set<std::size_t>& gone) {
    std::optional<std::size_t> axis;
    std::vector<Part> parts;
    for (const std::size_t node : nodes) {
      const auto part = part_of(node, weight, axis);
      if (!part) return;
      parts.push_back(*part);
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
    std::int64_t next = 0;
    Value sizes{.name = graph_->value(weight).name + "/parts",
                .type = DataType::i64,
                .dims = {static_cast<std::int64_t>(parts.size())},
                .constant = true,
                .literal = Literal{}};
    for (const Part& part : parts) {
      if (part.first != next) return;
      next += part.count;
      sizes.literal->ints.push_back(part.count);
    }
    if (next != graph_->value(weight).dims[*axis]) return;
    std::vector<std::optional<ValueId>> outputs;
    for (const Part& part : parts) outputs.push_back(graph_->nodes[part.node].outputs[0]);
    graph_->values.push_back(std::move(sizes));
    const std::size_t first = *std::min_element(nodes.begin(), nodes.end());
    for (const std::size_t node : nodes)
      if (node != first) gone.insert(node);
    Node& split = graph_->nodes[first];
    split.op_type = "Split";
    split.opset = 18;
    split.inputs = {weight, graph_->values.size() - 1};
    split.outputs = std::move(outputs);
    split.attributes = {{"axis", static_cast<std::int64_t>(*axis)}};
  }

  Graph* graph_;
};

inline void fold_slices(Graph& graph) { SliceFolder(graph).fold(); }

}  // namespace benanza::training
