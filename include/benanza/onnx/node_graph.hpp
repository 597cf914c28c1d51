// SPDX-License-Identifier: Apache-2.0
// make_node_graph: one node of an imported graph at other sizes.
#pragma once

#include <benanza/model/graph.hpp>

#include <map>

namespace benanza {

/// The node alone, where its inputs have the types, sizes and literals of these values: its outputs' sizes follow.
/// Every input of the node is among them. Values are named after their ids, `v12`; outputs stand in the order of the
/// node's, without those that are left out. Where the outputs follow from literals alone there is no node, and they
/// have literals. Not for nodes with bodies. Throws InputError where the sizes do not fit the node.
[[nodiscard]] Graph make_node_graph(const Node& node, const std::map<ValueId, Value>& inputs);

}  // namespace benanza
