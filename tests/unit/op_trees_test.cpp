// SPDX-License-Identifier: Apache-2.0
// Tree ensembles: the properties of a node's trees that a layer has, and exact counts.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

/// Tree 3 is a branch with a leaf and a branch with two leaves behind it: its shallowest leaf is behind 1 comparison.
/// Tree 8 is complete, with 2 levels of branches. Leaves have 2 weights, one of them 3.
SingleNode classifier(DataType label = DataType::i64) {
  const Dims trees{3, 3, 3, 3, 3, 8, 8, 8, 8, 8, 8, 8}, ids{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6};
  const std::string branch = "BRANCH_LT", leaf = "LEAF";
  return SingleNode("TreeEnsembleClassifier", 3, "ai.onnx.ml")
      .in({32, 10})
      .out({32}, label)
      .out({32, 4})
      .set("nodes_treeids", trees)
      .set("nodes_nodeids", ids)
      .set("nodes_modes", Strings{branch, leaf, branch, leaf, leaf, branch, branch, branch, leaf, leaf, leaf, leaf})
      .set("nodes_truenodeids", Dims{1, 0, 3, 0, 0, 1, 3, 5, 0, 0, 0, 0})
      .set("nodes_falsenodeids", Dims{2, 0, 4, 0, 0, 2, 4, 6, 0, 0, 0, 0})
      .set("class_treeids", Dims{3, 3, 3, 3, 3, 3, 3, 8, 8, 8, 8, 8, 8, 8, 8})
      .set("class_nodeids", Dims{1, 1, 1, 3, 3, 4, 4, 3, 3, 4, 4, 5, 5, 6, 6});
}

/// One tree: a branch with two branches behind it, each with two leaves.
SingleNode ensemble(std::int64_t last_false, std::int64_t root = 0) {
  return SingleNode("TreeEnsemble", 5, "ai.onnx.ml")
      .in({3, 2}, DataType::f64)
      .out({3, 2}, DataType::f64)
      .set("tree_roots", Dims{root})
      .set("nodes_truenodeids", Dims{1, 0, 2})
      .set("nodes_trueleafs", Dims{0, 1, 1})
      .set("nodes_falsenodeids", Dims{2, 1, last_false})
      .set("nodes_falseleafs", Dims{0, 1, 1});
}

TEST_CASE("A tree ensemble has the comparisons that every input needs", "[op]") {
  check({
      {"classifier", classifier(), "TreeEnsemble/f32/x=32x10/trees=2/comparisons=3/targets=4/leaf_weights=2/labels=1"},
      {"labels of text", classifier(DataType::string),
       "TreeEnsemble/f32/x=32x10/trees=2/comparisons=3/targets=4/leaf_weights=2"},
      {"probabilities", classifier().set("post_transform", "SOFTMAX_ZERO"),
       "TreeEnsemble/f32/x=32x10/trees=2/comparisons=3/targets=4/leaf_weights=2/transform=softmax/labels=1"},
      {"the version of opset 5", ensemble(3), "TreeEnsemble/f64/x=3x2/comparisons=2/targets=2"},
      {"a leaf on both sides of a branch", ensemble(2), "TreeEnsemble/f64/x=3x2/targets=2"},
      {"averages", ensemble(3).set("aggregate_function", 0).set("post_transform", 2),
       "TreeEnsemble/f64/x=3x2/comparisons=2/targets=2/aggregate=average/transform=logistic"},
      {"a normal distribution's quantiles", ensemble(3).set("post_transform", 4),
       "Opaque/f64/op=ai.onnx.ml.TreeEnsemble/read_bytes=48/written_bytes=48"},
      {"a root that is not there", ensemble(3, 5),
       "Opaque/f64/op=ai.onnx.ml.TreeEnsemble/read_bytes=48/written_bytes=48"},
  });
}

TEST_CASE("A tree ensemble counts comparisons and weights of each row", "[op]") {
  // Trees of 2 and 1 levels: 3 + 1 branches, 4 + 2 leaves.
  const op::TreeEnsemble forest{
      .x = {32, 10}, .trees = 2, .comparisons = 3, .targets = 4, .leaf_weights = 2, .labels = true};
  CHECK(forest.depth(0) == 2);
  CHECK(forest.depth(1) == 1);
  CHECK(forest.first_branch(1) == 3);
  CHECK(forest.first_branch(2) == 4);
  CHECK(forest.first_leaf(1) == 4);
  CHECK(forest.first_leaf(2) == 6);
  // Per row 3 comparisons, 2 * 2 weights, and 4 scores among which to find the label.
  CHECK(cost(Layer(forest)).flops.value == 32 * (3 + 4 + 4));
  // 3 features per row; 3 thresholds and the indices of their features; 4 weights and their targets; a label and 4
  // scores per row.
  CHECK(cost(Layer(forest)).bytes().value == 32 * 3 * 4 + 3 * 4 + 3 + 4 * 4 + 4 + 32 * 8 + 32 * 4 * 4);
  // With a weight for each target no targets are stored. 5 operations per score for a softmax, 1 for an average.
  const op::TreeEnsemble whole{.x = {1, 300},
                               .trees = 5,
                               .comparisons = 20,
                               .targets = 3,
                               .leaf_weights = 3,
                               .aggregate = op::TreeAggregate::average,
                               .transform = op::TreeTransform::softmax};
  CHECK(cost(Layer(whole)).flops.value == 20 + 5 * 3 + 3 * 6);
  // 20 features, 20 thresholds, 20 times 2 bytes to select one of 300 features, 15 weights, 3 scores.
  CHECK(cost(Layer(whole)).bytes().value == 20 * 4 + 20 * 4 + 20 * 2 + 15 * 4 + 3 * 4);
}

}  // namespace
