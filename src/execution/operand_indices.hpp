// SPDX-License-Identifier: Apache-2.0
// Checks of operands of a layer that are indices into another operand: data may contain wrong ones.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

/// Throws InputError, which names the node, if operand `i` of the layer has an index out of range. Negative indices
/// count from the end if ONNX says so, and are out of range otherwise. Does nothing for operands that are numbers.
void check_indices(const Node& node, const NodeCall& call, std::size_t i, const Tensor& operand);

}  // namespace benanza::execution
