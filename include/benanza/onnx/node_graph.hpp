// SPDX-License-Identifier: Apache-2.0
// make_node_graph: one node of an imported graph at other sizes.
#pragma once

#include <benanza/model/graph.hpp>

#include <map>

namespace benanza {

/// The node alone, with inputs that have the types, sizes and literals of these values; the sizes of its outputs
/// follow. `inputs` has every input of the node. Values are named after their ids, `v12`. Outputs are in the node's
/// order, without those that it leaves out. If literals alone determine the outputs, the graph has no node and its
/// outputs have literals. Nodes with bodies are not supported. Throws InputError if the sizes do not fit the node.
[[nodiscard]] Graph make_node_graph(const Node& node, const std::map<ValueId, Value>& inputs);

}  // namespace benanza
