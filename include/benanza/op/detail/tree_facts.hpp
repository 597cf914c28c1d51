// SPDX-License-Identifier: Apache-2.0
// What the attributes of a tree ensemble say about its trees: the least work that any input causes.
#pragma once

#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

struct TreeFacts {
  std::int64_t trees = 0;
  std::int64_t comparisons = 0;   ///< on the path to the shallowest leaf, summed over all trees
  std::int64_t leaf_weights = 0;  ///< fewest weights of a leaf; at least 1, since each leaf has to be looked up
};

/// A branch of a tree, or a leaf. Branches refer to their child nodes by index in a list.
struct TreeNode {
  std::size_t on_true = 0, on_false = 0;
  bool leaf = true;
  std::int64_t weights = 0;  ///< leaves only
};

/// Facts about the trees that have these roots. Empty if there are no roots, or if a node is reached twice or does not
/// exist.
[[nodiscard]] inline std::optional<TreeFacts> tree_facts(const std::vector<TreeNode>& nodes,
                                                         const std::vector<std::size_t>& roots) {
  TreeFacts facts{.trees = static_cast<std::int64_t>(roots.size())};
  std::optional<std::int64_t> fewest;
  std::vector<bool> reached(nodes.size());
  for (const std::size_t root : roots) {
    std::vector<std::size_t> level{root};
    std::optional<std::int64_t> shallowest;
    for (std::int64_t depth = 0; !level.empty(); ++depth) {
      std::vector<std::size_t> below;
      for (const std::size_t at : level) {
        if (at >= nodes.size() || reached[at]) return std::nullopt;
        reached[at] = true;
        if (!nodes[at].leaf) {
          below.insert(below.end(), {nodes[at].on_true, nodes[at].on_false});
          continue;
        }
        shallowest = shallowest.value_or(depth);
        fewest = std::min(fewest.value_or(nodes[at].weights), nodes[at].weights);
      }
      level = std::move(below);
    }
    facts.comparisons += *shallowest;
  }
  facts.leaf_weights = std::max<std::int64_t>(fewest.value_or(0), 1);
  return roots.empty() ? std::nullopt : std::optional(facts);
}

/// An attribute that is a list, without a copy. Empty if it is absent. Throws InputError if it has another type.
template <class List>
[[nodiscard]] const List& list_of(const Node& node, const std::string& key) {
  static const List none;
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) return none;
  if (const auto* list = std::get_if<List>(&found->second)) return *list;
  throw InputError("node '" + node.name + "' (" + node.op_type + "): attribute '" + key + "' has an unexpected type");
}

/// Facts about an ai.onnx.ml.TreeEnsemble: branches and leaves are in separate lists, and each leaf has one weight.
[[nodiscard]] inline std::optional<TreeFacts> trees_by_root(const Node& node) {
  const auto list = [&](const std::string& key) -> std::span<const std::int64_t> { return list_of<Dims>(node, key); };
  const auto on_true = list("nodes_truenodeids"), on_false = list("nodes_falsenodeids");
  const auto true_leaf = list("nodes_trueleafs"), false_leaf = list("nodes_falseleafs");
  const std::size_t branches = on_true.size();
  if (on_false.size() != branches || true_leaf.size() != branches || false_leaf.size() != branches) return std::nullopt;
  constexpr auto nowhere = std::numeric_limits<std::size_t>::max();
  std::vector<TreeNode> nodes(branches);
  const auto behind = [&](std::int64_t at, std::int64_t leaf) {
    if (leaf == 0) return at < 0 ? nowhere : static_cast<std::size_t>(at);
    nodes.push_back({.weights = 1});
    return nodes.size() - 1;
  };
  for (std::size_t i = 0; i < branches; ++i) {
    // A tree that consists of one leaf is written as a branch with this leaf on both sides.
    if (true_leaf[i] != 0 && false_leaf[i] != 0 && on_true[i] == on_false[i]) {
      nodes[i].weights = 1;
      continue;
    }
    const std::size_t first = behind(on_true[i], true_leaf[i]), second = behind(on_false[i], false_leaf[i]);
    nodes[i] = {.on_true = first, .on_false = second, .leaf = false};
  }
  std::vector<std::size_t> roots;
  for (const auto root : list("tree_roots")) roots.push_back(root < 0 ? nowhere : static_cast<std::size_t>(root));
  return tree_facts(nodes, roots);
}

/// Facts about a classifier or a regressor: nodes are numbered within their tree. `weights` is "class" or "target".
[[nodiscard]] inline std::optional<TreeFacts> trees_by_id(const Node& node, const std::string& weights) {
  const auto list = [&](const std::string& key) -> std::span<const std::int64_t> { return list_of<Dims>(node, key); };
  const auto trees = list("nodes_treeids"), ids = list("nodes_nodeids");
  const auto on_true = list("nodes_truenodeids"), on_false = list("nodes_falsenodeids");
  const auto leaf_trees = list(weights + "_treeids"), leaf_ids = list(weights + "_nodeids");
  const std::span<const std::string> modes = list_of<std::vector<std::string>>(node, "nodes_modes");
  const std::size_t count = trees.size();
  if (ids.size() != count || on_true.size() != count || on_false.size() != count || modes.size() != count ||
      leaf_trees.size() != leaf_ids.size())
    return std::nullopt;
  struct Place {
    std::int64_t tree = 0, id = 0;
    std::size_t at = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;  // if a number occurs twice, the first one counts
  places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) places.push_back({trees[i], ids[i], i});
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  auto first = places.begin(), last = first;  // the nodes of the tree that was asked for last
  const auto place = [&](std::int64_t tree, std::int64_t id) {
    if (first == last || first->tree != tree) {
      first = std::lower_bound(places.begin(), places.end(), Place{tree, std::numeric_limits<std::int64_t>::min(), 0});
      last = std::upper_bound(first, places.end(), Place{tree, std::numeric_limits<std::int64_t>::max(), count});
    }
    // Most exporters number the nodes of a tree from 0 on.
    auto found = id >= 0 && id < last - first ? first + id : last;
    const bool is_there = found != last && found->id == id && (found == first || std::prev(found)->id != id);
    if (!is_there) found = std::lower_bound(first, last, Place{tree, id, 0});
    return found != last && found->id == id ? found->at : count;
  };
  std::vector<TreeNode> nodes(count);
  std::vector<bool> is_below(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") continue;
    nodes[i] = {.on_true = place(trees[i], on_true[i]), .on_false = place(trees[i], on_false[i]), .leaf = false};
    is_below[nodes[i].on_true] = is_below[nodes[i].on_false] = true;
  }
  for (std::size_t i = 0; i < leaf_ids.size(); ++i)
    if (const std::size_t at = place(leaf_trees[i], leaf_ids[i]); at < count) ++nodes[at].weights;
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_below[i]) roots.push_back(i);
  return tree_facts(nodes, roots);
}

/// Empty for a node whose lists do not form trees.
[[nodiscard]] inline std::optional<TreeFacts> tree_facts(const Node& node) {
  if (node.op_type == "TreeEnsemble") return trees_by_root(node);
  return trees_by_id(node, node.op_type == "TreeEnsembleClassifier" ? "class" : "target");
}

}  // namespace benanza::detail
