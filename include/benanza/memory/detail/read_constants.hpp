// SPDX-License-Identifier: Apache-2.0
// read_constants: the constants of a file that have to be in memory while a graph runs.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/training/detail/storages.hpp>

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace benanza::detail {

/// A constant, and the first node that reads it.
struct ReadConstant {
  const Value* value = nullptr;
  const Node* node = nullptr;  ///< in the graph or in a body; null: nothing reads it, as it is a result
  std::size_t input = 0;       ///< which operand of that node it is
  std::string_view layer{};    ///< the node of the graph, or the one whose body reads it; empty for a result
};

class ReadConstants {
 public:
  /// `except`: values of the graph that do not count.
  ReadConstants(const Graph& graph, const std::vector<bool>& except) {
    find(graph, except, "", [](ValueId, const ReadConstant&) {});
  }
  [[nodiscard]] const std::vector<ReadConstant>& found() const { return found_; }

 private:
  using Read = std::function<void(ValueId, const ReadConstant&)>;

  /// Adds those that a graph reads. `outer` gets the reads of captured values.
  void find(const Graph& graph, const std::vector<bool>& except, std::string_view layer, const Read& outer) {
    const Storages storages(graph);
    const std::unordered_map<ValueId, ValueId> captured(graph.captures.begin(), graph.captures.end());
    std::vector<bool> counted = except;
    counted.resize(graph.values.size());
    const auto count = [&](ValueId id, const ReadConstant& by) {
      const ValueId storage = storages.of(id);
      if (const auto found = captured.find(storage); found != captured.end()) return outer(found->second, by);
      if (counted[storage]) return;
      counted[storage] = true;
      found_.push_back(by);
      found_.back().value = &graph.value(storage);
    };
    const Read read = [&](ValueId id, const ReadConstant& by) {
      if (captured.contains(id)) return count(id, by);
      const Value& value = graph.value(id);
      if (!value.constant || counted[id]) return;
      if (value.literal && value.elements() <= 64 && !is_float(value.type)) return;  // sizes: not in memory
      if (value.origins.empty()) count(id, by);
      for (const ValueId origin : value.origins) count(origin, by);
    };
    for (const Node& node : graph.nodes) {
      const std::string_view name = layer.empty() ? std::string_view(node.name) : layer;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i]) read(*node.inputs[i], {.node = &node, .input = i, .layer = name});
      for (const Body& body : node.bodies) find(body.graph, {}, name, read);
    }
    for (const ValueId id : graph.outputs) read(id, {.layer = layer});
  }

  std::vector<ReadConstant> found_{};
};

/// The constants that the nodes of a graph and of their bodies read, and those that are results, without the values in
/// `except`. Each storage is there once. Lists of sizes are left out.
[[nodiscard]] inline std::vector<ReadConstant> read_constants(const Graph& graph,
                                                              const std::vector<bool>& except = {}) {
  return ReadConstants(graph, except).found();
}

}  // namespace benanza::detail
