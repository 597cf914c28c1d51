// SPDX-License-Identifier: Apache-2.0
// Gradients of pooling, of resizing and sampling, and of rotations.
#pragma once

#include <benanza/training/gradients/elementwise.hpp>

namespace benanza::training {

/// Of max-pooling the places of the largest elements are read; of an average the gradient alone; of a root of powers
/// both operand and result.
inline void pool_gradient(const Node& node, GradientBuilder& at) {
  if (node.op_type.ends_with("LpPool")) return by_both_gradient(node, at);
  at.give_input(node, 0, [&] {
    const bool max = node.op_type == "MaxPool";
    if (max && !node.has_output(1))
      throw InputError("training: node '" + node.name + "' (MaxPool): it keeps no indices");
    const Value& x = at.value(*node.inputs[0]);
    return at.emit(gradient_op(node.op_type + "Grad"),
                   max ? std::vector<std::optional<ValueId>>{*at.gradient(node), node.outputs[1]}
                       : std::vector<std::optional<ValueId>>{*at.gradient(node)},
                   x.type, x.dims, node.attributes);
  });
}

/// The rotation back: by the negated sines.
inline void rotary_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]), sines = at.value(*node.inputs[2]);
    std::vector<std::optional<ValueId>> inputs = node.inputs;
    inputs[0] = *at.gradient(node);
    inputs[2] = at.emit({"Neg"}, {node.inputs[2]}, sines.type, sines.dims);
    return at.emit({"RotaryEmbedding"}, inputs, x.type, x.dims, node.attributes);
  });
}

/// To the picture and, where it is computed, to the grid.
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
  if (at.wants(node, 1))
    throw InputError("training: node '" + node.name +
                     "' (RoiAlign): no gradient is known for regions that are computed");
  grad_of_input(node, at, {node.inputs[1], node.inputs[2]});
}

inline void resize_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value& x = at.value(*node.inputs[0]);
    return at.emit(gradient_op("ResizeGrad"), {*at.gradient(node)}, x.type, x.dims, node.attributes);
  });
}

}  // namespace benanza::training
