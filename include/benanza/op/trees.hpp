// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/tree_facts.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<TreeEnsemble, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const bool classifies = node.op_type == "TreeEnsembleClassifier";
    const std::size_t scores_at = classifies ? 1 : 0;
    if (x_value.dims.empty() || x_value.dims.size() > 2 || !node.has_output(scores_at)) return std::nullopt;
    const Value& scores = graph.output(node, scores_at);
    const std::int64_t features = x_value.dims.back(), rows = x_value.dims.size() == 2 ? x_value.dims[0] : 1;
    const auto facts = detail::tree_facts(node);
    const auto aggregate = aggregate_of(node);
    const auto transform = transform_of(node);
    if (!facts || !aggregate || !transform || rows == 0) return std::nullopt;
    const std::int64_t targets = scores.elements() / rows;
    return TreeEnsemble{.type = x_value.type,
                        .x = {rows, features},
                        .trees = facts->trees,
                        .comparisons = facts->comparisons,
                        .targets = targets,
                        .leaf_weights = std::min(facts->leaf_weights, targets),
                        .aggregate = *aggregate,
                        .transform = *transform,
                        .labels = classifies && node.has_output(0) && graph.output(node, 0).type == DataType::i64,
                        .score_type = detail::if_other(scores.type, x_value.type)};
  }

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
  [[nodiscard]] Operands operands() const {
    const TensorShape branches{first_branch(trees)}, leaves{first_leaf(trees), leaf_weights};
    const auto choices = [&](std::string_view name, const TensorShape& shape, std::int64_t limit,
                             std::int64_t touched) {
      return Operand{.name = name,
                     .type = choice_type(limit),
                     .shape = shape,
                     .constant = true,
                     .contents = Contents::indices,
                     .limit = limit,
                     .touched = touched};
    };
    const std::int64_t weights = trees * leaf_weights;
    Operands result{
        .inputs = {{.name = "X", .type = type, .shape = x, .touched = x[0] * std::min(x[1], comparisons)},
                   choices("features", branches, x[1], comparisons),
                   {.name = "splits", .type = scores(), .shape = branches, .constant = true, .touched = comparisons},
                   {.name = "weights", .type = scores(), .shape = leaves, .constant = true, .touched = weights}}};
    if (leaf_weights < targets) result.inputs.push_back(choices("targets", leaves, targets, weights));
    if (labels) result.outputs.push_back({.name = "labels", .type = DataType::i64, .shape = {x[0]}});
    result.outputs.push_back({.name = "scores", .type = scores(), .shape = {x[0], targets}});
    return result;
  }

  /// ONNX-ML TreeEnsemble. Per row: the comparisons, and one operation for each weight. Per score: one for an average,
  /// for a label and for a logistic function, and five for a softmax (see Softmax).
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const double of_score = (aggregate == TreeAggregate::average ? 1.0 : 0.0) + (labels ? 1.0 : 0.0) +
                            (transform == TreeTransform::softmax    ? 5.0
                             : transform == TreeTransform::logistic ? 1.0
                                                                    : 0.0);
    const auto of_trees =
        static_cast<double>(comparisons) + static_cast<double>(trees) * static_cast<double>(leaf_weights);
    return {.flops = static_cast<double>(x[0]) * (of_trees + static_cast<double>(targets) * of_score)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x, 2) || !detail::is_size(comparisons) || !detail::is_size(targets)) return false;
    if (leaf_weights < 1 || leaf_weights > targets || trees < 1 || trees > most) return false;
    if (comparisons / trees > deepest || targets > most || x[1] > most) return false;
    return first_leaf(trees) <= detail::largest_size / leaf_weights && x[0] <= detail::largest_size / (targets + x[1]);
  }

 private:
  static constexpr std::int64_t most = 1 << 24, deepest = 24;  ///< so that everything fits

  [[nodiscard]] static constexpr DataType choice_type(std::int64_t limit) {
    if (limit <= 1 << 8) return DataType::u8;
    return limit <= 1 << 16 ? DataType::u16 : DataType::i32;
  }
  /// A name in the older operators, a number in TreeEnsemble.
  [[nodiscard]] static std::optional<TreeAggregate> aggregate_of(const Node& node) {
    using enum TreeAggregate;
    constexpr std::array numbered{average, sum, min, max};
    constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
    const auto at = numbered_or_named(node, "aggregate_function", 1, names);
    return at ? std::optional(numbered[*at]) : std::nullopt;
  }
  [[nodiscard]] static std::optional<TreeTransform> transform_of(const Node& node) {
    using enum TreeTransform;
    constexpr std::array numbered{none, softmax, logistic, softmax};  // zeros that stay zero do not cost less
    constexpr std::array<std::string_view, 4> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"};
    const auto at = numbered_or_named(node, "post_transform", 0, names);
    return at ? std::optional(numbered[*at]) : std::nullopt;
  }
  [[nodiscard]] static std::optional<std::size_t> numbered_or_named(const Node& node, std::string_view key,
                                                                    std::size_t otherwise,
                                                                    const std::array<std::string_view, 4>& names) {
    if (node.op_type == "TreeEnsemble") {
      const auto number = node.attribute<std::int64_t>(key, static_cast<std::int64_t>(otherwise));
      return number >= 0 && number < 4 ? std::optional(static_cast<std::size_t>(number)) : std::nullopt;
    }
    const auto name = node.attribute<std::string>(key, std::string(names[otherwise]));
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
  }
};

}  // namespace benanza::op
