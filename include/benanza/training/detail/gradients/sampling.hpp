// SPDX-License-Identifier: Apache-2.0
// Gradients of resizing and sampling.
#pragma once

#include <benanza/training/detail/gradients/elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace benanza::training {

/// Gradients of the image and, if it is computed, of the grid.
inline void grid_sample_gradient(const Node& node, GradientBuilder& at) {
  std::vector<std::pair<DataType, Dims>> outputs;
  for (std::size_t i = 0; i < 2; ++i)
    if (at.wants(node, i)) outputs.emplace_back(at.value(*node.inputs[i]).type, at.value(*node.inputs[i]).dims);
  const auto made = at.emit_all(gradient_op("GridSampleGrad"), {*at.gradient(node), node.inputs[0], node.inputs[1]},
                                outputs, node.attributes);
  std::size_t next = 0;
  for (std::size_t i = 0; i < 2; ++i) at.give_input(node, i, [&] { return made[next++]; });
}
inline void roi_align_gradient(const Node& node, GradientBuilder& at) {
  grad_of_input(node, at, {node.inputs[1], node.inputs[2]});
}

inline void resize_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value& x = at.value(*node.inputs[0]);
    Attributes attributes = node.attributes;
    const bool early = node.op_type == "Upsample" || node.opset < 11;
    if (early) attributes["early"] = std::int64_t{1};
    const std::size_t scales = early ? 1 : 2;
    if (node.has_input(scales) && !node.attributes.contains("axes"))
      if (const auto& literal = at.value(*node.inputs[scales]).literal;
          literal && literal->floats.size() == x.dims.size())
        attributes["resize_scales"] = literal->floats;
    return at.emit(gradient_op("ResizeGrad"), {*at.gradient(node)}, x.type, x.dims, attributes);
  });
}

}  // namespace benanza::training
