// SPDX-License-Identifier: Apache-2.0
// Gradients of reductions, of maximum and minimum of several operands, of running sums and products, and of TopK.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::training {

/// The dimensions of a reduction's operand, with 1 for the reduced axes.
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

/// 1 where two tensors are equal, otherwise 0.
inline ValueId equal_ones(GradientBuilder& at, ValueId a, ValueId b, DataType type, Dims dims) {
  const ValueId equal = at.emit({"Equal"}, {a, b}, DataType::boolean, dims);
  return at.emit({"Where"}, {equal, at.scalar(type, 1), at.scalar(type, 0)}, type, std::move(dims));
}
/// The sum over the axes for which `kept` has 1.
inline ValueId sum_kept(GradientBuilder& at, ValueId id, Dims kept) {
  const Dims from = at.value(id).dims;
  Dims axes;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != kept[i]) axes.push_back(static_cast<std::int64_t>(i));
  return at.sum_over(id, axes, std::move(kept));
}
/// x with its zeros replaced by 1.
inline ValueId without_zeros(GradientBuilder& at, ValueId x) {
  const Value of = at.value(x);
  const ValueId is_zero = at.emit({"Equal"}, {x, at.scalar(of.type, 0)}, DataType::boolean, of.dims);
  return at.emit({"Where"}, {is_zero, at.scalar(of.type, 1), x}, of.type, of.dims);
}

/// ReduceProd: dy times the product of the other elements. That is the product of all nonzero elements, divided by the
/// element itself unless it is 0, and it is 0 if another element is 0. Nothing is divided by 0.
inline ValueId product_gradient(GradientBuilder& at, ValueId x, ValueId dy, const Dims& kept) {
  const Value of = at.value(x);
  const ValueId zero = at.scalar(of.type, 0);
  Dims axes;
  for (std::size_t i = 0; i < of.dims.size(); ++i)
    if (of.dims[i] != kept[i]) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return at.reshape(dy, of.dims);
  const ValueId others = without_zeros(at, x);
  const ValueId product = at.emit({"ReduceProd"}, {others, at.integers(axes)}, of.type, kept);
  const ValueId slope = at.binary("Div", at.binary("Mul", dy, product, dy), others, x);
  const ValueId zeros = equal_ones(at, x, zero, of.type, of.dims);
  const ValueId other_zeros = at.binary("Sub", sum_kept(at, zeros, kept), zeros, x);
  const ValueId none = at.emit({"Equal"}, {other_zeros, zero}, DataType::boolean, of.dims);
  return at.emit({"Where"}, {none, slope, zero}, of.type, of.dims);
}

/// Reductions whose derivative reads the operand, and for most of them the result too. The largest or smallest elements
/// share the gradient evenly, as in PyTorch's amax and amin. If a norm is 0, the gradient is 0.
inline void reduce_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId x = *node.inputs[0];
    const Dims kept = kept_dims(node, at);
    const ValueId dy = at.reshape(*at.gradient(node), kept);
    const DataType type = at.value(x).type;
    const std::string_view fn = std::string_view(node.op_type).substr(6);  // the part after "Reduce"
    if (fn == "L1") return at.binary("Mul", at.unary("Sign", x), dy, x);
    if (fn == "SumSquare") return at.binary("Mul", x, at.binary("Mul", dy, at.scalar(type, 2), dy), x);
    if (fn == "Prod") return product_gradient(at, x, dy, kept);
    const ValueId y = at.reshape(*node.outputs[0], kept);
    if (fn == "Max" || fn == "Min") {
      const ValueId ones = equal_ones(at, x, y, type, at.value(x).dims);
      return at.binary("Mul", ones, at.binary("Div", dy, sum_kept(at, ones, kept), dy), x);
    }
    if (fn == "L2") return at.binary("Mul", x, at.binary("Div", dy, without_zeros(at, y), dy), x);
    if (fn == "LogSum") return at.expand(at.binary("Div", dy, at.unary("Exp", y), dy), at.value(x).dims);
    return at.binary("Mul", at.unary("Exp", at.binary("Sub", x, y, x)), dy, x);  // LogSumExp
  });
}

/// The operands that equal the result share the gradient evenly, as in PyTorch's maximum and minimum.
inline void extremum_gradient(const Node& node, GradientBuilder& at) {
  bool any = false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) any = any || at.wants(node, i);
  if (!any) return;
  const Value dy = at.value(*at.gradient(node));
  if (node.inputs.size() == 1) return at.give_input(node, 0, [&] { return *at.gradient(node); });
  std::vector<ValueId> ones;
  for (const auto& input : node.inputs) ones.push_back(equal_ones(at, *input, *node.outputs[0], dy.type, dy.dims));
  const std::vector<std::optional<ValueId>> summands(ones.begin(), ones.end());
  const ValueId share =
      at.emit({"Div"}, {*at.gradient(node), at.emit({"Sum"}, summands, dy.type, dy.dims)}, dy.type, dy.dims);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    at.give_input(node, i,
                  [&] { return at.sum_to(at.multiply(share, ones[i], dy.dims), at.value(*node.inputs[i]).dims); });
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

/// The running sum of the gradient, starting from the other end.
inline void cumulative_sum_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const Value x = at.value(*node.inputs[0]);
    Attributes attributes = node.attributes;
    attributes["reverse"] = std::int64_t{node.attribute<std::int64_t>("reverse", 0) == 0};
    return at.emit({"CumSum"}, {*at.gradient(node), node.inputs[1]}, x.type, x.dims, attributes);
  });
}

/// CumProd: each element gets the running sum of dy y from the other end, divided by the element. Elements after the
/// first 0 get 0. The first 0 itself gets the same sum with products in which it is replaced by 1.
inline void cumulative_product_gradient(const Node& node, GradientBuilder& at) {
  at.give_input(node, 0, [&] {
    const ValueId dy = *at.gradient(node), x = *node.inputs[0];
    const Value of = at.value(x);
    const ValueId one = at.scalar(of.type, 1), zero = at.scalar(of.type, 0);
    const std::int64_t reverse = node.attribute<std::int64_t>("reverse", 0);
    const auto sum_back = [&](ValueId id) {
      Attributes attributes = node.attributes;
      attributes["reverse"] = std::int64_t{reverse == 0};
      return at.emit({"CumSum"}, {id, node.inputs[1]}, of.type, of.dims, attributes);
    };
    const auto is = [&](ValueId id, ValueId number) {
      return at.emit({"Equal"}, {id, number}, DataType::boolean, of.dims);
    };
    const auto where = [&](ValueId condition, ValueId yes, ValueId no) {
      return at.emit({"Where"}, {condition, yes, no}, of.type, of.dims);
    };
    const ValueId is_zero = is(x, zero);
    const ValueId zeros =
        at.emit({"CumSum"}, {where(is_zero, one, zero), node.inputs[1]}, of.type, of.dims, {{"reverse", reverse}});
    const ValueId first = at.emit({"And"}, {is_zero, is(zeros, one)}, DataType::boolean, of.dims);
    const ValueId replaced =
        at.emit({"CumProd"}, {where(first, one, x), node.inputs[1]}, of.type, of.dims, node.attributes);
    const ValueId others = sum_back(at.binary("Mul", dy, *node.outputs[0], x));
    return where(first, sum_back(at.binary("Mul", dy, replaced, x)),
                 at.binary("Div", others, where(is_zero, one, x), x));
  });
}

/// The values that were found return to their positions.
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
