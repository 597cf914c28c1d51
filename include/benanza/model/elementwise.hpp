// SPDX-License-Identifier: Apache-2.0
// ElementwiseFn: the functions of element-wise operators and of epilogues, in one list, with their ONNX names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza {

enum class ElementwiseFn : std::uint8_t {
  // one operand; alpha and beta are ONNX's attributes of that name
  abs,
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  bitwise_not,
  ceil,
  celu,
  clip /* alpha = min, beta = max */,
  cos,
  cosh,
  elu,
  erf,
  exp,
  floor,
  gelu,
  gelu_tanh,
  hard_sigmoid,
  hard_swish,
  is_inf,
  is_nan,
  leaky_relu,
  log,
  logical_not,
  mish,
  neg,
  reciprocal,
  relu,
  round,
  selu /* alpha, beta = gamma */,
  shrink /* alpha = bias, beta = lambd */,
  sigmoid,
  sign,
  sin,
  sinh,
  softplus,
  softsign,
  sqrt,
  square,
  swish /* x * sigmoid(alpha * x) */,
  tan,
  tanh,
  thresholded_relu,
  // two operands
  add,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  div,
  equal,
  greater,
  greater_or_equal,
  less,
  less_or_equal,
  logical_and,
  logical_or,
  logical_xor,
  max,
  min,
  mod,
  fmod,
  mul,
  pow,
  prelu,
  shift_left,
  shift_right,
  sub
};

namespace detail {
inline constexpr std::array<std::string_view, 68> elementwise_names{"abs",
                                                                    "acos",
                                                                    "acosh",
                                                                    "asin",
                                                                    "asinh",
                                                                    "atan",
                                                                    "atanh",
                                                                    "bitwise_not",
                                                                    "ceil",
                                                                    "celu",
                                                                    "clip",
                                                                    "cos",
                                                                    "cosh",
                                                                    "elu",
                                                                    "erf",
                                                                    "exp",
                                                                    "floor",
                                                                    "gelu",
                                                                    "gelu_tanh",
                                                                    "hard_sigmoid",
                                                                    "hard_swish",
                                                                    "is_inf",
                                                                    "is_nan",
                                                                    "leaky_relu",
                                                                    "log",
                                                                    "logical_not",
                                                                    "mish",
                                                                    "neg",
                                                                    "reciprocal",
                                                                    "relu",
                                                                    "round",
                                                                    "selu",
                                                                    "shrink",
                                                                    "sigmoid",
                                                                    "sign",
                                                                    "sin",
                                                                    "sinh",
                                                                    "softplus",
                                                                    "softsign",
                                                                    "sqrt",
                                                                    "square",
                                                                    "swish",
                                                                    "tan",
                                                                    "tanh",
                                                                    "thresholded_relu",
                                                                    "add",
                                                                    "bitwise_and",
                                                                    "bitwise_or",
                                                                    "bitwise_xor",
                                                                    "div",
                                                                    "equal",
                                                                    "greater",
                                                                    "greater_or_equal",
                                                                    "less",
                                                                    "less_or_equal",
                                                                    "logical_and",
                                                                    "logical_or",
                                                                    "logical_xor",
                                                                    "max",
                                                                    "min",
                                                                    "mod",
                                                                    "fmod",
                                                                    "mul",
                                                                    "pow",
                                                                    "prelu",
                                                                    "shift_left",
                                                                    "shift_right",
                                                                    "sub"};
static_assert(elementwise_names.size() == static_cast<std::size_t>(ElementwiseFn::sub) + 1);
static_assert(elementwise_names[static_cast<std::size_t>(ElementwiseFn::add)] == "add");
}  // namespace detail

[[nodiscard]] constexpr const auto& enum_names(ElementwiseFn) { return detail::elementwise_names; }
[[nodiscard]] constexpr bool is_binary(ElementwiseFn fn) { return fn >= ElementwiseFn::add; }
/// Whether the result is a truth value whatever the type of the operands.
[[nodiscard]] constexpr bool is_predicate(ElementwiseFn fn) {
  using enum ElementwiseFn;
  switch (fn) {
    case is_inf:
    case is_nan:
    case logical_not:
    case equal:
    case greater:
    case greater_or_equal:
    case less:
    case less_or_equal:
    case logical_and:
    case logical_or:
    case logical_xor: return true;
    default: return false;
  }
}
/// Whether some operands below or near zero give a result that is not a finite number.
[[nodiscard]] constexpr bool needs_positive(ElementwiseFn fn) {
  using enum ElementwiseFn;
  return fn == log || fn == sqrt || fn == reciprocal || fn == acosh;
}

}  // namespace benanza
