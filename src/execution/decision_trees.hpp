// SPDX-License-Identifier: Apache-2.0
// DecisionTrees: the trees described by the attributes of a node of ai.onnx.ml, whatever their shape.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace benanza::execution {

/// In the order in which TreeEnsemble numbers them.
enum class Comparison : std::uint8_t { at_most, less, at_least, greater, equal, not_equal, member };

struct LeafWeight {
  std::size_t target = 0;
  double weight = 0;
};

/// A branch or a leaf. A branch refers to its children by their indices in the list.
struct DecisionNode {
  bool leaf = true;
  Comparison comparison = Comparison::at_most;
  std::size_t feature = 0;
  double split = 0;
  std::vector<double> members{};  ///< the set that the feature is compared with, for `Comparison::member`
  bool missing_is_true = false;   ///< whether a NaN takes the branch of a true comparison
  std::size_t on_true = 0, on_false = 0;
  std::vector<LeafWeight> weights{};  ///< by target, at most one for each
};

struct DecisionTrees {
  std::vector<DecisionNode> nodes{};
  std::vector<std::size_t> roots{};
};

/// All indices, features and targets exist, and no path from a root visits a node twice. Branches may share nodes.
/// Throws NotExecutable if the attributes describe anything else.
[[nodiscard]] DecisionTrees read_trees(const Node& node, std::size_t features, std::size_t targets);

/// The numbers of an attribute that is a list or a tensor, or of the tensor that replaces the list. Empty if there is
/// neither.
[[nodiscard]] std::vector<double> tree_numbers(const Node& node, std::string_view key);

}  // namespace benanza::execution
