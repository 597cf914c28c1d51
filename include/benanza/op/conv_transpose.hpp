// SPDX-License-Identifier: Apache-2.0
// Transposed convolution, 2-D and 3-D (1-D is stored as 2-D with height 1).
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/detail/window_axes.hpp>
#include <benanza/model/epilogue.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

struct ConvTranspose {
  static constexpr std::string_view kind = "ConvTranspose";
  static constexpr Family family = Family::convolution;
  static constexpr std::array<std::string_view, 1> onnx_types{"ConvTranspose"};
  DataType type = DataType::f32;
  TensorShape x{};               ///< N C spatial...
  TensorShape w{};               ///< C M/group kernel...
  TensorShape pads{};            ///< all begins, then all ends; empty: no padding
  TensorShape strides{};         ///< empty: 1
  TensorShape dilations{};       ///< empty: 1
  TensorShape output_padding{};  ///< empty: 0
  std::int64_t group = 1;
  bool w_constant = true;
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("w", self.w);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("output_padding", self.output_padding);
    visit("group", self.group);
    visit("w_constant", self.w_constant);
    visit("post", self.post);
  }
  constexpr bool operator==(const ConvTranspose&) const = default;

  /// The window of each axis of x, with its pads resolved. Nothing if sizes and lists do not match.
  [[nodiscard]] static std::optional<detail::WindowAxes> windows(const Node& node, std::span<const std::int64_t> x_dims,
                                                                 std::span<const std::int64_t> w_dims) {
    if (x_dims.size() < 3 || w_dims.size() != x_dims.size()) return std::nullopt;
    auto axes = detail::WindowAxes::read(node, x_dims.subspan(2), w_dims.subspan(2));
    const auto output_padding = node.attribute<detail::Dims>("output_padding", {});
    const auto output_shape = node.attribute<detail::Dims>("output_shape", {});
    const std::size_t spatial = x_dims.size() - 2;
    if (!axes || (!output_padding.empty() && output_padding.size() != spatial)) return std::nullopt;
    if (!output_shape.empty() && output_shape.size() != spatial && output_shape.size() != spatial + 2)
      return std::nullopt;
    for (std::size_t i = 0; i < output_padding.size(); ++i) axes->axes[i].output_padding = output_padding[i];
    resolve_pads(*axes, node.attribute<std::string>("auto_pad", "NOTSET"),
                 std::span(output_shape).last(output_shape.empty() ? 0 : spatial));
    return axes;
  }

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<ConvTranspose, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& w_value = graph.input(node, 1);
    const Value* b = detail::optional_input(node, graph, 2);
    const std::span<const std::int64_t> x_dims = x_value.dims, w_dims = w_value.dims;
    auto axes = windows(node, x_dims, w_dims);
    if (!axes) return std::nullopt;
    axes->canonicalise(true);
    ConvTranspose conv{.type = x_value.type,
                       .x = axes->shape(x_dims[0], x_dims[1], &detail::Window::size),
                       .w = axes->shape(w_dims[0], w_dims[1], &detail::Window::kernel),
                       .pads = axes->pads(),
                       .strides = axes->strides(),
                       .dilations = axes->dilations(),
                       .output_padding = axes->output_padding(),
                       .group = node.attribute<std::int64_t>("group", 1),
                       .w_constant = w_value.constant};
    if (b && b->constant) {
      conv.post.push_back(bias);
    } else if (b) {
      TensorShape channels = TensorShape::filled(conv.x.size(), 1);
      channels[1] = element_count(b->dims);
      conv.post.push_back({ElementwiseFn::add, channels});
    }
    return conv;
  }

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape{x[0], checked_product(w[1], group)};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
      shape.push_back(detail::at_or(strides, i, 1) * (x[i + 2] - 1) + detail::at_or(output_padding, i, 0) +
                      (w[i + 2] - 1) * detail::at_or(dilations, i, 1) + 1 - detail::at_or(pads, i, 0) -
                      detail::at_or(pads, i + x.size() - 2, 0));
    return shape;
  }

  /// Products in the sum of one element, on average: one tap out of the product of `strides` meets an element.
  [[nodiscard]] constexpr std::int64_t depth() const {
    return std::max<std::int64_t>(1, element_count(w) / (w[1] * group * element_count(strides)));
  }

  [[nodiscard]] Operands operands() const {
    const auto magnitudes = detail::Magnitudes::of_sum(type, type, type, depth());
    Operands result{
        .inputs = {{.name = "x", .type = type, .shape = x},
                   {.name = "w", .type = type, .shape = w, .constant = w_constant, .exponent = magnitudes.factor}},
        .outputs = {{.name = "y", .type = type, .shape = y()}}};
    detail::append_epilogue_operands(result, post, type, y(), 1, is_8_bit(type), magnitudes);
    return result;
  }

  /// ONNX ConvTranspose is the gradient of Conv: it has the same (output, tap) pairs with x and y exchanged, so the
  /// in-range taps, and the least products of any algorithm, are those of the convolution that maps y to x.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const TensorShape out = y();
    const std::int64_t channels = checked_product(checked_product(x[0], x[1]), w[1]);
    std::int64_t nominal = channels, in_range = channels, least = channels;
    for (std::size_t i = 0; i + 2 < x.size(); ++i) {
      const auto axis = detail::window(out, i, w[i + 2], pads, strides, dilations);
      nominal = checked_product(nominal, checked_product(x[i + 2], axis.kernel));
      in_range = checked_product(in_range, axis.in_range_taps(x[i + 2]));
      least = checked_product(least, axis.least_products(x[i + 2]));
    }
    const double steps = static_cast<double>(post.size()) * static_cast<double>(element_count(out));
    return {.macs = nominal,
            .flops = 2.0 * static_cast<double>(in_range) + steps,
            .least_flops = 2.0 * static_cast<double>(least) + steps};
  }

  [[nodiscard]] constexpr bool consistent() const {
    const std::size_t rank = x.size();
    if (rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(w, rank) || !detail::is_size(group))
      return false;
    if (!detail::are_windows(rank - 2, pads, strides, dilations) || x[1] != w[0] || x[1] % group != 0) return false;
    if (!output_padding.empty() && output_padding.size() != rank - 2) return false;
    for (auto cells : output_padding)
      if (cells < 0 || cells > std::int64_t{1} << 31) return false;
    for (std::size_t i = 0; i + 2 < rank; ++i)
      if (w[i + 2] > std::int64_t{1} << 24 || x[i + 2] > std::int64_t{1} << 31) return false;
    return detail::are_sizes(y()) && detail::fits(post, y());
  }

 private:
  /// ONNX ConvTranspose, auto_pad and output_shape: finds the padding that makes y the given size. An odd cell goes to
  /// the end (SAME_UPPER) or to the beginning. SAME without a given size crops y to stride times the size of x.
  static void resolve_pads(detail::WindowAxes& axes, const std::string& auto_pad,
                           std::span<const std::int64_t> wanted) {
    const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    for (std::size_t i = 0; i < axes.axes.size(); ++i) {
      auto& [axis, ceil_pad, output_padding] = axes.axes[i];
      if (auto_pad == "VALID") axis.pad_begin = axis.pad_end = 0;
      if (wanted.empty() && !same) continue;
      const std::int64_t size = wanted.empty() ? axis.size * axis.stride : wanted[i];
      const std::int64_t excess =
          axis.stride * (axis.size - 1) + output_padding + axis.dilation * (axis.kernel - 1) + 1 - size;
      const std::int64_t total = wanted.empty() ? std::max<std::int64_t>(0, excess) : excess;
      const std::int64_t half =
          (total - (total < 0 ? 1 : 0)) / 2;  // rounded down, also if a larger output makes it negative
      axis.pad_begin = auto_pad == "SAME_UPPER" ? half : total - half;
      axis.pad_end = total - axis.pad_begin;
    }
  }
};

}  // namespace benanza::op
