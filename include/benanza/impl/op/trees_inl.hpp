// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/tree_facts.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/trees.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

BENANZA_INLINE std::optional<TreeEnsemble> TreeEnsemble::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE Operands TreeEnsemble::operands() const {
  const TensorShape branches{first_branch(trees)}, leaves{first_leaf(trees), leaf_weights};
  const auto choices = [&](std::string_view name, const TensorShape& shape, std::int64_t limit, std::int64_t touched) {
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

BENANZA_INLINE Arithmetic TreeEnsemble::arithmetic() const {
  const double of_score = (aggregate == TreeAggregate::average ? 1.0 : 0.0) + (labels ? 1.0 : 0.0) +
                          (transform == TreeTransform::softmax    ? 5.0
                           : transform == TreeTransform::logistic ? 1.0
                                                                  : 0.0);
  const auto of_trees =
      static_cast<double>(comparisons) + static_cast<double>(trees) * static_cast<double>(leaf_weights);
  return {.flops = static_cast<double>(x[0]) * (of_trees + static_cast<double>(targets) * of_score)};
}

BENANZA_INLINE bool TreeEnsemble::consistent() const {
  if (!detail::are_sizes(x, 2) || !detail::is_size(comparisons) || !detail::is_size(targets)) return false;
  if (leaf_weights < 1 || leaf_weights > targets || trees < 1 || trees > most) return false;
  if (comparisons / trees > deepest || targets > most || x[1] > most) return false;
  return first_leaf(trees) <= detail::largest_size / leaf_weights && x[0] <= detail::largest_size / (targets + x[1]);
}

BENANZA_INLINE DataType TreeEnsemble::choice_type(std::int64_t limit) {
  if (limit <= 1 << 8) return DataType::u8;
  return limit <= 1 << 16 ? DataType::u16 : DataType::i32;
}

BENANZA_INLINE std::optional<TreeAggregate> TreeEnsemble::aggregate_of(const Node& node) {
  using enum TreeAggregate;
  constexpr std::array numbered{average, sum, min, max};
  constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
  const auto at = numbered_or_named(node, "aggregate_function", 1, names);
  return at ? std::optional(numbered[*at]) : std::nullopt;
}

BENANZA_INLINE std::optional<TreeTransform> TreeEnsemble::transform_of(const Node& node) {
  using enum TreeTransform;
  constexpr std::array numbered{none, softmax, logistic, softmax};  // zeros that stay zero do not cost less
  constexpr std::array<std::string_view, 4> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"};
  const auto at = numbered_or_named(node, "post_transform", 0, names);
  return at ? std::optional(numbered[*at]) : std::nullopt;
}

BENANZA_INLINE std::optional<std::size_t> TreeEnsemble::numbered_or_named(
    const Node& node, std::string_view key, std::size_t otherwise, const std::array<std::string_view, 4>& names) {
  if (node.op_type == "TreeEnsemble") {
    const auto number = node.attribute<std::int64_t>(key, static_cast<std::int64_t>(otherwise));
    return number >= 0 && number < 4 ? std::optional(static_cast<std::size_t>(number)) : std::nullopt;
  }
  const auto name = node.attribute<std::string>(key, std::string(names[otherwise]));
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
}

}  // namespace benanza::op
