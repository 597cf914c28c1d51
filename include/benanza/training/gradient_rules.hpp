// SPDX-License-Identifier: Apache-2.0
// THE list of gradients: an operator and its rule.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/training/gradients/convolution.hpp>
#include <benanza/training/gradients/elementwise.hpp>
#include <benanza/training/gradients/movement.hpp>
#include <benanza/training/gradients/normalization.hpp>
#include <benanza/training/gradients/product.hpp>
#include <benanza/training/gradients/window.hpp>

#include <map>
#include <string>
#include <string_view>

namespace benanza::training {

using GradientRule = void (*)(const Node&, GradientBuilder&);

[[nodiscard]] inline const std::map<std::string_view, GradientRule>& gradient_rules() {
  static const std::map<std::string_view, GradientRule> rules = [] {
    std::map<std::string_view, GradientRule> made{
        {"Conv", conv_gradient},
        {"ConvTranspose", conv_transpose_gradient},
        {"MatMul", mat_mul_gradient},
        {"com.microsoft.FusedMatMul", mat_mul_gradient},
        {"Gemm", gemm_gradient},
        {"MaxPool", pool_gradient},
        {"AveragePool", pool_gradient},
        {"GlobalAveragePool", pool_gradient},
        {"Resize", resize_gradient},
        {"Upsample", resize_gradient},
        {"BatchNormalization", batch_norm_gradient},
        {"InstanceNormalization", row_norm_gradient},
        {"GroupNormalization", row_norm_gradient},
        {"LayerNormalization", row_norm_gradient},
        {"RMSNormalization", row_norm_gradient},
        {"SimplifiedLayerNormalization", row_norm_gradient},
        {"Softmax", softmax_gradient},
        {"LogSoftmax", softmax_gradient},
        {"Dropout", dropout_gradient},
        {"Add", add_gradient},
        {"Sum", add_gradient},
        {"Sub", sub_gradient},
        {"Mul", mul_gradient},
        {"Div", div_gradient},
        {"Pow", pow_gradient},
        {"Where", where_gradient},
        {"Transpose", transpose_gradient},
        {"Concat", concat_gradient},
        {"Split", split_gradient},
        {"Slice", scatter_gradient},
        {"Gather", scatter_gradient},
        {"GatherElements", scatter_gradient},
        {"GatherND", scatter_gradient},
        {"Pad", pad_gradient},
        {"Expand", expand_gradient},
        {"ReduceSum", reduce_gradient},
        {"ReduceMean", reduce_gradient},
        {"Identity", identity_gradient},
        {"Cast", cast_gradient},
    };
    for (const auto* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) made.emplace(type, reshape_gradient);
    for (const auto* type : {"Abs",        "Celu",      "Clip", "Cos",       "Elu",         "Erf",
                             "Exp",        "Gelu",      "Log",  "HardSwish", "HardSigmoid", "LeakyRelu",
                             "Mish",       "Neg",       "Relu", "Selu",      "Sigmoid",     "Sin",
                             "Reciprocal", "Softplus",  "Sqrt", "Softsign",  "Swish",       "Tanh",
                             "com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.QuickGelu"})
      made.emplace(type, unary_gradient);
    for (const auto* type : {"Ceil", "Floor", "Round", "Sign"}) made.emplace(type, no_gradient);
    return made;
  }();
  return rules;
}

/// Throws InputError, which names the node and its operator, where none is known.
[[nodiscard]] inline GradientRule gradient_rule(const Node& node) {
  const auto found = gradient_rules().find(detail::onnx_type(node));
  if (found == gradient_rules().end() || !node.bodies.empty())
    throw InputError("training: node '" + node.name + "' (" + detail::onnx_type(node) + "): no gradient is known");
  return found->second;
}

}  // namespace benanza::training
