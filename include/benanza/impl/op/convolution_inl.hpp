// SPDX-License-Identifier: Apache-2.0
// Convolutions, 2-D and 3-D (1-D is stored as 2-D with height 1: the same memory, the same work).
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window.hpp>
#include <benanza/base/detail/window_axes.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/fused_node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/convolution.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

BENANZA_INLINE std::optional<Conv> Conv::from(const Node& node, const Graph& graph) {
  const bool rescaled = node.op_type == "QLinearConv";
  const Value& x_value = graph.input(node, 0);
  const Value& w_value = graph.input(node, rescaled ? 3 : 1);
  const Value* b = node.op_type == "ConvInteger" ? nullptr : detail::optional_input(node, graph, rescaled ? 8 : 2);
  const detail::Dims all_x_dims = detail::channels_first(node, x_value.dims);
  const std::span<const std::int64_t> x_dims = all_x_dims, w_dims = w_value.dims;
  if (x_dims.size() < 3 || w_dims.size() != x_dims.size()) return std::nullopt;
  auto axes = detail::WindowAxes::read(node, x_dims.subspan(2), w_dims.subspan(2));
  if (!axes) return std::nullopt;
  axes->resolve_same_padding(node.attribute<std::string>("auto_pad", "NOTSET"));
  axes->canonicalize();
  const DataType y_type = graph.output(node, 0).type;
  Conv conv{.type = x_value.type,
            .x = axes->shape(x_dims[0], x_dims[1], &detail::Window::size),
            .w = axes->shape(w_dims[0], w_dims[1], &detail::Window::kernel),
            .pads = axes->pads(),
            .strides = axes->strides(),
            .dilations = axes->dilations(),
            .group = node.attribute<std::int64_t>("group", 1),
            .w_constant = w_value.constant,
            .w_type = detail::if_other(w_value.type, x_value.type),
            .y_type = detail::if_other(y_type, x_value.type)};
  // Each group has one channel. Channels that only pad a block are groups too.
  if (node.domain == "com.microsoft.nchwc" && conv.group > 1 && w_dims[1] > 0) conv.group = x_dims[1] / w_dims[1];
  if (is_8_bit(conv.type)) {
    conv.x_zero = detail::has_zero_point(node, graph, 2);
    conv.w_zero = detail::has_zero_point(node, graph, rescaled ? 5 : 3);
  }
  if (b && b->constant) {
    conv.post.push_back(bias);
  } else if (b) {
    TensorShape channels = TensorShape::filled(conv.x.size(), 1);
    channels[1] = w_dims[0];
    conv.post.push_back({ElementwiseFn::add, channels});
  }
  if (!node.domain.empty() && !rescaled) {
    const Value* z = detail::optional_input(node, graph, 3);
    if (z && z->dims != graph.output(node, 0).dims) return std::nullopt;
    if (z) conv.post.push_back({ElementwiseFn::add});
    if (!detail::append_activation(conv.post, node)) return std::nullopt;
  }
  return conv;
}

BENANZA_INLINE TensorShape Conv::y() const {
  TensorShape shape{x[0], w[0]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(detail::window(x, i, w[i + 2], pads, strides, dilations).outputs());
  return shape;
}

BENANZA_INLINE Operands Conv::operands() const {
  const auto magnitudes =
      detail::Magnitudes::of_sum(type, w_type.value_or(type), y_type.value_or(type), depth(), x_zero, w_zero);
  const auto touched = detail::touched_elements(x, std::span(w.begin() + 2, w.end()), pads, strides, dilations);
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched},
                             {.name = "w",
                              .type = w_type.value_or(type),
                              .shape = w,
                              .constant = w_constant,
                              .contents = is_8_bit(type) ? Contents::even : Contents::uniform,
                              .exponent = magnitudes.factor}},
                  .outputs = {{.name = "y", .type = y_type.value_or(type), .shape = y()}}};
  detail::append_epilogue_operands(result, post, y_type.value_or(type), y(), 1, is_8_bit(type), magnitudes);
  return result;
}

BENANZA_INLINE Arithmetic Conv::arithmetic() const {
  const std::int64_t channels = checked_product(checked_product(x[0], w[0]), w[1]);
  std::int64_t nominal = channels, in_range = channels, least = channels;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const auto axis = detail::window(x, i, w[i + 2], pads, strides, dilations);
    nominal = checked_product(nominal, checked_product(axis.outputs(), axis.kernel));
    in_range = checked_product(in_range, axis.in_range_taps());
    least = checked_product(least, axis.least_products());
  }
  const double steps = static_cast<double>(post.size()) * static_cast<double>(element_count(y()));
  return {.macs = nominal,
          .flops = 2.0 * static_cast<double>(in_range) + steps,
          .least_flops = 2.0 * static_cast<double>(least) + steps};
}

BENANZA_INLINE bool Conv::consistent() const {
  const std::size_t rank = x.size();
  if (rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(w, rank) || !detail::is_size(group))
    return false;
  if (!detail::are_windows(rank - 2, pads, strides, dilations) || x[1] % group != 0 || x[1] / group != w[1] ||
      w[0] % group != 0)
    return false;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (!detail::is_window(detail::window(x, i, w[i + 2], pads, strides, dilations))) return false;
  return detail::fits(post, y());
}

