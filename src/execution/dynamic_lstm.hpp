// SPDX-License-Identifier: Apache-2.0
// bind_dynamic_lstm: DynamicQuantizeLSTM of com.microsoft, whose states are quantised anew in each step.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool is_dynamic_lstm(const Node& node);

/// What ONNX Runtime computes: x is rounded to 8 bits as a whole, the states of a batch before each step, both as
/// DynamicQuantizeLinear does it. The layer rounds neither. `layer` is the node's own. Throws NotExecutable for another
/// layer and for sizes that do not fit together.
[[nodiscard]] BoundNode bind_dynamic_lstm(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
