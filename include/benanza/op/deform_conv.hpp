// SPDX-License-Identifier: Apache-2.0
// DeformConv: a 2-D convolution whose taps are shifted by a tensor.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct DeformConv {
  static constexpr std::string_view kind = "DeformConv";
  static constexpr Family family = Family::convolution;
  static constexpr std::array<std::string_view, 1> onnx_types{"DeformConv"};
  DataType type = DataType::f32;
  TensorShape x{};          ///< N C height width
  TensorShape w{};          ///< M C/group kernel
  TensorShape pads{};       ///< all begins, then all ends; empty: no padding
  TensorShape strides{};    ///< empty: 1
  TensorShape dilations{};  ///< empty: 1
  std::int64_t group = 1;
  std::int64_t offset_group = 1;  ///< groups of channels that share their shifts
  bool bias = false;
  bool mask = false;  ///< each tap has a factor
  bool w_constant = true;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("w", self.w);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("group", self.group);
    visit("offset_group", self.offset_group);
    visit("bias", self.bias);
    visit("mask", self.mask);
    visit("w_constant", self.w_constant);
  }
  constexpr bool operator==(const DeformConv&) const = default;

  /// Attribute lists with default values are left out, as in Conv.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<DeformConv, decltype(graph)> {
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

  /// Positions of the kernel along height (0) or width (1) if its taps are not shifted.
  [[nodiscard]] constexpr detail::Window window(std::size_t axis) const {
    return detail::window(x, axis, w[axis + 2], pads, strides, dilations);
  }
  [[nodiscard]] constexpr TensorShape y() const { return {x[0], w[0], window(0).outputs(), window(1).outputs()}; }
  [[nodiscard]] constexpr std::int64_t kernel() const { return checked_product(w[2], w[3]); }

  /// No element of X is certain to be read: taps may be shifted outside.
  [[nodiscard]] Operands operands() const {
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

  /// ONNX DeformConv: the multiply-adds of the convolution with unshifted taps, and one addition per element for a
  /// bias. The interpolation of the taps is not counted, because shifts may be whole numbers.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t in_range = checked_product(window(0).in_range_taps(), window(1).in_range_taps());
    const std::int64_t channels = checked_product(checked_product(x[0], w[0]), w[1]);
    return {.macs = checked_product(element_count(y()), checked_product(w[1], kernel())),
            .flops = 2.0 * static_cast<double>(channels) * static_cast<double>(in_range) +
                     (bias ? static_cast<double>(element_count(y())) : 0.0)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x, 4) || !detail::are_sizes(w, 4) || !detail::is_size(group) ||
        !detail::is_size(offset_group) || x[1] % group != 0 || x[1] / group != w[1] || w[0] % group != 0 ||
        x[1] % offset_group != 0 || !detail::are_windows(2, pads, strides, dilations))
      return false;
    return detail::is_window(window(0)) && detail::is_window(window(1));
  }
};

}  // namespace benanza::op
