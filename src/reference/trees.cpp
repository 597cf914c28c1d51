// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace benanza::reference {

namespace {

/// The leaf that a row of x reaches, numbered over all trees.
std::int64_t leaf_of(const op::TreeEnsemble& forest, const Query& query, std::int64_t tree, std::int64_t row) {
  const ConstTensor &x = query.input(0), &features = query.input(1), &splits = query.input(2);
  std::int64_t at = 0;
  for (std::int64_t level = 0; level < forest.depth(tree); ++level) {
    const std::int64_t branch = forest.first_branch(tree) + at;
    const double value = x[row * forest.x[1] + static_cast<std::int64_t>(features[branch])];
    at = 2 * at + (value <= splits[branch] ? 1 : 2);
  }
  return forest.first_leaf(tree) + at - ((std::int64_t{1} << forest.depth(tree)) - 1);
}

/// A target for which no tree has a weight has score 0.
Elements aggregated(const op::TreeEnsemble& forest, const Query& query, std::int64_t row) {
  std::vector<std::optional<double>> scores(static_cast<std::size_t>(forest.targets));
  for (std::int64_t tree = 0; tree < forest.trees; ++tree) {
    const std::int64_t leaf = leaf_of(forest, query, tree, row);
    for (std::int64_t i = 0; i < forest.leaf_weights; ++i) {
      const std::int64_t place = leaf * forest.leaf_weights + i;
      const bool named = forest.leaf_weights < forest.targets;
      auto& score = scores[static_cast<std::size_t>(named ? query.input(4)[place] : static_cast<double>(i))];
      const double weight = query.input(3)[place];
      switch (forest.aggregate) {
        case op::TreeAggregate::sum:
        case op::TreeAggregate::average: score = score.value_or(0) + weight; break;
        case op::TreeAggregate::min: score = std::min(score.value_or(weight), weight); break;
        case op::TreeAggregate::max: score = std::max(score.value_or(weight), weight); break;
      }
    }
  }
  Elements result;
  for (const auto& score : scores) result.push_back(score.value_or(0));
  if (forest.aggregate == op::TreeAggregate::average)
    for (double& score : result) score /= static_cast<double>(forest.trees);
  return result;
}

void transform(op::TreeTransform transform, Elements& scores) {
  if (transform == op::TreeTransform::none) return;
  const bool softmax = transform == op::TreeTransform::softmax;
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = softmax ? std::exp(score - largest) : 1 / (1 + std::exp(-score));
  const double sum = softmax ? std::accumulate(scores.begin(), scores.end(), 0.0) : 1;
  for (double& score : scores) score /= sum;
}

}  // namespace

Elements compute(const op::TreeEnsemble& forest, const Query& query) {
  const bool wants_label = forest.labels && query.output == 0;
  Elements result(query.size());
  query.for_each_group([&](std::int64_t flat) { return wants_label ? flat : flat / forest.targets; },
                       [&](std::int64_t row, std::span<const std::size_t> positions) {
                         Elements scores = aggregated(forest, query, row);
                         const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
                         transform(forest.transform, scores);
                         for (const std::size_t at : positions)
                           result[at] = wants_label
                                            ? static_cast<double>(best)
                                            : scores[static_cast<std::size_t>(query.indices[at] % forest.targets)];
                       });
  return result;
}

}  // namespace benanza::reference
