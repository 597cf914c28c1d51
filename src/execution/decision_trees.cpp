// SPDX-License-Identifier: Apache-2.0
#include "decision_trees.hpp"

#include <benanza/execution/not_executable.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace benanza::execution {

namespace {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<double>;
using Strings = std::vector<std::string>;

/// In the order of Comparison. The older operators do not have sets.
constexpr std::array<std::string_view, 6> mode_names{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                     "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

class TreeReader {
 public:
  TreeReader(const Node& node, std::size_t features, std::size_t targets)
      : node_(node), feature_count_(features), target_count_(targets) {}

  [[nodiscard]] DecisionTrees read() {
    if (node_.op_type == "TreeEnsemble") read_by_root();
    else read_by_id(node_.op_type == "TreeEnsembleClassifier" ? "class" : "target");
    if (trees_.roots.empty()) refuse("no tree");
    refuse_cycles();
    for (auto& node : trees_.nodes) sort_weights(node);
    return std::move(trees_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw NotExecutable(node_, why); }

  [[nodiscard]] Integers list(const std::string& key) const { return node_.attribute<Integers>(key, {}); }
  [[nodiscard]] Integers list(const std::string& key, std::size_t count) const { return sized(list(key), key, count); }
  [[nodiscard]] Floats numbers(const std::string& key, std::size_t count) const {
    return sized(tree_numbers(node_, key), key, count);
  }

  template <class List>
  [[nodiscard]] List sized(List items, const std::string& key, std::size_t count) const {
    if (items.size() != count)
      refuse("trees with " + std::to_string(items.size()) + " numbers in '" + key + "', expected " +
             std::to_string(count));
    return items;
  }

  /// Whether each node sends a NaN down the branch of a true comparison.
  [[nodiscard]] std::vector<bool> missing(std::size_t count) const {
    constexpr const char* key = "nodes_missing_value_tracks_true";
    std::vector<bool> result(count, false);
    if (list(key).empty()) return result;
    const Integers given = list(key, count);
    for (std::size_t i = 0; i < count; ++i) result[i] = given[i] != 0;
    return result;
  }

  [[nodiscard]] std::size_t feature(std::int64_t given) const {
    if (given < 0 || static_cast<std::size_t>(given) >= feature_count_)
      refuse("a tree that asks for feature " + std::to_string(given) + " of " + std::to_string(feature_count_));
    return static_cast<std::size_t>(given);
  }
  [[nodiscard]] LeafWeight weight(std::int64_t target, double number) const {
    if (target < 0 || static_cast<std::size_t>(target) >= target_count_)
      refuse("a leaf with a weight for target " + std::to_string(target) + " of " + std::to_string(target_count_));
    return {static_cast<std::size_t>(target), number};
  }

  /// Branches and leaves have separate lists. In `trees_`, leaves follow the branches.
  void read_by_root() {
    const Integers features = list("nodes_featureids"), targets = list("leaf_targetids");
    const std::size_t branches = features.size(), leaves = targets.size();
    const Integers on_true = list("nodes_truenodeids", branches), true_leaf = list("nodes_trueleafs", branches),
                   on_false = list("nodes_falsenodeids", branches), false_leaf = list("nodes_falseleafs", branches);
    const Floats splits = numbers("nodes_splits", branches), weights = numbers("leaf_weights", leaves),
                 modes = numbers("nodes_modes", branches), members = tree_numbers(node_, "membership_values");
    const std::vector<bool> missing_is_true = missing(branches);
    const auto behind = [&](std::int64_t at, std::int64_t is_leaf) {
      const std::size_t count = is_leaf != 0 ? leaves : branches;
      if (at < 0 || static_cast<std::size_t>(at) >= count) refuse("a root or a branch that leads to no node");
      return static_cast<std::size_t>(at) + (is_leaf != 0 ? branches : 0);
    };
    auto next = members.begin();
    for (std::size_t i = 0; i < branches; ++i) {
      const double mode = modes[i];
      if (!(mode >= 0 && mode <= static_cast<double>(Comparison::member))) refuse("a branch of an unknown mode");
      DecisionNode branch{.leaf = false,
                          .comparison = static_cast<Comparison>(static_cast<int>(mode)),
                          .feature = feature(features[i]),
                          .split = splits[i],
                          .missing_is_true = missing_is_true[i],
                          .on_true = behind(on_true[i], true_leaf[i]),
                          .on_false = behind(on_false[i], false_leaf[i])};
      if (branch.comparison == Comparison::member) {
        const auto end = std::find_if(next, members.end(), [](double value) { return std::isnan(value); });
        if (end == members.end()) refuse("a branch whose set of members is not given");
        branch.members.assign(next, end);
        next = end + 1;
      }
      trees_.nodes.push_back(std::move(branch));
    }
    for (std::size_t i = 0; i < leaves; ++i) {
      trees_.nodes.emplace_back();
      trees_.nodes.back().weights.push_back(weight(targets[i], weights[i]));
    }
    for (const auto root : list("tree_roots")) trees_.roots.push_back(behind(root, 0));
  }

  /// Nodes are numbered within their tree. The first node of a tree is its root. `prefix` is "class" or "target".
  void read_by_id(const std::string& prefix) {
    const Integers tree = list("nodes_treeids");
    const std::size_t count = tree.size();
    const Integers id = list("nodes_nodeids", count), features = list("nodes_featureids", count),
                   on_true = list("nodes_truenodeids", count), on_false = list("nodes_falsenodeids", count);
    const Strings modes = sized(node_.attribute<Strings>("nodes_modes", {}), "nodes_modes", count);
    const Floats splits = numbers("nodes_values", count);
    const std::vector<bool> missing_is_true = missing(count);
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
    for (std::size_t i = 0; i < count; ++i)
      if (!places.emplace(std::pair{tree[i], id[i]}, i).second) refuse("a tree with two nodes of one number");
    const auto place = [&](std::int64_t of_tree, std::int64_t of_id) {
      const auto found = places.find({of_tree, of_id});
      if (found == places.end()) refuse("a tree that lacks a node of number " + std::to_string(of_id));
      return found->second;
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 0 || tree[i] != tree[i - 1]) trees_.roots.push_back(i);
      DecisionNode node;
      if (modes[i] != "LEAF") {
        const auto* const mode = std::find(mode_names.begin(), mode_names.end(), modes[i]);
        if (mode == mode_names.end()) refuse("a branch of an unknown mode");
        node = {.leaf = false,
                .comparison = static_cast<Comparison>(mode - mode_names.begin()),
                .feature = feature(features[i]),
                .split = splits[i],
                .missing_is_true = missing_is_true[i],
                .on_true = place(tree[i], on_true[i]),
                .on_false = place(tree[i], on_false[i])};
      }
      trees_.nodes.push_back(std::move(node));
    }
    const Integers targets = list(prefix + "_ids");
    const Integers trees = list(prefix + "_treeids", targets.size()), nodes = list(prefix + "_nodeids", targets.size());
    const Floats weights = numbers(prefix + "_weights", targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i)
      trees_.nodes[place(trees[i], nodes[i])].weights.push_back(weight(targets[i], weights[i]));
  }

  /// Throws if there is a cycle. Follows every path; a node is open while its descendants are visited.
  void refuse_cycles() const {
    enum class State : std::uint8_t { unseen, open, done };
    std::vector<State> states(trees_.nodes.size(), State::unseen);
    std::vector<std::size_t> way;
    for (const std::size_t root : trees_.roots) {
      way.push_back(root);
      while (!way.empty()) {
        const std::size_t at = way.back();
        const DecisionNode& node = trees_.nodes[at];
        if (states[at] != State::unseen || node.leaf) {
          states[at] = State::done;
          way.pop_back();
          continue;
        }
        states[at] = State::open;
        for (const std::size_t below : {node.on_true, node.on_false}) {
          if (states[below] == State::open) refuse("a tree with a way that comes back to a branch");
          if (states[below] == State::unseen) way.push_back(below);
        }
      }
    }
  }

  void sort_weights(DecisionNode& node) const {
    auto& weights = node.weights;
    std::sort(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.target < b.target; });
    for (std::size_t i = 1; i < weights.size(); ++i)
      if (weights[i].target == weights[i - 1].target) refuse("a leaf with two weights for one target");
  }

  const Node& node_;
  std::size_t feature_count_, target_count_;
  DecisionTrees trees_{};
};

}  // namespace

std::vector<double> tree_numbers(const Node& node, std::string_view key) {
  for (const std::string& name : {std::string(key), std::string(key) + "_as_tensor"}) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) continue;
    if (const auto* const given = std::get_if<Floats>(&found->second); given != nullptr && !given->empty())
      return *given;
    if (const auto* const tensor = std::get_if<Literal>(&found->second)) {
      if (!tensor->floats.empty()) return tensor->floats;
      return {tensor->ints.begin(), tensor->ints.end()};
    }
  }
  return {};
}

DecisionTrees read_trees(const Node& node, std::size_t features, std::size_t targets) {
  return TreeReader(node, features, targets).read();
}

}  // namespace benanza::execution
