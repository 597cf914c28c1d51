// SPDX-License-Identifier: Apache-2.0
// What nodes of an iteration of training are bound by besides their layers: statistics that forward keeps, operands
// that a gradient has in another form, and the optimizer's step.
#pragma once

#include "bind_node.hpp"

#include <optional>
#include <vector>

namespace benanza::execution {

/// Mean, variance or inverse deviation, which a normalisation keeps for its gradient: output `i` of the node, from its
/// operand. Nothing for other outputs.
[[nodiscard]] std::optional<OutputSource> kept_statistic(const Graph& graph, const Node& node, std::size_t i);

/// The gates' values of all steps, or the cells', which a recurrent node keeps for its gradient: output `i` of the
/// node, from the inputs that are the layer's operands. Nothing for other outputs.
[[nodiscard]] std::optional<OutputSource> kept_step(const Graph& graph, const Node& node, const op::Recurrent& layer,
                                                    std::size_t i, std::vector<std::size_t> operands);

/// Operand `i` of a gradient's layer, which is input `input` of the node; nothing where it is that input as it is.
[[nodiscard]] std::optional<OperandSource> gradient_operand(const Node& node, const Layer& layer, std::size_t i,
                                                            std::size_t input);

/// Weights and states after the optimizer's step, in the order of the node's outputs.
[[nodiscard]] std::vector<Tensor> optimizer_step(const Node& node, const NodeTensors& inputs);

}  // namespace benanza::execution
