// SPDX-License-Identifier: Apache-2.0
// Gradients of normalisations, which read the operand, the scale and the statistics that forward has kept, and of
// dropout.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// The share of elements that a Dropout drops.
[[nodiscard]] inline double dropout_ratio(const Node& node, const Graph& graph) {
  if (node.attributes.contains("ratio")) return node.attribute<double>("ratio", 0.5);
  if (!node.has_input(1)) return 0.5;
  return detail::scalar(graph.value(*node.inputs[1])).value_or(0.5);
}

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
    if (node.has_input(i)) {  // one call computes all, even if only some are wanted
      outputs.emplace_back(at.value(*node.inputs[i]).type, at.value(*node.inputs[i]).dims);
      of.push_back(i);
    }
  const auto made = at.emit_all(gradient_op(node.op_type + "Grad"), inputs, outputs, node.attributes);
  for (std::size_t i = made.size(); i-- > 0;) at.give_input(node, of[i], [&] { return made[i]; });
}
inline void batch_norm_gradient(const Node& node, GradientBuilder& at) { norm_gradient(node, at, 3); }
inline void row_norm_gradient(const Node& node, GradientBuilder& at) { norm_gradient(node, at, 1); }

/// y = x / |x| along an axis: dx = (dy - y' sum(dy y)) / |x|, where y' is y, or for the 1-norm the sign of x.
inline void lp_norm_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0], y = *node.outputs[0];
    const Dims dims = at.value(x).dims;
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), dims.size());
    if (!axis) throw InputError("training: node '" + node.name + "' (LpNormalization): its axis is out of range");
    const bool l1 = node.attribute<std::int64_t>("p", 2) == 1;
    const Dims axes{static_cast<std::int64_t>(*axis)};
    Dims kept = dims;
    kept[*axis] = 1;
    const ValueId sum = at.sum_over(at.binary("Mul", dy, y, x), axes, kept);
    const ValueId norm = at.emit({l1 ? "ReduceL1" : "ReduceL2"}, {x, at.integers(axes)}, at.value(x).type, kept);
    const ValueId along = at.binary("Mul", l1 ? at.unary("Sign", x) : y, sum, x);
    return at.binary("Div", at.binary("Sub", dy, along, x), norm, x);
  });
}

/// y = (x - mean) / deviation: dx = (dy - mean(dy) - y mean(dy y)) / deviation.
inline void mean_variance_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0], y = *node.outputs[0];
    const Dims dims = at.value(x).dims;
    Dims kept = dims, axes = node.attribute<Dims>("axes", {0, 2, 3});
    for (const auto axis : axes)
      if (const auto one = detail::to_axis(axis, dims.size())) kept[*one] = 1;
    const auto mean = [&](ValueId id) {
      return at.emit({"ReduceMean"}, {id, at.integers(axes)}, at.value(id).type, kept);
    };
    const ValueId centered = at.binary("Sub", x, mean(x), x);
    const ValueId variance = mean(at.binary("Mul", centered, centered, x));
    const ValueId along = at.binary("Mul", y, mean(at.binary("Mul", dy, y, x)), x);
    const ValueId rest = at.binary("Sub", at.binary("Sub", dy, mean(dy), x), along, x);
    return at.binary("Div", rest, at.unary("Sqrt", variance), x);
  });
}

/// y = x s^-beta with s = bias + alpha / size times the sum of x x over `size` channels: dx = dy s^-beta - 2 alpha beta
/// / size x times the sum of dy y / s over the channels whose sums contain x. Average pools compute sums over channels.
inline void lrn_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0], y = *node.outputs[0];
    const Value of = at.value(x);
    if (of.dims.size() < 2) throw InputError("training: node '" + node.name + "' (LRN): its operand has no channels");
    const std::int64_t size = node.attribute<std::int64_t>("size", 1), before = (size - 1) / 2;
    const double alpha = detail::decimal(node.attribute<double>("alpha", 1e-4)),
                 beta = detail::decimal(node.attribute<double>("beta", 0.75)),
                 bias = detail::decimal(node.attribute<double>("bias", 1));
    const auto average = [&](ValueId id, std::int64_t first) {
      const Dims planes{of.dims[0], 1, of.dims[1], element_count(of.dims) / (of.dims[0] * of.dims[1])};
      const Attributes window{{"kernel_shape", Dims{size, 1}},
                              {"pads", Dims{first, 0, size - 1 - first, 0}},
                              {"count_include_pad", std::int64_t{1}}};
      return at.reshape(at.emit({"AveragePool"}, {at.reshape(id, planes)}, of.type, planes, window), of.dims);
    };
    const ValueId squares = average(at.binary("Mul", x, x, x), before);
    const ValueId s =
        at.binary("Add", at.binary("Mul", squares, at.scalar(of.type, alpha), x), at.scalar(of.type, bias), x);
    const ValueId others = average(at.binary("Div", at.binary("Mul", dy, y, x), s, x), size - 1 - before);
    const ValueId own = at.binary("Mul", dy, at.binary("Pow", s, at.scalar(of.type, -beta), x), x);
    const ValueId rest = at.binary("Mul", at.binary("Mul", x, others, x), at.scalar(of.type, 2 * alpha * beta), x);
    return at.binary("Sub", own, rest, x);
  });
}

/// Forward keeps a mask. The elements that it kept were divided by the share that is kept.
inline void dropout_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0];
    const DataType type = at.value(x).type;
    const ValueId kept = at.emit({"Where"}, {node.outputs[1], dy, at.scalar(type, 0)}, type, at.value(x).dims);
    return at.binary("Mul", kept, at.scalar(type, 1 / (1 - dropout_ratio(node, at.graph()))), x);
  });
}

}  // namespace benanza::training
