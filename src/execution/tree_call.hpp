// SPDX-License-Identifier: Apache-2.0
// bind_trees: a tree ensemble of ai.onnx.ml as its layer, or as a traversal of its trees.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_tree_ensemble(const Node& node);

/// A layer has trees whose depths differ by at most one, and compares with <= only. A node with such trees becomes
/// `layer`, its own layer. For any other node, the outputs are computed by traversing its trees, and there are no
/// operands of a layer. Throws NotExecutable if neither is possible.
[[nodiscard]] NodeCall bind_trees(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
