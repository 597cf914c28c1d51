// Functions of one and of two tensors by cuDNN's legacy calls, with their epilogues as calls of their own.
#include "cudnn_legacy.hpp"

namespace {

struct Activation {
  const char* signature;
  Work work;
  cudnnDataType_t type;
  Sizes x;           // dimensions of the result
  List<Step> steps;  // the first one is the function: an activation, or cudnnOpTensor
};

/// The first step reads x and writes y, the others work on y.
Ready activation_layer(const Activation& layer, Cache cache) {
  const Step& first = layer.steps[0];
  const auto x_tensor = tensor(layer.type, layer.x);
  const auto buffers = std::make_shared<Buffers>(cache);
  const auto add = [&](const Sizes& sizes) {
    return buffers->add(elements(cuda_type(layer.type), product(sizes)), false);
  };
  const std::size_t x = add(layer.x), y = add(layer.x);
  const Factor one(layer.type, 1), zero(layer.type, 0), of_y(layer.type, first.of_y),
      of_other(layer.type, first.of_other);
  List<Step> rest;
  for (std::size_t i = 1; i < layer.steps.size(); ++i) rest.values[rest.count++] = layer.steps[i];
  const auto epilogue = epilogue_calls(rest, layer.type, layer.x, CUDNN_TENSOR_NCHW, buffers);
  if (first.operand.empty()) {
    const auto function = activation(first.mode, first.coefficient);
    buffers->spread();
    return {.call =
                [=](std::size_t copy) {
                  CHECK_CUDNN(cudnnActivationForward(cudnn(), function.get(), one.get(), x_tensor.get(),
                                                     buffers->at(x, copy), zero.get(), x_tensor.get(),
                                                     buffers->at(y, copy)));
                  epilogue(buffers->at(y, copy), copy);
                },
            .copies = buffers->copies()};
  }
  auto function = own<cudnnOpTensorDescriptor_t>(cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor);
  CHECK_CUDNN(cudnnSetOpTensorDescriptor(function.get(), first.op,
                                         layer.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                                         CUDNN_PROPAGATE_NAN));
  const auto other_tensor = tensor(layer.type, first.operand);
  const std::size_t other = add(first.operand);
  buffers->spread();
  return {.call =
              [=](std::size_t copy) {
                CHECK_CUDNN(cudnnOpTensor(cudnn(), function.get(), of_y.get(), x_tensor.get(), buffers->at(x, copy),
                                          of_other.get(), other_tensor.get(), buffers->at(other, copy), zero.get(),
                                          x_tensor.get(), buffers->at(y, copy)));
                epilogue(buffers->at(y, copy), copy);
              },
          .copies = buffers->copies()};
}

constexpr Activation activations[] = {
    // @rows@
};

}  // namespace

void add_cudnn_activation() {
  static_cast<void>(cudnn());
  for (const Activation& layer : activations)
    add_row(layer.steps[0].operand.empty() ? "cudnn/activation_forward,threads=1" : "cudnn/op_tensor,threads=1",
            layer.signature, layer.work, false, [=](Cache cache) { return activation_layer(layer, cache); });
}
