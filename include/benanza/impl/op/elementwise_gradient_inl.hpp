// SPDX-License-Identifier: Apache-2.0
// Gradient of an element-wise function.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/unary_functions.hpp>
#include <benanza/op/elementwise_gradient.hpp>
#include <benanza/op/operator.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

BENANZA_INLINE std::optional<UnaryGradient> UnaryGradient::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 1);
  UnaryGradient gradient{.type = x_value.type, .x = {x_value.elements()}};
  std::string type = node.op_type;
  if (!type.ends_with("Grad")) return std::nullopt;
  type.erase(type.size() - 4);
  if (type == "Clip") {
    const Value *lower = detail::optional_input(node, graph, 2), *upper = detail::optional_input(node, graph, 3);
    const auto bound = [&](const Value* given, std::string_view key) {
      return given != nullptr                ? detail::scalar(*given)
             : node.attributes.contains(key) ? std::optional(node.attribute<double>(key, 0))
                                             : std::nullopt;
    };
    const auto least = bound(lower, "min"), most = bound(upper, "max");
    if (!least || !most) return std::nullopt;
    gradient.fn = ElementwiseFn::clip;
    gradient.alpha = detail::decimal(*least);
    gradient.beta = detail::decimal(*most);
    return gradient;
  }
  for (const auto& row : detail::unary_functions) {
    if (row.onnx_type != type && row.onnx_type != "com.microsoft." + type) continue;
    gradient.fn = row.fn;
    if (!row.alpha_key.empty()) gradient.alpha = detail::decimal(node.attribute<double>(row.alpha_key, row.alpha));
    if (!row.beta_key.empty()) gradient.beta = detail::decimal(node.attribute<double>(row.beta_key, row.beta));
    if (gradient.fn == ElementwiseFn::gelu && node.attribute<std::string>("approximate", "none") == "tanh")
      gradient.fn = ElementwiseFn::gelu_tanh;
    return gradient;
  }
  return std::nullopt;
}

BENANZA_INLINE bool UnaryGradient::reads_result() const {
  using enum ElementwiseFn;
  switch (fn) {
    case relu:
    case sigmoid:
    case ElementwiseFn::tanh:
    case ElementwiseFn::exp:
    case ElementwiseFn::sqrt:
    case reciprocal:
    case elu:
    case leaky_relu:
    case hard_sigmoid: return true;
    default: return false;
  }
}

BENANZA_INLINE Operands UnaryGradient::operands() const {
  using enum ElementwiseFn;
  const bool positive = fn == ElementwiseFn::log || fn == ElementwiseFn::sqrt || fn == reciprocal;
  return {.inputs = {{.name = "dy", .type = type, .shape = x},
                     {.name = reads_result() ? "y" : "x",
                      .type = type,
                      .shape = x,
                      .contents = positive ? Contents::positive : Contents::uniform}},
          .outputs = {{.name = "dx", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic UnaryGradient::arithmetic() const {
  return {.flops = 2.0 * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool UnaryGradient::consistent() const {
  using enum ElementwiseFn;
  switch (fn) {
    case ElementwiseFn::abs:
    case celu:
    case clip:
    case ElementwiseFn::cos:
    case ElementwiseFn::erf:
    case gelu:
    case gelu_tanh:
    case hard_swish:
    case ElementwiseFn::log:
    case mish:
    case selu:
    case shrink:
    case ElementwiseFn::sin:
    case softplus:
    case softsign:
    case swish:
    case thresholded_relu: break;
    default:
      if (!reads_result()) return false;
  }
  return detail::are_sizes(x, 1) && alpha == alpha && beta == beta;
}

}  // namespace benanza::op
