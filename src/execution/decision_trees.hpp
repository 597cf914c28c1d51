// SPDX-License-Identifier: Apache-2.0
// DecisionTrees: the trees that the attributes of a node of ai.onnx.ml describe, whatever their shape.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace benanza::execution {

/// In the order of the numbers that TreeEnsemble has for them.
enum class Comparison : std::uint8_t { at_most, less, at_least, greater, equal, not_equal, member };

struct LeafWeight {
  std::size_t target = 0;
  double weight = 0;
};

/// A branch or a leaf. Branches name the nodes behind them by their places in the list.
struct DecisionNode {
  bool leaf = true;
  Comparison comparison = Comparison::at_most;
  std::size_t feature = 0;
  double split = 0;
  std::vector<double> members{};  ///< what the feature is compared with, where that is a set
  bool missing_is_true = false;   ///< whether a NaN takes the way of a true comparison
  std::size_t on_true = 0, on_false = 0;
  std::vector<LeafWeight> weights{};  ///< by target, one for each at the most
};

struct DecisionTrees {
  std::vector<DecisionNode> nodes{};
  std::vector<std::size_t> roots{};
};

/// Every place, feature and target exists, and no way down from a root comes back to a node on it. Branches may share
/// nodes. Throws NotExecutable where the attributes describe something else.
[[nodiscard]] DecisionTrees read_trees(const Node& node, std::size_t features, std::size_t targets);

/// The numbers of an attribute that is a list or a tensor, or of the tensor that takes the place of the list; empty
/// where there is neither.
[[nodiscard]] std::vector<double> tree_numbers(const Node& node, std::string_view key);

}  // namespace benanza::execution
