// SPDX-License-Identifier: Apache-2.0
// The list of gradients: an operator, its rule, and the inputs that it differentiates.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/training/detail/gradients/convolution.hpp>
#include <benanza/training/detail/gradients/einsum.hpp>
#include <benanza/training/detail/gradients/elementwise.hpp>
#include <benanza/training/detail/gradients/loss.hpp>
#include <benanza/training/detail/gradients/movement.hpp>
#include <benanza/training/detail/gradients/normalization.hpp>
#include <benanza/training/detail/gradients/product.hpp>
#include <benanza/training/detail/gradients/recurrent.hpp>
#include <benanza/training/detail/gradients/reduction.hpp>
#include <benanza/training/detail/gradients/scatter.hpp>
#include <benanza/training/detail/gradients/window.hpp>

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::training {

using GradientRule = void (*)(const Node&, GradientBuilder&);

/// How an operator is differentiated.
struct Gradient {
  GradientRule rule{};
  /// Only the first inputs have a gradient, as many as this: the others are settings, such as the type operand of
  /// CastLike and the bounds of Clip, or statistics. ONNX's schemas say which inputs are differentiable.
  std::size_t operands = 0;
};

[[nodiscard]] inline const std::map<std::string_view, Gradient>& gradients() {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  static const std::map<std::string_view, Gradient> rules = [] {
    std::map<std::string_view, Gradient> made{
        {"Conv", {conv_gradient, 3}},
        {"ConvTranspose", {conv_transpose_gradient, 3}},
        {"MatMul", {mat_mul_gradient, 2}},
        {"com.microsoft.FusedMatMul", {mat_mul_gradient, 2}},
        {"Gemm", {gemm_gradient, 3}},
        {"Einsum", {einsum_gradient, all}},
        {"GlobalAveragePool", {pool_gradient, 1}},
        {"BatchNormalization", {batch_norm_gradient, 3}},
        {"MeanVarianceNormalization", {mean_variance_gradient, 1}},
        {"LpNormalization", {lp_norm_gradient, 1}},
        {"LRN", {lrn_gradient, 1}},
        {"Dropout", {identity_gradient, 1}},
        {"benanza.Dropout", {dropout_gradient, 1}},
        {"Sub", {sub_gradient, 2}},
        {"Mul", {mul_gradient, 2}},
        {"Div", {div_gradient, 2}},
        {"SwiGLU", {swiglu_gradient, 2}},
        {"Mod", {mod_gradient, 2}},
        {"Pow", {pow_gradient, 2}},
        {"PRelu", {prelu_gradient, 2}},
        {"Where", {where_gradient, 3}},
        {"Mean", {mean_gradient, all}},
        {"Transpose", {transpose_gradient, 1}},
        {"DepthToSpace", {blocks_gradient, 1}},
        {"SpaceToDepth", {blocks_gradient, 1}},
        {"Concat", {concat_gradient, all}},
        {"Split", {split_gradient, 1}},
        {"Slice", {slice_gradient, 1}},
        {"Pad", {pad_gradient, 1}},
        {"CenterCropPad", {center_gradient, 1}},
        {"Trilu", {trilu_gradient, 1}},
        {"Expand", {expand_gradient, 1}},
        {"Tile", {tile_gradient, 1}},
        {"TopK", {top_k_gradient, 1}},
        {"CumSum", {cumulative_sum_gradient, 1}},
        {"CumProd", {cumulative_product_gradient, 1}},
        {"Identity", {identity_gradient, 1}},
        {"Cast", {cast_gradient, 1}},
        {"CastLike", {cast_gradient, 1}},
        {"RotaryEmbedding", {rotary_gradient, 1}},
        {"com.microsoft.RotaryEmbedding", {rotary_gradient, 1}},
        {"GridSample", {grid_sample_gradient, 2}},
        {"RoiAlign", {roi_align_gradient, 1}},
    };
    const auto add = [&](std::initializer_list<std::string_view> types, Gradient gradient) {
      for (const auto type : types) made.emplace(type, gradient);
    };
    add({"Reshape", "Flatten", "Squeeze", "Unsqueeze"}, {reshape_gradient, 1});
    add({"MaxPool", "AveragePool"}, {pool_gradient, 1});
    add({"LpPool", "GlobalLpPool"}, {lp_pool_gradient, 1});
    add({"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cosh", "Sinh", "Tan"}, {angle_gradient, 1});
    add({"Resize", "Upsample"}, {resize_gradient, 1});
    add({"LSTM", "GRU", "RNN"}, {recurrent_gradient, all});
    add({"InstanceNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization",
         "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization"},
        {row_norm_gradient, 3});
    add({"Softmax", "LogSoftmax"}, {softmax_gradient, 1});
    add({"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"}, {loss_gradient, 1});
    add({"Add", "Sum"}, {add_gradient, all});
    add({"Max", "Min"}, {extremum_gradient, all});
    add({"Gather", "GatherElements", "GatherND"}, {gather_gradient, 1});
    add({"ScatterElements", "Scatter", "ScatterND"}, {scatter_gradient, 3});
    add({"ReduceSum", "ReduceMean"}, {sum_gradient, 1});
    add({"ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
         "ReduceSumSquare"},
        {reduce_gradient, 1});
    add({"Abs",         "Celu",
         "Clip",        "Cos",
         "Elu",         "Erf",
         "Exp",         "Gelu",
         "HardSigmoid", "Log",
         "HardSwish",   "LeakyRelu",
         "Mish",        "Neg",
         "Relu",        "Reciprocal",
         "Selu",        "Shrink",
         "Sigmoid",     "Sin",
         "Softplus",    "Softsign",
         "Sqrt",        "Swish",
         "Tanh",        "ThresholdedRelu"},
        {unary_gradient, 1});
    add({"com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.QuickGelu"}, {unary_gradient, 2});
    add({"Ceil", "Floor", "Round", "Sign", "Hardmax", "OneHot", "EyeLike", "RandomNormalLike", "RandomUniformLike",
         "Bernoulli"},
        {no_gradient, 0});
    return made;
  }();
  return rules;
}

/// The rule and the differentiable inputs of a node; null if the operator has no rule.
[[nodiscard]] inline const Gradient* find_gradient(const Node& node) {
  const auto found = gradients().find(detail::onnx_type(node));
  return found == gradients().end() || !node.bodies.empty() ? nullptr : &found->second;
}

/// Throws InputError, which names the node and its operator, if no rule is known.
[[nodiscard]] inline GradientRule gradient_rule(const Node& node) {
  if (const Gradient* gradient = find_gradient(node)) return gradient->rule;
  throw InputError("training: node '" + node.name + "' (" + detail::onnx_type(node) + "): no gradient is known");
}

/// Whether input `i` is differentiable. All inputs of an operator without a rule are.
[[nodiscard]] inline bool is_differentiable(const Node& node, std::size_t i) {
  const Gradient* gradient = find_gradient(node);
  return gradient == nullptr || i < gradient->operands;
}

/// Whether a differentiable input is a value that wants a gradient.
[[nodiscard]] inline bool passes_gradient(const Node& node, const std::vector<bool>& wanted) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i) && *node.inputs[i] < wanted.size() && wanted[*node.inputs[i]] && is_differentiable(node, i))
      return true;
  return false;
}

}  // namespace benanza::training
