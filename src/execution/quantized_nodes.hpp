// SPDX-License-Identifier: Apache-2.0
// bind_quantized: nodes of com.microsoft whose operands each have a scale and a zero point, such as QLinearAdd.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

/// The element of an integer type that represents a number. `quotient` is the number divided by the scale of the
/// tensor. It is rounded (halves to even) before the zero point is added, and the result is saturated.
[[nodiscard]] double quantized_element(double quotient, double zero_point, DataType type);

/// Whether `bind_quantized` computes nodes of this operator.
[[nodiscard]] bool is_quantized_node(const Node& node);

/// The reference computes `layer`, the node's own, in floats, between a dequantise and a quantise, since a layer holds
/// only one factor for all of its operands. Throws NotExecutable for images in channels-last layout, and for tensors
/// with more than one scale.
[[nodiscard]] NodeCall bind_quantized(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
