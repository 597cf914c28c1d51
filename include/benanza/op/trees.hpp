// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees.
#pragma once

#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// How the weights that the trees give one target become its score.
enum class TreeAggregate : std::uint8_t { sum, average, min, max };
[[nodiscard]] constexpr auto enum_names(TreeAggregate) {
  return std::array<std::string_view, 4>{"sum", "average", "min", "max"};
}
/// What happens to the scores of a row.
enum class TreeTransform : std::uint8_t { none, softmax, logistic };
[[nodiscard]] constexpr auto enum_names(TreeTransform) {
  return std::array<std::string_view, 3>{"none", "softmax", "logistic"};
}

/// Tree ensembles of ai.onnx.ml. How far a row goes down a tree depends on the data: every row needs at least as many
/// comparisons as lead to the tree's shallowest leaf, and above that leaf the tree is complete. A layer has only these
/// complete parts. Their depths differ by at most one: for the same number of comparisons this is the smallest forest.
struct TreeEnsemble {
  static constexpr std::string_view kind = "TreeEnsemble";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 3> onnx_types{
      "ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleRegressor", "ai.onnx.ml.TreeEnsemble"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< rows features
  std::int64_t trees = 1;
  std::int64_t comparisons = 1;   ///< of one row, in all trees together
  std::int64_t targets = 1;       ///< scores of a row
  std::int64_t leaf_weights = 1;  ///< in one leaf, each for a different target
  TreeAggregate aggregate = TreeAggregate::sum;
  TreeTransform transform = TreeTransform::none;
  bool labels = false;                   ///< the target with the largest score is a result too
  std::optional<DataType> score_type{};  ///< type of thresholds, weights and scores, if it differs from that of x

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("trees", self.trees);
    visit("comparisons", self.comparisons);
    visit("targets", self.targets);
    visit("leaf_weights", self.leaf_weights);
    visit("aggregate", self.aggregate);
    visit("transform", self.transform);
    visit("labels", self.labels);
    visit("score_type", self.score_type);
  }
  constexpr bool operator==(const TreeEnsemble&) const = default;

  /// The kind of comparison, including membership in a list, does not affect the speed here: it is at least one
  /// operation. Labels that are strings are left out. Nothing if the scores go through PROBIT, or if no tree has a
  /// branch.
  [[nodiscard]] static std::optional<TreeEnsemble> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr DataType scores() const { return score_type.value_or(type); }
  /// Levels of branches in a tree. The first trees have one more if the comparisons cannot be divided equally.
  [[nodiscard]] constexpr std::int64_t depth(std::int64_t tree) const {
    return comparisons / trees + (tree < deeper() ? 1 : 0);
  }
  /// How many of the first trees have one level more than the others.
  [[nodiscard]] constexpr std::int64_t deeper() const { return comparisons % trees; }
  /// Leaves of all trees before this one.
  [[nodiscard]] constexpr std::int64_t first_leaf(std::int64_t tree) const {
    return (tree + std::min(tree, deeper())) << (comparisons / trees);
  }
  /// Branches of all trees before this one. Branch i of a tree is followed by the branches or leaves 2 i + 1 (x is at
  /// most the threshold) and 2 i + 2. The numbers of leaves continue those of the branches.
  [[nodiscard]] constexpr std::int64_t first_branch(std::int64_t tree) const { return first_leaf(tree) - tree; }

  /// Inputs: x, the feature that each branch tests, its threshold, the weights of the leaves and, if a leaf has fewer
  /// of them than there are targets, the targets that they belong to. Outputs are those of the node. Indices of
  /// features and targets have the smallest type that is large enough. Different comparisons of a row test different
  /// features as long as there are any left; all rows may take the same path.
  [[nodiscard]] Operands operands() const;

  /// ONNX-ML TreeEnsemble. Per row: the comparisons, and one operation for each weight. Per score: one for an average,
  /// for a label and for a logistic function, and five for a softmax (see Softmax).
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  static constexpr std::int64_t most = 1 << 24, deepest = 24;  ///< so that everything fits

  [[nodiscard]] static DataType choice_type(std::int64_t limit);
  /// A name in the older operators, a number in TreeEnsemble.
  [[nodiscard]] static std::optional<TreeAggregate> aggregate_of(const Node& node);
  [[nodiscard]] static std::optional<TreeTransform> transform_of(const Node& node);
  [[nodiscard]] static std::optional<std::size_t> numbered_or_named(const Node& node, std::string_view key,
                                                                    std::size_t otherwise,
                                                                    const std::array<std::string_view, 4>& names);
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/trees_inl.hpp>
#endif
