// SPDX-License-Identifier: Apache-2.0
// Gradients of pooling, of resizing and sampling, and of rotations.
#pragma once

#include <benanza/training/detail/gradients/elementwise.hpp>

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

/// Rotates back, with the negated sines. ONNX Runtime's operator has the sines after the positions.
inline void rotary_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const std::size_t k = node.domain.empty() ? 2 : 3;
    const Value x = at.value(*node.inputs[0]), sines = at.value(*node.inputs.at(k));
    std::vector<std::optional<ValueId>> inputs = node.inputs;
    inputs[0] = *at.gradient(node);
    inputs[k] = at.emit({"Neg"}, {node.inputs[k]}, sines.type, sines.dims);
    return at.emit({"RotaryEmbedding", node.domain}, inputs, x.type, x.dims, node.attributes);
  });
}

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
