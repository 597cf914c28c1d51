// Batch normalisation at inference, in both layouts, and local response normalisation, by cuDNN's legacy calls.
#include "cudnn_legacy.hpp"

namespace {

struct Normalization {
  const char* signature;
  Work work;
  cudnnDataType_t type;
  Sizes x;            // N C inner 1
  unsigned size = 0;  // channels in the window of local response normalisation; 0: batch normalisation
  double beta = 0;
  List<Step> post{};  // epilogue of batch normalisation
};

Ready batch_normalization(const Normalization& layer, Layout layout, Cache cache) {
  const auto x_tensor = tensor(layer.type, layer.x, layout);
  // Statistics of f16 and bf16 are f32 (cuDNN, cudnnDeriveBNTensorDescriptor).
  const cudnnDataType_t type_of_statistics = layer.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const auto channels = tensor(type_of_statistics, {1, layer.x[1], 1, 1});
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false),
                    y = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false);
  const auto statistic = [&](bool positive) {
    return buffers->add(elements(cuda_type(type_of_statistics), layer.x[1], positive), true);
  };
  const std::size_t scale = statistic(true), bias = statistic(false), mean = statistic(false),
                    variance = statistic(true);
  const auto epilogue = epilogue_calls(layer.post, layer.type, layer.x, layout, buffers);
  buffers->spread();
  const Factor one(layer.type, 1), zero(layer.type, 0);
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnBatchNormalizationForwardInference(
                    cudnn(), CUDNN_BATCHNORM_SPATIAL, one.get(), zero.get(), x_tensor.get(), buffers->at(x, copy),
                    x_tensor.get(), buffers->at(y, copy), channels.get(), buffers->at(scale, copy),
                    buffers->at(bias, copy), buffers->at(mean, copy), buffers->at(variance, copy), 1e-5));
                epilogue(buffers->at(y, copy), copy);
              },
          .copies = buffers->copies()};
}

Ready local_response(const Normalization& layer, Cache cache) {
  const auto how = own<cudnnLRNDescriptor_t>(cudnnCreateLRNDescriptor, cudnnDestroyLRNDescriptor);
  CHECK_CUDNN(cudnnSetLRNDescriptor(how.get(), layer.size, 1e-4, layer.beta, 1));
  const auto x_tensor = tensor(layer.type, layer.x);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false),
                    y = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false);
  buffers->spread();
  const Factor one(layer.type, 1), zero(layer.type, 0);
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnLRNCrossChannelForward(cudnn(), how.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1, one.get(),
                                                        x_tensor.get(), buffers->at(x, copy), zero.get(),
                                                        x_tensor.get(), buffers->at(y, copy)));
              },
          .copies = buffers->copies()};
}

constexpr Normalization layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_normalization() {
  static_cast<void>(cudnn());
  for (const Normalization& layer : layers) {
    if (layer.size > 0) {
      add_row("cudnn/lrn:cross_channel,threads=1", layer.signature, layer.work, false,
              [=](Cache cache) { return local_response(layer, cache); });
      continue;
    }
    for (const Layout layout : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC})
      add_row("cudnn/batch_norm:spatial" + layout_key(layout) + ",threads=1", layer.signature, layer.work, true,
              [=](Cache cache) { return batch_normalization(layer, layout, cache); });
  }
}
