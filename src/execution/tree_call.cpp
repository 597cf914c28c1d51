// SPDX-License-Identifier: Apache-2.0
#include "tree_call.hpp"

#include "tree_walk.hpp"
#include <benanza/op/trees.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

namespace {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<double>;

constexpr std::int64_t most_targets = 1 << 24;

bool classifies(const Node& node) { return node.op_type == "TreeEnsembleClassifier"; }

/// Number of scores per row.
std::size_t target_count(const Node& node) {
  const auto labels = std::max(node.attribute<Integers>("classlabels_int64s", {}).size(),
                               node.attribute<std::vector<std::string>>("classlabels_strings", {}).size());
  const auto targets =
      classifies(node) ? static_cast<std::int64_t>(labels) : node.attribute("n_targets", std::int64_t{1});
  if (targets < 1 || targets > most_targets) throw NotExecutable(node, std::to_string(targets) + " targets");
  return static_cast<std::size_t>(targets);
}

/// Whether the scores and labels of a layer are those of the node.
bool has_plain_scores(const Graph& graph, const Node& node, const op::TreeEnsemble& forest) {
  constexpr std::int64_t softmax_zero = 3;
  if (!tree_numbers(node, "base_values").empty() || tree_transform(node) == softmax_zero) return false;
  if (!classifies(node)) return true;
  Integers places(static_cast<std::size_t>(forest.targets));
  std::iota(places.begin(), places.end(), std::int64_t{0});
  return forest.targets > 2 && forest.leaf_weights == forest.targets &&
         node.attribute<Integers>("classlabels_int64s", {}) == places &&
         (!node.has_output(0) || graph.output(node, 0).type == DataType::i64);
}

/// The layer's operands after x. Empty if the layer cannot represent these trees.
class LayerTrees {
 public:
  LayerTrees(const DecisionTrees& trees, const op::TreeEnsemble& forest) : trees_(trees), forest_(forest) {}

  [[nodiscard]] std::optional<std::vector<Tensor>> operands() {
    if (static_cast<std::int64_t>(trees_.roots.size()) != forest_.trees) return std::nullopt;
    for (std::size_t t = 0; t < trees_.roots.size(); ++t)
      if (!add(trees_.roots[t], forest_.depth(static_cast<std::int64_t>(t)))) return std::nullopt;
    const Operands shapes = forest_.operands();
    std::vector<Tensor> tensors;
    for (const Floats* values : std::initializer_list<const Floats*>{&features_, &splits_, &weights_, &targets_}) {
      const std::size_t i = tensors.size() + 1;
      if (i >= shapes.inputs.size()) break;
      tensors.push_back(Tensor::of(shapes.inputs[i].type, {static_cast<std::int64_t>(values->size())}, *values));
    }
    // Rounding a 64-bit threshold may send a row the other way.
    const bool is_exact = tensors[1].values() == splits_;
    return is_exact ? std::optional(std::move(tensors)) : std::nullopt;
  }

 private:
  /// Adds a tree: branches level by level, then leaves.
  [[nodiscard]] bool add(std::size_t root, std::int64_t depth) {
    std::vector<std::size_t> level{root};
    for (std::int64_t i = 0; i < depth; ++i) {
      std::vector<std::size_t> below;
      for (const std::size_t at : level) {
        const DecisionNode& branch = trees_.nodes[at];
        if (branch.leaf || branch.comparison != Comparison::at_most || branch.missing_is_true) return false;
        features_.push_back(static_cast<double>(branch.feature));
        splits_.push_back(branch.split);
        below.insert(below.end(), {branch.on_true, branch.on_false});
      }
      level = std::move(below);
    }
    for (const std::size_t at : level) {
      const DecisionNode& leaf = trees_.nodes[at];
      if (!leaf.leaf || static_cast<std::int64_t>(leaf.weights.size()) != forest_.leaf_weights) return false;
      for (const auto& [target, weight] : leaf.weights) {
        targets_.push_back(static_cast<double>(target));
        weights_.push_back(weight);
      }
    }
    return true;
  }

  const DecisionTrees& trees_;
  const op::TreeEnsemble& forest_;
  Floats features_{}, splits_{}, weights_{}, targets_{};
};

/// Visits each row of x as the trees read it.
template <class Visit>
void for_each_row(const Tensor& x, std::size_t features, Visit visit) {
  const Floats values = x.values();
  const std::span<const double> all(values);
  for (std::size_t at = 0; at + features <= all.size(); at += features) visit(all.subspan(at, features));
}

OutputSource scores_of(std::shared_ptr<const TreeWalk> walk, std::size_t features, const Value& output) {
  return {.make = [=, type = output.type, dims = output.dims](const NodeTensors& inputs) {
    Floats scores;
    for_each_row(*inputs[0], features, [&](std::span<const double> row) {
      const auto of_row = walk->of(row).scores;
      scores.insert(scores.end(), of_row.begin(), of_row.end());
    });
    return Tensor::of(type, dims, scores);
  }};
}

OutputSource labels_of(std::shared_ptr<const TreeWalk> walk, std::size_t features, const Value& output,
                       const Integers& classes) {
  return {.make = [=, type = output.type, dims = output.dims](const NodeTensors& inputs) {
    Tensor labels(type, dims);
    auto* next = static_cast<std::int64_t*>(labels.writable());
    auto* const end = next + labels.elements();
    for_each_row(*inputs[0], features, [&](std::span<const double> row) {
      if (next != end) *next++ = classes[walk->of(row).label];
    });
    return labels;
  }};
}

}  // namespace

bool is_tree_ensemble(const Node& node) {
  return node.domain == "ai.onnx.ml" && node.op_type.starts_with("TreeEnsemble");
}

NodeCall bind_trees(const Graph& graph, const Node& node, const Layer& layer) {
  const Value& x = graph.input(node, 0);
  if (x.dims.empty() || x.dims.back() < 1) throw NotExecutable(node, "trees without features");
  const auto features = static_cast<std::size_t>(x.dims.back()), scores_at = classifies(node) ? std::size_t{1} : 0;
  const std::size_t targets = target_count(node), rows = static_cast<std::size_t>(x.elements()) / features;
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i) &&
        static_cast<std::size_t>(graph.output(node, i).elements()) != rows * (i == scores_at ? targets : 1))
      throw NotExecutable(node, "scores or labels of another number than of rows");
  const auto walk = std::make_shared<const TreeWalk>(node, features, targets);
  NodeCall call{.layer = layer};
  call.outputs.resize(node.outputs.size());
  if (const auto* forest = std::get_if<op::TreeEnsemble>(&layer);
      forest != nullptr && has_plain_scores(graph, node, *forest))
    if (const auto trees = LayerTrees(walk->trees(), *forest).operands()) {
      call.shapes = operands(layer);
      call.operands.push_back({.inputs = {0}});
      for (const Tensor& tensor : *trees)
        call.operands.push_back({.make = [tensor](const NodeTensors&) { return tensor; }});
      if (forest->labels) call.outputs[0].of_layer = 0;
      if (node.has_output(scores_at)) call.outputs[scores_at].of_layer = forest->labels ? 1 : 0;
      return call;
    }
  if (node.has_output(scores_at)) call.outputs[scores_at] = scores_of(walk, features, graph.output(node, scores_at));
  // Labels that are strings are not computed.
  if (classifies(node) && node.has_output(0) && graph.output(node, 0).type == DataType::i64)
    call.outputs[0] =
        labels_of(walk, features, graph.output(node, 0), node.attribute<Integers>("classlabels_int64s", {}));
  return call;
}

}  // namespace benanza::execution
