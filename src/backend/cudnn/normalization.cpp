// SPDX-License-Identifier: Apache-2.0
// Pooling, softmax, batch normalisation, local response normalisation and reduction.
#include "families.hpp"
#include <benanza/plan/element.hpp>

#include <algorithm>

namespace benanza::cudnn {

namespace {

/// N C inner as cuDNN's four dimensions.
TensorShape image(const TensorShape& x) { return {x[0], x[1], x[2], 1}; }

void order_channels(Draft& draft, const Candidates& candidates, Order order) {
  if (order == Order::nchw) return;
  draft.algorithm += ",layout=nhwc";
  put_channels_last(draft, candidates.operands(), 0, false);
  put_channels_last(draft, candidates.operands(), 0, true);
}

std::string no_type(std::string_view kind, DataType type) {
  return "no legacy call of cuDNN for " + std::string(kind) + " of " + std::string(name(type));
}

}  // namespace

void add_plans(const op::Pool& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_type(op.kind, op.type));
  const std::size_t spatial = op.x.size() - 2;
  const auto pads = even_pads(op.pads, spatial);
  const bool dilated = std::any_of(op.dilations.begin(), op.dilations.end(), [](auto d) { return d != 1; });
  if (spatial < 1 || spatial > 3 || dilated || op.indices || op.mode == op::PoolMode::lp || !op.ceil_pads.empty() ||
      !pads)
    return candidates.refuse(
        "cuDNN pools 1 to 3 dimensions by maximum or average, without dilation or indices, and pads "
        "both ends of an axis alike");
  TensorShape x = op.x, y = op.y();
  std::vector<int> kernel = ints(op.kernel), padding = *pads, strides = entries(op.strides, spatial);
  if (spatial == 1) {
    x.push_back(1);
    y.push_back(1);
    kernel.push_back(1);
    padding.push_back(0);
    strides.push_back(1);
  }
  std::vector<std::pair<cudnnPoolingMode_t, const char*>> modes{
      {op.include_pad ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
       "pool:average"}};
  if (op.mode == op::PoolMode::max)
    modes = {{CUDNN_POOLING_MAX, "pool:max"}, {CUDNN_POOLING_MAX_DETERMINISTIC, "pool:max_deterministic"}};
  const Factor one(*how, 1), zero(*how, 0);
  for (const auto& [mode, title] : modes) {
    auto pooling = own<cudnnPoolingDescriptor_t>(calls().cudnnCreatePoolingDescriptor,
                                                 calls().cudnnDestroyPoolingDescriptor, "cudnnCreatePoolingDescriptor");
    check(calls().cudnnSetPoolingNdDescriptor(pooling.get(), mode, CUDNN_PROPAGATE_NAN, static_cast<int>(kernel.size()),
                                              kernel.data(), padding.data(), strides.data()),
          "cudnnSetPoolingNdDescriptor");
    for (const Order order : {Order::nchw, Order::nhwc}) {
      const TensorDescriptor from = tensor(how->stored, x, order), to = tensor(how->stored, y, order);
      Draft draft{.algorithm = title,
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnPoolingForward(handle, pooling.get(), one.get(), from.get(), a.inputs[0],
                                                          zero.get(), to.get(), a.outputs[0]),
                              "cudnnPoolingForward");
                      },
                  .tolerance = how->tolerance};
      order_channels(draft, candidates, order);
      candidates.add(std::move(draft));
    }
  }
}

void add_plans(const op::Softmax& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_type(op.kind, op.type));
  const TensorDescriptor x = tensor(how->stored, image(op.x));
  std::vector<std::pair<cudnnSoftmaxAlgorithm_t, std::string>> algorithms{{CUDNN_SOFTMAX_LOG, "softmax:log"}};
  if (!op.log) algorithms = {{CUDNN_SOFTMAX_ACCURATE, "softmax:accurate"}, {CUDNN_SOFTMAX_FAST, "softmax:fast"}};
  std::vector<std::pair<cudnnSoftmaxMode_t, const char*>> modes{{CUDNN_SOFTMAX_MODE_CHANNEL, ",mode=channel"}};
  if (op.x[2] == 1) modes.emplace_back(CUDNN_SOFTMAX_MODE_INSTANCE, ",mode=instance");
  const Factor one(*how, 1), zero(*how, 0);
  for (const auto& [algorithm, title] : algorithms)
    for (const auto& [mode, suffix] : modes)
      candidates.add({.algorithm = title + suffix,
                      .execute =
                          [=, which = algorithm, along = mode](cudnnHandle_t handle, const Arguments& a) {
                            check(calls().cudnnSoftmaxForward(handle, which, along, one.get(), x.get(), a.inputs[0],
                                                              zero.get(), x.get(), a.outputs[0]),
                                  "cudnnSoftmaxForward");
                          },
                      .tolerance = how->tolerance});
}

