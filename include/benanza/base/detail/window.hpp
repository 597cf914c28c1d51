// SPDX-License-Identifier: Apache-2.0
// Sliding windows: output sizes and in-range taps, shared by convolution and pooling.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace benanza::detail {

/// Entry `i` of an optional per-axis list: 1 (or `otherwise`) if the list is left out.
[[nodiscard]] constexpr std::int64_t at_or(const TensorShape& list, std::size_t i, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

/// One spatial axis of a window operator; pads may be negative (cropping).
struct Window {
  std::int64_t size = 1, kernel = 1, pad_begin = 0, pad_end = 0, stride = 1, dilation = 1;

  /// Positions of the window. ONNX Conv: floor((size + pads - dilation * (kernel - 1) - 1) / stride) + 1.
  [[nodiscard]] constexpr std::int64_t outputs() const {
    const std::int64_t span = size + pad_begin + pad_end - dilation * (kernel - 1) - 1;
    return span < 0 ? 0 : span / stride + 1;
  }
  /// Pairs (output position, tap) that read a real element instead of padding.
  [[nodiscard]] constexpr std::int64_t in_range_taps() const { return in_range_taps(outputs()); }
  /// The same over the first `count` positions.
  [[nodiscard]] constexpr std::int64_t in_range_taps(std::int64_t count) const {
    std::int64_t taps = 0;
    for (std::int64_t k = 0; k < kernel; ++k) {
      const auto [first, end] = in_range_positions(k, count);
      taps += end - first;
    }
    return taps;
  }
  /// The products that every algorithm needs for an axis with one filter on one channel, if transforms are free
  /// (docs/measuring.md, "Convolutions by any algorithm"). Taps with equal offset modulo the stride form a phase; a
  /// phase takes at least one product for each output position at which one of its taps reads a real element. A single
  /// position needs one for each tap. At most `in_range_taps(count)`.
  [[nodiscard]] constexpr std::int64_t least_products(std::int64_t count) const {
    if (count <= 1) return in_range_taps(count);
    const std::int64_t phases = stride / std::gcd(stride, dilation);
    std::int64_t products = 0;
    for (std::int64_t phase = 0; phase < std::min(kernel, phases); ++phase) {
      std::int64_t counted_from = count;  // a later tap reads the same elements at earlier positions
      for (std::int64_t k = phase; k < kernel; k += phases) {
        const auto [first, end] = in_range_positions(k, counted_from);
        products += end - first;
        if (end > first) counted_from = first;
      }
    }
    return products;
  }
  [[nodiscard]] constexpr std::int64_t least_products() const { return least_products(outputs()); }
  /// Elements that at least one window reads: fewer than `size` if the stride skips some. Taps with equal offset modulo
  /// the stride traverse the same elements, each over `outputs()` consecutive ones.
  [[nodiscard]] std::int64_t touched() const {
    const std::int64_t count = outputs();
    if (dilation == 1 && stride <= kernel && count > 0)
      return std::max<std::int64_t>(
          0, std::min(size, (count - 1) * stride + kernel - pad_begin) - std::max<std::int64_t>(0, -pad_begin));
    std::map<std::int64_t, std::int64_t> behind;  // residue -> the first step that no earlier tap has counted
    std::int64_t elements = 0;
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t offset = k * dilation - pad_begin;
      const std::int64_t residue = ((offset % stride) + stride) % stride, start = (offset - residue) / stride;
      const std::int64_t last = residue >= size ? -1 : (size - 1 - residue) / stride;  // last step inside x
      const auto known = behind.find(residue);
      const std::int64_t from =
          std::max({std::int64_t{0}, start, known == behind.end() ? std::int64_t{0} : known->second});
      const std::int64_t to = std::min(start + count - 1, last);
      if (to >= from) elements += to - from + 1;
      behind[residue] = std::max(from, start + count);
    }
    return elements;
  }

 private:
  /// The range [first, second) of the first `count` output positions at which tap `k` reads a real element.
  [[nodiscard]] constexpr std::pair<std::int64_t, std::int64_t> in_range_positions(std::int64_t k,
                                                                                   std::int64_t count) const {
    const std::int64_t offset = k * dilation - pad_begin;  // reads o * stride + offset
    const std::int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    const std::int64_t end = size - 1 - offset < 0 ? 0 : std::min(count, (size - 1 - offset) / stride + 1);
    return {first, std::max(first, end)};
  }
};

/// Axis `i` (0-based, spatial) of an operator with ONNX's pads layout (all begins, then all ends).
[[nodiscard]] constexpr Window window(const TensorShape& x, std::size_t i, std::int64_t kernel, const TensorShape& pads,
                                      const TensorShape& strides, const TensorShape& dilations) {
  const std::size_t spatial = x.size() - 2;
  return {.size = x[i + 2],
          .kernel = kernel,
          .pad_begin = at_or(pads, i, 0),
          .pad_end = at_or(pads, i + spatial, 0),
          .stride = at_or(strides, i, 1),
          .dilation = at_or(dilations, i, 1)};
}

/// Elements of x (N C spatial...) that windows read. Empty if they read all.
[[nodiscard]] inline std::optional<std::int64_t> touched_elements(const TensorShape& x,
                                                                  std::span<const std::int64_t> kernel,
                                                                  const TensorShape& pads, const TensorShape& strides,
                                                                  const TensorShape& dilations) {
  std::int64_t touched = checked_product(x[0], x[1]);
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    touched = checked_product(touched, window(x, i, kernel[i], pads, strides, dilations).touched());
  return touched == element_count(x) ? std::nullopt : std::optional(touched);
}

}  // namespace benanza::detail
