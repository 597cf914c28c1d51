// SPDX-License-Identifier: Apache-2.0
// Gradients of losses that a model computes itself.
#pragma once

#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// SoftmaxCrossEntropyLoss reads the logarithms of the probabilities, NegativeLogLikelihoodLoss only the targets.
inline void loss_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]);
    std::vector<std::optional<ValueId>> inputs{*at.gradient(node)};
    if (node.op_type == "SoftmaxCrossEntropyLoss") inputs.push_back(node.outputs[1]);
    inputs.push_back(node.inputs[1]);
    if (node.has_input(2)) inputs.push_back(node.inputs[2]);
    return at.emit(gradient_op(node.op_type + "Grad"), inputs, x.type, x.dims, node.attributes);
  });
}

}  // namespace benanza::training
