// SPDX-License-Identifier: Apache-2.0
// Convolutions that no library has a plan for: depthwise ones of 8-bit integers.
#include "context.hpp"
#include <benanza/detail/window.hpp>
#include <benanza/model/quantization.hpp>

namespace benanza::cuda {

namespace {

std::optional<DepthwiseResult> result_of(DataType type) {
  switch (type) {
    case DataType::i8: return DepthwiseResult::i8;
    case DataType::u8: return DepthwiseResult::u8;
    case DataType::i32: return DepthwiseResult::i32;
    case DataType::f32: return DepthwiseResult::f32;
    default: return std::nullopt;
  }
}

bool is_depthwise(const op::Conv& op) {
  constexpr std::int64_t exact_sum = 256;  // taps of 16 bits whose sum an f32 holds
  return op.x.size() == 4 && op.group == op.x[1] && op.w[1] == 1 && op.w[2] * op.w[3] <= exact_sum;
}

}  // namespace

Result plans(const op::Conv& op, const Context& context) {
  const DataType w_type = op.w_type.value_or(op.type), y_type = op.y_type.value_or(op.type);
  const auto result = result_of(y_type);
  if (!is_8_bit(op.type) || !is_8_bit(w_type) || !result || !is_depthwise(op)) return unsupported(op.kind, op.type);
  const bool has_bias = !op.post.empty() && op.post[0] == bias;
  const std::size_t behind_bias = has_bias ? 1 : 0;
  const bool relu = op.post.size() == behind_bias + 1 && op.post[behind_bias] == PostOp(ElementwiseFn::relu);
  if (op.post.size() != behind_bias + (relu ? 1 : 0)) return Unsupported{"no such epilogue in backend cuda"};
  const Quantization numbers = quantization(Layer(op));
  const TensorShape y = op.y();
  DepthwiseShape shape{.channels = op.w[0],
                       .outputs_of_channel = op.w[0] / op.group,
                       .elements = element_count(y),
                       .x_zero = static_cast<std::int32_t>(numbers.x_zero),
                       .w_zero = static_cast<std::int32_t>(numbers.w_zero),
                       .rescale = static_cast<float>(numbers.rescale),
                       .relu = relu};
  for (std::size_t k = 0; k < 2; ++k) {
    shape.sizes[k] = op.x[k + 2];
    shape.outputs[k] = y[k + 2];
    shape.kernel[k] = static_cast<int>(op.w[k + 2]);
    shape.pads[k] = static_cast<int>(detail::at_or(op.pads, k, 0));
    shape.strides[k] = static_cast<int>(detail::at_or(op.strides, k, 1));
    shape.dilations[k] = static_cast<int>(detail::at_or(op.dilations, k, 1));
  }
  const auto x_element = *quantized_element_of(op.type), w_element = *quantized_element_of(w_type);
  return one_plan(
      context, op.operands(), "depthwise",
      [=, result = *result, stream = context.stream()](const Arguments& a) {
        depthwise(shape, x_element, w_element, result, a.inputs[0], a.inputs[1], has_bias ? a.inputs[2] : nullptr,
                  a.outputs[0], stream);
      },
      *result == DepthwiseResult::f32 ? tolerance_of(Element::f32) : tolerance_of(x_element));
}

}  // namespace benanza::cuda
