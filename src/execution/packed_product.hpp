// SPDX-License-Identifier: Apache-2.0
// MatMulNBits of com.microsoft: a product with a matrix of weights of 2, 4 or 8 bits. Each column of the matrix is
// divided into blocks. Each block has a scale and a zero point.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_packed_product(const Node& node);

/// `layer`, the node's own, multiplies the stored numbers without scales. It computes the node if all scales are 1 and
/// all zero points are 0, and both are constants. Any other node becomes a product with the weights as floats. Throws
/// NotExecutable if rows are in another order than their blocks, and for operands of other sizes or types.
[[nodiscard]] NodeCall bind_packed_product(const Graph& graph, const Node& node, const Layer& layer,
                                           const NodeTensors& inputs);

}  // namespace benanza::execution
