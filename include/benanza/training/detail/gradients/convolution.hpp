// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions: another convolution for the data, a third one for the weights, and a sum for the bias.
#pragma once

#include <benanza/base/detail/window.hpp>
#include <benanza/op/convolution.hpp>
#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// The attributes of a convolution that its gradients need.
[[nodiscard]] inline Attributes window_attributes(const Node& node) {
  Attributes result;
  for (const auto* key : {"auto_pad", "pads", "strides", "dilations", "group"})
    if (const auto found = node.attributes.find(key); found != node.attributes.end()) result.insert(*found);
  return result;
}

/// The gradient of a bias along axis 1.
inline void bias_gradient(const Node& node, GradientBuilder& at, std::size_t i, ValueId dy) {
  at.give_input(node, i, [&] {
    Dims axes{0};
    for (std::size_t axis = 2; axis < at.value(dy).dims.size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return at.sum_over(dy, axes, at.value(*node.inputs[i]).dims);
  });
}

inline void conv_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node), x = *node.inputs[0], w = *node.inputs[1];
  const DataType type = at.value(x).type;
  at.give_input(node, 1, [&] {
    return at.emit(gradient_op("ConvGradWeights"), {x, dy}, type, at.value(w).dims, window_attributes(node));
  });
  bias_gradient(node, at, 2, dy);
  at.give_input(node, 0, [&] {
    return at.emit(gradient_op("ConvGradData"), {dy, w}, type, at.value(x).dims, window_attributes(node));
  });
}

/// Pads of the convolution that maps y to x.
[[nodiscard]] inline Attributes transposed_attributes(const Node& node, const GradientBuilder& at) {
  const auto layer = op::ConvTranspose::from(node, at.graph());
  const std::size_t spatial = at.value(*node.inputs[0]).dims.size() - 2;
  if (!layer || layer->x.size() != spatial + 2)
    throw InputError("training: node '" + node.name + "' (ConvTranspose): its sizes do not fit together");
  Attributes result = window_attributes(node);
  result.erase("auto_pad");
  Dims pads(2 * spatial);
  for (std::size_t i = 0; i < pads.size(); ++i) pads[i] = detail::at_or(layer->pads, i, 0);
  result["pads"] = pads;
  return result;
}

/// A transposed convolution is the gradient of a convolution: the gradient of its data is that convolution.
inline void conv_transpose_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node), x = *node.inputs[0], w = *node.inputs[1];
  const DataType type = at.value(x).type;
  const Attributes attributes = transposed_attributes(node, at);
  at.give_input(node, 1, [&] {
    return at.emit(gradient_op("ConvGradWeights"), {dy, x}, type, at.value(w).dims, attributes);
  });
  bias_gradient(node, at, 2, dy);
  at.give_input(node, 0, [&] { return at.emit({"Conv"}, {dy, w}, type, at.value(x).dims, attributes); });
}

}  // namespace benanza::training
