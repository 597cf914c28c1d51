// SPDX-License-Identifier: Apache-2.0
// Resize: ONNX's coordinate transformations and interpolations, as products of the weights of each axis.
#include "evaluate.hpp"
#include "index.hpp"

#include <cmath>

namespace benanza::reference {

namespace {

/// One cell of an axis and its weight.
struct Neighbor {
  std::int64_t at = 0;
  double weight = 1;
};

class Axis {
 public:
  Axis(const op::Resize& resize, std::size_t axis, const Parameters& parameters)
      : resize_(resize),
        parameters_(parameters),
        in_(resize.x[axis]),
        out_(resize.y[axis]),
        start_(parameters.resize_region.empty() ? 0 : parameters.resize_region[axis]),
        end_(parameters.resize_region.empty() ? 1 : parameters.resize_region[axis + resize.x.size()]),
        scale_(parameters.resize_scales.empty() ? static_cast<double>(out_) / static_cast<double>(in_)
                                                : parameters.resize_scales[axis]) {}

  [[nodiscard]] std::int64_t results() const { return out_; }

  [[nodiscard]] std::vector<Neighbor> taps(std::int64_t y) const {
    const bool crops = resize_.coordinates == op::ResizeCoordinates::tf_crop_and_resize;
    if (in_ == out_ && scale_ == 1 && (!crops || (start_ == 0 && end_ == 1))) return {{.at = y}};
    const double x = original(static_cast<double>(y));
    if (crops && (x < 0 || x > static_cast<double>(in_ - 1))) return {};
    switch (resize_.mode) {
      case op::ResizeMode::nearest: return {{.at = std::clamp<std::int64_t>(nearest(x), 0, in_ - 1)}};
      case op::ResizeMode::linear: return neighbors(x, 1, [](double distance) { return 1 - distance; });
      case op::ResizeMode::cubic: break;
    }
    const double a = parameters_.cubic_coefficient;
    return neighbors(x, 2, [a](double d) {  // Keys 1981: cubic convolution
      return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    });
  }

 private:
  /// ONNX Resize, coordinate_transformation_mode.
  [[nodiscard]] double original(double y) const {
    const auto in = static_cast<double>(in_), out = static_cast<double>(out_);
    const double resized = scale_ * in;  // not rounded to whole cells
    switch (resize_.coordinates) {
      case op::ResizeCoordinates::asymmetric: return y / scale_;
      case op::ResizeCoordinates::align_corners: return resized == 1 ? 0 : y * (in - 1) / (resized - 1);
      case op::ResizeCoordinates::pytorch_half_pixel: return out_ == 1 ? 0 : (y + 0.5) / scale_ - 0.5;
      case op::ResizeCoordinates::tf_crop_and_resize:
        if (out_ == 1) return (start_ + end_) / 2 * (in - 1);
        return start_ * (in - 1) + y * (end_ - start_) * (in - 1) / (out - 1);
      case op::ResizeCoordinates::half_pixel_symmetric: {
        const double adjustment = out / resized;
        return in / 2 * (1 - adjustment) + (y + 0.5) / scale_ - 0.5;
      }
      case op::ResizeCoordinates::half_pixel: break;
    }
    return (y + 0.5) / scale_ - 0.5;
  }
  [[nodiscard]] std::int64_t nearest(double x) const {
    switch (resize_.rounding) {
      case op::ResizeRounding::round_prefer_floor: return static_cast<std::int64_t>(std::ceil(x - 0.5));
      case op::ResizeRounding::round_prefer_ceil: return static_cast<std::int64_t>(std::floor(x + 0.5));
      case op::ResizeRounding::floor: return static_cast<std::int64_t>(std::floor(x));
      case op::ResizeRounding::ceil: break;
    }
    return static_cast<std::int64_t>(std::ceil(x));
  }
  /// The `reach` cells on either side, weighted by distance. Cells outside repeat the border.
  template <class Weight>
  [[nodiscard]] std::vector<Neighbor> neighbors(double x, std::int64_t reach, Weight weight) const {
    std::vector<Neighbor> result;
    double sum = 0;
    const double shrink = resize_.antialias ? std::max(1 / scale_, 1.0) : 1;  // factor on the reach of weights
    const double span = static_cast<double>(reach) * shrink;
    const auto left = static_cast<std::int64_t>(std::floor(x));
    const auto first = shrink == 1 ? left - reach + 1 : static_cast<std::int64_t>(std::ceil(x - span));
    const auto last = shrink == 1 ? left + reach : static_cast<std::int64_t>(std::floor(x + span));
    for (std::int64_t cell = first; cell <= last; ++cell) {
      if (parameters_.exclude_outside && (cell < 0 || cell >= in_)) continue;
      const double distance = std::min(std::fabs(x - static_cast<double>(cell)) / shrink, static_cast<double>(reach));
      result.push_back({std::clamp<std::int64_t>(cell, 0, in_ - 1), weight(distance)});
      sum += result.back().weight;
    }
    if (parameters_.exclude_outside || shrink != 1)
      for (Neighbor& tap : result) tap.weight /= sum;
    return result;
  }

