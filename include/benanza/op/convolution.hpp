// SPDX-License-Identifier: Apache-2.0
// Convolutions, 2-D and 3-D (1-D is stored as 2-D with height 1: the same memory, the same work).
#pragma once

#include <benanza/model/epilogue.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::detail {
struct Window;
class WindowAxes;
}  // namespace benanza::detail

namespace benanza::op {

/// Convolution, 2-D and 3-D (1-D is stored as 2-D with height 1: the same memory, the same work).
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
  [[nodiscard]] static std::optional<Conv> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;

  /// Products in the sum of one element, including taps in the padding.
  [[nodiscard]] constexpr std::int64_t depth() const { return element_count(w) / w[0]; }

  [[nodiscard]] Operands operands() const;

  /// ONNX Conv: y[n,m,o] = sum over c, k of x[n, c, o * stride + k * dilation - pad] * w[m, c, k]. FLOPs are 2 N M
  /// C/group times the in-range (output, tap) pairs of each axis, plus one per element for each step of the epilogue.
  /// Other algorithms need `Window::least_products` of each axis instead of the pairs.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Transposed convolution, 2-D and 3-D (1-D is stored as 2-D with height 1).
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
                                                                 std::span<const std::int64_t> w_dims);

  [[nodiscard]] static std::optional<ConvTranspose> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;

  /// Products in the sum of one element, on average: one tap out of the product of `strides` meets an element.
  [[nodiscard]] constexpr std::int64_t depth() const {
    return std::max<std::int64_t>(1, element_count(w) / (w[1] * group * element_count(strides)));
  }

  [[nodiscard]] Operands operands() const;

  /// ONNX ConvTranspose is the gradient of Conv: it has the same (output, tap) pairs with x and y exchanged, so the
  /// in-range taps, and the least products of any algorithm, are those of the convolution that maps y to x.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// ONNX ConvTranspose, auto_pad and output_shape: finds the padding that makes y the given size. An odd cell goes to
  /// the end (SAME_UPPER) or to the beginning. SAME without a given size crops y to stride times the size of x.
  static void resolve_pads(detail::WindowAxes& axes, const std::string& auto_pad, std::span<const std::int64_t> wanted);
};

/// DeformConv: a 2-D convolution whose taps are shifted by a tensor.
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
  [[nodiscard]] static std::optional<DeformConv> from(const Node& node, const Graph& graph);

  /// Positions of the kernel along height (0) or width (1) if its taps are not shifted.
  [[nodiscard]] detail::Window window(std::size_t axis) const;
  [[nodiscard]] TensorShape y() const;
  [[nodiscard]] constexpr std::int64_t kernel() const { return checked_product(w[2], w[3]); }

  /// No element of X is certain to be read: taps may be shifted outside.
  [[nodiscard]] Operands operands() const;

  /// ONNX DeformConv: the multiply-adds of the convolution with unshifted taps, and one addition per element for a
  /// bias. The interpolation of the taps is not counted, because shifts may be whole numbers.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/convolution_inl.hpp>
#endif
