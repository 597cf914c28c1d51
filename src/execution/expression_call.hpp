// SPDX-License-Identifier: Apache-2.0
// The nodes of an expression, as one call.
#pragma once

#include "group_call.hpp"
#include <benanza/model/model_layers.hpp>

#include <optional>

namespace benanza::execution {

/// `group`: an occurrence of the fused form of `single`, the single form of a graph without bodies. Empty if its layer
/// is no expression, or another one than that of the nodes.
[[nodiscard]] std::optional<GroupCall> bind_expression(const Graph& graph, const LayerGraph& single,
                                                       const Occurrence& group, const TensorStore& constants);

}  // namespace benanza::execution
