// SPDX-License-Identifier: Apache-2.0
// Where elements come from and go to: Transpose, Slice, Concat, Split, Expand and Tile as strided copies, the sources
// of cells of a padded axis, and the taps of a resized one. Written once for Benanza's own kernels on every processor.
#pragma once

#include <benanza/model/layer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace benanza {

/// One dimension of y[sum of i * y_stride] = x[sum of i * x_stride]; x_stride 0 repeats, a negative one goes backwards.
struct StridedDimension {
  std::int64_t size = 1, x_stride = 0, y_stride = 0;  ///< in elements
};

/// One strided copy between an input and an output of a layer. The result's strides are positive and do not overlap.
struct StridedMove {
  std::size_t from = 0, to = 0;  ///< indices of operands
  std::vector<StridedDimension> dimensions{};
  std::int64_t x_offset = 0, y_offset = 0;
};

namespace detail {
[[nodiscard]] inline TensorShape row_major_strides(const TensorShape& shape) {
  TensorShape strides = TensorShape::filled(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}
}  // namespace detail

[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Transpose& op) {
  const TensorShape x = detail::row_major_strides(op.x), y = detail::row_major_strides(op.y());
  StridedMove move;
  for (std::size_t i = 0; i < op.perm.size(); ++i) {
    const auto from = static_cast<std::size_t>(op.perm[i]);
    move.dimensions.push_back({op.x[from], x[from], y[i]});
  }
  return {move};
}

[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Slice& op) {
  const TensorShape x = detail::row_major_strides(op.x), y = detail::row_major_strides(op.y);
  StridedMove move;
  for (std::size_t i = 0; i < op.x.size(); ++i) {
    move.dimensions.push_back({op.y[i], x[i] * (op.steps.empty() ? 1 : op.steps[i]), y[i]});
    move.x_offset += op.starts[i] * x[i];
  }
  return {move};
}

/// Operands without elements move nothing, nor does one that is in place.
[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Concat& op) {
  const std::int64_t total = op.total() * op.inner;
  std::int64_t offset = 0;
  std::vector<StridedMove> moves;
  for (std::size_t i = 0; i < op.sizes.size(); ++i) {
    const std::int64_t run = op.sizes[i] * op.inner;
    if (run > 0 && !(i == 0 && op.in_place)) moves.push_back({i, 0, {{op.outer, run, total}, {run, 1, 1}}, 0, offset});
    offset += run;
  }
  return moves;
}

[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Split& op) {
  std::int64_t total = 0, offset = 0;
  for (auto size : op.sizes) total += size * op.inner;
  std::vector<StridedMove> moves;
  for (std::size_t i = 0; i < op.sizes.size(); ++i) {
    const std::int64_t run = op.sizes[i] * op.inner;
    if (run > 0) moves.push_back({0, i, {{op.outer, total, run}, {run, 1, 1}}, offset, 0});
    offset += run;
  }
  return moves;
}

[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Expand& op) {
  const TensorShape x = detail::row_major_strides(op.x), y = detail::row_major_strides(op.y);
  StridedMove move;
  for (std::size_t i = 0; i < op.y.size(); ++i) move.dimensions.push_back({op.y[i], op.x[i] == 1 ? 0 : x[i], y[i]});
  return {move};
}

[[nodiscard]] inline std::vector<StridedMove> strided_moves(const op::Tile& op) {
  const TensorShape x = detail::row_major_strides(op.x), y = detail::row_major_strides(op.y());
  StridedMove move;
  for (std::size_t i = 0; i < op.x.size(); ++i) {
    move.dimensions.push_back({op.repeats[i], 0, y[i] * op.x[i]});
    move.dimensions.push_back({op.x[i], x[i], y[i]});
  }
  return {move};
}

/// Drops dimensions of 1, sorts outermost in the result first, and merges neighbours that both sides traverse as one;
/// at least one is left.
[[nodiscard]] inline std::vector<StridedDimension> folded(std::vector<StridedDimension> dimensions) {
  std::erase_if(dimensions, [](const StridedDimension& d) { return d.size == 1; });
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const auto& a, const auto& b) { return a.y_stride > b.y_stride; });
  std::vector<StridedDimension> result;
  for (const auto& d : dimensions) {
    if (!result.empty() && result.back().x_stride == d.x_stride * d.size &&
        result.back().y_stride == d.y_stride * d.size)
      result.back() = {result.back().size * d.size, d.x_stride, d.y_stride};
    else result.push_back(d);
  }
  if (result.empty()) result.push_back({1, 1, 1});
  return result;
}

/// A cell of constant padding.
inline constexpr std::int64_t padding_cell = -1;

