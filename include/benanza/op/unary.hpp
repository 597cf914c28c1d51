// SPDX-License-Identifier: Apache-2.0
// Element-wise function of one tensor. Without an epilogue the shape is one flat dimension, so that equal work has an
// equal signature.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/unary_functions.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/epilogue.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::detail {

/// Quantised forms. ONNX Runtime has the first two; `fold_quantization` creates the others, which follow their pattern.
inline constexpr std::array<std::string_view, 12> quantized_unary_types{
    "com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearSigmoid", "com.microsoft.QLinearClip",
    "com.microsoft.QLinearElu",       "com.microsoft.QLinearGelu",    "com.microsoft.QLinearHardSigmoid",
    "com.microsoft.QLinearHardSwish", "com.microsoft.QLinearMish",    "com.microsoft.QLinearRelu",
    "com.microsoft.QLinearSoftplus",  "com.microsoft.QLinearSwish",   "com.microsoft.QLinearTanh"};

consteval auto unary_types() {
  std::array<std::string_view, unary_functions.size() + 4 + quantized_unary_types.size()> types{};
  std::size_t count = 0;
  for (const auto& row : unary_functions) types[count++] = row.onnx_type;
  for (const auto* type : {"Clip", "Pow", "Mul", "SwiGLU"}) types[count++] = type;
  for (auto type : quantized_unary_types) types[count++] = type;
  return types;
}
}  // namespace benanza::detail

namespace benanza::op {

struct Unary {
  static constexpr std::string_view kind = "Unary";
  static constexpr Family family = Family::elementwise;
  static constexpr auto onnx_types = detail::unary_types();
  DataType type = DataType::f32;
  ElementwiseFn fn = ElementwiseFn::relu;
  TensorShape x{};
  double alpha = 0;
  double beta = 0;
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
    visit("alpha", self.alpha);
    visit("beta", self.beta);
    visit("post", self.post);
  }
  constexpr bool operator==(const Unary&) const = default;

  /// Also reads Clip with known bounds, Pow with an exponent that has a function of its own, the product of a tensor
  /// with itself, and SwiGLU: Swish, times the other operand.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Unary, decltype(graph)> {
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

  [[nodiscard]] Operands operands() const {
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

  /// One operation per element and function: the least that any implementation needs.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (1.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return !is_binary(fn) && detail::are_sizes(x) && alpha == alpha && beta == beta && detail::fits(post, x);
  }

 private:
  /// A bound of Clip: attribute (before opset 11) or input. Infinite if it is left out, nothing if it is computed at
  /// run time.
  [[nodiscard]] static std::optional<double> bound(const Node& node, const AnyGraph auto& graph, std::string_view key,
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
};

}  // namespace benanza::op
