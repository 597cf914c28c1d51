// cuDNN's legacy calls: descriptors, and the steps of an epilogue.
#include "cudnn_legacy.hpp"

std::string layout_key(Layout layout) { return layout == CUDNN_TENSOR_NHWC ? ",layout=nhwc" : ""; }

Owned<cudnnTensorDescriptor_t> tensor(cudnnDataType_t type, const Sizes& of, Layout layout, std::size_t least) {
  std::vector<int> sizes = ints(of);
  while (sizes.size() < least) sizes.push_back(1);
  std::vector<int> strides(sizes.size(), 1);
  int step = layout == CUDNN_TENSOR_NHWC ? sizes[1] : 1;
  for (std::size_t i = sizes.size(); i-- > (layout == CUDNN_TENSOR_NHWC ? 2U : 1U); step *= sizes[i]) strides[i] = step;
  strides[0] = step;
  auto result = own<cudnnTensorDescriptor_t>(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor);
  CHECK_CUDNN(
      cudnnSetTensorNdDescriptor(result.get(), type, static_cast<int>(sizes.size()), sizes.data(), strides.data()));
  return result;
}

Owned<cudnnFilterDescriptor_t> filter(cudnnDataType_t type, const Sizes& sizes, Layout layout) {
  auto result = own<cudnnFilterDescriptor_t>(cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor);
  CHECK_CUDNN(
      cudnnSetFilterNdDescriptor(result.get(), type, layout, static_cast<int>(sizes.size()), ints(sizes).data()));
  return result;
}

Owned<cudnnActivationDescriptor_t> activation(cudnnActivationMode_t mode, double coefficient) {
  auto result = own<cudnnActivationDescriptor_t>(cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor);
  const double limit = mode == CUDNN_ACTIVATION_SWISH ? 0 : coefficient;
  CHECK_CUDNN(cudnnSetActivationDescriptor(result.get(), mode, CUDNN_NOT_PROPAGATE_NAN, limit));
  if (mode == CUDNN_ACTIVATION_SWISH) CHECK_CUDNN(cudnnSetActivationDescriptorSwishBeta(result.get(), coefficient));
  return result;
}

cudaDataType_t cuda_type(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return CUDA_R_64F;
    case CUDNN_DATA_HALF: return CUDA_R_16F;
    case CUDNN_DATA_BFLOAT16: return CUDA_R_16BF;
    case CUDNN_DATA_INT8: return CUDA_R_8I;
    default: return CUDA_R_32F;
  }
}

std::function<void(void* y, std::size_t copy)> epilogue_calls(const List<Step>& steps, cudnnDataType_t type,
                                                              const Sizes& y, Layout layout,
                                                              const std::shared_ptr<Buffers>& buffers) {
  std::vector<std::function<void(void*, std::size_t)>> calls;
  const auto y_tensor = tensor(type, y, layout);
  const cudnnDataType_t sums = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const Factor one(type, 1), zero(type, 0);
  for (const Step& step : steps) {
    if (step.operand.empty()) {
      const auto function = activation(step.mode, step.coefficient);
      calls.push_back([=](void* data, std::size_t) {
        CHECK_CUDNN(cudnnActivationForward(cudnn(), function.get(), one.get(), y_tensor.get(), data, zero.get(),
                                           y_tensor.get(), data));
      });
      continue;
    }
    auto function = own<cudnnOpTensorDescriptor_t>(cudnnCreateOpTensorDescriptor, cudnnDestroyOpTensorDescriptor);
    CHECK_CUDNN(cudnnSetOpTensorDescriptor(function.get(), step.op, sums, CUDNN_PROPAGATE_NAN));
    const auto other = tensor(type, step.operand, layout);
    const std::size_t operand = buffers->add(elements(cuda_type(type), product(step.operand)), step.weights);
    const Factor of_y(type, step.of_y), of_other(type, step.of_other);
    calls.push_back([=](void* data, std::size_t copy) {
      CHECK_CUDNN(cudnnOpTensor(cudnn(), function.get(), of_y.get(), y_tensor.get(), data, of_other.get(), other.get(),
                                buffers->at(operand, copy), zero.get(), y_tensor.get(), data));
    });
  }
  return [calls](void* data, std::size_t copy) {
    for (const auto& call : calls) call(data, copy);
  };
}
