// SPDX-License-Identifier: Apache-2.0
// Gradients of reductions, of the largest and smallest of several operands, of running sums and of the largest k.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <algorithm>
#include <cstddef>

namespace benanza::training {

/// The dimensions of a reduction's operand with 1 where it reduces.
[[nodiscard]] inline Dims kept_dims(const Node& node, const GradientBuilder& at) {
  const Dims dims = at.value(*node.inputs[0]).dims;
  const auto axes = detail::given_ints(node, at.graph(), "axes", 1);
  if (axes.given && !axes.known)
    throw InputError("training: node '" + node.name + "' (" + node.op_type + "): its axes are not known");
  if (axes.values.empty() && node.attribute<std::int64_t>("noop_with_empty_axes", 0) != 0) return dims;
  Dims kept = dims;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (axes.values.empty() || std::any_of(axes.values.begin(), axes.values.end(),
                                           [&](std::int64_t axis) { return detail::to_axis(axis, dims.size()) == i; }))
      kept[i] = 1;
  return kept;
}

/// ReduceSum and ReduceMean: each element gets the gradient of its sum.
inline void sum_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const DataType type = at.value(*node.inputs[0]).type;
    const Dims dims = at.value(*node.inputs[0]).dims, kept = kept_dims(node, at);
    ValueId dy = *at.gradient(node);
    if (node.op_type == "ReduceMean") {
      const double count = static_cast<double>(element_count(dims)) / static_cast<double>(element_count(kept));
      dy = at.multiply(dy, at.scalar(type, 1 / count), at.value(dy).dims);
    }
    return at.expand(at.reshape(dy, kept), dims);
  });
}

/// Those whose derivative reads the operand, and all but two of them the result too.
inline void reduce_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId x = *node.inputs[0];
    const Dims kept = kept_dims(node, at);
    const ValueId dy = at.reshape(*at.gradient(node), kept);
    const DataType type = at.value(x).type;
    const std::string_view fn = std::string_view(node.op_type).substr(6);  // behind "Reduce"
    if (fn == "L1") return at.binary("Mul", at.unary("Sign", x), dy, x);
    if (fn == "SumSquare") return at.binary("Mul", x, at.binary("Mul", dy, at.scalar(type, 2), dy), x);
    const ValueId y = at.reshape(*node.outputs[0], kept);
    if (fn == "Max" || fn == "Min") {
      const ValueId is_result = at.emit({"Equal"}, {x, y}, DataType::boolean, at.value(x).dims);
      return at.emit({"Where"}, {is_result, dy, at.scalar(type, 0)}, type, at.value(x).dims);
    }
    if (fn == "Prod") return at.binary("Div", at.binary("Mul", dy, y, dy), x, x);
    if (fn == "L2") return at.binary("Mul", x, at.binary("Div", dy, y, dy), x);
    if (fn == "LogSum") return at.expand(at.binary("Div", dy, at.unary("Exp", y), dy), at.value(x).dims);
    return at.binary("Mul", at.unary("Exp", at.binary("Sub", x, y, x)), dy, x);  // LogSumExp
  });
}

/// The operand that is the result gets the gradient.
inline void extremum_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  const Dims dims = at.value(dy).dims;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    at.give_input(node, i, [&] {
      const ValueId is_result = at.emit({"Equal"}, {node.inputs[i], node.outputs[0]}, DataType::boolean, dims);
      const DataType type = at.value(dy).type;
      const ValueId taken = at.emit({"Where"}, {is_result, dy, at.scalar(type, 0)}, type, dims);
      return at.sum_to(taken, at.value(*node.inputs[i]).dims);
    });
}

/// The mean of several operands.
inline void mean_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  const Value y = at.value(dy);
  const ValueId part =
      at.multiply(dy, at.scalar(y.type, 1 / static_cast<double>(std::max<std::size_t>(1, node.inputs.size()))), y.dims);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    at.give_input(node, i, [&] { return at.sum_to(part, at.value(*node.inputs[i]).dims); });
}

/// The running sum of the gradient, from the other end.
inline void cumulative_sum_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]);
    Attributes attributes = node.attributes;
    attributes["reverse"] = std::int64_t{node.attribute<std::int64_t>("reverse", 0) == 0};
    return at.emit({"CumSum"}, {*at.gradient(node), node.inputs[1]}, x.type, x.dims, attributes);
  });
}

/// What was found goes back to its place.
inline void top_k_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]);
    if (!node.has_output(1)) throw InputError("training: node '" + node.name + "' (TopK): it keeps no indices");
    const std::int64_t axis = node.attribute<std::int64_t>("axis", -1);
    return at.emit({"ScatterElements"}, {at.zeros(*node.inputs[0]), node.outputs[1], *at.gradient(node)}, x.type,
                   x.dims, {{"axis", axis}});
  });
}

}  // namespace benanza::training
