// SPDX-License-Identifier: Apache-2.0
// Gradients of operators that repeat a tensor, keep a triangle, and move blocks.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza::training {

/// The sum of all copies.
inline void tile_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node);
    const Dims dims = at.value(*node.inputs[0]).dims, repeated = at.value(dy).dims;
    Dims split, axes;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (repeated[i] != dims[i]) {
        axes.push_back(static_cast<std::int64_t>(split.size()));
        split.push_back(dims[i] == 0 ? 0 : repeated[i] / dims[i]);
      }
      split.push_back(dims[i]);
    }
    return at.sum_over(at.reshape(dy, split), axes, dims);
  });
}

inline void trilu_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node);
    std::vector<std::optional<ValueId>> inputs = node.inputs;
    inputs[0] = dy;
    const Value y = at.value(dy);
    return at.emit({"Trilu"}, inputs, y.type, y.dims, node.attributes);
  });
}

/// DepthToSpace and SpaceToDepth are a view, a permutation and a view. The gradient uses the inverse permutation.
inline void blocks_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Dims x = at.value(*node.inputs[0]).dims;
    const std::int64_t block = node.attribute<std::int64_t>("blocksize", 1);
    const ValueId dy = *at.gradient(node);
    const Dims y = at.value(dy).dims;
    if (node.op_type == "SpaceToDepth")  // y: N, block, block, C, H, W
      return at.reshape(at.transpose(at.reshape(dy, {y[0], block, block, x[1], y[2], y[3]}), {0, 3, 4, 1, 5, 2}), x);
    const bool depth_first = node.attribute<std::string>("mode", "DCR") == "DCR";
    const ValueId split = at.reshape(dy, {y[0], y[1], x[2], block, x[3], block});  // N, C, H, block, W, block
    return at.reshape(at.transpose(split, depth_first ? Dims{0, 3, 5, 1, 2, 4} : Dims{0, 1, 3, 5, 2, 4}), x);
  });
}

}  // namespace benanza::training
