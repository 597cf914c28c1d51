// SPDX-License-Identifier: Apache-2.0
// Pooling over windows, and its gradient.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::op {

/// How a pool reduces a window.
enum class PoolMode : std::uint8_t { max, average, lp };
[[nodiscard]] constexpr auto enum_names(PoolMode) { return std::array<std::string_view, 3>{"max", "average", "lp"}; }

/// Pooling over windows. The kernel of a global pool is the whole plane.
struct Pool {
  static constexpr std::string_view kind = "Pool";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 13> onnx_types{"MaxPool",
                                                               "AveragePool",
                                                               "LpPool",
                                                               "GlobalMaxPool",
                                                               "GlobalAveragePool",
                                                               "GlobalLpPool",
                                                               "com.microsoft.QLinearAveragePool",
                                                               "com.microsoft.QLinearGlobalAveragePool",
                                                               "com.microsoft.NhwcMaxPool",
                                                               "com.microsoft.nchwc.MaxPool",
                                                               "com.microsoft.nchwc.AveragePool",
                                                               "com.microsoft.nchwc.GlobalMaxPool",
                                                               "com.microsoft.nchwc.GlobalAveragePool"};
  DataType type = DataType::f32;
  PoolMode mode = PoolMode::max;
  TensorShape x{};  ///< N C spatial...
  TensorShape kernel{};
  TensorShape pads{};       ///< all begins, then all ends, which include ceil_mode's extra cells; empty: no padding
  TensorShape strides{};    ///< empty: 1
  TensorShape dilations{};  ///< empty: 1
  bool include_pad =
      false;  ///< average: divide by the kernel's size, not by the in-range taps (ceil_mode's cells never count)
  TensorShape ceil_pads{};  ///< what ceil_mode added to the end pads; empty: nothing, or no include_pad
  bool indices = false;     ///< max: the second output, i64
  std::int64_t p = 2;       ///< lp only

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("mode", self.mode);
    visit("x", self.x);
    visit("kernel", self.kernel);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("include_pad", self.include_pad);
    visit("ceil_pads", self.ceil_pads);
    visit("indices", self.indices);
    visit("p", self.p);
  }
  constexpr bool operator==(const Pool&) const = default;

  [[nodiscard]] static std::optional<Pool> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;

  [[nodiscard]] Operands operands() const;

  /// ONNX MaxPool, AveragePool, LpPool: one operation for each in-range tap. Windows that overlap may share results
  /// (running sums), so that other algorithms need `Window::least_products` of each axis.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Gradient of pooling: the gradient of a maximum goes to the positions that the forward pass has recorded, that of an
/// average to all elements of a window. The fields describe the pool itself, which is a maximum or an average.
struct PoolGradient {
  static constexpr std::string_view kind = "PoolGradient";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 3> onnx_types{"benanza.MaxPoolGrad", "benanza.AveragePoolGrad",
                                                              "benanza.GlobalAveragePoolGrad"};
  DataType type = DataType::f32;
  PoolMode mode = PoolMode::max;
  TensorShape x{};  ///< N C spatial...
  TensorShape kernel{};
  TensorShape pads{};
  TensorShape strides{};
  TensorShape dilations{};
  bool include_pad = false;
  TensorShape ceil_pads{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("mode", self.mode);
    visit("x", self.x);
    visit("kernel", self.kernel);
    visit("pads", self.pads);
    visit("strides", self.strides);
    visit("dilations", self.dilations);
    visit("include_pad", self.include_pad);
    visit("ceil_pads", self.ceil_pads);
  }
  constexpr bool operator==(const PoolGradient&) const = default;

  /// Reads dy and, for a maximum, the indices. Writes dx.
  [[nodiscard]] static std::optional<PoolGradient> from(const Node& node, const Graph& graph);

  /// The shape of the pool's result, and thus of its gradient.
  [[nodiscard]] TensorShape y() const;
  /// Elements in one channel of one image.
  [[nodiscard]] constexpr std::int64_t plane() const {
    return element_count(std::span<const std::int64_t>(x.begin() + 2, x.end()));
  }

  /// Indices count within one channel of one image.
  [[nodiscard]] Operands operands() const;

  /// Maximum: each element of dy is added once. Average: each in-range tap is an addition, and each element is divided
  /// by a count once. Running sums need fewer additions, as in Pool.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/pooling_inl.hpp>
#endif
