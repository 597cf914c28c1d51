// SPDX-License-Identifier: Apache-2.0
// Pooling over windows, and its gradient.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/detail/window_axes.hpp>
#include <benanza/model/fused_node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace benanza::op {

/// How a pool reduces a window.
enum class PoolMode : std::uint8_t { max, average, lp };
[[nodiscard]] constexpr auto enum_names(PoolMode) { return std::array<std::string_view, 3>{"max", "average", "lp"}; }

/// Windows of a pool, and whether an average counts the cells of the padding.
struct PoolWindows {
  detail::WindowAxes axes{};
  bool include_pad = false;
};

/// The windows of a pool over x, N C spatial..., or of the gradient of a pool. Nothing if the lists do not match.
[[nodiscard]] inline std::optional<PoolWindows> read_pool_windows(const Node& node, std::span<const std::int64_t> x,
                                                                  PoolMode mode) {
  const bool global = node.op_type.find("Global") != std::string::npos;
  const auto kernel = global ? detail::Dims(x.begin() + 2, x.end()) : node.attribute<detail::Dims>("kernel_shape", {});
  auto axes = detail::WindowAxes::read(node, x.subspan(2), kernel);
  if (!axes) return std::nullopt;
  const std::string auto_pad = node.attribute<std::string>("auto_pad", "NOTSET");
  axes->resolve_same_padding(auto_pad);
  const bool padded = !axes->pads().empty();
  if (node.attribute<std::int64_t>("ceil_mode", 0) != 0 && !auto_pad.starts_with("SAME")) axes->resolve_ceil_mode();
  axes->canonicalize();
  const bool include_pad =
      mode == PoolMode::average && padded && node.attribute<std::int64_t>("count_include_pad", 0) != 0;
  return PoolWindows{std::move(*axes), include_pad};
}

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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<PoolGradient, decltype(graph)> {
    const Value& x_value = graph.output(node, 0);
    const PoolMode mode = node.op_type == "MaxPoolGrad" ? PoolMode::max : PoolMode::average;
    if (x_value.dims.size() < 3 || x_value.dims.size() > TensorShape::capacity) return std::nullopt;
    const auto windows = read_pool_windows(node, x_value.dims, mode);
    if (!windows) return std::nullopt;
    const detail::WindowAxes& axes = windows->axes;
    PoolGradient made{.type = x_value.type,
                      .mode = mode,
                      .x = axes.shape(x_value.dims[0], x_value.dims[1], &detail::Window::size),
                      .kernel = axes.kernel(),
                      .pads = axes.pads(),
                      .strides = axes.strides(),
                      .dilations = axes.dilations(),
                      .include_pad = windows->include_pad};
    if (made.include_pad) made.ceil_pads = axes.ceil_pads();
    if (!made.consistent() || graph.input(node, 0).elements() != element_count(made.y())) return std::nullopt;
    return made;
  }

  /// The shape of the pool's result, and thus of its gradient.
  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i)
      shape.push_back(detail::window(x, i, kernel[i], pads, strides, dilations).outputs());
    return shape;
  }
  /// Elements in one channel of one image.
  [[nodiscard]] constexpr std::int64_t plane() const {
    return element_count(std::span<const std::int64_t>(x.begin() + 2, x.end()));
  }

  /// Indices count within one channel of one image.
  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "dy", .type = type, .shape = y()}},
                    .outputs = {{.name = "dx", .type = type, .shape = x}}};
    if (mode == PoolMode::max)
      result.inputs.push_back(
          {.name = "indices", .type = DataType::i64, .shape = y(), .contents = Contents::indices, .limit = plane()});
    return result;
  }

  /// Maximum: each element of dy is added once. Average: each in-range tap is an addition, and each element is divided
  /// by a count once. Running sums need fewer additions, as in Pool.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const auto results = static_cast<double>(element_count(y()));
    if (mode == PoolMode::max) return {.flops = results};
    std::int64_t taps = checked_product(x[0], x[1]), least = taps;
    for (std::size_t i = 0; i + 2 < x.size(); ++i) {
      const auto axis = detail::window(x, i, kernel[i], pads, strides, dilations);
      taps = checked_product(taps, axis.in_range_taps());
      least = checked_product(least, axis.least_products());
    }
    return {.flops = static_cast<double>(taps) + results, .least_flops = static_cast<double>(least) + results};
  }

  [[nodiscard]] constexpr bool consistent() const {
    const std::size_t rank = x.size();
    if (mode == PoolMode::lp || rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(kernel, rank - 2))
      return false;
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
