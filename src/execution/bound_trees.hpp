// SPDX-License-Identifier: Apache-2.0
// bind_trees: a tree ensemble of ai.onnx.ml as its layer, or as a walk down its trees.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_tree_ensemble(const Node& node);

/// A layer has trees whose depths differ by at most one, and compares with <= alone. A node with such trees becomes
/// `layer`, its own; the outputs of any other one are made by walking down its trees, without operands of a layer.
/// Throws NotExecutable for what neither computes.
[[nodiscard]] BoundNode bind_trees(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
