// SPDX-License-Identifier: Apache-2.0
// Functions that a model computes in several nodes, as one call: norms and attention.
#pragma once

#include "group_call.hpp"
#include <benanza/op/attention.hpp>
#include <benanza/op/normalization.hpp>

namespace benanza::execution {

/// A norm in parts, or a sum and its norm. Same contract as `bind_group`.
[[nodiscard]] std::optional<GroupCall> bind_norm(const Graph& graph, std::span<const std::size_t> nodes,
                                                 const op::LayerNorm& norm, const TensorStore& constants);

/// Two products with a softmax between them, and the nodes around them. Same contract as `bind_group`.
[[nodiscard]] std::optional<GroupCall> bind_attention(const Graph& graph, std::span<const std::size_t> nodes,
                                                      const op::Attention& attention, const TensorStore& constants);

}  // namespace benanza::execution
