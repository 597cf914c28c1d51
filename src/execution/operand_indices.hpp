// SPDX-License-Identifier: Apache-2.0
// Integers among the operands of a layer that point at elements of another operand: data may have wrong ones.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

/// Throws InputError, which names the node, where operand `i` of the layer has an index that points at nothing.
/// Negative ones count from the end where ONNX says so, and point at nothing elsewhere. Does nothing for operands that
/// are numbers.
void check_indices(const Node& node, const BoundNode& bound, std::size_t i, const Tensor& operand);

}  // namespace benanza::execution
