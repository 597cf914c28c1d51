// SPDX-License-Identifier: Apache-2.0
// Interpolation between elements.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/detail/resize_axis.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::op {

/// Resize and Upsample: interpolation over the spatial axes.
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

  /// Upsample, and Resize of opset 10, use `asymmetric` coordinates and `early_rounding`.
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
    const auto rounding =
        early && mode == "nearest"
            ? early_rounding(*x, *y)
            : detail::enum_from_name<ResizeRounding>(
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

/// Gradient of Resize: each element contributes to those from which it was computed, with the same weights. The fields
/// describe the Resize itself.
struct ResizeGradient {
  static constexpr std::string_view kind = "ResizeGradient";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"benanza.ResizeGrad"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape y{};
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  bool antialias = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("y", self.y);
    visit("mode", self.mode);
    visit("coordinates", self.coordinates);
    visit("rounding", self.rounding);
    visit("antialias", self.antialias);
  }
  constexpr bool operator==(const ResizeGradient&) const = default;

  /// Reads dy, writes dx. `early`: the gradient is that of an Upsample, or of a Resize before opset 11.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<ResizeGradient, decltype(graph)> {
    const Value& x_value = graph.output(node, 0);
    const auto x = detail::to_shape(x_value.dims), y = detail::to_shape(graph.input(node, 0).dims);
    if (!x || !y || x->size() != y->size() || *x == *y) return std::nullopt;
    const bool early = node.attribute<std::int64_t>("early", 0) != 0;
    std::string mode = node.attribute<std::string>("mode", "nearest");
    if (mode == "bilinear") mode = "linear";
    const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
    const auto coordinates = detail::enum_from_name<ResizeCoordinates>(
        early ? "asymmetric" : node.attribute<std::string>("coordinate_transformation_mode", "half_pixel"));
    const auto rounding =
        early && mode == "nearest"
            ? early_rounding(*x, *y)
            : detail::enum_from_name<ResizeRounding>(
                  early ? "floor" : node.attribute<std::string>("nearest_mode", "round_prefer_floor"));
    if (!named_mode || !coordinates || !rounding) return std::nullopt;
    ResizeGradient made{.type = x_value.type, .x = *x, .y = *y, .mode = *named_mode, .coordinates = *coordinates};
    if (made.mode == ResizeMode::nearest) made.rounding = *rounding;
    else made.antialias = node.attribute<std::int64_t>("antialias", 0) != 0;
    if (made.coordinates == ResizeCoordinates::tf_crop_and_resize) return std::nullopt;  // its region is data
    return made;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "dy", .type = type, .shape = y}},
            .outputs = {{.name = "dx", .type = type, .shape = x}}};
  }

  /// As many operations as the Resize has. If it copies, one addition per element. The least is that of the Resize, and
  /// one addition for each element of dy more than dx has: a transposed linear map takes as many multiplications, and
  /// as many additions but for this difference (Tellegen's principle).
  [[nodiscard]] Arithmetic arithmetic() const {
    const auto results = static_cast<double>(element_count(y)), elements = static_cast<double>(element_count(x));
    const double direct = (mode == ResizeMode::nearest ? 1.0 : mode == ResizeMode::linear ? 4.0 : 8.0) * results;
    const double forward = least_resize_flops(x, y, mode, coordinates, antialias);
    return {.flops = direct, .least_flops = std::clamp(forward + results - elements, 0.0, direct)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && !(antialias && mode == ResizeMode::nearest) &&
           coordinates != ResizeCoordinates::tf_crop_and_resize;
  }
};

enum class GridPadding : std::uint8_t { zeros, border, reflection };
[[nodiscard]] constexpr auto enum_names(GridPadding) {
  return std::array<std::string_view, 3>{"zeros", "border", "reflection"};
}

/// GridSample: interpolation at positions that a tensor gives.
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

/// RoiAlign: boxes of a feature map, each resampled to one size.
struct RoiAlign {
  static constexpr std::string_view kind = "RoiAlign";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"RoiAlign"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< N C height width
  std::int64_t boxes = 1;    ///< x1 y1 x2 y2 each; their scale does not decide the speed
  TensorShape out{};         ///< height and width of the result
  std::int64_t samples = 0;  ///< along each axis of a cell; 0: one for each cell of x that it covers
  bool max = false;          ///< takes the largest of the weighted neighbours of all samples, not their average
  bool half_pixel = true;    ///< coordinates are shifted by half a cell of x
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("boxes", self.boxes);
    visit("out", self.out);
    visit("samples", self.samples);
    visit("max", self.max);
    visit("half_pixel", self.half_pixel);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const RoiAlign&) const = default;

  /// Before opset 16 coordinates were not shifted.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<RoiAlign, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::to_shape(x_value.dims);
    const auto& boxes = graph.input(node, 1);
    const std::string mode = node.attribute<std::string>("mode", "avg");
    if (!x || boxes.dims.size() != 2 || boxes.dims[1] != 4 || (mode != "avg" && mode != "max")) return std::nullopt;
    const char* shifted = node.opset < 16 ? "output_half_pixel" : "half_pixel";
    return RoiAlign{
        .type = x_value.type,
        .x = *x,
        .boxes = boxes.dims[0],
        .out = {node.attribute<std::int64_t>("output_height", 1), node.attribute<std::int64_t>("output_width", 1)},
        .samples = node.attribute<std::int64_t>("sampling_ratio", 0),
        .max = mode == "max",
        .half_pixel = node.attribute<std::string>("coordinate_transformation_mode", shifted) == "half_pixel",
        .index_type = graph.input(node, 2).type};
  }

  [[nodiscard]] constexpr TensorShape y() const { return {boxes, x[1], out[0], out[1]}; }

  /// No element of X is certain to be read: boxes may lie outside.
  [[nodiscard]] Operands operands() const {
    // Corners are between a quarter and three quarters of the smaller side's power of two.
    const int exponent = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::min(x[2], x[3])))) - 2;
    return {
        .inputs =
            {{.name = "X", .type = type, .shape = x, .touched = 0},
             {.name = "rois", .type = type, .shape = {boxes, 4}, .contents = Contents::positive, .exponent = exponent},
             {.name = "batch_indices",
              .type = index_type,
              .shape = {boxes},
              .contents = Contents::indices,
              .limit = x[0]}},
        .outputs = {{.name = "Y", .type = type, .shape = y()}}};
  }

  /// ONNX RoiAlign. Weights of rows and columns can be applied one after the other, and sums over the samples of a cell
  /// made part of them. In a box that covers less than a cell of x, that leaves one multiplication and one addition (or
  /// comparison) for each result; weights serve all channels and are not counted.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 2.0 * static_cast<double>(element_count(y()))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    constexpr std::int64_t most = 1 << 12;
    return detail::are_sizes(x, 4) && detail::is_size(boxes) && detail::are_sizes(out, 2) && samples >= 0 &&
           samples <= most;
  }
};

}  // namespace benanza::op
