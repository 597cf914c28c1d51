// SPDX-License-Identifier: Apache-2.0
// The shape of QuantizeLinear's and DequantizeLinear's x by what one scale belongs to.
#pragma once

#include <benanza/detail/node.hpp>

#include <optional>

namespace benanza::detail {

/// Outer, channels, inner; 1, all, 1 where there is one scale. Nothing for scales of blocks.
[[nodiscard]] inline std::optional<TensorShape> scaled_dims(const Node& node, const Graph& graph) {
  const Value& x = graph.input(node, 0);
  const Value* scale = node.op_type == "DynamicQuantizeLinear" ? nullptr : optional_input(node, graph, 1);
  if (!scale || scale->elements() == 1) return TensorShape{1, x.elements(), 1};
  const auto axis = to_axis(node.attribute<std::int64_t>("axis", 1), x.dims.size());
  if (!axis || scale->dims.size() != 1 || scale->dims[0] != x.dims[*axis]) return std::nullopt;
  return around(x.dims, *axis);
}

}  // namespace benanza::detail
