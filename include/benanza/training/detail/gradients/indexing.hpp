// SPDX-License-Identifier: Apache-2.0
// Gradients of operators that put elements at given places.
#pragma once

#include <benanza/training/gradient_builder.hpp>

#include <string>

namespace benanza::training {

/// ScatterElements and ScatterND: elements that were overwritten have no gradient; updates get the gradient of their
/// positions.
inline void scatter_gradient(const Node& node, GradientBuilder& at) {
  const std::string reduction = node.attribute<std::string>("reduction", "none");
  if (reduction != "none" && reduction != "add")
    throw InputError("training: node '" + node.name + "' (" + node.op_type + "): no gradient is known for reduction '" +
                     reduction + "'");
  const ValueId dy = *at.gradient(node), indices = *node.inputs[1];
  const DataType type = at.value(dy).type;
  const Dims updates = at.value(*node.inputs[2]).dims;
  const bool rows = node.op_type == "ScatterND";
  Attributes axis;
  if (const auto found = node.attributes.find("axis"); found != node.attributes.end()) axis.insert(*found);
  at.give_input(node, 2, [&] {
    return at.emit({rows ? "GatherND" : "GatherElements"}, {dy, indices}, type, updates, axis);
  });
  at.give_input(node, 0, [&] {
    if (reduction == "add") return dy;
    const Dims dims = at.value(dy).dims;
    const ValueId zeros = at.expand(at.scalar(type, 0), updates);
    return at.emit({rows ? "ScatterND" : "ScatterElements"}, {dy, indices, zeros}, type, dims, axis);
  });
}

}  // namespace benanza::training