BENANZA_INLINE std::optional<detail::WindowAxes> ConvTranspose::windows(const Node& node,
                                                                        std::span<const std::int64_t> x_dims,
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

BENANZA_INLINE std::optional<ConvTranspose> ConvTranspose::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& w_value = graph.input(node, 1);
  const Value* b = detail::optional_input(node, graph, 2);
  const std::span<const std::int64_t> x_dims = x_value.dims, w_dims = w_value.dims;
  auto axes = windows(node, x_dims, w_dims);
  if (!axes) return std::nullopt;
  axes->canonicalize(true);
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

BENANZA_INLINE TensorShape ConvTranspose::y() const {
  TensorShape shape{x[0], checked_product(w[1], group)};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(detail::at_or(strides, i, 1) * (x[i + 2] - 1) + detail::at_or(output_padding, i, 0) +
                    (w[i + 2] - 1) * detail::at_or(dilations, i, 1) + 1 - detail::at_or(pads, i, 0) -
                    detail::at_or(pads, i + x.size() - 2, 0));
  return shape;
}

BENANZA_INLINE Operands ConvTranspose::operands() const {
  const auto magnitudes = detail::Magnitudes::of_sum(type, type, type, depth());
  Operands result{
      .inputs = {{.name = "x", .type = type, .shape = x},
                 {.name = "w", .type = type, .shape = w, .constant = w_constant, .exponent = magnitudes.factor}},
      .outputs = {{.name = "y", .type = type, .shape = y()}}};
  detail::append_epilogue_operands(result, post, type, y(), 1, is_8_bit(type), magnitudes);
  return result;
}

BENANZA_INLINE Arithmetic ConvTranspose::arithmetic() const {
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

BENANZA_INLINE bool ConvTranspose::consistent() const {
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

BENANZA_INLINE void ConvTranspose::resolve_pads(detail::WindowAxes& axes, const std::string& auto_pad,
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

BENANZA_INLINE std::optional<DeformConv> DeformConv::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& w_value = graph.input(node, 1);
  const auto x = detail::to_shape(x_value.dims), w = detail::to_shape(w_value.dims);
  if (!x || !w || x->size() != 4 || w->size() != 4) return std::nullopt;
  const auto list = [&](std::string_view key, std::int64_t usual) {
    const auto given = node.attribute<detail::Dims>(key, {});
    const bool says = std::any_of(given.begin(), given.end(), [&](auto number) { return number != usual; });
    return says ? detail::to_shape(given) : std::optional(TensorShape{});
  };
  const auto pads = list("pads", 0), strides = list("strides", 1), dilations = list("dilations", 1);
  if (!pads || !strides || !dilations) return std::nullopt;
  return DeformConv{.type = x_value.type,
                    .x = *x,
                    .w = *w,
                    .pads = *pads,
                    .strides = *strides,
                    .dilations = *dilations,
                    .group = node.attribute<std::int64_t>("group", 1),
                    .offset_group = node.attribute<std::int64_t>("offset_group", 1),
                    .bias = node.has_input(3),
                    .mask = node.has_input(4),
                    .w_constant = w_value.constant};
}

BENANZA_INLINE detail::Window DeformConv::window(std::size_t axis) const {
  return detail::window(x, axis, w[axis + 2], pads, strides, dilations);
}

BENANZA_INLINE TensorShape DeformConv::y() const { return {x[0], w[0], window(0).outputs(), window(1).outputs()}; }

BENANZA_INLINE Operands DeformConv::operands() const {
  const TensorShape result = y();
  const std::int64_t taps = checked_product(offset_group, kernel());
  Operands all{
      .inputs = {{.name = "X", .type = type, .shape = x, .touched = 0},
                 {.name = "W", .type = type, .shape = w, .constant = w_constant},
                 {.name = "offset", .type = type, .shape = {x[0], checked_product(2, taps), result[2], result[3]}}},
      .outputs = {{.name = "Y", .type = type, .shape = result}}};
  if (bias) all.inputs.push_back({.name = "B", .type = type, .shape = {w[0]}, .constant = true});
  if (mask) all.inputs.push_back({.name = "mask", .type = type, .shape = {x[0], taps, result[2], result[3]}});
  return all;
}

BENANZA_INLINE Arithmetic DeformConv::arithmetic() const {
  const std::int64_t in_range = checked_product(window(0).in_range_taps(), window(1).in_range_taps());
  const std::int64_t channels = checked_product(checked_product(x[0], w[0]), w[1]);
  return {.macs = checked_product(element_count(y()), checked_product(w[1], kernel())),
          .flops = 2.0 * static_cast<double>(channels) * static_cast<double>(in_range) +
                   (bias ? static_cast<double>(element_count(y())) : 0.0)};
}

BENANZA_INLINE bool DeformConv::consistent() const {
  if (!detail::are_sizes(x, 4) || !detail::are_sizes(w, 4) || !detail::is_size(group) ||
      !detail::is_size(offset_group) || x[1] % group != 0 || x[1] / group != w[1] || w[0] % group != 0 ||
      x[1] % offset_group != 0 || !detail::are_windows(2, pads, strides, dilations))
    return false;
  return detail::is_window(window(0)) && detail::is_window(window(1));
}

}  // namespace benanza::op
