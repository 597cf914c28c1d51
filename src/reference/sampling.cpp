// SPDX-License-Identifier: Apache-2.0
// GridSample, RoiAlign and DeformConv: interpolation between the elements of a tensor.
#include "evaluate.hpp"
#include "index.hpp"

#include <cmath>

namespace benanza::reference {

namespace {

/// The value of `x` at a position, interpolated between four neighbours. Those outside are 0.
double bilinear(const ConstTensor& x, std::int64_t base, std::int64_t height, std::int64_t width, double row,
                double column) {
  const auto top = static_cast<std::int64_t>(std::floor(row)), left = static_cast<std::int64_t>(std::floor(column));
  double sum = 0;
  for (std::int64_t i = top; i <= top + 1; ++i)
    for (std::int64_t j = left; j <= left + 1; ++j) {
      if (i < 0 || i >= height || j < 0 || j >= width) continue;
      sum += (1 - std::fabs(row - static_cast<double>(i))) * (1 - std::fabs(column - static_cast<double>(j))) *
             x[base + i * width + j];
    }
  return sum;
}

/// One axis of GridSample.
class GridAxis {
 public:
  GridAxis(const op::GridSample& sample, std::size_t axis)
      : sample_(sample),
        size_(sample.x[axis + 2]),
        least_(sample.align_corners ? 0 : -0.5),
        largest_(static_cast<double>(size_) - (sample.align_corners ? 1 : 0.5)) {}

  struct Tap {
    std::int64_t at = 0;  // below 0: padding
    double weight = 1;
  };
  /// The cells from which the value at a position in [-1, 1] is interpolated.
  [[nodiscard]] std::vector<Tap> taps(double position) const {
    const auto size = static_cast<double>(size_);
    double x = sample_.align_corners ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
    if (sample_.mode == op::ResizeMode::nearest) x = std::nearbyint(x);
    if (x < least_ || x > largest_) {
      // As in PyTorch, of which this is an operator: each cell of a cubic kernel is clamped instead.
      if (sample_.padding == op::GridPadding::border && sample_.mode != op::ResizeMode::cubic)
        x = std::clamp(x, 0.0, size - 1);
      if (sample_.padding == op::GridPadding::reflection) x = reflected(x);
    }
    if (sample_.mode == op::ResizeMode::nearest) return {{.at = cell(std::trunc(x))}};
    const double left = std::floor(x), within = x - left;
    if (sample_.mode == op::ResizeMode::linear) return {{cell(left), 1 - within}, {cell(left + 1), within}};
    std::vector<Tap> result;
    for (int i = -1; i <= 2; ++i) {
      const double d = std::fabs(within - i), a = -0.75;  // Keys 1981: cubic convolution
      result.push_back(
          {cell(left + i), d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a});
    }
    return result;
  }

 private:
  [[nodiscard]] std::int64_t cell(double at) const {
    const auto last = static_cast<double>(size_ - 1);
    if (at >= 0 && at <= last) return static_cast<std::int64_t>(at);
    switch (sample_.padding) {
      case op::GridPadding::border: return static_cast<std::int64_t>(std::clamp(at, 0.0, last));
      case op::GridPadding::reflection: return static_cast<std::int64_t>(reflected(at));
      case op::GridPadding::zeros: break;
    }
    return -1;
  }
  /// Mirrors x at both borders until it is between them.
  [[nodiscard]] double reflected(double x) const {
    const double span = largest_ - least_;
    if (span <= 0) return least_;
    const double beyond = x < least_ ? least_ - x : x > largest_ ? x - largest_ : -1;
    if (beyond < 0) return x;
    const double times = std::trunc(beyond / span), rest = beyond - times * span;
    const bool from_least = (x < least_) == (std::fmod(times, 2) == 0);
    return from_least ? least_ + rest : largest_ - rest;
  }

