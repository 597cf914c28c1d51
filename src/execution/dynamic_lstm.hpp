// SPDX-License-Identifier: Apache-2.0
// bind_dynamic_lstm: DynamicQuantizeLSTM of com.microsoft, whose states are quantised again in each step.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_dynamic_lstm(const Node& node);

/// Computes what ONNX Runtime computes: x is rounded to 8 bits as a whole, and the states of a batch before each step,
/// both as DynamicQuantizeLinear does. The layer rounds neither. `layer` is the node's own. Throws NotExecutable for
/// another layer and for inconsistent sizes.
[[nodiscard]] NodeCall bind_dynamic_lstm(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
