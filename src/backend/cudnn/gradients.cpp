// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions by every algorithm for data and for weights, of softmax, of batch normalisation from the
// statistics saved by the forward pass, and of the activations whose gradient follows from their result.
#include "families.hpp"
#include "inverse_deviation.hpp"
#include <benanza/model/unit_height.hpp>

#include <algorithm>
#include <array>

namespace benanza::cudnn {

namespace {

template <class Algorithm>
struct GradientAlgorithm {
  Algorithm algorithm;
  const char* name;
  bool saves_multiplications = false;
};
constexpr std::array data_algorithms{
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, "bwd_data_1"},
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, "bwd_data_0"},
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, "bwd_data_fft", true},
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, "bwd_data_fft_tiling",
                                                     true},
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, "bwd_data_winograd",
                                                     true},
    GradientAlgorithm<cudnnConvolutionBwdDataAlgo_t>{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
                                                     "bwd_data_winograd_nonfused", true}};
constexpr std::array filter_algorithms{
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, "bwd_filter_1"},
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, "bwd_filter_0"},
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, "bwd_filter_3"},
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, "bwd_filter_fft", true},
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING,
                                                       "bwd_filter_fft_tiling", true},
    GradientAlgorithm<cudnnConvolutionBwdFilterAlgo_t>{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
                                                       "bwd_filter_winograd_nonfused", true}};

/// A convolution in one order of its operands.
struct GradientProblem {
  TensorDescriptor x{}, dy{};
  FilterDescriptor w{};
  ConvolutionDescriptor convolution{};
  Arithmetic arithmetic{};
  Order order = Order::nchw;
};

Draft gradient_draft(const GradientProblem& p, const char* name, bool saves_multiplications, std::size_t workspace,
                     const Candidates& candidates) {
  Draft draft{
      .algorithm = std::string(name) + (p.order == Order::nhwc ? ",layout=nhwc" : ""),
      .workspace_bytes = workspace,
      .saves_multiplications = saves_multiplications,
      .tolerance = saves_multiplications ? std::max(saving_tolerance, p.arithmetic.tolerance) : p.arithmetic.tolerance};
  if (p.order == Order::nhwc) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      put_channels_last(draft, candidates.operands(), i, false);
    put_channels_last(draft, candidates.operands(), 0, true);
  }
  return draft;
}

/// Computes dx from dy and w.
void add_data(const GradientProblem& p, Candidates& candidates) {
  const Factor one(p.arithmetic, 1), zero(p.arithmetic, 0);
  for (const auto& each : data_algorithms) {
    std::size_t workspace = 0;
    if (calls().cudnnGetConvolutionBackwardDataWorkspaceSize(candidates.handle(), p.w.get(), p.dy.get(),
                                                             p.convolution.get(), p.x.get(), each.algorithm,
                                                             &workspace) != CUDNN_STATUS_SUCCESS)
      continue;  // cuDNN has no such kernel for this problem
    Draft draft = gradient_draft(p, each.name, each.saves_multiplications, workspace, candidates);
    draft.execute = [=, algorithm = each.algorithm](cudnnHandle_t handle, const Arguments& a) {
      check(calls().cudnnConvolutionBackwardData(handle, one.get(), p.w.get(), a.inputs[1], p.dy.get(), a.inputs[0],
                                                 p.convolution.get(), algorithm, a.workspace, workspace, zero.get(),
                                                 p.x.get(), a.outputs[0]),
            "cudnnConvolutionBackwardData");
    };
    candidates.add(std::move(draft));
  }
}

/// Computes dw from x and dy.
void add_weights(const GradientProblem& p, Candidates& candidates) {
  const Factor one(p.arithmetic, 1), zero(p.arithmetic, 0);
  for (const auto& each : filter_algorithms) {
    std::size_t workspace = 0;
    if (calls().cudnnGetConvolutionBackwardFilterWorkspaceSize(candidates.handle(), p.x.get(), p.dy.get(),
                                                               p.convolution.get(), p.w.get(), each.algorithm,
                                                               &workspace) != CUDNN_STATUS_SUCCESS)
      continue;
    Draft draft = gradient_draft(p, each.name, each.saves_multiplications, workspace, candidates);
    draft.execute = [=, algorithm = each.algorithm](cudnnHandle_t handle, const Arguments& a) {
      check(calls().cudnnConvolutionBackwardFilter(handle, one.get(), p.x.get(), a.inputs[0], p.dy.get(), a.inputs[1],
                                                   p.convolution.get(), algorithm, a.workspace, workspace, zero.get(),
                                                   p.w.get(), a.outputs[0]),
            "cudnnConvolutionBackwardFilter");
    };
    candidates.add(std::move(draft));
  }
}

std::string no_gradient(std::string_view kind, DataType type) {
  return "no legacy call of cuDNN for a " + std::string(kind) + " of " + std::string(name(type));
}

}  // namespace

