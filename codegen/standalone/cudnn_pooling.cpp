// Pooling by cuDNN's legacy call, in both layouts.
#include "cudnn_legacy.hpp"

namespace {

struct Pooling {
  const char* signature;
  Work work;
  cudnnDataType_t type;
  bool average;
  bool counts_padding = false;  // an average over padding divides by the size of the window
  Sizes x, y, kernel, pads, strides;
};

struct Mode {
  const char* name;
  cudnnPoolingMode_t value;
};

Ready pooling(const Pooling& layer, const Mode& mode, Layout layout, Cache cache) {
  const auto how = own<cudnnPoolingDescriptor_t>(cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor);
  CHECK_CUDNN(cudnnSetPoolingNdDescriptor(how.get(), mode.value, CUDNN_PROPAGATE_NAN,
                                          static_cast<int>(layer.kernel.size()), ints(layer.kernel).data(),
                                          ints(layer.pads).data(), ints(layer.strides).data()));
  const auto x_tensor = tensor(layer.type, layer.x, layout), y_tensor = tensor(layer.type, layer.y, layout);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false),
                    y = buffers->add(elements(cuda_type(layer.type), product(layer.y)), false);
  buffers->spread();
  const Factor one(layer.type, 1), zero(layer.type, 0);
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnPoolingForward(cudnn(), how.get(), one.get(), x_tensor.get(), buffers->at(x, copy),
                                                zero.get(), y_tensor.get(), buffers->at(y, copy)));
              },
          .copies = buffers->copies()};
}

constexpr Pooling poolings[] = {
    // @rows@
};

}  // namespace

void add_cudnn_pooling() {
  static_cast<void>(cudnn());
  for (const Pooling& layer : poolings) {
    std::vector<Mode> modes{{"pool:max", CUDNN_POOLING_MAX},
                            {"pool:max_deterministic", CUDNN_POOLING_MAX_DETERMINISTIC}};
    if (layer.average)
      modes = {{"pool:average", layer.counts_padding ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                                     : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING}};
    for (const Mode& mode : modes)
      for (const Layout layout : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC})
        add_row(std::string("cudnn/") + mode.name + layout_key(layout) + ",threads=1", layer.signature, layer.work,
                false, [=](Cache cache) { return pooling(layer, mode, layout, cache); });
  }
}
