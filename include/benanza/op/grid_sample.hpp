// SPDX-License-Identifier: Apache-2.0
// GridSample: interpolation at positions that a tensor gives.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/resize_mode.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

enum class GridPadding : std::uint8_t { zeros, border, reflection };
[[nodiscard]] constexpr auto enum_names(GridPadding) {
  return std::array<std::string_view, 3>{"zeros", "border", "reflection"};
}

struct GridSample {
  static constexpr std::string_view kind = "GridSample";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"GridSample"};
  DataType type = DataType::f32;
  TensorShape x{};    ///< N C spatial...
  TensorShape out{};  ///< the result's spatial sizes
  ResizeMode mode = ResizeMode::linear;
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("out", self.out);
    visit("mode", self.mode);
    visit("padding", self.padding);
    visit("align_corners", self.align_corners);
  }
  constexpr bool operator==(const GridSample&) const = default;

  /// Nothing if the types of the grid and x differ.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<GridSample, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& grid = graph.input(node, 1);
    const auto x = detail::to_shape(x_value.dims);
    std::string mode = node.attribute<std::string>("mode", "linear");
    if (mode == "bilinear" || mode == "bicubic") mode.erase(0, 2);
    const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
    const auto padding = detail::enum_from_name<GridPadding>(node.attribute<std::string>("padding_mode", "zeros"));
    if (!x || !named_mode || !padding || grid.type != x_value.type || x->size() < 3 ||
        grid.dims.size() != x_value.dims.size() || grid.dims[0] != x_value.dims[0] ||
        grid.dims.back() != static_cast<std::int64_t>(x->size()) - 2)
      return std::nullopt;
    return GridSample{.type = x_value.type,
                      .x = *x,
                      .out = TensorShape(std::span<const std::int64_t>(grid.dims).subspan(1, x->size() - 2)),
                      .mode = *named_mode,
                      .padding = *padding,
                      .align_corners = node.attribute<std::int64_t>("align_corners", 0) != 0};
  }

  [[nodiscard]] constexpr std::size_t spatial() const { return out.size(); }
  [[nodiscard]] constexpr std::int64_t points() const { return element_count(out); }
  /// Elements of x from which one element of y is computed.
  [[nodiscard]] constexpr std::int64_t taps() const {
    const std::int64_t along = mode == ResizeMode::nearest ? 1 : mode == ResizeMode::linear ? 2 : 4;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < spatial(); ++i) count *= along;
    return count;
  }

  /// No element of X is certain to be read: positions may lie outside.
  [[nodiscard]] Operands operands() const {
    TensorShape grid{x[0]}, y{x[0], x[1]};
    for (auto size : out) {
      grid.push_back(size);
      y.push_back(size);
    }
    grid.push_back(static_cast<std::int64_t>(spatial()));
    return {.inputs = {{.name = "X", .type = type, .shape = x, .touched = 0},
                       {.name = "grid", .type = type, .shape = grid}},
            .outputs = {{.name = "Y", .type = type, .shape = y}}};
  }

  /// ONNX GridSample: one multiply-add per tap and element. Interpolation weights serve all channels and are not
  /// counted. Nearest copies.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    if (mode == ResizeMode::nearest) return {};
    return {.flops = 2.0 * static_cast<double>(taps()) * static_cast<double>(x[0]) * static_cast<double>(x[1]) *
                     static_cast<double>(points())};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return x.size() >= 3 && x.size() <= 6 && detail::are_sizes(x) && detail::are_sizes(out, x.size() - 2);
  }
};

}  // namespace benanza::op
