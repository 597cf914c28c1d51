// SPDX-License-Identifier: Apache-2.0
// QGemm of com.microsoft: a product of two quantised matrices. Its inputs are A, B and then the result, each with its
// scale and its zero point behind it, and the addend C before the scale of the result.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_quantized_gemm(const Node& node);

/// Whether `layer`, the node's own, computes all of a QGemm: B has one scale and one zero point, and C is a constant
/// row of 32-bit integers, or left out.
[[nodiscard]] bool is_layer_of_gemm(const Graph& graph, const Node& node, const Layer& layer);

/// Every other QGemm: the reference multiplies the matrices less their zero points. What it adds, scales and rounds
/// differs from column to column. Throws NotExecutable for several scales of A or of the result, and for operands that
/// are not matrices.
[[nodiscard]] BoundNode bind_quantized_gemm(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
