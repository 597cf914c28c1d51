// SPDX-License-Identifier: Apache-2.0
// Pooling over windows. The kernel of a global pool is the whole plane.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/model/fused_node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/pool_mode.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::op {

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

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Pool, decltype(graph)> {
    const std::string_view name = node.op_type;
    const Value& x_value = graph.input(node, 0);
    const detail::Dims all_dims = detail::channels_first(node, x_value.dims);
    const std::span<const std::int64_t> x_dims = all_dims;
    if (x_dims.size() < 3 || x_dims.size() > TensorShape::capacity) return std::nullopt;
    Pool pool{.type = x_value.type,
              .mode = name.ends_with("MaxPool")       ? PoolMode::max
                      : name.ends_with("AveragePool") ? PoolMode::average
                                                      : PoolMode::lp};
    if (pool.mode == PoolMode::lp) {
      if (node.opset < 2) return std::nullopt;  // p was not an integer yet
      pool.p = node.attribute<std::int64_t>("p", 2);
    }
    const auto windows = read_pool_windows(node, x_dims, pool.mode);
    if (!windows) return std::nullopt;
    const detail::WindowAxes& axes = windows->axes;
    pool.x = axes.shape(x_dims[0], x_dims[1], &detail::Window::size);
    pool.kernel = axes.kernel();
    pool.pads = axes.pads();
    pool.strides = axes.strides();
    pool.dilations = axes.dilations();
    pool.include_pad = windows->include_pad;
    if (pool.include_pad) pool.ceil_pads = axes.ceil_pads();
    pool.indices = pool.mode == PoolMode::max && node.has_output(1);
    return pool;
  }

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
      shape.push_back(detail::window(x, i, kernel[i], pads, strides, dilations).outputs());
    return shape;
  }

  [[nodiscard]] Operands operands() const {
    const auto touched = detail::touched_elements(x, std::span(kernel.begin(), kernel.end()), pads, strides, dilations);
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched}},
                    .outputs = {{.name = "y", .type = type, .shape = y()}}};
    if (indices) result.outputs.push_back({.name = "indices", .type = DataType::i64, .shape = y()});
    return result;
  }

  /// ONNX MaxPool, AveragePool, LpPool: one operation for each in-range tap. Windows that overlap may share results
  /// (running sums), so that other algorithms need `Window::least_products` of each axis.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    std::int64_t taps = checked_product(x[0], x[1]), least = taps;
    for (std::size_t i = 0; i + 2 < x.size(); ++i) {
      const auto axis = detail::window(x, i, kernel[i], pads, strides, dilations);
      taps = checked_product(taps, axis.in_range_taps());
      least = checked_product(least, axis.least_products());
    }
    return {.flops = static_cast<double>(taps), .least_flops = static_cast<double>(least)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    const std::size_t rank = x.size();
    if (rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(kernel, rank - 2) || p < 1) return false;
    if (!detail::are_windows(rank - 2, pads, strides, dilations) ||
        (!ceil_pads.empty() && (ceil_pads.size() != rank - 2 || pads.empty())))
      return false;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      if (!detail::is_window(detail::window(x, i, kernel[i], pads, strides, dilations))) return false;
      if (!ceil_pads.empty() && (ceil_pads[i] < 0 || ceil_pads[i] > pads[i + rank - 2])) return false;
    }
    return true;
  }
};

}  // namespace benanza::op