/// The source of cell `i` of a padded axis (ONNX Pad), or `padding_cell`.
[[nodiscard]] inline std::int64_t padded_source(std::int64_t i, std::int64_t begin, std::int64_t size,
                                                op::PadMode mode) {
  const std::int64_t at = i - begin;
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case op::PadMode::constant: return padding_cell;
    case op::PadMode::edge: return std::clamp<std::int64_t>(at, 0, size - 1);
    case op::PadMode::wrap: return (at % size + size) % size;
    case op::PadMode::reflect: {
      if (size == 1) return 0;
      const std::int64_t period = 2 * (size - 1), phase = (at % period + period) % period;
      return phase < size ? phase : period - phase;
    }
  }
  return padding_cell;
}

/// The taps of one resized axis: tap t of cell i is at [t * size + i].
struct ResizeTaps {
  std::int64_t taps = 1;
  std::vector<std::int32_t> at{};
  std::vector<float> weight{};
};

namespace detail {
/// ONNX Resize, coordinate_transformation_mode.
[[nodiscard]] inline double resize_origin(const op::Resize& op, double y, double in, double out) {
  const double scale = out / in;
  switch (op.coordinates) {
    case op::ResizeCoordinates::asymmetric: return y / scale;
    case op::ResizeCoordinates::tf_crop_and_resize:  // the region is the whole tensor
      return out == 1 ? (in - 1) / 2 : y * (in - 1) / (out - 1);
    case op::ResizeCoordinates::align_corners: return out == 1 ? 0 : y * (in - 1) / (out - 1);
    case op::ResizeCoordinates::pytorch_half_pixel: return out == 1 ? 0 : (y + 0.5) / scale - 0.5;
    default: return (y + 0.5) / scale - 0.5;  // the symmetric form differs only if scales are given that do not divide
  }
}
[[nodiscard]] inline double resize_rounded(op::ResizeRounding rounding, double x) {
  switch (rounding) {
    case op::ResizeRounding::round_prefer_floor: return std::ceil(x - 0.5);
    case op::ResizeRounding::round_prefer_ceil: return std::floor(x + 0.5);
    case op::ResizeRounding::floor: return std::floor(x);
    case op::ResizeRounding::ceil: break;
  }
  return std::ceil(x);
}
/// Keys, "Cubic convolution interpolation for digital image processing" (1981), with ONNX's default coefficient.
[[nodiscard]] inline double cubic_weight(double d) {
  constexpr double a = -0.75;
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
}  // namespace detail

/// The taps of axis `k`: one if it is copied, two for a linear and four for a cubic interpolation, and more in
/// proportion if an antialiased axis shrinks.
[[nodiscard]] inline ResizeTaps resize_taps(const op::Resize& op, std::size_t k) {
  const std::int64_t in = op.x[k], out = op.y[k];
  const auto clamped = [&](double at) {
    return static_cast<std::int32_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)));
  };
  ResizeTaps axis;
  const bool copies = in == out || op.mode == op::ResizeMode::nearest;
  const double reach = op.mode == op::ResizeMode::linear ? 1 : 2;  // extent of a cell's weights
  const bool widens = op.antialias && out < in;
  const double shrink = widens ? static_cast<double>(in) / static_cast<double>(out) : 1;
  axis.taps = copies ? 1 : static_cast<std::int64_t>(2 * reach * shrink) + (widens ? 1 : 0);
  axis.at.resize(static_cast<std::size_t>(axis.taps * out));
  axis.weight.resize(static_cast<std::size_t>(axis.taps * out), 1.0F);
  for (std::int64_t i = 0; i < out; ++i) {
    const double x = in == out ? static_cast<double>(i)
                               : detail::resize_origin(op, static_cast<double>(i), static_cast<double>(in),
                                                       static_cast<double>(out));
    if (copies) {
      axis.at[static_cast<std::size_t>(i)] = clamped(in == out ? x : detail::resize_rounded(op.rounding, x));
      continue;
    }
    const double first = widens ? std::ceil(x - reach * shrink) : std::floor(x) - (reach - 1);
    const auto weight = [&](std::int64_t t) {
      const double distance = std::fabs(x - (first + static_cast<double>(t))) / shrink;
      return distance >= reach ? 0 : reach == 1 ? 1 - distance : detail::cubic_weight(distance);
    };
    double sum = widens ? 0 : 1;
    for (std::int64_t t = 0; widens && t < axis.taps; ++t) sum += weight(t);
    for (std::int64_t t = 0; t < axis.taps; ++t) {
      axis.at[static_cast<std::size_t>(t * out + i)] = clamped(first + static_cast<double>(t));
      axis.weight[static_cast<std::size_t>(t * out + i)] = static_cast<float>(weight(t) / sum);
    }
  }
  return axis;
}

}  // namespace benanza
