// SPDX-License-Identifier: Apache-2.0
// Gradients of pooling and resizing.
#pragma once

#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// Of max-pooling the places of the largest elements are read; of an average the gradient alone.
inline void pool_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const bool max = node.op_type == "MaxPool";
    if (max && !node.has_output(1)) throw InputError("training: node '" + node.name + "' (MaxPool): it keeps no indices");
    const Value& x = at.value(*node.inputs[0]);
    return at.emit(gradient_op(node.op_type + "Grad"),
                   max ? std::vector<std::optional<ValueId>>{*at.gradient(node), node.outputs[1]}
                       : std::vector<std::optional<ValueId>>{*at.gradient(node)},
                   x.type, x.dims, node.attributes);
  });
}

inline void resize_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value& x = at.value(*node.inputs[0]);
    return at.emit(gradient_op("ResizeGrad"), {*at.gradient(node)}, x.type, x.dims, node.attributes);
  });
}

}  // namespace benanza::training
