// SPDX-License-Identifier: Apache-2.0
#include "descriptors.hpp"

#include "plan/tolerance.hpp"
#include <benanza/error.hpp>

#include <limits>
#include <string>

namespace benanza::cudnn {

std::optional<Arithmetic> arithmetic(DataType type) {
  const std::string_view text = name(type);
  if (text == "f32") return Arithmetic{};
  const double tolerance = benanza::tolerance(type);
  if (text == "tf32") return Arithmetic{.math = CUDNN_TENSOR_OP_MATH, .tolerance = tolerance};
  if (text == "f64")
    return Arithmetic{.stored = CUDNN_DATA_DOUBLE, .accumulated = CUDNN_DATA_DOUBLE, .tolerance = 1e-6};
  if (text == "f16") return Arithmetic{.stored = CUDNN_DATA_HALF, .math = CUDNN_TENSOR_OP_MATH, .tolerance = tolerance};
  if (text == "bf16")
    return Arithmetic{.stored = CUDNN_DATA_BFLOAT16, .math = CUDNN_TENSOR_OP_MATH, .tolerance = tolerance};
  return std::nullopt;
}

std::vector<int> ints(const TensorShape& shape) {
  std::vector<int> result;
  for (const auto size : shape) {
    if (size > std::numeric_limits<int>::max() || size < std::numeric_limits<int>::min())
      throw UsageError("a size of " + std::to_string(size) + " exceeds the 32 bits of cuDNN's legacy calls");
    result.push_back(static_cast<int>(size));
  }
  return result;
}

TensorShape with_rank(TensorShape shape, std::size_t rank) {
  while (shape.size() < rank) shape.push_back(1);
  return shape;
}

TensorShape packed_strides(const TensorShape& shape, Order order) {
  TensorShape strides = TensorShape::filled(shape.size(), 1);
  if (order == Order::nchw) {
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
  }
  std::int64_t next = shape[1];  // channels are innermost
  for (std::size_t i = shape.size(); i-- > 2;) {
    strides[i] = next;
    next *= shape[i];
  }
  strides[0] = next;
  return strides;
}

TensorDescriptor tensor(cudnnDataType_t type, const TensorShape& shape, Order order) {
  auto result = own<cudnnTensorDescriptor_t>(calls().cudnnCreateTensorDescriptor, calls().cudnnDestroyTensorDescriptor,
                                             "cudnnCreateTensorDescriptor");
  const auto sizes = ints(shape), strides = ints(packed_strides(shape, order));
  check(calls().cudnnSetTensorNdDescriptor(result.get(), type, static_cast<int>(sizes.size()), sizes.data(),
                                           strides.data()),
        "cudnnSetTensorNdDescriptor");
  return result;
}

FilterDescriptor filter(cudnnDataType_t type, const TensorShape& shape, Order order) {
  auto result = own<cudnnFilterDescriptor_t>(calls().cudnnCreateFilterDescriptor, calls().cudnnDestroyFilterDescriptor,
                                             "cudnnCreateFilterDescriptor");
  const auto sizes = ints(shape);
  check(calls().cudnnSetFilterNdDescriptor(result.get(), type,
                                           order == Order::nchw ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC,
                                           static_cast<int>(sizes.size()), sizes.data()),
        "cudnnSetFilterNdDescriptor");
  return result;
}

std::optional<std::vector<int>> even_pads(const TensorShape& pads, std::size_t spatial) {
  std::vector<int> result(spatial, 0);
  for (std::size_t i = 0; i < spatial && !pads.empty(); ++i) {
    if (pads[i] != pads[i + spatial] || pads[i] < 0) return std::nullopt;
    result[i] = static_cast<int>(pads[i]);
  }
  return result;
}

std::vector<int> entries(const TensorShape& list, std::size_t count) {
  return list.empty() ? std::vector<int>(count, 1) : ints(list);
}

std::optional<ConvolutionDescriptor> convolution(const TensorShape& pads, const TensorShape& strides,
                                                 const TensorShape& dilations, std::size_t spatial, std::int64_t group,
                                                 const Arithmetic& arithmetic) {
  const auto padding = even_pads(pads, spatial);
  if (!padding) return std::nullopt;
  auto result =
      own<cudnnConvolutionDescriptor_t>(calls().cudnnCreateConvolutionDescriptor,
                                        calls().cudnnDestroyConvolutionDescriptor, "cudnnCreateConvolutionDescriptor");
  const auto steps = entries(strides, spatial), gaps = entries(dilations, spatial);
  check(calls().cudnnSetConvolutionNdDescriptor(result.get(), static_cast<int>(spatial), padding->data(), steps.data(),
                                                gaps.data(), CUDNN_CROSS_CORRELATION, arithmetic.accumulated),
        "cudnnSetConvolutionNdDescriptor");
  check(calls().cudnnSetConvolutionGroupCount(result.get(), static_cast<int>(group)), "cudnnSetConvolutionGroupCount");
  check(calls().cudnnSetConvolutionMathType(result.get(), arithmetic.math), "cudnnSetConvolutionMathType");
  return result;
}

std::optional<ActivationDescriptor> activation(ElementwiseFn fn, double alpha, double beta) {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
  double coefficient = 0;
  switch (fn) {
    case ElementwiseFn::relu: mode = CUDNN_ACTIVATION_RELU; break;
    case ElementwiseFn::sigmoid: mode = CUDNN_ACTIVATION_SIGMOID; break;
    case ElementwiseFn::tanh: mode = CUDNN_ACTIVATION_TANH; break;
    case ElementwiseFn::swish: mode = CUDNN_ACTIVATION_SWISH; break;
    case ElementwiseFn::elu:
      mode = CUDNN_ACTIVATION_ELU;
      coefficient = alpha;
      break;
    case ElementwiseFn::clip:  // ONNX Clip from 0 to beta covers ReLU6 and similar
      if (alpha != 0) return std::nullopt;
      mode = CUDNN_ACTIVATION_CLIPPED_RELU;
      coefficient = beta;
      break;
    default: return std::nullopt;
  }
  auto result =
      own<cudnnActivationDescriptor_t>(calls().cudnnCreateActivationDescriptor,
                                       calls().cudnnDestroyActivationDescriptor, "cudnnCreateActivationDescriptor");
  check(calls().cudnnSetActivationDescriptor(result.get(), mode, CUDNN_NOT_PROPAGATE_NAN, coefficient),
        "cudnnSetActivationDescriptor");
  if (mode == CUDNN_ACTIVATION_SWISH)
    check(calls().cudnnSetActivationDescriptorSwishBeta(result.get(), alpha), "cudnnSetActivationDescriptorSwishBeta");
  return result;
}

ActivationDescriptor identity_activation() {
  auto result =
      own<cudnnActivationDescriptor_t>(calls().cudnnCreateActivationDescriptor,
                                       calls().cudnnDestroyActivationDescriptor, "cudnnCreateActivationDescriptor");
  check(calls().cudnnSetActivationDescriptor(result.get(), CUDNN_ACTIVATION_IDENTITY, CUDNN_NOT_PROPAGATE_NAN, 0),
        "cudnnSetActivationDescriptor");
  return result;
}

std::optional<cudnnOpTensorOp_t> op_tensor(ElementwiseFn fn) {
  switch (fn) {
    case ElementwiseFn::add:
    case ElementwiseFn::sub: return CUDNN_OP_TENSOR_ADD;
    case ElementwiseFn::mul: return CUDNN_OP_TENSOR_MUL;
    case ElementwiseFn::min: return CUDNN_OP_TENSOR_MIN;
    case ElementwiseFn::max: return CUDNN_OP_TENSOR_MAX;
    default: return std::nullopt;
  }
}

Owned<cudnnOpTensorDescriptor_t> make_op_tensor(cudnnOpTensorOp_t op, const Arithmetic& arithmetic) {
  auto result = own<cudnnOpTensorDescriptor_t>(calls().cudnnCreateOpTensorDescriptor,
                                               calls().cudnnDestroyOpTensorDescriptor, "cudnnCreateOpTensorDescriptor");
  check(calls().cudnnSetOpTensorDescriptor(result.get(), op, arithmetic.accumulated, CUDNN_PROPAGATE_NAN),
        "cudnnSetOpTensorDescriptor");
  return result;
}

}  // namespace benanza::cudnn
