// SPDX-License-Identifier: Apache-2.0
// Gradient of pooling: the gradient of a maximum goes to the positions that the forward pass has recorded, that of an
// average to all elements of a window.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/pool_mode.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::op {

/// The fields describe the pool itself, which is a maximum or an average.
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
