// SPDX-License-Identifier: Apache-2.0
// Products of one input as one call, with their weights side by side.
#pragma once

#include "bound_group.hpp"
#include <benanza/op/mat_mul.hpp>

namespace benanza::execution {

/// Products of one row, each perhaps with a bias: their results lie one behind the other in that of the call. Nothing
/// for several rows, since plans read no gaps between rows, and where `bind_group` gives nothing.
[[nodiscard]] std::optional<BoundGroup> bind_products(const Graph& graph, std::span<const std::size_t> nodes,
                                                      const op::MatMul& all, const TensorStore& constants);

}  // namespace benanza::execution
