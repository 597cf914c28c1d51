// SPDX-License-Identifier: Apache-2.0
#include "tree_operands.hpp"

#include <benanza/execution/not_executable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::execution {

namespace {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<double>;

std::int64_t count_of(const Floats& list) { return static_cast<std::int64_t>(list.size()); }

struct Branch {
  double feature = 0, split = 0;
  std::size_t on_true = 0, on_false = 0;
};
/// Weights by target.
using Leaf = std::map<std::int64_t, double>;

struct Trees {
  std::map<std::size_t, Branch> branches{};
  std::map<std::size_t, Leaf> leaves{};
  std::vector<std::size_t> roots{};
};

/// At least `count` numbers of an attribute that is a list or a tensor.
Floats tree_numbers(const Node& node, std::string_view key, std::size_t count = 0) {
  const auto found = node.attributes.find(key);
  Floats numbers;
  if (found != node.attributes.end()) {
    const auto* const list = std::get_if<Floats>(&found->second);
    const auto* const tensor = std::get_if<Literal>(&found->second);
    if (list != nullptr) numbers = *list;
    else if (tensor != nullptr && !tensor->floats.empty()) numbers = tensor->floats;
    else if (tensor != nullptr) numbers.assign(tensor->ints.begin(), tensor->ints.end());
  }
  // The importer keeps no long tensors, and knows nothing of `nodes_values_as_tensor`.
  if (numbers.size() < count) throw NotExecutable(node, "trees whose numbers the importer drops");
  return numbers;
}

/// The trees of a TreeEnsemble. Leaves are behind the branches.
Trees by_root(const Node& node) {
  const auto list = [&](std::string_view key) { return node.attribute<Integers>(key, {}); };
  const Integers features = list("nodes_featureids"), targets = list("leaf_targetids");
  const Floats splits = tree_numbers(node, "nodes_splits", features.size()),
               weights = tree_numbers(node, "leaf_weights", targets.size());
  const auto behind = [&](std::string_view nodes, std::string_view leaves, std::size_t i) {
    return static_cast<std::size_t>(list(nodes).at(i)) + (list(leaves).at(i) != 0 ? features.size() : 0);
  };
  Trees trees;
  for (const double mode : tree_numbers(node, "nodes_modes"))
    if (mode != 0) throw NotExecutable(node, "branches with another comparison than <=");
  for (std::size_t i = 0; i < features.size(); ++i)
    trees.branches[i] = {.feature = static_cast<double>(features[i]),
                         .split = splits.at(i),
                         .on_true = behind("nodes_truenodeids", "nodes_trueleafs", i),
                         .on_false = behind("nodes_falsenodeids", "nodes_falseleafs", i)};
  for (std::size_t i = 0; i < targets.size(); ++i) trees.leaves[features.size() + i][targets[i]] = weights.at(i);
  for (const auto root : list("tree_roots")) trees.roots.push_back(static_cast<std::size_t>(root));
  return trees;
}

/// The trees of a classifier or a regressor. The first node of a tree is its root.
Trees by_id(const Node& node, const std::string& prefix) {
  const auto list = [&](const std::string& key) { return node.attribute<Integers>(key, {}); };
  const Integers tree = list("nodes_treeids"), id = list("nodes_nodeids"), features = list("nodes_featureids");
  const Floats splits = tree_numbers(node, "nodes_values", tree.size()),
               weights = tree_numbers(node, prefix + "_weights", list(prefix + "_ids").size());
  const auto modes = node.attribute<std::vector<std::string>>("nodes_modes", {});
  const auto place = [&](std::int64_t of_tree, std::int64_t of_id) {
    for (std::size_t i = 0; i < tree.size(); ++i)
      if (tree[i] == of_tree && id[i] == of_id) return i;
    throw InputError("a tree has no node of that number");
  };
  Trees trees;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (i == 0 || tree[i] != tree[i - 1]) trees.roots.push_back(i);
    if (modes.at(i) == "LEAF") continue;
    if (modes[i] != "BRANCH_LEQ") throw NotExecutable(node, "branches with another comparison than <=");
    trees.branches[i] = {.feature = static_cast<double>(features.at(i)),
                         .split = splits.at(i),
                         .on_true = place(tree[i], list("nodes_truenodeids").at(i)),
                         .on_false = place(tree[i], list("nodes_falsenodeids").at(i))};
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    trees.leaves[place(list(prefix + "_treeids").at(i), list(prefix + "_nodeids").at(i))][list(prefix + "_ids").at(i)] =
        weights[i];
  return trees;
}

}  // namespace

std::vector<Tensor> tree_operands(const Node& node, const op::TreeEnsemble& forest) {
  if (node.attributes.contains("base_values")) throw NotExecutable(node, "trees with base values");
  const Trees trees = node.op_type == "TreeEnsemble"
                          ? by_root(node)
                          : by_id(node, node.op_type == "TreeEnsembleClassifier" ? "class" : "target");
  Floats features, splits, weights, targets;
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    std::vector<std::size_t> level{trees.roots[t]};
    for (std::int64_t depth = 0; depth < forest.depth(static_cast<std::int64_t>(t)); ++depth) {
      std::vector<std::size_t> below;
      for (const std::size_t at : level) {
        const auto branch = trees.branches.find(at);
        if (branch == trees.branches.end())
          throw NotExecutable(node, "trees in another order than that of their depths");
        features.push_back(branch->second.feature);
        splits.push_back(branch->second.split);
        below.insert(below.end(), {branch->second.on_true, branch->second.on_false});
      }
      level = std::move(below);
    }
    for (const std::size_t at : level) {
      const auto leaf = trees.leaves.find(at);
      if (leaf == trees.leaves.end() || static_cast<std::int64_t>(leaf->second.size()) != forest.leaf_weights)
        throw NotExecutable(node, "trees with leaves of different depths or numbers of weights");
      for (const auto& [target, weight] : leaf->second) {
        targets.push_back(static_cast<double>(target));
        weights.push_back(weight);
      }
    }
  }
  const Operands shapes = forest.operands();
  std::vector<Tensor> tensors;
  for (const Floats* values : std::initializer_list<const Floats*>{&features, &splits, &weights, &targets})
    if (const std::size_t i = tensors.size() + 1; i < shapes.inputs.size())
      tensors.push_back(Tensor::of(shapes.inputs[i].type, {count_of(*values)}, *values));
  return tensors;
}

}  // namespace benanza::execution
