// SPDX-License-Identifier: Apache-2.0
// The shape of QuantizeLinear's and DequantizeLinear's x, divided according to what one scale applies to.
#pragma once

#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <optional>

namespace benanza::detail {

struct Scaled {
  TensorShape x{};         ///< outer, channels, inner; 1, all, 1 if there is only one scale
  std::int64_t block = 0;  ///< channels that share a scale at each inner position; 0: one scale per channel
};

/// Empty if the scales do not fit x.
[[nodiscard]] inline std::optional<Scaled> scaled_dims(const Node& node, const Graph& graph) {
  const Value& x = graph.input(node, 0);
  const Value* scale = node.op_type == "DynamicQuantizeLinear" ? nullptr : optional_input(node, graph, 1);
  if (!scale || scale->elements() == 1) return Scaled{.x = {1, x.elements(), 1}};
  const auto axis = to_axis(node.attribute<std::int64_t>("axis", 1), x.dims.size());
  if (!axis) return std::nullopt;
  if (scale->dims.size() == 1 && scale->dims[0] == x.dims[*axis]) {
    Scaled result{.x = around(x.dims, *axis)};
    if (result.x[0] == 1 && result.x[2] == 1) result.block = 1;  // without blocks it would have one scale
    return result;
  }
  const std::int64_t block = node.attribute<std::int64_t>("block_size", 0);
  if (block < 1 || scale->dims.size() != x.dims.size()) return std::nullopt;
  Dims blocks = x.dims;
  blocks[*axis] = (blocks[*axis] + block - 1) / block;
  if (scale->dims != blocks) return std::nullopt;
  return Scaled{.x = around(x.dims, *axis), .block = block};
}

/// The shape of the scales.
[[nodiscard]] constexpr TensorShape scales(const TensorShape& x, std::int64_t block) {
  if (block > 0) return {x[0], (x[1] + block - 1) / block, x[2]};
  return {x[0] == 1 && x[2] == 1 ? 1 : x[1]};
}

}  // namespace benanza::detail
