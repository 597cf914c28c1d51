// SPDX-License-Identifier: Apache-2.0
// Gradients of normalisations, which read the operand, the scale and the statistics that forward kept, and of dropout.
#pragma once

#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// dx, dscale and dbias come from one pass over dy and x. The statistics are the node's results from `statistics` on.
inline void norm_gradient(const Node& node, GradientBuilder& at, std::size_t statistics) {
  if (!at.wants(node, 0) && !at.wants(node, 1) && !at.wants(node, 2)) return;
  std::vector<std::optional<ValueId>> inputs{*at.gradient(node), *node.inputs[0],
                                             node.has_input(1) ? node.inputs[1] : std::nullopt};
  for (std::size_t i = statistics; i < node.outputs.size(); ++i)
    if (node.outputs[i]) inputs.push_back(node.outputs[i]);
  std::vector<std::pair<DataType, Dims>> outputs;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < 3; ++i)
    if (i == 0 || (at.wants(node, i) && node.has_input(i))) {
      outputs.emplace_back(at.value(*node.inputs[i]).type, at.value(*node.inputs[i]).dims);
      of.push_back(i);
    }
  const auto made = at.emit_all(gradient_op(node.op_type + "Grad"), inputs, outputs, node.attributes);
  for (std::size_t i = made.size(); i-- > 0;) at.give_input(node, of[i], [&] { return made[i]; });
}
inline void batch_norm_gradient(const Node& node, GradientBuilder& at) { norm_gradient(node, at, 3); }
inline void row_norm_gradient(const Node& node, GradientBuilder& at) { norm_gradient(node, at, 1); }

/// Forward keeps a mask.
inline void dropout_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node);
    const Value& x = at.value(*node.inputs[0]);
    return at.emit(gradient_op("DropoutGrad"), {dy, node.outputs[1]}, x.type, x.dims);
  });
}

}  // namespace benanza::training
