// SPDX-License-Identifier: Apache-2.0
// Functions of each element by itself.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/unary_functions.hpp>
#include <benanza/op/elementwise.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Unary> Unary::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  Unary unary{.type = x_value.type, .x = {x_value.elements()}};
  constexpr std::string_view quantized = "com.microsoft.QLinear";
  std::string type = detail::onnx_type(node);
  if (type.starts_with(quantized)) type.erase(0, quantized.size());
  if (type == "Clip") {
    const std::size_t given = node.op_type == type ? node.inputs.size() : 0;  // quantised: attributes only
    const auto lower = bound(node, graph, "min", 1, given), upper = bound(node, graph, "max", 2, given);
    if (!lower || !upper) return std::nullopt;
    unary.fn =
        *lower == 0 && *upper == std::numeric_limits<double>::infinity() ? ElementwiseFn::relu : ElementwiseFn::clip;
    if (unary.fn == ElementwiseFn::clip) unary.alpha = *lower, unary.beta = *upper;
    return unary;
  }
  if (node.op_type == "Mul") {
    unary.fn = ElementwiseFn::square;
    return detail::is_same_input(node, 0, 1) ? std::optional(unary) : std::nullopt;
  }
  if (node.op_type == "Pow") {
    const auto exponent = detail::scalar(graph.input(node, 1));
    if (graph.input(node, 1).dims.size() > x_value.dims.size()) return std::nullopt;
    if (exponent == 2.0) unary.fn = ElementwiseFn::square;
    else if (exponent == 0.5) unary.fn = ElementwiseFn::sqrt;
    else if (exponent == -1.0) unary.fn = ElementwiseFn::reciprocal;
    else return std::nullopt;
    return unary;
  }
  if (type == "SwiGLU") {
    unary.fn = ElementwiseFn::swish;
    unary.alpha = detail::decimal(node.attribute<double>("alpha", 1));
    unary.post.push_back({ElementwiseFn::mul});
    return unary;
  }
  if (node.op_type == "FastGelu" && node.has_input(1)) return std::nullopt;  // adds a bias first
  for (const auto& row : detail::unary_functions) {
    if (row.onnx_type != type) continue;
    unary.fn = row.fn;
    if (!row.alpha_key.empty()) unary.alpha = detail::decimal(node.attribute<double>(row.alpha_key, row.alpha));
    if (!row.beta_key.empty()) unary.beta = detail::decimal(node.attribute<double>(row.beta_key, row.beta));
    if (unary.fn == ElementwiseFn::gelu && node.attribute<std::string>("approximate", "none") == "tanh")
      unary.fn = ElementwiseFn::gelu_tanh;
    return unary;
  }
  return std::nullopt;
}

BENANZA_INLINE Operands Unary::operands() const {
  const DataType result_type = is_predicate(fn) ? DataType::boolean : type;
  Operands result{.inputs = {{.name = "x",
                              .type = type,
                              .shape = x,
                              .contents = type == DataType::boolean ? Contents::boolean : Contents::uniform}},
                  .outputs = {{.name = "y", .type = result_type, .shape = x}}};
  if (needs_positive(fn)) result.inputs[0].contents = Contents::positive;
  if (fn == ElementwiseFn::acosh) result.inputs[0].exponent = 1;  // it is defined from 1 on
  detail::append_epilogue_operands(result, post, result_type, x, 0);
  return result;
}

