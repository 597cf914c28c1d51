// SPDX-License-Identifier: Apache-2.0
// Convolution by every forward algorithm, its epilogue either as separate calls or fused into one; transposed
// convolution as the gradient that it is, by every algorithm for that gradient.
#include "families.hpp"
#include <benanza/model/unit_height.hpp>

#include <algorithm>
#include <array>

namespace benanza::cudnn {

namespace {

struct ForwardAlgorithm {
  cudnnConvolutionFwdAlgo_t algorithm;
  const char* name;
  bool saves_multiplications = false;
};
constexpr std::array forward_algorithms{
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit_precomp_gemm"},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit_gemm"},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "gemm"},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct"},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_FFT, "fft", true},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "fft_tiling", true},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "winograd", true},
    ForwardAlgorithm{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "winograd_nonfused", true}};

struct BackwardAlgorithm {
  cudnnConvolutionBwdDataAlgo_t algorithm;
  const char* name;
  bool saves_multiplications = false;
};
constexpr std::array backward_algorithms{
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, "bwd_data_0"},
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, "bwd_data_1"},
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, "bwd_data_fft", true},
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, "bwd_data_fft_tiling", true},
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, "bwd_data_winograd", true},
    BackwardAlgorithm{CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, "bwd_data_winograd_nonfused", true}};

std::string named(const char* algorithm, const char* epilogue, Order order) {
  return std::string(algorithm) + epilogue + (order == Order::nhwc ? ",layout=nhwc" : "");
}

double tolerance(const Arithmetic& arithmetic, bool saves_multiplications) {
  return saves_multiplications ? std::max(saving_tolerance, arithmetic.tolerance) : arithmetic.tolerance;
}

/// What cudnnConvolutionBiasActivationForward does in one call: activation(convolution + z + bias).
struct FusedEpilogue {
  bool has_z = false;
  std::optional<ActivationDescriptor> activation{};
  bool is_identity = false;
  /// According to cuDNN's documentation of the call, CUDNN_ACTIVATION_IDENTITY works only with this algorithm.
  [[nodiscard]] bool goes_with(cudnnConvolutionFwdAlgo_t algorithm) const {
    return !is_identity || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  }
};

/// Empty if the epilogue does more than that, or has no bias: the call requires one.
std::optional<FusedEpilogue> fused_epilogue(const Epilogue& post) {
  if (post.empty() || !(post[0] == bias)) return std::nullopt;
  FusedEpilogue result;
  std::size_t at = 1;
  if (at < post.size() && post[at].fn == ElementwiseFn::add && !post[at].channel && post[at].shape.empty()) {
    result.has_z = true;
    ++at;
  }
  if (at < post.size() && !is_binary(post[at].fn)) {
    result.activation = activation(post[at].fn, post[at].alpha, post[at].beta);
    if (!result.activation) return std::nullopt;
    ++at;
  }
  result.is_identity = !result.activation;
  if (result.is_identity) result.activation = identity_activation();
  return at == post.size() ? std::optional(result) : std::nullopt;
}

/// One convolution in one order of its operands.
struct Problem {
  TensorDescriptor x{}, y{};
  FilterDescriptor w{};
  ConvolutionDescriptor convolution{};
  Arithmetic arithmetic{};
  Order order = Order::nchw;
};

/// Lays out operands and result in the given order.
void lay_out(Draft& draft, const Candidates& candidates, Order order) {
  if (order == Order::nchw) return;
  for (std::size_t i = 0; i < candidates.operands().inputs.size(); ++i)
    put_channels_last(draft, candidates.operands(), i, false);
  put_channels_last(draft, candidates.operands(), 0, true);
}

void add_fused(const Problem& p, const op::Conv& op, const FusedEpilogue& epilogue, const ForwardAlgorithm& algorithm,
               std::size_t workspace, Candidates& candidates) {
  const Factor one(p.arithmetic, 1), of_z(p.arithmetic, epilogue.has_z ? 1 : 0);
  TensorShape channels = TensorShape::filled(op.y().size(), 1);
  channels[1] = op.y()[1];
  const TensorDescriptor bias_descriptor = tensor(p.arithmetic.stored, channels);
  Draft draft{
      .algorithm = named(algorithm.name, ",epilogue=fused", p.order),
      .execute =
          [=, has_z = epilogue.has_z, activation = *epilogue.activation](cudnnHandle_t handle, const Arguments& a) {
            check(calls().cudnnConvolutionBiasActivationForward(
                      handle, one.get(), p.x.get(), a.inputs[0], p.w.get(), a.inputs[1], p.convolution.get(),
                      algorithm.algorithm, a.workspace, workspace, of_z.get(), p.y.get(),
                      has_z ? a.inputs[3] : a.outputs[0], bias_descriptor.get(), a.inputs[2], activation.get(),
                      p.y.get(), a.outputs[0]),
                  "cudnnConvolutionBiasActivationForward");
          },
      .workspace_bytes = workspace,
      .saves_multiplications = algorithm.saves_multiplications,
      .tolerance = tolerance(p.arithmetic, algorithm.saves_multiplications)};
  lay_out(draft, candidates, p.order);
  candidates.add(std::move(draft));
}

