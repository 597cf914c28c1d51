// SPDX-License-Identifier: Apache-2.0
// Gradients of element-wise operators.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <array>
#include <string_view>

namespace benanza::training {

/// Functions whose derivative is computed from their result: their operand need not be kept.
inline constexpr std::array<std::string_view, 9> derived_from_result{
    "Relu", "Sigmoid", "Tanh", "Exp", "Sqrt", "Reciprocal", "Elu", "LeakyRelu", "HardSigmoid"};

/// Gives input 0 the gradient, which one operator computes from dy and tensors of forward.
inline void grad_of_input(const Node& node, GradientBuilder& at, const std::vector<std::optional<ValueId>>& read) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]);
    std::vector<std::optional<ValueId>> inputs{*at.gradient(node)};
    inputs.insert(inputs.end(), read.begin(), read.end());
    return at.emit(gradient_op(node.op_type + "Grad"), inputs, x.type, x.dims, node.attributes);
  });
}
inline void by_operand_gradient(const Node& node, GradientBuilder& at) { grad_of_input(node, at, {node.inputs[0]}); }
inline void by_result_gradient(const Node& node, GradientBuilder& at) { grad_of_input(node, at, {node.outputs[0]}); }
/// Before opset 13 all dimensions from the axis on are normalised as one.
inline void softmax_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value y = at.value(*node.outputs[0]);
    Attributes attributes = node.attributes;
    if (node.opset < 13) attributes["flattens"] = std::int64_t{1};
    return at.emit(gradient_op(node.op_type + "Grad"), {*at.gradient(node), node.outputs[0]}, y.type, y.dims,
                   attributes);
  });
}
inline void by_both_gradient(const Node& node, GradientBuilder& at) {
  grad_of_input(node, at, {node.inputs[0], node.outputs[0]});
}

/// Functions of angles, whose derivatives are composed of other functions.
inline void angle_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0], y = *node.outputs[0];
    const ValueId one = at.scalar(at.value(x).type, 1);
    const std::string& fn = node.op_type;
    if (fn == "Cosh") return at.binary("Mul", dy, at.unary("Sinh", x), x);
    if (fn == "Sinh") return at.binary("Mul", dy, at.unary("Cosh", x), x);
    if (fn == "Tan") return at.binary("Mul", dy, at.binary("Add", at.binary("Mul", y, y, x), one, x), x);
    const ValueId square = at.binary("Mul", x, x, x);
    if (fn == "Atan") return at.binary("Div", dy, at.binary("Add", square, one, x), x);
    if (fn == "Atanh") return at.binary("Div", dy, at.binary("Sub", one, square, x), x);
    const bool adds = fn == "Asinh", flips = fn == "Acos" || fn == "Asin";
    const ValueId under = adds    ? at.binary("Add", square, one, x)
                          : flips ? at.binary("Sub", one, square, x)
                                  : at.binary("Sub", square, one, x);
    const ValueId quotient = at.binary("Div", dy, at.unary("Sqrt", under), x);
    return fn == "Acos" ? at.unary("Neg", quotient) : quotient;
  });
}

/// The operator also reads the bounds. A bound that is left out is replaced by one that limits nothing.
inline void clip_gradient(const Node& node, GradientBuilder& at) {
  constexpr double beyond = 1e38;
  const DataType type = at.value(*node.inputs[0]).type;
  std::vector<std::optional<ValueId>> read{node.inputs[0]};
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    read.push_back(node.has_input(i) ? node.inputs[i] : at.scalar(type, i == 1 ? -beyond : beyond));
  grad_of_input(node, at, read);
}

/// The operator also reads the bounds of Clip. A bias before Gelu is not supported.
inline void unary_gradient(const Node& node, GradientBuilder& at) {
  if (node.op_type == "Neg")
    return at.give_input(node, 0, [&] {
      const Value dy = at.value(*at.gradient(node));
      return at.emit({"Neg"}, {*at.gradient(node)}, dy.type, dy.dims);
    });
  if (node.op_type != "Clip" && node.inputs.size() > 1)
    throw InputError("training: node '" + node.name + "' (" + node.op_type + "): no gradient is known for its bias");
  if (node.op_type == "Clip" && node.opset >= 11) return clip_gradient(node, at);
  if (std::find(derived_from_result.begin(), derived_from_result.end(), node.op_type) != derived_from_result.end())
    return by_result_gradient(node, at);
  by_operand_gradient(node, at);
}