  const op::GridSample& sample_;
  std::int64_t size_;
  double least_, largest_;
};

double sum_of_taps(const ConstTensor& x, std::span<const std::vector<GridAxis::Tap>> taps, std::size_t axis,
                   std::int64_t base) {
  if (axis == taps.size()) return x[base];
  double sum = 0;
  for (const auto& tap : taps[axis])
    if (tap.at >= 0) sum += tap.weight * sum_of_taps(x, taps, axis + 1, base * x.shape[axis + 2] + tap.at);
  return sum;
}

/// A box's cells.
struct Box {
  double top = 0, left = 0, cell_height = 0, cell_width = 0;
  std::int64_t rows = 0, columns = 0;  // samples per cell
};
Box box_of(const op::RoiAlign& align, const Query& query, std::int64_t i) {
  const double scale = query.parameters.box_scale, shift = align.half_pixel ? 0.5 : 0;
  const auto corner = [&](std::int64_t k) { return query.input(1)[i * 4 + k] * scale - shift; };
  double width = corner(2) - corner(0), height = corner(3) - corner(1);
  if (!align.half_pixel) {  // a box has at least the size of one cell of x
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  Box box{.top = corner(1),
          .left = corner(0),
          .cell_height = height / static_cast<double>(align.out[0]),
          .cell_width = width / static_cast<double>(align.out[1])};
  const bool given = align.samples > 0;
  box.rows = given ? align.samples : static_cast<std::int64_t>(std::ceil(box.cell_height));
  box.columns = given ? align.samples : static_cast<std::int64_t>(std::ceil(box.cell_width));
  return box;
}

/// ONNX RoiAlign: a sample up to one cell outside x is moved to its border; those farther away are 0. The maximum is
/// taken over the weighted neighbours.
double sample_of(const op::RoiAlign& align, const ConstTensor& x, std::int64_t base, double row, double column) {
  const std::int64_t height = align.x[2], width = align.x[3];
  if (row < -1 || row > static_cast<double>(height) || column < -1 || column > static_cast<double>(width)) return 0;
  row = std::clamp(row, 0.0, static_cast<double>(height - 1));
  column = std::clamp(column, 0.0, static_cast<double>(width - 1));
  if (!align.max) return bilinear(x, base, height, width, row, column);
  const auto top = static_cast<std::int64_t>(row), left = static_cast<std::int64_t>(column);
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = top; i <= top + 1; ++i)
    for (std::int64_t j = left; j <= left + 1; ++j) {
      const double weight =
          (1 - std::fabs(row - static_cast<double>(i))) * (1 - std::fabs(column - static_cast<double>(j)));
      const std::int64_t at = std::min(i, height - 1) * width + std::min(j, width - 1);
      largest = std::max(largest, weight * x[base + at]);
    }
  return largest;
}

}  // namespace

Elements compute(const op::GridSample& sample, const Query& query) {
  const auto axes = sample.spatial();
  const std::int64_t points = sample.points();
  return query.map([&](std::int64_t flat) {
    const std::int64_t image = flat / points / sample.x[1], place = image * points + flat % points;
    std::vector<std::vector<GridAxis::Tap>> taps;
    for (std::size_t axis = 0; axis < axes; ++axis)  // the grid has the last axis first
      taps.push_back(GridAxis(sample, axis)
                         .taps(query.input(
                             1)[(place + 1) * static_cast<std::int64_t>(axes) - 1 - static_cast<std::int64_t>(axis)]));
    return sum_of_taps(query.input(0), taps, 0, flat / points);
  });
}

Elements compute(const op::RoiAlign& align, const Query& query) {
  const TensorShape y = align.y();
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    const Box box = box_of(align, query, at[0]);
    const auto image = static_cast<std::int64_t>(query.input(2)[at[0]]);
    const std::int64_t base = (image * align.x[1] + at[1]) * align.x[2] * align.x[3];
    double sum = 0, largest = 0;
    bool first = true;
    for (std::int64_t i = 0; i < box.rows; ++i)
      for (std::int64_t j = 0; j < box.columns; ++j) {
        const auto part = [](std::int64_t k, std::int64_t count) {
          return (static_cast<double>(k) + 0.5) / static_cast<double>(count);
        };
        const double value = sample_of(align, query.input(0), base,
                                       box.top + (static_cast<double>(at[2]) + part(i, box.rows)) * box.cell_height,
                                       box.left + (static_cast<double>(at[3]) + part(j, box.columns)) * box.cell_width);
        sum += value;
        largest = first ? value : std::max(largest, value);
        first = false;
      }
    return align.max ? largest : sum / static_cast<double>(std::max<std::int64_t>(box.rows * box.columns, 1));
  });
}

Elements compute(const op::DeformConv& conv, const Query& query) {
  const TensorShape y = conv.y();
  const std::int64_t kernel = conv.kernel(), places = y[2] * y[3], height = conv.x[2], width = conv.x[3];
  const std::int64_t channels = conv.w[1], of_offset = conv.x[1] / conv.offset_group;
  const std::size_t mask = conv.bias ? 4 : 3;
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    const std::int64_t place = at[2] * y[3] + at[3], first = at[1] / (conv.w[0] / conv.group) * channels;
    double sum = conv.bias ? query.input(3)[at[1]] : 0;
    for (std::int64_t k = 0; k < kernel; ++k)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t tap = (at[0] * conv.offset_group + (first + c) / of_offset) * kernel + k;
        const auto shifted = [&](std::size_t axis, std::int64_t step) {
          const std::int64_t cell = at[axis + 2] * detail::at_or(conv.strides, axis, 1) +
                                    step * detail::at_or(conv.dilations, axis, 1) - detail::at_or(conv.pads, axis, 0);
          return static_cast<double>(cell) +
                 query.input(2)[(2 * tap + static_cast<std::int64_t>(axis)) * places + place];
        };
        const double value = bilinear(query.input(0), (at[0] * conv.x[1] + first + c) * height * width, height, width,
                                      shifted(0, k / conv.w[3]), shifted(1, k % conv.w[3]));
        const double factor = conv.mask ? query.input(mask)[tap * places + place] : 1;
        sum += value * factor * query.input(1)[(at[1] * channels + c) * kernel + k];
      }
    return sum;
  });
}

}  // namespace benanza::reference
