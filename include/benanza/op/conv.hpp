// SPDX-License-Identifier: Apache-2.0
// Convolution, 2-D and 3-D (1-D is stored as 2-D with height 1: the same memory, the same work).
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/detail/window_axes.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/fused_node.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

struct Conv {
  static constexpr std::string_view kind = "Conv";
  static constexpr Family family = Family::convolution;
  static constexpr std::array<std::string_view, 8> onnx_types{"Conv",
                                                              "ConvInteger",
                                                              "QLinearConv",
                                                              "com.microsoft.QLinearConv",
                                                              "com.microsoft.FusedConv",
                                                              "com.microsoft.NhwcConv",
                                                              "com.microsoft.NhwcFusedConv",
                                                              "com.microsoft.nchwc.Conv"};
  DataType type = DataType::f32;  ///< type of x
  TensorShape x{};                ///< N C spatial...
  TensorShape w{};                ///< M C/group kernel...
  TensorShape pads{};             ///< all begins, then all ends; empty: no padding
  TensorShape strides{};          ///< empty: 1
  TensorShape dilations{};        ///< empty: 1
  std::int64_t group = 1;
  bool w_constant = true;
  std::optional<DataType> w_type{};  ///< if it differs from `type` (quantised)
  std::optional<DataType> y_type{};
  bool x_zero = false;  ///< quantised: x has a zero point other than 0, so that sums over w have to be subtracted
  bool w_zero = false;  ///< the same for w; scales do not affect the speed, be it one per channel or one for all
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("w", self.w);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("group", self.group);
    visit("w_constant", self.w_constant);
    visit("w_type", self.w_type);
    visit("y_type", self.y_type);
    visit("x_zero", self.x_zero);
    visit("w_zero", self.w_zero);
    visit("post", self.post);
  }
  constexpr bool operator==(const Conv&) const = default;

  /// Also reads ConvInteger, QLinearConv, and what ONNX Runtime fuses: a tensor that is added, or an activation. Axes
  /// on which the convolution does nothing are dropped: the 1-D and 2-D forms of one convolution are the same layer.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Conv, decltype(graph)> {
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
    axes->canonicalise();
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

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape{x[0], w[0]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
      shape.push_back(detail::window(x, i, w[i + 2], pads, strides, dilations).outputs());
    return shape;
  }

  /// Products in the sum of one element, including taps in the padding.
  [[nodiscard]] constexpr std::int64_t depth() const { return element_count(w) / w[0]; }

  [[nodiscard]] Operands operands() const {
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

  /// ONNX Conv: y[n,m,o] = sum over c, k of x[n, c, o * stride + k * dilation - pad] * w[m, c, k]. FLOPs are 2 N M
  /// C/group times the in-range (output, tap) pairs of each axis, plus one per element for each step of the epilogue.
  /// Other algorithms need `Window::least_products` of each axis instead of the pairs.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
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

  [[nodiscard]] constexpr bool consistent() const {
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
};

}  // namespace benanza::op
