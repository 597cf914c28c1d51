// SPDX-License-Identifier: Apache-2.0
// Interpolation between elements.
#pragma once

#include <benanza/model/epilogue.hpp>
#include <benanza/op/detail/resize_axis.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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
  [[nodiscard]] static std::optional<Resize> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// An axis with the scale that its sizes imply, without a crop.
  [[nodiscard]] ResizeAxis axis(std::size_t i) const;

  /// ONNX Resize: nearest copies. Linear and cubic interpolate one axis after the other (fewer operations than the full
  /// stencil). Only the last of these axes is counted: one multiply-add for each of 2 or 4 taps per output element.
  /// Antialiasing has at least as many taps. Passes that share differences of neighbours need `least_resize_flops`.
  [[nodiscard]] Arithmetic arithmetic() const;
  /// The operations that any algorithm needs to interpolate, if the sizes imply the scales.
  [[nodiscard]] double least_interpolation() const { return least_resize_flops(x, y, mode, coordinates, antialias); }

  [[nodiscard]] bool consistent() const;

 private:
  /// The least number of cells of an axis that one result needs: one if it lies on a cell, all taps if it lies halfway
  /// between two. Half-pixel coordinates lie halfway if the axis shrinks by an even factor.
  [[nodiscard]] std::int64_t least_taps(std::size_t axis) const;
  /// Cells of x that at least one result needs. Antialiasing needs all. A region that is cut out may lie outside.
  [[nodiscard]] std::int64_t touched() const;
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
  [[nodiscard]] static std::optional<ResizeGradient> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// As many operations as the Resize has. If it copies, one addition per element. The least is that of the Resize, and
  /// one addition for each element of dy more than dx has: a transposed linear map takes as many multiplications, and
  /// as many additions but for this difference (Tellegen's principle).
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<GridSample> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::size_t spatial() const { return out.size(); }
  [[nodiscard]] constexpr std::int64_t points() const { return element_count(out); }
  /// Elements of x from which one element of y is computed.
  [[nodiscard]] std::int64_t taps() const;

  /// No element of X is certain to be read: positions may lie outside.
  [[nodiscard]] Operands operands() const;

  /// ONNX GridSample: one multiply-add per tap and element. Interpolation weights serve all channels and are not
  /// counted. Nearest copies.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<RoiAlign> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr TensorShape y() const { return {boxes, x[1], out[0], out[1]}; }

  /// No element of X is certain to be read: boxes may lie outside.
  [[nodiscard]] Operands operands() const;

  /// ONNX RoiAlign. Samples are equally spaced: in a box that covers less than a cell of x, a result of a row differs
  /// from the one before it by the same number, so that it takes one addition.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/sampling_inl.hpp>
#endif
