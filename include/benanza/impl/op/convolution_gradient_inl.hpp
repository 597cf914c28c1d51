// SPDX-License-Identifier: Apache-2.0
// Gradients of a convolution.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window.hpp>
#include <benanza/base/detail/window_axes.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/convolution_gradient.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace benanza::op {

BENANZA_INLINE std::optional<ConvGradient> ConvGradient::from(const Node& node, const Graph& graph) {
  const bool data = node.op_type == "ConvGradData";
  const Value& x_value = data ? graph.output(node, 0) : graph.input(node, 0);
  const Value& w_value = data ? graph.input(node, 1) : graph.output(node, 0);
  const Value& dy_value = graph.input(node, data ? 0 : 1);
  const std::span<const std::int64_t> x_dims = x_value.dims, w_dims = w_value.dims;
  if (x_dims.size() < 3 || w_dims.size() != x_dims.size()) return std::nullopt;
  auto axes = detail::WindowAxes::read(node, x_dims.subspan(2), w_dims.subspan(2));
  if (!axes) return std::nullopt;
  axes->resolve_same_padding(node.attribute<std::string>("auto_pad", "NOTSET"));
  axes->canonicalize();
  ConvGradient made{.type = x_value.type,
                    .of = data ? ConvGradientOf::data : ConvGradientOf::weights,
                    .x = axes->shape(x_dims[0], x_dims[1], &detail::Window::size),
                    .w = axes->shape(w_dims[0], w_dims[1], &detail::Window::kernel),
                    .pads = axes->pads(),
                    .strides = axes->strides(),
                    .dilations = axes->dilations(),
                    .group = node.attribute<std::int64_t>("group", 1)};
  if (!made.consistent() || dy_value.elements() != element_count(made.y())) return std::nullopt;
  return made;
}

BENANZA_INLINE TensorShape ConvGradient::y() const {
  TensorShape shape{x[0], w[0]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(detail::window(x, i, w[i + 2], pads, strides, dilations).outputs());
  return shape;
}

BENANZA_INLINE Operands ConvGradient::operands() const {
  const auto touched = detail::touched_elements(x, std::span(w.begin() + 2, w.end()), pads, strides, dilations);
  const Operand dy{.name = "dy", .type = type, .shape = y()};
  if (of == ConvGradientOf::data)
    return {.inputs = {dy, {.name = "w", .type = type, .shape = w}},
            .outputs = {{.name = "dx", .type = type, .shape = x}}};
  return {.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched}, dy},
          .outputs = {{.name = "dw", .type = type, .shape = w}}};
}

BENANZA_INLINE Arithmetic ConvGradient::arithmetic() const {
  const std::int64_t channels = checked_product(checked_product(x[0], w[0]), w[1]);
  std::int64_t nominal = channels, in_range = channels, least = channels;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const auto axis = detail::window(x, i, w[i + 2], pads, strides, dilations);
    nominal = checked_product(nominal, checked_product(axis.outputs(), axis.kernel));
    in_range = checked_product(in_range, axis.in_range_taps());
    least = checked_product(least, axis.least_products());
  }
  return {
      .macs = nominal, .flops = 2.0 * static_cast<double>(in_range), .least_flops = 2.0 * static_cast<double>(least)};
}

BENANZA_INLINE bool ConvGradient::consistent() const {
  const std::size_t rank = x.size();
  if (rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(w, rank) || !detail::is_size(group))
    return false;
  if (!detail::are_windows(rank - 2, pads, strides, dilations) || x[1] % group != 0 || x[1] / group != w[1] ||
      w[0] % group != 0)
    return false;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (!detail::is_window(detail::window(x, i, w[i + 2], pads, strides, dilations))) return false;
  return true;
}

}  // namespace benanza::op