  const op::Resize& resize_;
  const Parameters& parameters_;
  std::int64_t in_, out_;
  double start_, end_;  // the region's ends, as fractions of the axis
  double scale_;
};

/// Sum over the taps of axis `i` and those of the following axes.
double interpolate(const ConstTensor& x, std::span<const std::vector<Neighbor>> taps, std::size_t i,
                   std::int64_t base) {
  if (i == taps.size()) return x[base];
  double sum = 0;
  for (const Neighbor& tap : taps[i]) sum += tap.weight * interpolate(x, taps, i + 1, base * x.shape[i] + tap.at);
  return sum;
}

}  // namespace

Elements compute(const op::Resize& resize, const Query& query) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < resize.x.size(); ++i) axes.emplace_back(resize, i, query.parameters);
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(resize.y, flat);
    std::vector<std::vector<Neighbor>> taps;
    for (std::size_t i = 0; i < axes.size(); ++i) taps.push_back(axes[i].taps(at[i]));
    const bool outside = std::any_of(taps.begin(), taps.end(), [](const auto& of_axis) { return of_axis.empty(); });
    const double value = outside ? query.parameters.resize_outside : interpolate(query.input(0), taps, 0, 0);
    if (is_float(resize.type)) return value;
    const auto [least, largest] = integer_range(resize.type);
    return std::clamp(std::nearbyint(value), least, largest);
  });
}

/// dx is the sum of dy times the tap's weight over all results of which the element is a tap.
Elements compute(const op::ResizeGradient& gradient, const Query& query) {
  const op::Resize resize{.type = gradient.type,
                          .x = gradient.x,
                          .y = gradient.y,
                          .mode = gradient.mode,
                          .coordinates = gradient.coordinates,
                          .rounding = gradient.rounding,
                          .antialias = gradient.antialias};
  std::vector<std::vector<std::vector<Neighbor>>> readers;  // by axis and element: results with their weights
  for (std::size_t i = 0; i < resize.x.size(); ++i) {
    const Axis axis(resize, i, query.parameters);
    auto& of_axis = readers.emplace_back(static_cast<std::size_t>(resize.x[i]));
    for (std::int64_t y = 0; y < axis.results(); ++y)
      for (const Neighbor& tap : axis.taps(y)) of_axis[static_cast<std::size_t>(tap.at)].push_back({y, tap.weight});
  }
  const ConstTensor& dy = query.input(0);
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(resize.x, flat);
    std::vector<std::vector<Neighbor>> results;
    for (std::size_t i = 0; i < readers.size(); ++i) results.push_back(readers[i][static_cast<std::size_t>(at[i])]);
    return interpolate(dy, results, 0, 0);
  });
}

}  // namespace benanza::reference
