// SPDX-License-Identifier: Apache-2.0
// Nodes that are not layers, or not a single one: sizes, fills, results whose size depends on data, an optimizer's
// step.
#pragma once

#include "bind_node.hpp"

#include <functional>
#include <string_view>

namespace benanza::execution {

/// Computes all outputs of a node. Throws NotExecutable and InputError.
using SpecialNode = std::function<std::vector<Tensor>(const Node& node, const NodeTensors& inputs)>;

/// The function of an operator; null for layers.
[[nodiscard]] const SpecialNode* find_special(const Node& node);

/// The result of a ConstantOfShape.
[[nodiscard]] Tensor filled(const Node& node, const NodeTensors& inputs, DataType type);

}  // namespace benanza::execution
