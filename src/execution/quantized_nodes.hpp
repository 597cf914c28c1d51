// SPDX-License-Identifier: Apache-2.0
// bind_quantized: nodes of com.microsoft whose operands have a scale and a zero point each, such as QLinearAdd.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

/// The element of an integer type that stands for a number: `quotient` is the number over the scale of the tensor,
/// which is rounded (halves to even) before the zero point is added; what is out of range is the nearest element.
[[nodiscard]] double quantised_element(double quotient, double zero_point, DataType type);

/// Whether `bind_quantized` computes nodes of this operator.
[[nodiscard]] bool is_quantized_node(const Node& node);

/// The reference computes `layer`, the node's own, in floats, between a dequantise and a quantise: what a layer holds
/// is one factor for all of its operands. Throws NotExecutable for images whose channels are last, and for tensors with
/// more than one scale.
[[nodiscard]] BoundNode bind_quantized(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