/// Operands get dy with the same sign, summed over the axes along which they were broadcast.
inline void add_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    at.give_input(node, i, [&] { return at.sum_to(dy, at.value(*node.inputs[i]).dims); });
}
inline void sub_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  at.give_input(node, 0, [&] { return at.sum_to(dy, at.value(*node.inputs[0]).dims); });
  at.give_input(node, 1, [&] {
    const ValueId sum = at.sum_to(dy, at.value(*node.inputs[1]).dims);
    return at.emit({"Neg"}, {sum}, at.value(sum).type, at.value(sum).dims);
  });
}
inline void mul_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  const Dims dims = at.value(dy).dims;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}})
    at.give_input(
        node, i, [&] { return at.sum_to(at.multiply(dy, *node.inputs[1 - i], dims), at.value(*node.inputs[i]).dims); });
}
/// SwiGLU: Swish of the first operand, times the second.
inline void swiglu_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node), a = *node.inputs[0], b = *node.inputs[1];
  const Value of = at.value(a);
  at.give_input(node, 1,
                [&] { return at.binary("Mul", dy, at.emit({"Swish"}, {a}, of.type, of.dims, node.attributes), dy); });
  at.give_input(node, 0, [&] {
    return at.emit(gradient_op("SwishGrad"), {at.binary("Mul", dy, b, dy), a}, of.type, of.dims, node.attributes);
  });
}
/// d(a / b) = da / b - y / b db.
inline void div_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node), b = *node.inputs[1];
  const DataType type = at.value(dy).type;
  const Dims dims = at.value(dy).dims;
  if (!at.wants(node, 0) && !at.wants(node, 1)) return;
  const ValueId part = at.emit({"Div"}, {dy, b}, type, dims);
  at.give_input(node, 1, [&] {
    const ValueId sum = at.sum_to(at.multiply(part, *node.outputs[0], dims), at.value(b).dims);
    return at.emit({"Neg"}, {sum}, type, at.value(b).dims);
  });
  at.give_input(node, 0, [&] { return at.sum_to(part, at.value(*node.inputs[0]).dims); });
}
/// d(x mod b) = dx wherever the derivative exists.
inline void mod_gradient(const Node& node, GradientBuilder& at) {
  if (at.wants(node, 1))
    throw InputError("training: node '" + node.name + "' (Mod): no gradient is known for a divisor that is computed");
  at.give_input(node, 0, [&] { return at.sum_to(*at.gradient(node), at.value(*node.inputs[0]).dims); });
}
/// d(x^p) = p x^(p - 1) dx + x^p log(x) dp.
inline void pow_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node), x = *node.inputs[0], p = *node.inputs[1];
  at.give_input(node, 1, [&] {
    const ValueId log = at.unary("Log", x);
    const ValueId part = at.binary("Mul", at.binary("Mul", dy, *node.outputs[0], dy), log, dy);
    return at.sum_to(part, at.value(p).dims);
  });
  at.give_input(node, 0, [&] {
    const auto known = detail::scalar(at.value(p));
    const DataType type = at.value(x).type;
    ValueId slope = 0;
    if (known && *known == 2) {
      slope = at.binary("Mul", x, at.scalar(type, 2), x);
    } else if (known) {
      slope = at.binary("Mul", at.binary("Pow", x, at.scalar(type, *known - 1), x), at.scalar(type, *known), x);
    } else {
      const ValueId less = at.binary("Sub", p, at.scalar(at.value(p).type, 1), p);
      slope = at.binary("Mul", at.binary("Pow", x, less, dy), p, dy);
    }
    return at.sum_to(at.binary("Mul", slope, dy, dy), at.value(x).dims);
  });
}
/// dx = dy where x is positive, otherwise dy times the slope. The gradient of the slope is the sum of dy x over the
/// rest.
inline void prelu_gradient(const Node& node, GradientBuilder& at) {
  if (!at.wants(node, 0) && !at.wants(node, 1)) return;
  const ValueId dy = *at.gradient(node), x = *node.inputs[0], slope = *node.inputs[1];
  const ValueId zero = at.scalar(at.value(x).type, 0);
  const ValueId positive = at.emit({"Greater"}, {x, zero}, DataType::boolean, at.value(x).dims);
  const auto choose = [&](ValueId yes, ValueId no) {
    return at.emit({"Where"}, {positive, yes, no}, at.value(x).type, at.value(x).dims);
  };
  at.give_input(node, 1, [&] { return at.sum_to(choose(zero, at.binary("Mul", dy, x, x)), at.value(slope).dims); });
  at.give_input(node, 0, [&] { return choose(dy, at.binary("Mul", dy, slope, x)); });
}
inline void where_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  const DataType type = at.value(dy).type;
  const Dims dims = at.value(dy).dims;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    at.give_input(node, i, [&] {
      const ValueId zero = at.scalar(type, 0);
      const ValueId taken = i == 1 ? at.emit({"Where"}, {*node.inputs[0], dy, zero}, type, dims)
                                   : at.emit({"Where"}, {*node.inputs[0], zero, dy}, type, dims);
      return at.sum_to(taken, at.value(*node.inputs[i]).dims);
    });
}
/// Step functions have the derivative 0 wherever it exists.
inline void no_gradient(const Node&, GradientBuilder&) {}

}  // namespace benanza::training
