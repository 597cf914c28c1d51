// SPDX-License-Identifier: Apache-2.0
#include "tree_walk.hpp"

#include <benanza/execution/not_executable.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

namespace benanza::execution {

namespace {

constexpr std::int64_t softmax = 1, logistic = 2, softmax_zero = 3, probit = 4;

/// An enumeration that TreeEnsemble encodes as a number, and the older operators as a name.
template <std::size_t Count>
std::int64_t numbered(const Node& node, std::string_view key, std::int64_t otherwise,
                      const std::array<std::string_view, Count>& names) {
  std::int64_t number = otherwise;
  if (node.op_type == "TreeEnsemble") number = node.attribute(key, otherwise);
  else {
    const auto name = node.attribute<std::string>(key, std::string(names[static_cast<std::size_t>(otherwise)]));
    number = std::find(names.begin(), names.end(), name) - names.begin();
  }
  if (number < 0 || number >= static_cast<std::int64_t>(Count))
    throw NotExecutable(node, "an unknown value of '" + std::string(key) + "'");
  return number;
}

op::TreeAggregate aggregate_of(const Node& node) {
  using enum op::TreeAggregate;
  constexpr std::array by_number{average, sum, min, max};
  constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
  return by_number[static_cast<std::size_t>(numbered(node, "aggregate_function", 1, names))];
}

bool is_true(const DecisionNode& branch, double value) {
  if (branch.missing_is_true && std::isnan(value)) return true;
  switch (branch.comparison) {
    case Comparison::at_most: return value <= branch.split;
    case Comparison::less: return value < branch.split;
    case Comparison::at_least: return value >= branch.split;
    case Comparison::greater: return value > branch.split;
    case Comparison::equal: return value == branch.split;
    case Comparison::not_equal: return value != branch.split;
    case Comparison::member:
      return std::find(branch.members.begin(), branch.members.end(), value) != branch.members.end();
  }
  return false;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// If `keeps_zeros`, a score of 0 remains 0.
void apply_softmax(std::vector<double>& scores, bool keeps_zeros) {
  constexpr double zero = 1e-7;  // magnitude below which ONNX Runtime treats a score as 0
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = keeps_zeros && std::fabs(score) <= zero ? 0 : std::exp(score - largest);
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  if (sum != 0)
    for (double& score : scores) score /= sum;
}

}  // namespace

std::int64_t tree_transform(const Node& node) {
  constexpr std::array<std::string_view, 5> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  return numbered(node, "post_transform", 0, names);
}

TreeWalk::TreeWalk(const Node& node, std::size_t features, std::size_t targets)
    : trees_(read_trees(node, features, targets)),
      targets_(targets),
      transform_(tree_transform(node)),
      base_(tree_numbers(node, "base_values")),
      classifies_(node.op_type == "TreeEnsembleClassifier") {
  if (!classifies_) aggregate_ = aggregate_of(node);
  if (transform_ == probit) throw NotExecutable(node, "scores that go through PROBIT");
  if (classifies_) refuse_unclear_classes(node);
  if (!base_.empty() && base_.size() != (one_class_ ? 1 : targets_))
    throw NotExecutable(node, "trees with another number of base values than of targets");
}

/// Throws for classes on which engines disagree with each other, or with themselves for different numbers of rows.
void TreeWalk::refuse_unclear_classes(const Node& node) {
  if (targets_ == 1) throw NotExecutable(node, "a classifier of one class");
  if (targets_ > 2) return;
  std::set<std::size_t> classes;
  for (const auto& leaf : trees_.nodes)
    for (const auto& [target, weight] : leaf.weights) {
      classes.insert(target);
      all_positive_ = all_positive_ && weight >= 0;
    }
  if (classes.size() == 1) one_class_ = *classes.begin();
  if (!base_.empty() && one_class_ != std::size_t{0}) throw NotExecutable(node, "base values of two classes");
  if (one_class_) return;
  for (const auto& leaf : trees_.nodes)
    if (leaf.leaf && leaf.weights.size() != targets_)
      throw NotExecutable(node, "two classes of which a leaf has a weight for one alone");
}

std::vector<std::optional<double>> TreeWalk::aggregated(std::span<const double> features) const {
  std::vector<std::optional<double>> scores(targets_);
  for (std::size_t at : trees_.roots) {
    while (!trees_.nodes[at].leaf) {
      const DecisionNode& branch = trees_.nodes[at];
      at = is_true(branch, features[branch.feature]) ? branch.on_true : branch.on_false;
    }
    for (const auto& [target, weight] : trees_.nodes[at].weights) {
      auto& score = scores[target];
      switch (aggregate_) {
        case op::TreeAggregate::sum:
        case op::TreeAggregate::average: score = score.value_or(0) + weight; break;
        case op::TreeAggregate::min: score = std::min(score.value_or(weight), weight); break;
        case op::TreeAggregate::max: score = std::max(score.value_or(weight), weight); break;
      }
    }
  }
  if (aggregate_ == op::TreeAggregate::average)
    for (auto& score : scores)
      if (score) *score /= static_cast<double>(trees_.roots.size());
  return scores;
}

void TreeWalk::transform(std::vector<double>& scores) const {
  if (transform_ == logistic) std::transform(scores.begin(), scores.end(), scores.begin(), sigmoid);
  if (transform_ == softmax || transform_ == softmax_zero) apply_softmax(scores, transform_ == softmax_zero);
}

/// Two classes of which only one has weights. As in ONNX Runtime, weights of the first class are treated as those of
/// the second. If no weight is negative, they give the probability of the second class, and the first has the rest.
TreeWalk::Row TreeWalk::of_one_class(double score) const {
  Row row{.label = score > (all_positive_ ? 0.5 : 0.0) ? std::size_t{1} : std::size_t{0}};
  if (one_class_ == std::size_t{1} || transform_ == logistic) {
    row.scores = {one_class_ == std::size_t{1} ? 0 : -score, score};
    transform(row.scores);
  } else {
    row.scores = {all_positive_ ? 1 - score : -score, score};
  }
  return row;
}

TreeWalk::Row TreeWalk::of(std::span<const double> features) const {
  auto scores = aggregated(features);
  if (one_class_) return of_one_class(scores[*one_class_].value_or(0) + (base_.empty() ? 0 : base_[0]));
  Row row{.scores = std::vector<double>(targets_)};
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < targets_; ++i) {
    if (!base_.empty() && (scores[i] || classifies_)) scores[i] = scores[i].value_or(0) + base_[i];
    row.scores[i] = scores[i].value_or(0);
    if (scores[i] && (!best || *scores[i] > *scores[*best])) best = i;
  }
  row.label = best.value_or(0);
  if (classifies_ && targets_ == 2) row.label = row.scores[1] > 0 ? 1 : 0;
  transform(row.scores);
  return row;
}

}  // namespace benanza::execution
