// Softmax and its logarithm by cuDNN's legacy call: each algorithm, along the channels, and over a whole instance where
// that is the same.
#include "cudnn_legacy.hpp"

namespace {

struct Softmax {
  const char* signature;
  Work work;
  cudnnDataType_t type;
  Sizes x;  // outer, axis, inner, 1
  bool log = false;
};

Ready softmax(const Softmax& layer, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode, Cache cache) {
  const auto x_tensor = tensor(layer.type, layer.x);
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::size_t x = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false),
                    y = buffers->add(elements(cuda_type(layer.type), product(layer.x)), false);
  buffers->spread();
  const Factor one(layer.type, 1), zero(layer.type, 0);
  return {
      .call =
          [=](std::size_t copy) {
            CHECK_CUDNN(cudnnSoftmaxForward(cudnn(), algorithm, mode, one.get(), x_tensor.get(), buffers->at(x, copy),
                                            zero.get(), x_tensor.get(), buffers->at(y, copy)));
          },
      .copies = buffers->copies()};
}

constexpr Softmax layers[] = {
    // @rows@
};

}  // namespace

void add_cudnn_softmax() {
  static_cast<void>(cudnn());
  for (const Softmax& layer : layers)
    for (const auto& [algorithm, name] : {std::pair(CUDNN_SOFTMAX_ACCURATE, "accurate"),
                                          std::pair(CUDNN_SOFTMAX_FAST, "fast"), std::pair(CUDNN_SOFTMAX_LOG, "log")})
      for (const bool instance : {false, true}) {
        if ((algorithm == CUDNN_SOFTMAX_LOG) != layer.log || (instance && layer.x[2] != 1)) continue;
        const auto mode = instance ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL;
        add_row(std::string("cudnn/softmax:") + name + (instance ? ",mode=instance" : ",mode=channel") + ",threads=1",
                layer.signature, layer.work, false,
                [=, which = algorithm](Cache cache) { return softmax(layer, which, mode, cache); });
      }
}
