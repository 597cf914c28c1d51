// SPDX-License-Identifier: Apache-2.0
// WindowAxes: the spatial attributes of ONNX's Conv, ConvTranspose and pools, resolved and in one spelling: SAME
// padding is computed, axes on which nothing happens are dropped, strides and dilations without effect are set to 1,
// and there are at least two axes.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::detail {

struct WindowAxis {
  Window window{};
  std::int64_t ceil_pad = 0;        ///< pools: the part of pad_end that ceil_mode added
  std::int64_t output_padding = 0;  ///< transposed convolutions only
};

class WindowAxes {
 public:
  /// Sizes of x and of the kernel, with the node's strides, dilations and explicit pads. Empty if the lists do not fit
  /// together.
  [[nodiscard]] static std::optional<WindowAxes> read(const Node& node, std::span<const std::int64_t> sizes,
                                                      std::span<const std::int64_t> kernel) {
    const std::size_t count = sizes.size();
    const auto strides = node.attribute<Dims>("strides", {}), dilations = node.attribute<Dims>("dilations", {}),
               pads = node.attribute<Dims>("pads", {});
    const auto is_list = [](const Dims& list, std::size_t size) { return list.empty() || list.size() == size; };
    if (count == 0 || count > 4 || kernel.size() != count || !is_list(strides, count) || !is_list(dilations, count) ||
        !is_list(pads, 2 * count))
      return std::nullopt;
    WindowAxes result;
    for (std::size_t i = 0; i < count; ++i) {
      Window axis{.size = sizes[i], .kernel = kernel[i]};
      if (!strides.empty()) axis.stride = strides[i];
      if (!dilations.empty()) axis.dilation = dilations[i];
      if (!pads.empty()) axis.pad_begin = pads[i], axis.pad_end = pads[i + count];
      for (auto number : {axis.size, axis.kernel, axis.stride, axis.dilation})
        if (number < 1 || number > limit) return std::nullopt;
      for (auto number : {axis.pad_begin, axis.pad_end})
        if (number < -limit || number > limit) return std::nullopt;
      result.axes.push_back({axis});
    }
    return result;
  }

  /// ONNX Conv, auto_pad: SAME gives ceil(size / stride) positions, with the odd cell at the end (UPPER) or at the
  /// beginning (LOWER); VALID adds no padding.
  void resolve_same_padding(const std::string& auto_pad) {
    if (auto_pad == "NOTSET" || auto_pad.empty()) return;
    for (auto& [axis, ceil_pad, output_padding] : axes) {
      const std::int64_t positions = (axis.size + axis.stride - 1) / axis.stride;
      std::int64_t total = (positions - 1) * axis.stride + reach(axis) - axis.size;
      if (auto_pad == "VALID" || total < 0) total = 0;
      axis.pad_begin = auto_pad == "SAME_LOWER" ? total - total / 2 : total / 2;
      axis.pad_end = total - axis.pad_begin;
    }
  }

  /// ONNX MaxPool, ceil_mode: the number of positions is rounded up, but a window that would start in the padding at
  /// the end is left out. Cells that the last window reads beyond the given padding are added to the padding.
  void resolve_ceil_mode() {
    for (auto& [axis, ceil_pad, output_padding] : axes) {
      const std::int64_t padded_size = axis.size + axis.pad_begin + axis.pad_end;
      if (padded_size < reach(axis)) continue;
      std::int64_t positions = (padded_size - reach(axis) + axis.stride - 1) / axis.stride + 1;
      if ((positions - 1) * axis.stride >= axis.size + axis.pad_begin) --positions;
      ceil_pad = std::max<std::int64_t>(0, (positions - 1) * axis.stride + reach(axis) - padded_size);
      axis.pad_end += ceil_pad;
    }
  }

  /// Brings convolutions and pools that do the same work to one spelling. `transposed`: for ConvTranspose, in which a
  /// stride spreads x.
  void canonicalize(bool transposed = false) {
    for (auto& [axis, ceil_pad, output_padding] : axes) {
      if (axis.kernel == 1) axis.dilation = 1;
      const bool one_position = transposed ? axis.size == 1 : axis.size + axis.pad_begin + axis.pad_end == reach(axis);
      if (one_position) axis.stride = 1;
    }
    std::erase_if(axes, [](const WindowAxis& at) {
      return at.window.size == 1 && at.window.kernel == 1 && at.window.pad_begin == 0 && at.window.pad_end == 0 &&
             at.output_padding == 0;
    });
    while (axes.size() < 2) axes.insert(axes.begin(), WindowAxis{});
  }

  /// `first`, `second`, then one number per axis: the shape of x or of w.
  [[nodiscard]] TensorShape shape(std::int64_t first, std::int64_t second, std::int64_t Window::*number) const {
    TensorShape result{first, second};
    for (const auto& axis : axes) result.push_back(axis.window.*number);
    return result;
  }
  [[nodiscard]] TensorShape kernel() const {
    return list([](const WindowAxis& axis) { return axis.window.kernel; });
  }
  // Lists are empty if every entry is the default.
  [[nodiscard]] TensorShape strides() const {
    return list([](const WindowAxis& axis) { return axis.window.stride; }, 1);
  }
  [[nodiscard]] TensorShape dilations() const {
    return list([](const WindowAxis& axis) { return axis.window.dilation; }, 1);
  }
  [[nodiscard]] TensorShape ceil_pads() const {
    return list([](const WindowAxis& axis) { return axis.ceil_pad; }, 0);
  }
  [[nodiscard]] TensorShape output_padding() const {
    return list([](const WindowAxis& axis) { return axis.output_padding; }, 0);
  }
  [[nodiscard]] TensorShape pads() const {
    TensorShape result;
    for (const auto& axis : axes) result.push_back(axis.window.pad_begin);
    for (const auto& axis : axes) result.push_back(axis.window.pad_end);
    return std::all_of(result.begin(), result.end(), [](auto pad) { return pad == 0; }) ? TensorShape{} : result;
  }

  std::vector<WindowAxis> axes{};

 private:
  static constexpr std::int64_t limit = std::int64_t{1} << 31;
  /// Cells from the first to the last tap of one window.
  static std::int64_t reach(const Window& axis) { return axis.dilation * (axis.kernel - 1) + 1; }
  template <class Number>
  [[nodiscard]] TensorShape list(Number number, std::optional<std::int64_t> otherwise = std::nullopt) const {
    TensorShape result;
    bool all_default = otherwise.has_value();
    for (const auto& axis : axes) {
      result.push_back(number(axis));
      all_default = all_default && result.back() == *otherwise;
    }
    return all_default ? TensorShape{} : result;
  }
};

}  // namespace benanza::detail
