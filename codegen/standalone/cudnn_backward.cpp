// Gradients of a convolution by its data and by its weights, by every backward algorithm of cuDNN's legacy calls, in
// both layouts. A transposed convolution is the gradient by the data of the convolution with its weights.
#include "cudnn_legacy.hpp"

namespace {

struct Backward {
  const char* signature;
  Work work;
  cudnnDataType_t type, sums;
  cudnnMathType_t math;
  Sizes x, w, y;  // shapes of the convolution: x and y have those of their gradients
  Sizes pads, strides, dilations;
  int groups = 1;
  bool by_weights = false;  // the result is the gradient of w, not that of x
  bool constant_weights = false;
  List<Step> post{};  // epilogue of a transposed convolution, on a result of the shape of x
};

struct DataAlgorithm {
  const char* name;
  cudnnConvolutionBwdDataAlgo_t value;
};
constexpr DataAlgorithm data_algorithms[] = {
    {"bwd_data_0", CUDNN_CONVOLUTION_BWD_DATA_ALGO_0},
    {"bwd_data_1", CUDNN_CONVOLUTION_BWD_DATA_ALGO_1},
    {"bwd_data_fft", CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT},
    {"bwd_data_fft_tiling", CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING},
    {"bwd_data_winograd", CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD},
    {"bwd_data_winograd_nonfused", CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED},
};
struct FilterAlgorithm {
  const char* name;
  cudnnConvolutionBwdFilterAlgo_t value;
};
constexpr FilterAlgorithm filter_algorithms[] = {
    {"bwd_filter_0", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0},
    {"bwd_filter_1", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1},
    {"bwd_filter_3", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3},
    {"bwd_filter_fft", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT},
    {"bwd_filter_fft_tiling", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING},
    {"bwd_filter_winograd_nonfused", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED},
};

/// Descriptors and operands, which both gradients have.
struct Problem {
  Owned<cudnnTensorDescriptor_t> x_tensor, y_tensor;
  Owned<cudnnFilterDescriptor_t> w_filter;
  Owned<cudnnConvolutionDescriptor_t> how;
  std::shared_ptr<Buffers> buffers;
  std::size_t x, w, y;
};
Problem problem(const Backward& layer, Layout layout, Cache cache) {
  Problem result{tensor(layer.type, layer.x, layout),
                 tensor(layer.type, layer.y, layout),
                 filter(layer.type, layer.w, layout),
                 own<cudnnConvolutionDescriptor_t>(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor),
                 std::make_shared<Buffers>(cache),
                 0,
                 0,
                 0};
  CHECK_CUDNN(cudnnSetConvolutionNdDescriptor(result.how.get(), static_cast<int>(layer.pads.size()),
                                              ints(layer.pads).data(), ints(layer.strides).data(),
                                              ints(layer.dilations).data(), CUDNN_CROSS_CORRELATION, layer.sums));
  CHECK_CUDNN(cudnnSetConvolutionGroupCount(result.how.get(), layer.groups));
  CHECK_CUDNN(cudnnSetConvolutionMathType(result.how.get(), layer.math));
  const cudaDataType_t type = cuda_type(layer.type);
  result.x = result.buffers->add(elements(type, product(layer.x)), false);
  result.w = result.buffers->add(elements(type, product(layer.w)), layer.constant_weights);
  result.y = result.buffers->add(elements(type, product(layer.y)), false);
  return result;
}

[[noreturn]] void not_offered(cudnnStatus_t status) {
  throw Skipped(std::string("not offered: ") + cudnnGetErrorString(status));
}

Ready by_data(const Backward& layer, const DataAlgorithm& algorithm, Layout layout, Cache cache) {
  const Problem p = problem(layer, layout, cache);
  std::size_t workspace_bytes = 0;
  if (const auto status =
          cudnnGetConvolutionBackwardDataWorkspaceSize(cudnn(), p.w_filter.get(), p.y_tensor.get(), p.how.get(),
                                                       p.x_tensor.get(), algorithm.value, &workspace_bytes);
      status != CUDNN_STATUS_SUCCESS)
    not_offered(status);
  const Memory workspace(workspace_bytes);
  const Factor one(layer.type, 1), zero(layer.type, 0);
  const auto epilogue = epilogue_calls(layer.post, layer.type, layer.x, layout, p.buffers);
  p.buffers->spread();
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnConvolutionBackwardData(cudnn(), one.get(), p.w_filter.get(), p.buffers->at(p.w, copy),
                                                         p.y_tensor.get(), p.buffers->at(p.y, copy), p.how.get(),
                                                         algorithm.value, workspace.get(), workspace_bytes, zero.get(),
                                                         p.x_tensor.get(), p.buffers->at(p.x, copy)));
                epilogue(p.buffers->at(p.x, copy), copy);
              },
          .copies = p.buffers->copies()};
}

Ready by_weights(const Backward& layer, const FilterAlgorithm& algorithm, Layout layout, Cache cache) {
  const Problem p = problem(layer, layout, cache);
  std::size_t workspace_bytes = 0;
  if (const auto status =
          cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnn(), p.x_tensor.get(), p.y_tensor.get(), p.how.get(),
                                                         p.w_filter.get(), algorithm.value, &workspace_bytes);
      status != CUDNN_STATUS_SUCCESS)
    not_offered(status);
  const Memory workspace(workspace_bytes);
  const Factor one(layer.type, 1), zero(layer.type, 0);
  p.buffers->spread();
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnConvolutionBackwardFilter(
                    cudnn(), one.get(), p.x_tensor.get(), p.buffers->at(p.x, copy), p.y_tensor.get(),
                    p.buffers->at(p.y, copy), p.how.get(), algorithm.value, workspace.get(), workspace_bytes,
                    zero.get(), p.w_filter.get(), p.buffers->at(p.w, copy)));
              },
          .copies = p.buffers->copies()};
}

constexpr Backward layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_backward() {
  static_cast<void>(cudnn());
  for (const Backward& layer : layers)
    for (const Layout layout : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
      const auto add = [&](const auto& algorithm, auto prepare) {
        add_row(std::string("cudnn/") + algorithm.name + layout_key(layout) + ",threads=1", layer.signature, layer.work,
                layer.constant_weights, [=](Cache cache) { return prepare(layer, algorithm, layout, cache); });
      };
      if (layer.by_weights)
        for (const auto& algorithm : filter_algorithms) add(algorithm, by_weights);
      else
        for (const auto& algorithm : data_algorithms) add(algorithm, by_data);
    }
}