void add_forward(const Problem& p, const op::Conv& op, Candidates& candidates) {
  std::string why;
  const auto epilogue = epilogue_calls(op.post, op.y(), 1, 2, p.order, p.arithmetic, why);
  const auto fused = fused_epilogue(op.post);
  if (!epilogue && !fused) return candidates.refuse(why);
  const Factor one(p.arithmetic, 1), zero(p.arithmetic, 0);
  for (const auto& algorithm : forward_algorithms) {
    std::size_t workspace = 0;
    if (calls().cudnnGetConvolutionForwardWorkspaceSize(candidates.handle(), p.x.get(), p.w.get(), p.convolution.get(),
                                                        p.y.get(), algorithm.algorithm,
                                                        &workspace) != CUDNN_STATUS_SUCCESS)
      continue;  // cuDNN has no such kernel for this problem
    if (epilogue) {
      Draft draft{
          .algorithm = named(algorithm.name, op.post.empty() ? "" : ",epilogue=calls", p.order),
          .execute =
              [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
                check(calls().cudnnConvolutionForward(handle, one.get(), p.x.get(), a.inputs[0], p.w.get(), a.inputs[1],
                                                      p.convolution.get(), algorithm.algorithm, a.workspace, workspace,
                                                      zero.get(), p.y.get(), a.outputs[0]),
                      "cudnnConvolutionForward");
                for (const auto& step : steps) step(handle, a, a.outputs[0]);
              },
          .workspace_bytes = workspace,
          .saves_multiplications = algorithm.saves_multiplications,
          .tolerance = tolerance(p.arithmetic, algorithm.saves_multiplications)};
      lay_out(draft, candidates, p.order);
      candidates.add(std::move(draft));
    }
    if (fused && fused->goes_with(algorithm.algorithm)) add_fused(p, op, *fused, algorithm, workspace, candidates);
  }
}

}  // namespace

void add_plans(const op::Conv& given, Candidates& candidates) {
  const op::Conv op = detail::with_unit_height(given);
  const auto how = arithmetic(op.type);
  if (!how || op.w_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    return candidates.refuse("no legacy call of cuDNN for a convolution of " + std::string(name(op.type)) +
                             " with these types of w and y");
  const std::size_t spatial = op.x.size() - 2;
  if (spatial < 2 || spatial > 3) return candidates.refuse("cuDNN convolves 1 to 3 dimensions");
  const auto descriptor = convolution(op.pads, op.strides, op.dilations, spatial, op.group, *how);
  if (!descriptor)
    return candidates.refuse("cuDNN's convolutions pad both ends of an axis alike, not as pads of begin and end here");
  for (const Order order : {Order::nchw, Order::nhwc})
    add_forward({.x = tensor(how->stored, op.x, order),
                 .y = tensor(how->stored, op.y(), order),
                 .w = filter(how->stored, op.w, order),
                 .convolution = *descriptor,
                 .arithmetic = *how,
                 .order = order},
                op, candidates);
}

void add_plans(const op::ConvTranspose& given, Candidates& candidates) {
  const op::ConvTranspose op = detail::with_unit_height(given);
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse("no legacy call of cuDNN for a convolution of " + std::string(name(op.type)));
  const std::size_t spatial = op.x.size() - 2;
  if (spatial < 2 || spatial > 3) return candidates.refuse("cuDNN convolves 1 to 3 dimensions");
  const auto descriptor = convolution(op.pads, op.strides, op.dilations, spatial, op.group, *how);
  if (!descriptor) return candidates.refuse("cuDNN's convolutions pad both ends of an axis alike");
  std::string why;
  for (const Order order : {Order::nchw, Order::nhwc}) {
    const auto epilogue = epilogue_calls(op.post, op.y(), 1, 2, order, *how, why);
    if (!epilogue) return candidates.refuse(why);
    // ONNX ConvTranspose is the gradient of a convolution with respect to its data: x is dy, y is dx, and w has the
    // layout of that convolution's filter.
    const Problem p{.x = tensor(how->stored, op.x, order),
                    .y = tensor(how->stored, op.y(), order),
                    .w = filter(how->stored, op.w, order),
                    .convolution = *descriptor,
                    .arithmetic = *how,
                    .order = order};
    const Factor one(*how, 1), zero(*how, 0);
    for (const auto& algorithm : backward_algorithms) {
      std::size_t workspace = 0;
      if (calls().cudnnGetConvolutionBackwardDataWorkspaceSize(candidates.handle(), p.w.get(), p.x.get(),
                                                               p.convolution.get(), p.y.get(), algorithm.algorithm,
                                                               &workspace) != CUDNN_STATUS_SUCCESS)
        continue;
      Draft draft{
          .algorithm = named(algorithm.name, "", order),
          .execute =
              [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
                check(calls().cudnnConvolutionBackwardData(handle, one.get(), p.w.get(), a.inputs[1], p.x.get(),
                                                           a.inputs[0], p.convolution.get(), algorithm.algorithm,
                                                           a.workspace, workspace, zero.get(), p.y.get(), a.outputs[0]),
                      "cudnnConvolutionBackwardData");
                for (const auto& step : steps) step(handle, a, a.outputs[0]);
              },
          .workspace_bytes = workspace,
          .saves_multiplications = algorithm.saves_multiplications,
          .tolerance = tolerance(*how, algorithm.saves_multiplications)};
      lay_out(draft, candidates, order);
      candidates.add(std::move(draft));
    }
  }
}

}  // namespace benanza::cudnn
