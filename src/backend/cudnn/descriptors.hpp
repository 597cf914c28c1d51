// SPDX-License-Identifier: Apache-2.0
// cuDNN's descriptors as values that own them, and Benanza's terms mapped to cuDNN's: element types, arithmetic,
// strides.
#pragma once

#include "library.hpp"
#include <benanza/model/data_type.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace benanza::cudnn {

/// Owns a descriptor; shared, since several plans may use one.
template <class Descriptor>
using Owned = std::shared_ptr<std::remove_pointer_t<Descriptor>>;

using TensorDescriptor = Owned<cudnnTensorDescriptor_t>;
using FilterDescriptor = Owned<cudnnFilterDescriptor_t>;
using ConvolutionDescriptor = Owned<cudnnConvolutionDescriptor_t>;
using ActivationDescriptor = Owned<cudnnActivationDescriptor_t>;
using PoolingDescriptor = Owned<cudnnPoolingDescriptor_t>;

template <class Descriptor, class Create, class Destroy>
[[nodiscard]] Owned<Descriptor> own(Create create, Destroy destroy, const char* call) {
  Descriptor descriptor = nullptr;
  check(create(&descriptor), call);
  return Owned<Descriptor>(descriptor, [destroy](Descriptor d) { static_cast<void>(destroy(d)); });
}

/// The order of the elements of an N C spatial... tensor.
enum class Order { nchw, nhwc };
[[nodiscard]] constexpr const char* name_of(Order order) { return order == Order::nchw ? "nchw" : "nhwc"; }

/// How a type of Benanza is stored and multiplied.
struct Arithmetic {
  cudnnDataType_t stored = CUDNN_DATA_FLOAT;
  cudnnDataType_t accumulated = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_FMA_MATH;
  double tolerance = 1e-4;
};
/// Minimum tolerance of plans that save multiplications: their transforms suffer from cancellation, as in the other
/// backends.
inline constexpr double saving_tolerance = 2e-3;
/// f32 is strict: no rounding to tf32 (CUDNN_FMA_MATH). tf32, f16 and bf16 run on tensor cores with f32 sums. Empty for
/// types that the legacy calls do not support.
[[nodiscard]] std::optional<Arithmetic> arithmetic(DataType type);

/// Sizes in cuDNN's type. Throws UsageError if one exceeds its 32 bits.
[[nodiscard]] std::vector<int> ints(const TensorShape& shape);
/// The shape padded with trailing 1s up to `rank`: cuDNN's tensors have at least four dimensions.
[[nodiscard]] TensorShape with_rank(TensorShape shape, std::size_t rank = 4);
/// Strides of a packed tensor, in elements.
[[nodiscard]] TensorShape packed_strides(const TensorShape& shape, Order order = Order::nchw);

[[nodiscard]] TensorDescriptor tensor(cudnnDataType_t type, const TensorShape& shape, Order order = Order::nchw);
[[nodiscard]] FilterDescriptor filter(cudnnDataType_t type, const TensorShape& shape, Order order = Order::nchw);
/// `pads` in ONNX's layout. Empty if begin and end differ, or are negative: cuDNN pads both ends evenly.
[[nodiscard]] std::optional<ConvolutionDescriptor> convolution(const TensorShape& pads, const TensorShape& strides,
                                                               const TensorShape& dilations, std::size_t spatial,
                                                               std::int64_t group, const Arithmetic& arithmetic);
/// Empty for a function that cuDNN does not have.
[[nodiscard]] std::optional<ActivationDescriptor> activation(ElementwiseFn fn, double alpha, double beta);
[[nodiscard]] ActivationDescriptor identity_activation();

/// cudnnOpTensor's function of two operands; subtraction is the addition of the negative. Empty for other functions.
[[nodiscard]] std::optional<cudnnOpTensorOp_t> op_tensor(ElementwiseFn fn);
[[nodiscard]] Owned<cudnnOpTensorDescriptor_t> make_op_tensor(cudnnOpTensorOp_t op, const Arithmetic& arithmetic);

/// The begin pads, if they equal the end pads and are not negative; otherwise empty.
[[nodiscard]] std::optional<std::vector<int>> even_pads(const TensorShape& pads, std::size_t spatial);
/// Entries of an optional list; 1s if the list was left out.
[[nodiscard]] std::vector<int> entries(const TensorShape& list, std::size_t count);

}  // namespace benanza::cudnn
