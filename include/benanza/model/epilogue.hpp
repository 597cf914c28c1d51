// SPDX-License-Identifier: Apache-2.0
// Epilogue: the operations that are applied to a layer's result before it is written: bias, residual add, activation,
// in order. A convolution with its bias is already one layer in ONNX; fusion adds the other post-ops.
#pragma once

#include <benanza/base/detail/magnitudes.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace benanza {

/// One step. For a function of two operands, `shape` is the shape of the other operand: empty means the same shape as
/// the result, any other shape broadcasts to it. `channel` is a constant vector along the layer's channel axis (1 for a
/// convolution, the last for a matrix product).
struct PostOp {
  ElementwiseFn fn = ElementwiseFn::relu;
  bool channel = false;
  bool swapped = false;  ///< the running result is the right-hand operand: y = operand - x
  TensorShape shape{};
  double alpha = 0;
  double beta = 0;

  constexpr PostOp() = default;
  constexpr PostOp(ElementwiseFn function, double a = 0, double b = 0) : fn(function), alpha(a), beta(b) {}
  constexpr PostOp(ElementwiseFn function, const TensorShape& operand, bool is_swapped = false)
      : fn(function), swapped(is_swapped), shape(operand) {}
  bool operator==(const PostOp&) const = default;
};

/// `fn` with a constant vector along the channel axis.
[[nodiscard]] constexpr PostOp per_channel(ElementwiseFn fn, bool swapped = false) {
  PostOp op{fn};
  op.channel = true;
  op.swapped = swapped;
  return op;
}
/// The bias of a convolution or matrix product.
inline constexpr PostOp bias = per_channel(ElementwiseFn::add);

/// At most eight steps; fusion adds no more.
class Epilogue {
 public:
  static constexpr std::size_t capacity = 8;
  constexpr Epilogue() = default;
  constexpr Epilogue(std::initializer_list<PostOp> ops) {
    for (const auto& op : ops) push_back(op);
  }
  constexpr void push_back(const PostOp& op) {
    if (ops_.size() == capacity) throw InputError("an epilogue has more than eight steps");
    ops_.push_back(op);
  }
  [[nodiscard]] constexpr std::size_t size() const { return ops_.size(); }
  [[nodiscard]] constexpr bool empty() const { return ops_.empty(); }
  [[nodiscard]] constexpr const PostOp& operator[](std::size_t i) const { return ops_[i]; }
  [[nodiscard]] constexpr const PostOp* begin() const { return ops_.data(); }
  [[nodiscard]] constexpr const PostOp* end() const { return ops_.data() + ops_.size(); }
  bool operator==(const Epilogue&) const = default;

 private:
  std::vector<PostOp> ops_{};  // few layers have steps, and a layer is copied often
};

namespace detail {
/// Appends the operands that an epilogue reads, for a result of the given type and shape. The bias of a quantised
/// product has 32 bits (ONNX QLinearConv, B). If the epilogue has a root or a logarithm, all operands are made
/// positive: NaN results could not be compared.
inline void append_epilogue_operands(Operands& operands, const Epilogue& post, DataType type, const TensorShape& y,
                                     std::size_t channel_axis, bool quantized = false,
                                     const Magnitudes& magnitudes = {}) {
  const bool positive = std::any_of(post.begin(), post.end(), [](const PostOp& op) { return needs_positive(op.fn); });
  for (auto& input : operands.inputs)
    if (positive && input.contents == Contents::uniform) input.contents = Contents::positive;
  for (const auto& op : post) {
    if (!is_binary(op.fn)) continue;
    TensorShape shape = op.shape.empty() ? y : op.shape;
    if (op.channel) {
      shape = TensorShape::filled(y.size(), 1);
      shape[channel_axis] = y[channel_axis];
    }
    const bool divides = op.fn == ElementwiseFn::div || op.fn == ElementwiseFn::pow;
    const bool is_first = &op == post.begin();
    const bool is_bias = op == bias, wide = is_bias && quantized && (is_8_bit(type) || is_first);
    const bool adds = op.fn == ElementwiseFn::add || op.fn == ElementwiseFn::sub || op.fn == ElementwiseFn::min ||
                      op.fn == ElementwiseFn::max;
    operands.inputs.push_back({.name = is_bias ? "bias" : "operand",
                               .type = wide ? DataType::i32 : type,
                               .shape = shape,
                               .constant = op.channel,
                               .contents = divides || positive ? Contents::positive : Contents::uniform,
                               .exponent = wide && is_first ? magnitudes.bias
                                           : adds && !wide  ? magnitudes.addend
                                                            : 0});
  }
}
}  // namespace detail

}  // namespace benanza
