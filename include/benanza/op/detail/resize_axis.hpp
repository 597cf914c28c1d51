// SPDX-License-Identifier: Apache-2.0
// ResizeAxis: where the results along one axis of a Resize lie between its elements, and what computing them takes.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

/// How elements between those of a tensor are computed.
enum class ResizeMode : std::uint8_t { nearest, linear, cubic };
[[nodiscard]] constexpr auto enum_names(ResizeMode) {
  return std::array<std::string_view, 3>{"nearest", "linear", "cubic"};
}

enum class ResizeCoordinates : std::uint8_t {
  half_pixel,
  align_corners,
  asymmetric,
  pytorch_half_pixel,
  half_pixel_symmetric,
  tf_crop_and_resize
};
[[nodiscard]] constexpr auto enum_names(ResizeCoordinates) {
  return std::array<std::string_view, 6>{"half_pixel",         "align_corners",        "asymmetric",
                                         "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize"};
}
enum class ResizeRounding : std::uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };
[[nodiscard]] constexpr auto enum_names(ResizeRounding) {
  return std::array<std::string_view, 4>{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
}

/// How positions are rounded by Upsample and by Resize of opset 10: up along an axis that shrinks, down along one that
/// grows (ONNX's test vector resize_downsample_nearest; the specification says nothing). Nothing for axes of both
/// kinds.
[[nodiscard]] std::optional<ResizeRounding> early_rounding(const TensorShape& x, const TensorShape& y);

/// Elements of an axis from which one result is computed: [begin, end).
struct ResizeCells {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] constexpr std::int64_t count() const { return end - begin; }
};

struct ResizeAxis {
  std::int64_t x = 1, y = 1;
  double scale = 1;           ///< y / x, unless the node specifies it
  double begin = 0, end = 1;  ///< the region to which x is cropped, as shares of the axis
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  bool antialias = false;

  /// An axis with the scale that its sizes imply, without a crop.
  [[nodiscard]] static ResizeAxis of_sizes(std::int64_t x, std::int64_t y, ResizeMode mode,
                                           ResizeCoordinates coordinates, bool antialias) {
    return {.x = x,
            .y = y,
            .scale = static_cast<double>(y) / static_cast<double>(x),
            .mode = mode,
            .coordinates = coordinates,
            .antialias = antialias};
  }
  [[nodiscard]] bool is_unchanged() const { return x == y && scale == 1 && begin == 0 && end == 1; }

  /// The position of a result among the elements of x (ONNX Resize, coordinate_transformation_mode). A result of linear
  /// or cubic mode whose position is an element but for the rounding of the scale lies on the element.
  [[nodiscard]] double place(std::int64_t at) const {
    const double exact = std::clamp(formula(at), -1e9, 1e9), nearest = std::round(exact);
    return mode != ResizeMode::nearest && std::abs(exact - nearest) < rounding_of_scale ? nearest : exact;
  }
  /// Whether a crop leaves a result outside of x: it is a number in the file.
  [[nodiscard]] bool is_outside(double place) const {
    return coordinates == ResizeCoordinates::tf_crop_and_resize && (place < 0 || place > static_cast<double>(x - 1));
  }
  /// The elements with a weight. At the edges, an element stands for those beyond it.
  [[nodiscard]] ResizeCells cells(double place) const {
    ResizeCells cells = unlimited_cells(place);
    cells.begin = std::clamp<std::int64_t>(cells.begin, 0, x - 1);
    cells.end = std::clamp<std::int64_t>(cells.end, cells.begin + 1, x);
    return cells;
  }
  [[nodiscard]] bool widens() const { return antialias && scale < 1; }  ///< antialiasing: more elements have a weight

  static constexpr double rounding_of_scale = 1e-4;  // in elements

 private:
  [[nodiscard]] double formula(std::int64_t at) const {
    using enum ResizeCoordinates;
    const auto i = static_cast<double>(at), size = static_cast<double>(x), results = static_cast<double>(y);
    switch (coordinates) {
      case half_pixel: return (i + 0.5) / scale - 0.5;
      case pytorch_half_pixel: return y > 1 ? (i + 0.5) / scale - 0.5 : 0;
      case half_pixel_symmetric: {
        const double full = size * scale;
        return size / 2 * (1 - results / full) + (i + 0.5) / scale - 0.5;
      }
      case align_corners: return y > 1 ? i * (size - 1) / (results - 1) : 0;
      case tf_crop_and_resize:
        return y > 1 ? begin * (size - 1) + i * (end - begin) * (size - 1) / (results - 1)
                     : (begin + end) / 2 * (size - 1);
      case asymmetric: break;
    }
    return i / scale;
  }
  [[nodiscard]] ResizeCells unlimited_cells(double place) const {
    using enum ResizeRounding;
    const double below = std::floor(place), above = std::ceil(place);
    const auto cells = [](double first, double last) {
      return ResizeCells{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last) + 1};
    };
    if (mode == ResizeMode::nearest) {
      const bool half = place - below == 0.5;
      const double nearest = rounding == floor                ? below
                             : rounding == ceil               ? above
                             : !half                          ? std::round(place)
                             : rounding == round_prefer_floor ? below
                                                              : above;
      return cells(nearest, nearest);
    }
    const double taps = mode == ResizeMode::linear ? 1 : 2;  // on each side
    if (widens()) {                                          // elements at the very end of the window have no weight
      const double reach = taps / scale;
      return cells(std::floor(place - reach) + 1, std::ceil(place + reach) - 1);
    }
    return below == above ? cells(below, above) : cells(above - taps, below + taps);
  }
};

/// One pass of linear or cubic interpolation along an axis.
struct ResizePass {
  std::int64_t read = 0;  ///< elements with a weight in any result
  std::int64_t made = 0;  ///< different results
  double flops = 0;       ///< the least for them
};

/// The least that the results along an axis take for each line of elements:
/// - nothing for a result that is an element.
/// - linear: k different results between two neighbours take k + 1, since they need at least one number that is no
///   result, as the difference of the neighbours. One result takes 2, or 1 in the middle: a scale of the sum can be
///   left to the last pass.
/// - cubic: one less than the number of elements with a weight: results between the same elements can be made with
/// three
///   additions each by forward differences.
/// - antialiasing: one for each result, and one less than the elements that are read for each result: windows that
///   overlap may share sums.
[[nodiscard]] ResizePass resize_pass(const ResizeAxis& axis);

/// The least of passes over one axis after the other. Each takes its operations for each line that the passes before it
/// leave or make. In the best order, the passes that shrink the tensor most for their operations come first.
[[nodiscard]] double least_resize_flops(std::vector<ResizePass> passes);

/// The same for a tensor, if the sizes imply the scales. 0 for nearest, and for a crop, whose region is data.
[[nodiscard]] double least_resize_flops(const TensorShape& x, const TensorShape& y, ResizeMode mode,
                                        ResizeCoordinates coordinates, bool antialias);

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/detail/resize_axis_inl.hpp>
#endif
