// SPDX-License-Identifier: Apache-2.0
// QGemm of com.microsoft: a product of two quantised matrices. Its inputs are A and B, each followed by its scale and
// its zero point, then the addend C, then the scale and the zero point of the result.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_quantized_gemm(const Node& node);

/// Whether `layer`, the node's own, computes a whole QGemm: B has one scale and one zero point, and C is a constant row
/// of 32-bit integers, or left out.
[[nodiscard]] bool is_layer_of_gemm(const Graph& graph, const Node& node, const Layer& layer);

/// Any other QGemm. The reference multiplies the matrices minus their zero points. What it adds, scales and rounds
/// differs from column to column. Throws NotExecutable for several scales of A or of the result, and for operands that
/// are not matrices.
[[nodiscard]] NodeCall bind_quantized_gemm(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
