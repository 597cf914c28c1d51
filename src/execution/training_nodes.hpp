// SPDX-License-Identifier: Apache-2.0
// Sources of operands and outputs of training nodes in addition to their layers: statistics that the forward pass
// keeps, operands that a gradient has in another form, and the optimizer's step.
#pragma once

#include "bind_node.hpp"

#include <optional>
#include <vector>

namespace benanza::execution {

/// A mean, variance or inverse deviation that a normalisation keeps for its gradient: output `i` of the node, computed
/// from its operand. Empty for other outputs.
[[nodiscard]] std::optional<OutputSource> kept_statistic(const Graph& graph, const Node& node, std::size_t i);

/// The values of the gates or of the cells in all steps, which a recurrent node keeps for its gradient: output `i` of
/// the node, computed from the inputs that are the layer's operands. Empty for other outputs.
[[nodiscard]] std::optional<OutputSource> kept_step(const Graph& graph, const Node& node, const op::Recurrent& layer,
                                                    std::size_t i, std::vector<std::size_t> operands);

/// Operand `i` of a gradient's layer, which comes from input `input` of the node. Empty if it is that input unchanged.
[[nodiscard]] std::optional<OperandSource> gradient_operand(const Node& node, const Layer& layer, std::size_t i,
                                                            std::size_t input);

/// Weights and states after the optimizer's step, in the order of the node's outputs.
[[nodiscard]] std::vector<Tensor> optimizer_step(const Node& node, const NodeTensors& inputs);

}  // namespace benanza::execution
