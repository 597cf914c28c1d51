// SPDX-License-Identifier: Apache-2.0
// Gradients of pooling.
#pragma once

#include <benanza/training/gradient_builder.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::training {

/// The gradient of max-pooling also reads the positions of the largest elements; that of an average reads only dy.
inline void pool_gradient(const Node& node, GradientBuilder& at) {
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

/// y^p is the sum of |x|^p over a window: dx = sign(x) |x|^(p - 1) times the sum of dy y^(1 - p) over its windows,
/// which is the gradient of an average times the size of a window.
inline void lp_pool_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId x = *node.inputs[0], y = *node.outputs[0];
    const Value of = at.value(x);
    const std::int64_t p = node.attribute<std::int64_t>("p", 2);
    if (node.attribute<std::int64_t>("ceil_mode", 0) != 0)
      throw InputError("training: node '" + node.name + "' (LpPool): no gradient is known for ceil_mode");
    const bool global = node.op_type.starts_with("Global");
    const Dims kernel = global ? Dims(of.dims.begin() + 2, of.dims.end()) : node.attribute<Dims>("kernel_shape", {});
    ValueId dy = *at.gradient(node);
    if (p == 2) dy = at.binary("Div", dy, y, y);
    if (p > 2) dy = at.binary("Div", dy, at.binary("Pow", y, at.scalar(of.type, static_cast<double>(p - 1)), y), y);
    dy = at.binary("Mul", dy, at.scalar(of.type, static_cast<double>(element_count(kernel))), y);
    Attributes attributes = node.attributes;
    attributes["count_include_pad"] = std::int64_t{1};
    const ValueId sums =
        at.emit(gradient_op(global ? "GlobalAveragePoolGrad" : "AveragePoolGrad"), {dy}, of.type, of.dims, attributes);
    if (p == 2) return at.binary("Mul", x, sums, x);
    const ValueId sign = at.binary("Mul", at.unary("Sign", x), sums, x);
    if (p == 1) return sign;
    const ValueId power = at.binary("Pow", at.unary("Abs", x), at.scalar(of.type, static_cast<double>(p - 1)), x);
    return at.binary("Mul", sign, power, x);
  });
}

}  // namespace benanza::training
