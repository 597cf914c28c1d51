// SPDX-License-Identifier: Apache-2.0
// Shared by the `consistent` functions of operators. Fields may come from text that someone typed or from a broken
// model. Once an operator is consistent, its shapes and costs can be computed without reading out of range.
#pragma once

#include <benanza/base/detail/window.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <cstdint>

namespace benanza::detail {

/// Larger than any size that fits in memory, and far enough below 2^63 to be added and multiplied by small numbers.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 40;

[[nodiscard]] constexpr bool is_size(std::int64_t size) { return size >= 1 && size <= largest_size; }
/// At least one dimension, all of them valid sizes; the element count fits 64 bits.
template <std::size_t N>
[[nodiscard]] constexpr bool are_sizes(const InlineInts<N>& list) {
  for (auto size : list)
    if (!is_size(size)) return false;
  return !list.empty();
}
[[nodiscard]] constexpr bool are_sizes(const TensorShape& shape, std::size_t rank) {
  return shape.size() == rank && are_sizes(shape);
}
/// Every entry lies within [0, size at the same index).
[[nodiscard]] constexpr bool are_within(const TensorShape& list, const TensorShape& sizes) {
  if (list.size() != sizes.size()) return false;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] < 0 || list[i] >= sizes[i]) return false;
  return true;
}
/// A permutation of 0, 1, ...
[[nodiscard]] constexpr bool is_permutation(const TensorShape& perm) {
  unsigned seen = 0;
  for (auto axis : perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(perm.size()) || (seen >> axis & 1U) != 0) return false;
    seen |= 1U << axis;
  }
  return true;
}

/// ONNX's multidirectional broadcasting of shapes of any rank.
[[nodiscard]] constexpr bool broadcasts(const TensorShape& a, const TensorShape& b) {
  for (std::size_t i = 1; i <= a.size() && i <= b.size(); ++i) {
    const auto left = a[a.size() - i], right = b[b.size() - i];
    if (left != right && left != 1 && right != 1) return false;
  }
  return true;
}
/// `operand` broadcasts to exactly `y`.
[[nodiscard]] constexpr bool broadcasts_to(const TensorShape& operand, const TensorShape& y) {
  if (operand.size() > y.size()) return false;
  for (std::size_t i = 1; i <= operand.size(); ++i) {
    const auto size = operand[operand.size() - i];
    if (size != 1 && size != y[y.size() - i]) return false;
  }
  return true;
}
/// Every step can be applied to a result of shape `y`.
[[nodiscard]] constexpr bool fits(const Epilogue& post, const TensorShape& y) {
  for (const auto& op : post) {
    if (!broadcasts_to(op.shape, y)) return false;
    const bool has_operand = op.channel || op.swapped || !op.shape.empty();
    if (is_binary(op.fn) ? op.channel && !op.shape.empty() : has_operand) return false;
    if (is_binary(op.fn) && (op.alpha != 0 || op.beta != 0)) return false;
  }
  return true;
}

/// Whether the lists of a window operator fit `spatial` axes.
[[nodiscard]] constexpr bool are_windows(std::size_t spatial, const TensorShape& pads, const TensorShape& strides,
                                         const TensorShape& dilations) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (!pads.empty() && pads.size() != 2 * spatial) return false;
  for (auto pad : pads)
    if (pad < -most || pad > most) return false;
  for (const auto* list : {&strides, &dilations}) {
    if (!list->empty() && list->size() != spatial) return false;
    for (auto step : *list)
      if (step < 1 || step > most) return false;
  }
  return true;
}
/// One axis: the kernel is small enough to iterate over, and there is at least one position.
[[nodiscard]] constexpr bool is_window(const Window& axis) {
  const bool gapless = axis.dilation == 1 && axis.stride <= axis.kernel;
  const std::int64_t most = std::int64_t{1} << (gapless ? 24 : 16);
  return axis.kernel >= 1 && axis.kernel <= most && axis.outputs() >= 1;
}

}  // namespace benanza::detail
