// cuDNN's legacy calls: descriptors, and the steps of an epilogue.
#pragma once

#include "cudnn.hpp"

/// The order of the elements of a tensor N C spatial...: CUDNN_TENSOR_NCHW, or CUDNN_TENSOR_NHWC with channels last.
using Layout = cudnnTensorFormat_t;
std::string layout_key(Layout layout);

inline std::vector<int> ints(const Sizes& sizes) { return std::vector<int>(sizes.begin(), sizes.end()); }

template <class Descriptor>
using Owned = std::shared_ptr<std::remove_pointer_t<Descriptor>>;

template <class Descriptor, class Create, class Destroy>
Owned<Descriptor> own(Create create, Destroy destroy) {
  Descriptor made = nullptr;
  CHECK_CUDNN(create(&made));
  return Owned<Descriptor>(made, [destroy](Descriptor descriptor) { static_cast<void>(destroy(descriptor)); });
}

/// Sizes of fewer dimensions than `least` get 1s behind them.
Owned<cudnnTensorDescriptor_t> tensor(cudnnDataType_t type, const Sizes& of, Layout layout = CUDNN_TENSOR_NCHW,
                                      std::size_t least = 4);

Owned<cudnnFilterDescriptor_t> filter(cudnnDataType_t type, const Sizes& sizes, Layout layout);

Owned<cudnnActivationDescriptor_t> activation(cudnnActivationMode_t mode, double coefficient);

cudaDataType_t cuda_type(cudnnDataType_t type);

/// A scaling factor as cuDNN reads it: a double for double, else a float.
class Factor {
 public:
  Factor(cudnnDataType_t type, double value)
      : wide_(value), narrow_(static_cast<float>(value)), is_wide_(type == CUDNN_DATA_DOUBLE) {}
  const void* get() const { return is_wide_ ? static_cast<const void*>(&wide_) : &narrow_; }

 private:
  double wide_;
  float narrow_;
  bool is_wide_;
};

/// A step of an epilogue: an activation, or cudnnOpTensor with a tensor of these sizes; of_y and of_other are -1 where
/// something is subtracted.
struct Step {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  double coefficient = 0;
  cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;
  Sizes operand{};
  double of_y = 1, of_other = 1;
  bool weights = false;
};

/// The steps of an epilogue in place, each a call of its own; nothing is created when they are called. Operands are
/// added to `buffers`.
std::function<void(void* y, std::size_t copy)> epilogue_calls(const List<Step>& steps, cudnnDataType_t type,
                                                              const Sizes& y, Layout layout,
                                                              const std::shared_ptr<Buffers>& buffers);
