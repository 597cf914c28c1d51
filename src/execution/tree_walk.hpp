// SPDX-License-Identifier: Apache-2.0
// TreeWalk: scores and labels of rows from the trees of a node of ai.onnx.ml, whatever their shape.
#pragma once

#include "decision_trees.hpp"
#include <benanza/op/trees.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace benanza::execution {

/// The specification does not define results for two classes and for scores that no tree has a weight for. These are
/// ONNX Runtime's.
class TreeWalk {
 public:
  /// Throws NotExecutable for trees that `read_trees` refuses and for scores that are not computed.
  TreeWalk(const Node& node, std::size_t features, std::size_t targets);

  struct Row {
    std::vector<double> scores{};
    std::size_t label = 0;  ///< class of a classifier, by its index in the list
  };
  [[nodiscard]] Row of(std::span<const double> features) const;

  [[nodiscard]] const DecisionTrees& trees() const { return trees_; }

 private:
  void refuse_unclear_classes(const Node& node);
  [[nodiscard]] std::vector<std::optional<double>> aggregated(std::span<const double> features) const;
  [[nodiscard]] Row of_one_class(double score) const;
  void transform(std::vector<double>& scores) const;

  DecisionTrees trees_;
  std::size_t targets_;
  op::TreeAggregate aggregate_ = op::TreeAggregate::sum;
  std::int64_t transform_ = 0;  ///< numbered as in TreeEnsemble
  std::vector<double> base_{};
  bool classifies_ = false;
  std::optional<std::size_t> one_class_{};  ///< the only one of two classes that has weights
  bool all_positive_ = true;                ///< whether no weight is negative
};

/// `post_transform` as TreeEnsemble numbers it: none, softmax, logistic, softmax of what is not zero, probit. Throws
/// NotExecutable for any other.
[[nodiscard]] std::int64_t tree_transform(const Node& node);

}  // namespace benanza::execution
