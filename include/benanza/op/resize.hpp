// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: interpolation over the spatial axes.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/detail/resize_axis.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/resize_mode.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::op {

struct Resize {
  static constexpr std::string_view kind = "Resize";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 2> onnx_types{"Resize", "Upsample"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape y{};  ///< the result's shape
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;  ///< nearest only
  bool antialias = false;  ///< if an axis shrinks, more cells contribute to a result
  Epilogue post{};         ///< only if the type is floating-point

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("y", self.y);
    visit("mode", self.mode);
    visit("coordinates", self.coordinates);
    visit("rounding", self.rounding);
    visit("antialias", self.antialias);
    visit("post", self.post);
  }
  constexpr bool operator==(const Resize&) const = default;

  /// Upsample, and Resize of opset 10, use `asymmetric` coordinates, rounded down for nearest.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Resize, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::to_shape(x_value.dims), y = detail::to_shape(graph.output(node, 0).dims);
    if (!x || !y || x->size() != y->size() || *x == *y) return std::nullopt;
    const bool early = node.op_type == "Upsample" || node.opset < 11;
    std::string mode = node.attribute<std::string>("mode", "nearest");
    if (mode == "bilinear") mode = "linear";
    const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
    const auto coordinates = detail::enum_from_name<ResizeCoordinates>(
        early ? "asymmetric" : node.attribute<std::string>("coordinate_transformation_mode", "half_pixel"));
    const auto rounding = detail::enum_from_name<ResizeRounding>(
        early ? "floor" : node.attribute<std::string>("nearest_mode", "round_prefer_floor"));
    if (!named_mode || !coordinates || !rounding) return std::nullopt;
    Resize resize{.type = x_value.type, .x = *x, .y = *y, .mode = *named_mode, .coordinates = *coordinates};
    if (resize.mode == ResizeMode::nearest) resize.rounding = *rounding;
    else resize.antialias = node.attribute<std::int64_t>("antialias", 0) != 0;
    return resize;
  }

  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched()}},
                    .outputs = {{.name = "y", .type = type, .shape = y}}};
    detail::append_epilogue_operands(result, post, type, y, 1);
    return result;
  }

  /// An axis with the scale that its sizes imply, without a crop.
  [[nodiscard]] ResizeAxis axis(std::size_t i) const {
    ResizeAxis axis = ResizeAxis::of_sizes(x[i], y[i], mode, coordinates, antialias);
    axis.rounding = rounding;
    return axis;
  }

  /// ONNX Resize: nearest copies. Linear and cubic interpolate one axis after the other (fewer operations than the full
  /// stencil). Only the last of these axes is counted: one multiply-add for each of 2 or 4 taps per output element.
  /// Antialiasing has at least as many taps. Passes that share differences of neighbours need `least_resize_flops`.
  [[nodiscard]] Arithmetic arithmetic() const {
    const auto results = static_cast<double>(element_count(y));
    const double steps = static_cast<double>(post.size()) * results;
    const double direct = (mode == ResizeMode::nearest ? 0.0 : mode == ResizeMode::linear ? 4.0 : 8.0) * results;
    return {.flops = direct + steps, .least_flops = std::min(direct, least_interpolation()) + steps};
  }
  /// The operations that any algorithm needs to interpolate, if the sizes imply the scales.
  [[nodiscard]] double least_interpolation() const { return least_resize_flops(x, y, mode, coordinates, antialias); }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && !(antialias && mode == ResizeMode::nearest) &&
           (post.empty() || (is_float(type) && y.size() > 1 && detail::fits(post, y)));
  }

 private:
  /// The least number of cells of an axis that one result needs: one if it lies on a cell, all taps if it lies halfway
  /// between two. Half-pixel coordinates lie halfway if the axis shrinks by an even factor.
  [[nodiscard]] constexpr std::int64_t least_taps(std::size_t axis) const {
    const bool half = coordinates == ResizeCoordinates::half_pixel ||
                      (coordinates == ResizeCoordinates::pytorch_half_pixel && y[axis] > 1);
    if (mode == ResizeMode::nearest || !half || x[axis] % (2 * y[axis]) != 0) return 1;
    return mode == ResizeMode::linear ? 2 : 4;
  }
  /// Cells of x that at least one result needs. Antialiasing needs all. A region that is cut out may lie outside.
  [[nodiscard]] constexpr std::int64_t touched() const {
    if (coordinates == ResizeCoordinates::tf_crop_and_resize) return 0;
    if (antialias) return element_count(x);
    std::int64_t cells = 1;
    for (std::size_t i = 0; i < x.size(); ++i)
      cells = checked_product(cells, x[i] == y[i] ? x[i] : std::min(x[i], checked_product(least_taps(i), y[i])));
    return cells;
  }
};

}  // namespace benanza::op