BENANZA_INLINE Arithmetic Unary::arithmetic() const {
  return {.flops = (1.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool Unary::consistent() const {
  return !is_binary(fn) && detail::are_sizes(x) && alpha == alpha && beta == beta && detail::fits(post, x);
}

BENANZA_INLINE std::optional<double> Unary::bound(const Node& node, const Graph& graph, std::string_view key,
                                                  std::size_t i, std::size_t given) {
  const bool is_lower = i == 1;
  std::optional<double> value =
      is_lower ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (node.attributes.contains(key)) value = node.attribute<double>(key, 0);
  else if (const Value* input = i < given ? detail::optional_input(node, graph, i) : nullptr)
    value = detail::scalar(*input);
  if (!value || *value != *value) return std::nullopt;
  constexpr double largest = std::numeric_limits<float>::max();  // older operator sets express "no bound" this way
  if (std::fabs(*value) >= largest)
    return *value < 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  return detail::decimal(*value);
}

BENANZA_INLINE std::optional<Binary> Binary::from(const Node& node, const Graph& graph) {
  const std::string type = detail::onnx_type(node);
  const auto row = std::find_if(detail::binary_functions.begin(), detail::binary_functions.end(),
                                [&](const auto& r) { return r.onnx_type == type; });
  if (type == "Clip") return clip(node, graph);
  const bool quantized = type.starts_with("com.microsoft.QLinear");
  if (row == detail::binary_functions.end() || (!quantized && node.inputs.size() != 2)) return std::nullopt;
  const std::size_t second = quantized ? 3 : 1;
  const Value& a_value = graph.input(node, 0);
  Binary binary{
      .type = a_value.type, .fn = row->fn, .same = detail::is_same_input(node, 0, second), .scaled = quantized};
  if (type == "Mod" && node.attribute<std::int64_t>("fmod", 0) != 0) binary.fn = ElementwiseFn::fmod;
  if (type == "BitShift" && node.attribute<std::string>("direction", "LEFT") == "RIGHT")
    binary.fn = ElementwiseFn::shift_right;
  const auto operands = detail::collapse(
      std::vector<detail::Dims>{a_value.dims, aligned(node, a_value.dims, graph.input(node, second).dims)});
  auto a = detail::to_shape(operands[0]), b = detail::to_shape(operands[1]);
  if (!a || !b) return std::nullopt;
  if (row->commutes && before(*b, *a)) std::swap(a, b);
  binary.a = *a;
  binary.b = *b;
  if (node.op_type == "BiasGelu") binary.post.push_back(ElementwiseFn::gelu);
  if (node.op_type == "FastGelu") binary.post.push_back(ElementwiseFn::gelu_tanh);
  return binary;
}

BENANZA_INLINE Operands Binary::operands() const {
  const DataType result_type = is_predicate(fn) ? DataType::boolean : type;
  const auto contents = type == DataType::boolean ? Contents::boolean : Contents::uniform;
  using enum ElementwiseFn;
  Operands result{
      .inputs = {{.name = "a", .type = type, .shape = a, .contents = fn == pow ? Contents::positive : contents}},
      .outputs = {{.name = "y", .type = result_type, .shape = y()}}};
  if (!same)
    result.inputs.push_back({.name = "b",
                             .type = type,
                             .shape = b,
                             .contents = fn == div || fn == mod || fn == fmod ? Contents::positive : contents});
  detail::append_epilogue_operands(result, post, result_type, y(), 0);
  return result;
}

BENANZA_INLINE Arithmetic Binary::arithmetic() const {
  return {.flops = (1.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(y()))};
}

BENANZA_INLINE bool Binary::consistent() const {
  if (!is_binary(fn) || !detail::are_sizes(a) || !detail::are_sizes(b, a.size()) || (same && a != b)) return false;
  return detail::broadcasts(a, b) && detail::fits(post, y());
}

BENANZA_INLINE std::optional<Binary> Binary::clip(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value *lower = detail::optional_input(node, graph, 1), *upper = detail::optional_input(node, graph, 2);
  for (const Value* given : {lower, upper})
    if (given != nullptr && given->elements() != 1) return std::nullopt;
  if (lower == nullptr && upper == nullptr) return std::nullopt;
  Binary binary{.type = x_value.type,
                .fn = lower != nullptr ? ElementwiseFn::max : ElementwiseFn::min,
                .a = {x_value.elements()},
                .b = {1}};
  if (lower != nullptr && upper != nullptr) binary.post.push_back({ElementwiseFn::min, TensorShape{1}});
  return binary;
}

BENANZA_INLINE detail::Dims Binary::aligned(const Node& node, const detail::Dims& a, detail::Dims b) {
  if (node.opset >= 7 || b.size() >= a.size() || !node.domain.empty()) return b;
  std::optional<std::size_t> axis;
  if (node.attributes.contains("axis")) axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), a.size());
  if (node.op_type == "PRelu" && b.size() == 1 && b[0] != 1) axis = 1;
  if (axis && *axis + b.size() < a.size()) b.resize(a.size() - *axis, 1);
  return b;
}

BENANZA_INLINE bool Binary::before(const TensorShape& left, const TensorShape& right) {
  const auto left_count = element_count(left), right_count = element_count(right);
  return left_count != right_count ? left_count > right_count
                                   : std::lexicographical_compare(right.begin(), right.end(), left.begin(), left.end());
}

BENANZA_INLINE std::optional<Nary> Nary::from(const Node& node, const Graph& graph) {
  const bool mean = node.op_type == "Mean";
  const std::size_t count = node.inputs.size();
  if (count < (mean ? 2 : 3)) return std::nullopt;
  const Value& y = graph.output(node, 0);
  const auto fn = node.op_type == "Max"   ? ElementwiseFn::max
                  : node.op_type == "Min" ? ElementwiseFn::min
                                          : ElementwiseFn::add;
  return Nary{.type = y.type, .fn = fn, .x = {y.elements()}, .count = static_cast<std::int64_t>(count), .mean = mean};
}

BENANZA_INLINE Operands Nary::operands() const {
  Operands result{.outputs = {{.name = "y", .type = type, .shape = x}}};
  for (std::int64_t i = 0; i < count; ++i) result.inputs.push_back({.name = "x", .type = type, .shape = x});
  return result;
}

BENANZA_INLINE Arithmetic Nary::arithmetic() const {
  return {.flops = static_cast<double>(count - 1 + (mean ? 1 : 0)) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool Nary::consistent() const {
  return (fn == ElementwiseFn::add || fn == ElementwiseFn::max || fn == ElementwiseFn::min) &&
         (!mean || fn == ElementwiseFn::add) && detail::are_sizes(x) && count >= 2 && count <= 4096;
}

BENANZA_INLINE std::optional<Where> Where::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 1);
  const auto operands =
      detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, x_value.dims, graph.input(node, 2).dims});
  const auto c = detail::to_shape(operands[0]), x = detail::to_shape(operands[1]), y = detail::to_shape(operands[2]);
  if (!c || !x || !y) return std::nullopt;
  return Where{.type = x_value.type, .c = *c, .x = *x, .y = *y};
}

