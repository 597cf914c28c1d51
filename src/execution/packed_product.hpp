// SPDX-License-Identifier: Apache-2.0
// MatMulNBits of com.microsoft: a product with a matrix of weights of 2, 4 or 8 bits. Each column of it lies in blocks
// that have a scale and a zero point each.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_packed_product(const Node& node);

/// `layer`, the node's own, multiplies the numbers that are stored, without scales. A node is that layer where all
/// scales are 1 and all zero points 0, constants both. Every other node is a product with the floats that its weights
/// mean. Throws NotExecutable for rows that are in another order than their blocks, and for operands of other sizes or
/// types.
[[nodiscard]] BoundNode bind_packed_product(const Graph& graph, const Node& node, const Layer& layer,
                                            const NodeTensors& inputs);

}  // namespace benanza::execution
