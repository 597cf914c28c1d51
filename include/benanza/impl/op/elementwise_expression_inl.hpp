// SPDX-License-Identifier: Apache-2.0
// What an expression of element-wise steps answers.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/expression.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/elementwise_expression.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace benanza::detail {

/// Functions that are defined on truth values.
[[nodiscard]] constexpr bool takes_truth_values(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return fn == logical_and || fn == logical_or || fn == logical_xor || fn == logical_not;
}

/// Functions of which some uniform operands give no finite number.
[[nodiscard]] constexpr bool limits_operands(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return needs_positive(fn) || fn == pow || fn == div || fn == mod || fn == fmod;
}

/// The operations on operands of one type. `values`: those of the expression.
[[nodiscard]] BENANZA_INLINE double flops_of(const op::Expression& op, const std::vector<op::Expression::Value>& values,
                                             DataType type) {
  std::vector<TensorShape> shapes;  // what has to be computed of each value
  for (const auto& input : op.in) shapes.push_back(input.shape.empty() ? op.x : input.shape);
  double flops = 0;
  for (const auto& step : op.steps) {
    TensorShape read = shapes[step.of[0]];
    for (std::size_t i = 1; i < step.operands(); ++i) read = broadcast(read, shapes[step.of[i]]);
    const bool is_reduction = step.kind == StepKind::reduction;
    shapes.push_back(is_reduction ? op.row_shape() : read);
    if (values[step.of[step.kind == StepKind::choice ? 1 : 0]].type != type) continue;
    const bool two = is_reduction && (step.reduce == op::ReduceFn::l1 || step.reduce == op::ReduceFn::sum_square);
    flops += (two ? 2.0 : 1.0) * static_cast<double>(element_count(read));
  }
  return flops;
}

}  // namespace benanza::detail

namespace benanza::op {

BENANZA_INLINE std::vector<Expression::Value> Expression::values() const {
  std::vector<Value> all;
  for (const auto& input : in) {
    const auto begin = static_cast<std::size_t>(rows);  // of the dimensions of a row
    const bool by_row =
        begin <= input.shape.size() && !input.shape.empty() &&
        std::all_of(input.shape.begin() + begin, input.shape.end(), [](auto size) { return size == 1; });
    all.push_back({input.type, by_row});
  }
  for (const auto& step : steps) {
    for (std::size_t i = 0; i < step.operands(); ++i)
      if (step.of[i] >= all.size()) return {};
    const Value &first = all[step.of[0]], &second = all[step.of[1]], &third = all[step.of[2]];
    switch (step.kind) {
      case StepKind::function: {
        if (detail::takes_truth_values(step.fn) != (first.type == DataType::boolean)) return {};
        const DataType made = is_predicate(step.fn) ? DataType::boolean : first.type;
        if (is_binary(step.fn) && second.type != first.type) return {};
        all.push_back({made, first.by_row && (!is_binary(step.fn) || second.by_row)});
        break;
      }
      case StepKind::choice:
        if (first.type != DataType::boolean || second.type != third.type) return {};
        all.push_back({second.type, first.by_row && second.by_row && third.by_row});
        break;
      case StepKind::conversion:
        if (!detail::is_type_of_expressions(step.to)) return {};
        all.push_back({step.to, first.by_row});
        break;
      case StepKind::reduction:
        if (!is_float(first.type) || first.by_row) return {};
        all.push_back({first.type, true});
        break;
    }
  }
  return all;
}

BENANZA_INLINE TensorShape Expression::row_shape() const {
  TensorShape shape = x;
  for (std::size_t i = static_cast<std::size_t>(rows); i < shape.size(); ++i) shape[i] = 1;
  return shape;
}

BENANZA_INLINE DataType Expression::own_type() const {
  const auto all = values();
  std::optional<DataType> own;
  double most = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_float(all[i].type)) continue;
    const double flops = detail::flops_of(*this, all, all[i].type);
    if (flops <= most) continue;
    own = all[i].type;
    most = flops;
  }
  if (own) return *own;
  return in.empty() ? DataType::f32 : in.front().type;
}

