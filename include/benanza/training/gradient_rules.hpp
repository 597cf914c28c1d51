// SPDX-License-Identifier: Apache-2.0
// THE list of gradients: an operator and its rule.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/training/gradients/convolution.hpp>
#include <benanza/training/gradients/einsum.hpp>
#include <benanza/training/gradients/elementwise.hpp>
#include <benanza/training/gradients/loss.hpp>
#include <benanza/training/gradients/movement.hpp>
#include <benanza/training/gradients/normalization.hpp>
#include <benanza/training/gradients/product.hpp>
#include <benanza/training/gradients/recurrent.hpp>
#include <benanza/training/gradients/reduction.hpp>
#include <benanza/training/gradients/scatter.hpp>
#include <benanza/training/gradients/window.hpp>

#include <initializer_list>
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
        {"Einsum", einsum_gradient},
        {"GlobalAveragePool", pool_gradient},
        {"BatchNormalization", batch_norm_gradient},
        {"MeanVarianceNormalization", mean_variance_gradient},
        {"LpNormalization", lp_norm_gradient},
        {"LRN", lrn_gradient},
        {"Dropout", identity_gradient},
        {"benanza.Dropout", dropout_gradient},
        {"Sub", sub_gradient},
        {"Mul", mul_gradient},
        {"Div", div_gradient},
        {"SwiGLU", swiglu_gradient},
        {"Mod", mod_gradient},
        {"Pow", pow_gradient},
        {"PRelu", prelu_gradient},
        {"Where", where_gradient},
        {"Mean", mean_gradient},
        {"Transpose", transpose_gradient},
        {"DepthToSpace", blocks_gradient},
        {"SpaceToDepth", blocks_gradient},
        {"Concat", concat_gradient},
        {"Split", split_gradient},
        {"Slice", slice_gradient},
        {"Pad", pad_gradient},
        {"CenterCropPad", center_gradient},
        {"Trilu", trilu_gradient},
        {"Expand", expand_gradient},
        {"Tile", tile_gradient},
        {"TopK", top_k_gradient},
        {"CumSum", cumulative_sum_gradient},
        {"CumProd", cumulative_product_gradient},
        {"Identity", identity_gradient},
        {"Cast", cast_gradient},
        {"CastLike", cast_gradient},
        {"RotaryEmbedding", rotary_gradient},
        {"com.microsoft.RotaryEmbedding", rotary_gradient},
        {"GridSample", grid_sample_gradient},
        {"RoiAlign", roi_align_gradient},
    };
    const auto add = [&](std::initializer_list<std::string_view> types, GradientRule rule) {
      for (const auto type : types) made.emplace(type, rule);
    };
    add({"Reshape", "Flatten", "Squeeze", "Unsqueeze"}, reshape_gradient);
    add({"MaxPool", "AveragePool"}, pool_gradient);
    add({"LpPool", "GlobalLpPool"}, lp_pool_gradient);
    add({"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh", "Tan"}, angle_gradient);
    add({"Resize", "Upsample"}, resize_gradient);
    add({"LSTM", "GRU", "RNN"}, recurrent_gradient);
    add({"InstanceNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization",
         "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"},
        row_norm_gradient);
    add({"Softmax", "LogSoftmax"}, softmax_gradient);
    add({"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}, loss_gradient);
    add({"Add", "Sum"}, add_gradient);
    add({"Max", "Min"}, extremum_gradient);
    add({"Gather", "GatherElements", "GatherND"}, gather_gradient);
    add({"ScatterElements", "Scatter", "ScatterND"}, scatter_gradient);
    add({"ReduceSum", "ReduceMean"}, sum_gradient);
    add({"ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
         "ReduceSumSquare"},
        reduce_gradient);
    add({"Abs",
         "Celu",
         "Clip",
         "Cos",
         "Elu",
         "Erf",
         "Exp",
         "Gelu",
         "HardSigmoid",
         "Log",
         "HardSwish",
         "LeakyRelu",
         "Mish",
         "Neg",
         "Relu",
         "Reciprocal",
         "Selu",
         "Shrink",
         "Sigmoid",
         "Sin",
         "Softplus",
         "Softsign",
         "Sqrt",
         "Swish",
         "Tanh",
         "ThresholdedRelu",
         "com.microsoft.Gelu",
         "com.microsoft.FastGelu",
         "com.microsoft.QuickGelu"},
        unary_gradient);
    add({"Ceil", "Floor", "Round", "Sign", "Hardmax"}, no_gradient);
    return made;
  }();
  return rules;
}

/// Throws InputError, which names the node and its operator, if no rule is known.
[[nodiscard]] inline GradientRule gradient_rule(const Node& node) {
  const auto found = gradient_rules().find(detail::onnx_type(node));
  if (found == gradient_rules().end() || !node.bodies.empty())
    throw InputError("training: node '" + node.name + "' (" + detail::onnx_type(node) + "): no gradient is known");
  return found->second;
}

}  // namespace benanza::training
