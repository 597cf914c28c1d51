// SPDX-License-Identifier: Apache-2.0
// Products of one input as one call, with their weights side by side.
#pragma once

#include "group_call.hpp"
#include <benanza/op/product.hpp>

namespace benanza::execution {

/// Products of one row, each with or without a bias. Their results follow one another in the result of the call. Empty
/// for several rows, since plans do not read rows with gaps between them, and if `bind_group` is empty.
[[nodiscard]] std::optional<GroupCall> bind_products(const Graph& graph, std::span<const std::size_t> nodes,
                                                     const op::MatMul& all, const TensorStore& constants);

}  // namespace benanza::execution
