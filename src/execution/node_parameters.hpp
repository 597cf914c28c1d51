// SPDX-License-Identifier: Apache-2.0
// node_parameters: numbers of a node that its layer does not hold because they do not affect the speed.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

/// The epsilon of a normalisation: the node's attribute or the operator's default. For other nodes, the default of the
/// reference.
[[nodiscard]] double epsilon_of(const Node& node);

/// The parameters that the layer's result depends on; all others have the reference's defaults. `inputs` has at least
/// the parameter inputs. Throws NotExecutable for numbers that the reference does not support.
[[nodiscard]] reference::Parameters node_parameters(const Node& node, const Layer& layer, const NodeTensors& inputs);

}  // namespace benanza::execution
