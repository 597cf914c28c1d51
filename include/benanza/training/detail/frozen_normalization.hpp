// SPDX-License-Identifier: Apache-2.0
// frozen_normalizations: batch normalisations that are not trained, as in detection networks. They are written out in
// parts, so only their form shows that their constants are not parameters.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::training {

/// Finds s = w (1 / sqrt(v + epsilon)) and b - m s, where w, v, m and b are constants: a variance is never trained.
class FrozenNormalizations {
 public:
  explicit FrozenNormalizations(const Graph& graph) : graph_(&graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const auto& input : graph.nodes[i].inputs)
        if (input) readers_.emplace(*input, i);
      for (const auto& output : graph.nodes[i].outputs)
        if (output) makers_.emplace(*output, i);
    }
  }

  [[nodiscard]] std::vector<ValueId> constants() const {
    std::vector<ValueId> found;
    for (const Node& root : graph_->nodes)
      if (is(root, "Sqrt"))
        if (const auto four = of_root(root))
          for (const ValueId id : *four) add_sources(id, found);
    return found;
  }

 private:
  /// Adds a constant, and if nodes of the graph reshape it, the original constant too.
  void add_sources(ValueId id, std::vector<ValueId>& found) const {
    found.push_back(id);
    const auto maker = makers_.find(id);
    if (maker != makers_.end() && graph_->nodes[maker->second].has_input(0))
      add_sources(*graph_->nodes[maker->second].inputs[0], found);
  }
  static bool is(const Node& node, std::string_view type) {
    return node.op_type == type && node.domain.empty() && node.has_input(0) && node.has_output(0);
  }
  [[nodiscard]] bool is_channels(ValueId id) const {
    const Value& value = graph_->value(id);
    return value.constant && is_float(value.type) && value.elements() > 1;
  }
  /// The other operand of a node with two operands, if it is a constant with one value per channel.
  [[nodiscard]] std::optional<ValueId> other(const Node& node, ValueId id) const {
    if (node.inputs.size() != 2 || !node.has_input(1)) return std::nullopt;
    const ValueId one = *node.inputs[0] == id ? *node.inputs[1] : *node.inputs[0];
    return is_channels(one) ? std::optional(one) : std::nullopt;
  }
  template <class Accept>
  [[nodiscard]] const Node* reader(ValueId id, Accept accept) const {
    const auto [first, last] = readers_.equal_range(id);
    for (auto one = first; one != last; ++one)
      if (accept(graph_->nodes[one->second])) return &graph_->nodes[one->second];
    return nullptr;
  }

  [[nodiscard]] std::optional<std::vector<ValueId>> of_root(const Node& root) const {
    const auto maker = makers_.find(*root.inputs[0]);
    if (maker == makers_.end() || !is(graph_->nodes[maker->second], "Add")) return std::nullopt;
    const Node& sum = graph_->nodes[maker->second];
    std::optional<ValueId> variance;
    for (const auto& input : sum.inputs)
      if (input && is_channels(*input)) variance = input;
    const ValueId deviation = *root.outputs[0];
    const Node* const inverse = reader(deviation, [&](const Node& node) {
      return is(node, "Reciprocal") ||
             (is(node, "Div") && node.inputs[1] == deviation && graph_->value(*node.inputs[0]).constant &&
              graph_->value(*node.inputs[0]).elements() == 1);
    });
    if (!variance || inverse == nullptr) return std::nullopt;
    const ValueId inverted = *inverse->outputs[0];
    const Node* const scale =
        reader(inverted, [&](const Node& node) { return is(node, "Mul") && other(node, inverted); });
    if (scale == nullptr) return std::nullopt;
    const ValueId scaled = *scale->outputs[0];
    const Node* const center = reader(scaled, [&](const Node& node) { return is(node, "Mul") && other(node, scaled); });
    if (center == nullptr) return std::nullopt;
    const ValueId moved = *center->outputs[0];
    const Node* const shift = reader(
        moved, [&](const Node& node) { return is(node, "Sub") && node.inputs[1] == moved && other(node, moved); });
    if (shift == nullptr) return std::nullopt;
    return std::vector{*other(*scale, inverted), *other(*shift, moved), *other(*center, scaled), *variance};
  }

  const Graph* graph_;
  std::multimap<ValueId, std::size_t> readers_{};
  std::map<ValueId, std::size_t> makers_{};
};

}  // namespace benanza::training