BENANZA_INLINE Operands Expression::operands() const {
  const bool positive = std::any_of(steps.begin(), steps.end(), [](const ExpressionStep& step) {
    return (step.kind == StepKind::function && detail::limits_operands(step.fn)) ||
           (step.kind == StepKind::reduction && step.reduce == ReduceFn::prod);
  });
  std::vector<bool> is_certain(in.size(), false), is_choice(in.size(), false);
  const auto size_of = [&](std::size_t value) { return element_count(in[value].shape.empty() ? x : in[value].shape); };
  for (const auto& step : steps)
    for (std::size_t i = 0; i < step.operands(); ++i) {
      if (step.of[i] >= in.size()) continue;
      const std::size_t other = step.of[i == 1 ? 2 : 1];
      const bool is_larger = other >= in.size() || size_of(step.of[i]) > size_of(other) ||
                             (size_of(step.of[i]) == size_of(other) && i == 2);
      const bool may_be_left_out = step.kind == StepKind::choice && i > 0 && step.of[1] != step.of[2] && is_larger;
      (may_be_left_out ? is_choice : is_certain)[step.of[i]] = true;
    }
  Operands result;
  for (std::size_t k = 0; k < in.size(); ++k) {
    Operand operand{.name = "x", .type = in[k].type, .shape = in[k].shape.empty() ? x : in[k].shape};
    if (in[k].type == DataType::boolean) operand.contents = Contents::boolean;
    else if (positive) operand.contents = Contents::positive;
    if (is_choice[k] && !is_certain[k]) operand.touched = 0;
    result.inputs.push_back(operand);
  }
  const auto all = values();
  for (const auto number : out) {
    const auto at = static_cast<std::size_t>(number);
    if (number < 0 || at >= all.size()) continue;
    result.outputs.push_back({.name = "y", .type = all[at].type, .shape = all[at].by_row ? row_shape() : x});
  }
  return result;
}

BENANZA_INLINE Arithmetic Expression::arithmetic() const {
  const auto all = values();
  return {.flops = all.empty() ? 0 : detail::flops_of(*this, all, type)};
}

BENANZA_INLINE bool Expression::consistent() const {
  if (!detail::are_sizes(x) || rows < 0 || rows > static_cast<std::int64_t>(x.size())) return false;
  if (in.empty() || in.size() > most_inputs || steps.empty() || steps.size() > most_steps || out.empty()) return false;
  for (const auto& input : in) {
    if (!detail::is_type_of_expressions(input.type)) return false;
    if (input.shape.empty()) continue;
    if (!detail::are_sizes(input.shape, x.size()) || input.shape == x || !detail::broadcasts_to(input.shape, x))
      return false;
  }
  for (const auto& step : steps) {
    const bool has_function = step.kind == StepKind::function;
    if (step.alpha != step.alpha || step.beta != step.beta) return false;
    if ((!has_function || is_binary(step.fn)) && (step.alpha != 0 || step.beta != 0)) return false;
    if (step.kind == StepKind::reduction && step.reduce != ReduceFn::mean && step.reduce != ReduceFn::sum &&
        step.reduce != ReduceFn::max && step.reduce != ReduceFn::min && step.reduce != ReduceFn::prod &&
        step.reduce != ReduceFn::l1 && step.reduce != ReduceFn::sum_square)
      return false;
  }
  const bool reduces =
      std::any_of(steps.begin(), steps.end(), [](const auto& step) { return step.kind == StepKind::reduction; });
  const std::size_t count = in.size() + steps.size();
  const auto all = values();
  if ((rows > 0 && !reduces) || all.size() != count) return false;
  TensorShape read = TensorShape::filled(x.size(), 1);
  for (const auto& input : in) read = broadcast(read, input.shape.empty() ? x : input.shape);
  if (read != x || type != own_type()) return false;
  std::vector<bool> is_used(count, false);
  for (const auto& step : steps)
    for (std::size_t i = 0; i < step.operands(); ++i) is_used[step.of[i]] = true;
  std::vector<bool> is_written(count, false);
  for (const auto number : out) {
    if (number < static_cast<std::int64_t>(in.size()) || number >= static_cast<std::int64_t>(count)) return false;
    const auto at = static_cast<std::size_t>(number);
    if (is_written[at]) return false;
    is_written[at] = is_used[at] = true;
  }
  return std::find(is_used.begin(), is_used.end(), false) == is_used.end();
}

}  // namespace benanza::op