BENANZA_INLINE Operands Where::operands() const {
  Operands result{
      .inputs = {{.name = "condition", .type = DataType::boolean, .shape = c, .contents = Contents::boolean},
                 {.name = "x", .type = type, .shape = x},
                 {.name = "y", .type = type, .shape = y}},
      .outputs = {{.name = "output", .type = type, .shape = output()}}};
  result.inputs[element_count(x) > element_count(y) ? 1 : 2].touched = 0;
  return result;
}

BENANZA_INLINE Arithmetic Where::arithmetic() const { return {.flops = static_cast<double>(element_count(output()))}; }

BENANZA_INLINE bool Where::consistent() const {
  if (!detail::are_sizes(c) || !detail::are_sizes(x, c.size()) || !detail::are_sizes(y, c.size())) return false;
  return detail::broadcasts(c, x) && detail::broadcasts(c, y) && detail::broadcasts(x, y);
}

BENANZA_INLINE std::optional<Cast> Cast::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const DataType to = graph.output(node, 0).type;
  if (to == x_value.type) return std::nullopt;
  return Cast{.type = x_value.type, .to = to, .x = {x_value.elements()}};
}

BENANZA_INLINE Operands Cast::operands() const {
  return {.inputs = {{.name = "input",
                      .type = type,
                      .shape = x,
                      .contents = type == DataType::boolean ? Contents::boolean : Contents::uniform}},
          .outputs = {{.name = "output", .type = to, .shape = x}}};
}

BENANZA_INLINE Arithmetic Cast::arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

BENANZA_INLINE bool Cast::consistent() const { return detail::are_sizes(x); }

}  // namespace benanza::op
