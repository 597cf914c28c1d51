// Convolution by every forward algorithm of cuDNN's legacy calls, in both layouts; its epilogue by calls of its own, or
// in one call with the convolution.
#include "cudnn_legacy.hpp"

namespace {

struct Convolution {
  const char* signature;
  Work work;
  cudnnDataType_t type, sums;  // types of operands and result, and of what is added up
  cudnnMathType_t math;        // CUDNN_FMA_MATH: f32 is not rounded to tf32
  Sizes x, w, y;               // N C spatial..., whatever the layout
  Sizes pads, strides, dilations;
  int groups = 1;
  bool constant_weights = true;
  List<Step> post{};
  bool fuses = false;  // the epilogue is a bias, then maybe a tensor that is added, then maybe an activation
};

struct Algorithm {
  const char* name;
  cudnnConvolutionFwdAlgo_t value;
};
constexpr Algorithm algorithms[] = {
    {"implicit_precomp_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM},
    {"implicit_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM},
    {"gemm", CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
    {"direct", CUDNN_CONVOLUTION_FWD_ALGO_DIRECT},
    {"fft", CUDNN_CONVOLUTION_FWD_ALGO_FFT},
    {"fft_tiling", CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING},
    {"winograd", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD},
    {"winograd_nonfused", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED},
};

Ready convolution(const Convolution& layer, const Algorithm& algorithm, Layout layout, bool fused, Cache cache) {
  const auto x_tensor = tensor(layer.type, layer.x, layout), y_tensor = tensor(layer.type, layer.y, layout);
  const auto w_filter = filter(layer.type, layer.w, layout);
  const auto how =
      own<cudnnConvolutionDescriptor_t>(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor);
  CHECK_CUDNN(cudnnSetConvolutionNdDescriptor(how.get(), static_cast<int>(layer.pads.size()), ints(layer.pads).data(),
                                              ints(layer.strides).data(), ints(layer.dilations).data(),
                                              CUDNN_CROSS_CORRELATION, layer.sums));
  CHECK_CUDNN(cudnnSetConvolutionGroupCount(how.get(), layer.groups));
  CHECK_CUDNN(cudnnSetConvolutionMathType(how.get(), layer.math));
  std::size_t workspace_bytes = 0;
  if (const auto status = cudnnGetConvolutionForwardWorkspaceSize(cudnn(), x_tensor.get(), w_filter.get(), how.get(),
                                                                  y_tensor.get(), algorithm.value, &workspace_bytes);
      status != CUDNN_STATUS_SUCCESS)
    throw Skipped(std::string("not offered: ") + cudnnGetErrorString(status));
  const Memory workspace(workspace_bytes);
  const cudaDataType_t type = cuda_type(layer.type);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(type, product(layer.x)), false),
                    w = buffers->add(elements(type, product(layer.w)), layer.constant_weights),
                    y = buffers->add(elements(type, product(layer.y)), false);
  const Factor one(layer.type, 1), zero(layer.type, 0);

  if (!fused) {
    const auto epilogue = epilogue_calls(layer.post, layer.type, layer.y, layout, buffers);
    buffers->spread();
    return {.call =
                [=](std::size_t copy) {
                  CHECK_CUDNN(cudnnConvolutionForward(cudnn(), one.get(), x_tensor.get(), buffers->at(x, copy),
                                                      w_filter.get(), buffers->at(w, copy), how.get(), algorithm.value,
                                                      workspace.get(), workspace_bytes, zero.get(), y_tensor.get(),
                                                      buffers->at(y, copy)));
                  epilogue(buffers->at(y, copy), copy);
                },
            .copies = buffers->copies()};
  }

  // activation(convolution + z + bias); what is not added is not read, and y stands for it.
  const Step& last = layer.post[layer.post.size() - 1];
  const auto function = activation(last.operand.empty() ? last.mode : CUDNN_ACTIVATION_IDENTITY,
                                   last.operand.empty() ? last.coefficient : 0);
  const bool adds = layer.post.size() > 1 && !layer.post[1].operand.empty();
  const auto bias_tensor = tensor(layer.type, layer.post[0].operand);
  const std::size_t bias = buffers->add(elements(type, product(layer.post[0].operand)), true),
                    z = adds ? buffers->add(elements(type, product(layer.y)), false) : y;
  const Factor of_z(layer.type, adds ? 1 : 0);
  buffers->spread();
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnConvolutionBiasActivationForward(
                    cudnn(), one.get(), x_tensor.get(), buffers->at(x, copy), w_filter.get(), buffers->at(w, copy),
                    how.get(), algorithm.value, workspace.get(), workspace_bytes, of_z.get(), y_tensor.get(),
                    buffers->at(z, copy), bias_tensor.get(), buffers->at(bias, copy), function.get(), y_tensor.get(),
                    buffers->at(y, copy)));
              },
          .copies = buffers->copies()};
}

constexpr Convolution convolutions[] = {
    // @rows@
};

}  // namespace

void add_cudnn_convolution() {
  static_cast<void>(cudnn());
  for (const Convolution& layer : convolutions)
    for (const Algorithm& algorithm : algorithms)
      for (const Layout layout : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC})
        for (const bool fused : {false, true}) {
          // The documentation of the fused call: without an activation it goes with this algorithm alone.
          const bool identity = fused && layer.fuses && !layer.post[layer.post.size() - 1].operand.empty();
          if (fused &&
              (!layer.fuses || (identity && algorithm.value != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)))
            continue;
          const char* const epilogue = fused ? ",epilogue=fused" : layer.post.empty() ? "" : ",epilogue=calls";
          add_row(std::string("cudnn/") + algorithm.name + epilogue + layout_key(layout) + ",threads=1",
                  layer.signature, layer.work, layer.constant_weights,
                  [=](Cache cache) { return convolution(layer, algorithm, layout, fused, cache); });
        }
}
