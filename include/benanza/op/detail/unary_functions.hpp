// SPDX-License-Identifier: Apache-2.0
// unary_functions: ONNX's element-wise operators of one operand.
#pragma once

#include <benanza/model/elementwise.hpp>

#include <array>
#include <string_view>

namespace benanza::detail {

struct UnaryFunction {
  std::string_view onnx_type;
  ElementwiseFn fn;
  std::string_view alpha_key{};  // attribute that becomes alpha
  double alpha = 0;              // its default
  std::string_view beta_key{};
  double beta = 0;
};
inline constexpr std::array unary_functions{
    UnaryFunction{"Abs", ElementwiseFn::abs},
    UnaryFunction{"Acos", ElementwiseFn::acos},
    UnaryFunction{"Acosh", ElementwiseFn::acosh},
    UnaryFunction{"Asin", ElementwiseFn::asin},
    UnaryFunction{"Asinh", ElementwiseFn::asinh},
    UnaryFunction{"Atan", ElementwiseFn::atan},
    UnaryFunction{"Atanh", ElementwiseFn::atanh},
    UnaryFunction{"BitwiseNot", ElementwiseFn::bitwise_not},
    UnaryFunction{"Ceil", ElementwiseFn::ceil},
    UnaryFunction{"Celu", ElementwiseFn::celu, "alpha", 1},
    UnaryFunction{"Cos", ElementwiseFn::cos},
    UnaryFunction{"Cosh", ElementwiseFn::cosh},
    UnaryFunction{"Elu", ElementwiseFn::elu, "alpha", 1},
    UnaryFunction{"Erf", ElementwiseFn::erf},
    UnaryFunction{"Exp", ElementwiseFn::exp},
    UnaryFunction{"Floor", ElementwiseFn::floor},
    UnaryFunction{"Gelu", ElementwiseFn::gelu},
    UnaryFunction{"com.microsoft.Gelu", ElementwiseFn::gelu},
    UnaryFunction{"com.microsoft.FastGelu", ElementwiseFn::gelu_tanh},
    UnaryFunction{"HardSigmoid", ElementwiseFn::hard_sigmoid, "alpha", 0.2, "beta", 0.5},
    UnaryFunction{"HardSwish", ElementwiseFn::hard_swish},
    UnaryFunction{"IsInf", ElementwiseFn::is_inf},
    UnaryFunction{"IsNaN", ElementwiseFn::is_nan},
    UnaryFunction{"LeakyRelu", ElementwiseFn::leaky_relu, "alpha", 0.01},
    UnaryFunction{"Log", ElementwiseFn::log},
    UnaryFunction{"Mish", ElementwiseFn::mish},
    UnaryFunction{"Neg", ElementwiseFn::neg},
    UnaryFunction{"Not", ElementwiseFn::logical_not},
    UnaryFunction{"Reciprocal", ElementwiseFn::reciprocal},
    UnaryFunction{"Relu", ElementwiseFn::relu},
    UnaryFunction{"Round", ElementwiseFn::round},
    UnaryFunction{"Selu", ElementwiseFn::selu, "alpha", 1.67326319217681884765625, "gamma", 1.05070102214813232421875},
    UnaryFunction{"Shrink", ElementwiseFn::shrink, "bias", 0, "lambd", 0.5},
    UnaryFunction{"Sigmoid", ElementwiseFn::sigmoid},
    UnaryFunction{"Sign", ElementwiseFn::sign},
    UnaryFunction{"Sin", ElementwiseFn::sin},
    UnaryFunction{"Sinh", ElementwiseFn::sinh},
    UnaryFunction{"Softplus", ElementwiseFn::softplus},
    UnaryFunction{"Softsign", ElementwiseFn::softsign},
    UnaryFunction{"Sqrt", ElementwiseFn::sqrt},
    UnaryFunction{"Swish", ElementwiseFn::swish, "alpha", 1},
    UnaryFunction{"com.microsoft.QuickGelu", ElementwiseFn::swish, "alpha", 1.702},
    UnaryFunction{"Tan", ElementwiseFn::tan},
    UnaryFunction{"Tanh", ElementwiseFn::tanh},
    UnaryFunction{"ThresholdedRelu", ElementwiseFn::thresholded_relu, "alpha", 1},
};

}  // namespace benanza::detail
