// SPDX-License-Identifier: Apache-2.0
// fold_sequences: a SplitToSequence of whose parts each is read at a known place becomes a Split, whose gradient is a
// Concat. PyTorch exports torch.split and unbind in this way.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::training {

class SequenceFolder {
 public:
  explicit SequenceFolder(Graph& graph) : graph_(&graph) {}

  void fold() {
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (graph_->nodes[i].op_type == "SplitToSequence" && graph_->nodes[i].domain.empty()) fold_one(i);
  }

 private:
  /// The sizes of the parts along the axis. Nothing if they are not known.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> sizes_of(const Node& node, std::int64_t whole) const {
    if (!node.has_input(1)) return std::vector<std::int64_t>(static_cast<std::size_t>(whole), 1);
    const Value& split = graph_->value(*node.inputs[1]);
    if (!split.literal || split.literal->ints.empty()) return std::nullopt;
    if (!split.dims.empty()) return split.literal->ints;
    const std::int64_t each = split.literal->ints[0];
    if (each < 1) return std::nullopt;
    std::vector<std::int64_t> sizes;
    for (std::int64_t first = 0; first < whole; first += each) sizes.push_back(std::min(each, whole - first));
    return sizes;
  }
  /// The nodes that take one part, each with its place. Nothing if anything else reads the sequence.
  [[nodiscard]] std::optional<std::vector<std::pair<std::size_t, std::size_t>>> readers_of(ValueId sequence,
                                                                                           std::size_t parts) const {
    std::vector<std::pair<std::size_t, std::size_t>> readers;
    const auto& outputs = graph_->outputs;
    if (std::find(outputs.begin(), outputs.end(), sequence) != outputs.end()) return std::nullopt;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
      const Node& node = graph_->nodes[i];
      const auto captures = [&](const Body& body) {
        return std::any_of(body.graph.captures.begin(), body.graph.captures.end(),
                           [&](const auto& one) { return one.second == sequence; });
      };
      if (std::any_of(node.bodies.begin(), node.bodies.end(), captures)) return std::nullopt;
      if (std::find(node.inputs.begin(), node.inputs.end(), std::optional(sequence)) == node.inputs.end()) continue;
      if (node.op_type != "SequenceAt" || !node.domain.empty() || !node.has_input(1)) return std::nullopt;
      const auto place = detail::scalar(graph_->value(*node.inputs[1]));
      const auto at = place ? detail::to_axis(static_cast<std::int64_t>(*place), parts) : std::nullopt;
      if (!at) return std::nullopt;
      readers.emplace_back(i, *at);
    }
    return readers;
  }
  ValueId add_integers(const std::string& name, std::vector<std::int64_t> numbers) {
    Value made{.name = name,
               .type = DataType::i64,
               .dims = {static_cast<std::int64_t>(numbers.size())},
               .constant = true,
               .literal = Literal{}};
    made.literal->ints = std::move(numbers);
    graph_->values.push_back(std::move(made));
    return graph_->values.size() - 1;
  }

  void fold_one(std::size_t index) {
    Node& node = graph_->nodes[index];
    if (!node.has_input(0) || !node.has_output(0)) return;
    const Value x = graph_->value(*node.inputs[0]);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x.dims.size());
    const auto sizes = axis ? sizes_of(node, x.dims[*axis]) : std::nullopt;
    if (!sizes || std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != x.dims[*axis]) return;
    const auto readers = readers_of(*node.outputs[0], sizes->size());
    if (!readers) return;
    const std::int64_t rest = x.dims[*axis] > 0 ? x.elements() / x.dims[*axis] : 0;
    for (const auto& [reader, place] : *readers)  // the import may not know the sizes of unequal parts
      if (graph_->value(*graph_->nodes[reader].outputs[0]).elements() != rest * (*sizes)[place]) return;
    std::vector<std::optional<ValueId>> parts;
    for (std::size_t i = 0; i < sizes->size(); ++i) {
      Value part{.name = node.name + ":" + std::to_string(i), .type = x.type, .dims = x.dims};
      part.dims[*axis] = (*sizes)[i];
      graph_->values.push_back(std::move(part));
      parts.emplace_back(graph_->values.size() - 1);
    }
    for (const auto& [reader, place] : *readers) {
      Node& taker = graph_->nodes[reader];
      const ValueId dims = add_integers(taker.name + "/dims", graph_->value(*taker.outputs[0]).dims);
      taker.op_type = "Reshape";  // a part keeps its axis of size 1, which the node may drop
      taker.opset = opset;
      taker.inputs = {parts[place], dims};
      taker.attributes.clear();
    }
    node.op_type = "Split";
    node.opset = opset;
    node.inputs = {node.inputs[0], add_integers(node.name + "/sizes", *sizes)};
    node.outputs = std::move(parts);
    node.attributes = {{"axis", static_cast<std::int64_t>(*axis)}};
  }

  static constexpr int opset = 18;
  Graph* graph_;
};

inline void fold_sequences(Graph& graph) { SequenceFolder(graph).fold(); }

}  // namespace benanza::training