void add_plans(const op::BatchNorm& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_type(op.kind, op.type));
  const double epsilon = candidates.numbers().epsilon;
  std::string why;
  for (const Order order : {Order::nchw, Order::nhwc}) {
    const auto epilogue = epilogue_calls(op.post, op.x, 1, 5, order, *how, why);
    if (!epilogue) return candidates.refuse(why);
    if (order == Order::nhwc && !op.post.empty()) break;
    const TensorDescriptor x = tensor(how->stored, image(op.x), order);
    // Statistics of f16 and bf16 are f32 (cuDNN, cudnnDeriveBNTensorDescriptor); they are constants, so they are
    // converted beforehand.
    const bool widened = how->stored == CUDNN_DATA_HALF || how->stored == CUDNN_DATA_BFLOAT16;
    const TensorDescriptor channels = tensor(widened ? CUDNN_DATA_FLOAT : how->stored, {1, op.x[1], 1, 1});
    const Factor one(*how, 1), zero(*how, 0);
    Draft draft{
        .algorithm = "batch_norm:spatial",
        .execute =
            [=, steps = *epilogue](cudnnHandle_t handle, const Arguments& a) {
              check(calls().cudnnBatchNormalizationForwardInference(
                        handle, CUDNN_BATCHNORM_SPATIAL, one.get(), zero.get(), x.get(), a.inputs[0], x.get(),
                        a.outputs[0], channels.get(), a.inputs[1], a.inputs[2], a.inputs[3], a.inputs[4], epsilon),
                    "cudnnBatchNormalizationForwardInference");
              for (const auto& step : steps) step(handle, a, a.outputs[0]);
            },
        .tolerance = how->tolerance};
    order_channels(draft, candidates, order);
    for (std::size_t i = 1; widened && i <= 4; ++i) {
      const std::int64_t count = op.x[1];
      draft.inputs.emplace_back(i,
                                OtherLayout{{.name = "f32", .bytes = static_cast<std::size_t>(count) * sizeof(float)},
                                            [type = op.type, count](const void* from, void* to) {
                                              for (std::int64_t k = 0; k < count; ++k)
                                                store(to, DataType::f32, k, load(from, type, k));
                                            }});
    }
    candidates.add(std::move(draft));
  }
}

void add_plans(const op::Lrn& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_type(op.kind, op.type));
  if (op.size > CUDNN_LRN_MAX_N) return candidates.refuse("cuDNN normalises over at most 16 channels");
  // Like ONNX, cuDNN divides alpha by the window's length.
  auto norm = own<cudnnLRNDescriptor_t>(calls().cudnnCreateLRNDescriptor, calls().cudnnDestroyLRNDescriptor,
                                        "cudnnCreateLRNDescriptor");
  check(calls().cudnnSetLRNDescriptor(norm.get(), static_cast<unsigned>(op.size), candidates.numbers().lrn_alpha,
                                      op.beta, candidates.numbers().lrn_bias),
        "cudnnSetLRNDescriptor");
  const Factor one(*how, 1), zero(*how, 0);
  const TensorDescriptor x = tensor(how->stored, image(op.x));
  candidates.add({.algorithm = "lrn:cross_channel",
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnLRNCrossChannelForward(handle, norm.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                                                  one.get(), x.get(), a.inputs[0], zero.get(), x.get(),
                                                                  a.outputs[0]),
                              "cudnnLRNCrossChannelForward");
                      },
                  .tolerance = how->tolerance});
}

void add_plans(const op::Reduce& op, Candidates& candidates) {
  const auto how = arithmetic(op.type);
  if (!how) return candidates.refuse(no_type(op.kind, op.type));
  cudnnReduceTensorOp_t function{};
  switch (op.fn) {
    case op::ReduceFn::mean: function = CUDNN_REDUCE_TENSOR_AVG; break;
    case op::ReduceFn::sum: function = CUDNN_REDUCE_TENSOR_ADD; break;
    case op::ReduceFn::max: function = CUDNN_REDUCE_TENSOR_MAX; break;
    case op::ReduceFn::min: function = CUDNN_REDUCE_TENSOR_MIN; break;
    case op::ReduceFn::prod: function = CUDNN_REDUCE_TENSOR_MUL; break;
    case op::ReduceFn::l1: function = CUDNN_REDUCE_TENSOR_NORM1; break;
    case op::ReduceFn::l2: function = CUDNN_REDUCE_TENSOR_NORM2; break;
    default: return candidates.refuse("no reduction of cuDNN is this one (its indices have 32 bits, ONNX's 64)");
  }
  const TensorShape x = with_rank(op.x);
  TensorShape y = x;
  for (const auto axis : op.axes) y[static_cast<std::size_t>(axis)] = 1;
  const TensorDescriptor from = tensor(how->stored, x), to = tensor(how->stored, y);
  auto reduction = own<cudnnReduceTensorDescriptor_t>(calls().cudnnCreateReduceTensorDescriptor,
                                                      calls().cudnnDestroyReduceTensorDescriptor,
                                                      "cudnnCreateReduceTensorDescriptor");
  check(calls().cudnnSetReduceTensorDescriptor(reduction.get(), function, how->accumulated, CUDNN_PROPAGATE_NAN,
                                               CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES),
        "cudnnSetReduceTensorDescriptor");
  std::size_t workspace = 0;
  check(calls().cudnnGetReductionWorkspaceSize(candidates.handle(), reduction.get(), from.get(), to.get(), &workspace),
        "cudnnGetReductionWorkspaceSize");
  const Factor one(*how, 1), zero(*how, 0);
  candidates.add({.algorithm = "reduce_tensor",
                  .execute =
                      [=](cudnnHandle_t handle, const Arguments& a) {
                        check(calls().cudnnReduceTensor(handle, reduction.get(), nullptr, 0, a.workspace, workspace,
                                                        one.get(), from.get(), a.inputs[0], zero.get(), to.get(),
                                                        a.outputs[0]),
                              "cudnnReduceTensor");
                      },
                  .workspace_bytes = workspace,
                  .tolerance = how->tolerance});
}

}  // namespace benanza::cudnn