void add_plans(const op::ConvGradient& given, Candidates& candidates) {
  const op::ConvGradient op = detail::with_unit_height(given);
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_gradient(op.kind, op.type));
  const std::size_t spatial = op.x.size() - 2;
  if (spatial < 2 || spatial > 3) return candidates.refuse("cuDNN convolves 1 to 3 dimensions");
  const auto descriptor = convolution(op.pads, op.strides, op.dilations, spatial, op.group, *how);
  if (!descriptor) return candidates.refuse("cuDNN's convolutions pad both ends of an axis alike");
  for (const Order order : {Order::nchw, Order::nhwc}) {
    const GradientProblem problem{.x = tensor(how->stored, op.x, order),
                                  .dy = tensor(how->stored, op.y(), order),
                                  .w = filter(how->stored, op.w, order),
                                  .convolution = *descriptor,
                                  .arithmetic = *how,
                                  .order = order};
    if (op.of == op::ConvGradientOf::data) add_data(problem, candidates);
    else add_weights(problem, candidates);
  }
}

void add_plans(const op::SoftmaxGradient& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_gradient(op.kind, op.type));
  const TensorDescriptor x = tensor(how->stored, with_rank(op.x));
  const cudnnSoftmaxAlgorithm_t algorithm = op.log ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE;
  const Factor one(*how, 1), zero(*how, 0);
  candidates.add({.algorithm = op.log ? "softmax_backward:log" : "softmax_backward:accurate",
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnSoftmaxBackward(handle, algorithm, CUDNN_SOFTMAX_MODE_CHANNEL, one.get(),
                                                           x.get(), a.inputs[1], x.get(), a.inputs[0], zero.get(),
                                                           x.get(), a.outputs[0]),
                              "cudnnSoftmaxBackward");
                      },
                  .tolerance = how->tolerance});
}

void add_plans(const op::UnaryGradient& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  const bool from_result =
      op.fn == ElementwiseFn::relu || op.fn == ElementwiseFn::sigmoid || op.fn == ElementwiseFn::tanh;
  const auto function = from_result ? activation(op.fn, op.alpha, op.beta) : std::nullopt;
  if (!how || !function)
    return candidates.refuse("no call of cuDNN for the gradient of " +
                             std::string(enum_names(op.fn)[static_cast<std::size_t>(op.fn)]) + " of " +
                             std::string(name(op.type)));
  const TensorDescriptor x = tensor(how->stored, {op.x[0], 1, 1, 1});
  const Factor one(*how, 1), zero(*how, 0);
  candidates.add({.algorithm = "activation_backward",
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        // If the derivative follows from the result, the operand is not read; the result is passed in
                        // its place.
                        check(calls().cudnnActivationBackward(handle, function->get(), one.get(), x.get(), a.inputs[1],
                                                              x.get(), a.inputs[0], x.get(), a.inputs[1], zero.get(),
                                                              x.get(), a.outputs[0]),
                              "cudnnActivationBackward");
                      },
                  .tolerance = how->tolerance});
}

void add_plans(const op::NormGradient& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (op.of != op::NormGradientOf::batch || op.type != DataType::f32 || !op.affine || !op.bias)
    return candidates.refuse(
        "no legacy call of cuDNN but for the gradient of batch normalisation of f32 with a scale "
        "and a bias");
  const Factor one(*how, 1), zero(*how, 0);
  const TensorDescriptor channels = tensor(how->stored, {1, op.x[1], 1, 1});
  for (const Order order : {Order::nchw, Order::nhwc}) {
    const TensorDescriptor x = tensor(how->stored, with_rank(op.x), order);
    Draft draft{.algorithm = std::string("batch_norm_backward:spatial") + (order == Order::nhwc ? ",layout=nhwc" : ""),
                .execute =
                    [=](cudnnHandle_t handle, const Arguments& a) {
                      check(calls().cudnnBatchNormalizationBackward(
                                handle, CUDNN_BATCHNORM_SPATIAL, one.get(), zero.get(), one.get(), zero.get(), x.get(),
                                a.inputs[1], x.get(), a.inputs[0], x.get(), a.outputs[0], channels.get(), a.inputs[2],
                                a.outputs[1], a.outputs[2], measured_epsilon, a.inputs[3], a.inputs[4]),
                            "cudnnBatchNormalizationBackward");
                    },
                .tolerance = how->tolerance};
    if (order == Order::nhwc) {
      put_channels_last(draft, candidates.operands(), 0, false);
      put_channels_last(draft, candidates.operands(), 1, false);
      put_channels_last(draft, candidates.operands(), 0, true);
    }
    put_inverse_deviation(draft, 4, op.x[1]);
    candidates.add(std::move(draft));
  }
}

}  // namespace benanza::cudnn
