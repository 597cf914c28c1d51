// SPDX-License-Identifier: Apache-2.0
// GridSample, RoiAlign and DeformConv: a table of taps and weights for some points, shared by all channels.
#include "context.hpp"
#include <benanza/base/detail/window.hpp>
#include <benanza/plan/index_maps.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace benanza::native {

namespace {

/// Taps of `points` points: tap t of point i is at [t * points + i]. Taps outside have weight 0.
struct PointTaps {
  Index points = 0, taps = 0;
  std::vector<std::int32_t> at{};
  std::vector<float> weight{};

  void resize(Index new_points, Index new_taps) {
    points = new_points;
    taps = new_taps;
    at.assign(static_cast<std::size_t>(points * taps), 0);
    weight.assign(at.size(), 0);
  }
  void set(Index tap, Index point, Index place, double factor) {
    at[static_cast<std::size_t>(tap * points + point)] = static_cast<std::int32_t>(place);
    weight[static_cast<std::size_t>(tap * points + point)] = static_cast<float>(factor);
  }
  /// Sets four taps, starting with `first`, for (row, column) between cells.
  void set_bilinear(Index first, Index point, Index height, Index width, double row, double column, double factor) {
    const double top = std::floor(row), left = std::floor(column);
    for (int k = 0; k < 4; ++k) {
      const double i = top + k / 2, j = left + k % 2;
      const bool is_inside = i >= 0 && i < static_cast<double>(height) && j >= 0 && j < static_cast<double>(width);
      if (!is_inside) continue;  // so is NaN outside
      set(first + k, point, static_cast<Index>(i) * width + static_cast<Index>(j),
          (1 - std::fabs(row - i)) * (1 - std::fabs(column - j)) * factor);
    }
  }
  void interpolate(const Kernels& kernels, const float* x, float* y) const {
    kernels.interpolate(x, at.data(), weight.data(), taps, y, points);
  }
};

/// One axis of a grid's position: up to four cells, negative for padding.
struct AxisTaps {
  std::array<Index, 4> at{};
  std::array<double, 4> weight{1, 1, 1, 1};
  Index count = 1;
};

class PaddedAxis {
 public:
  PaddedAxis(const op::GridSample& op, std::size_t axis)
      : op_(op),
        size_(static_cast<double>(op.x[axis + 2])),
        least_(op.align_corners ? 0 : -0.5),
        largest_(size_ - 1 - least_) {}

  [[nodiscard]] AxisTaps taps(double position) const {
    double x = op_.align_corners ? (position + 1) / 2 * (size_ - 1) : ((position + 1) * size_ - 1) / 2;
    const bool nearest = op_.mode == op::ResizeMode::nearest;
    if (nearest) x = std::nearbyint(x);
    const bool clamps_cells = op_.mode == op::ResizeMode::cubic && op_.padding == op::GridPadding::border;
    if ((x < least_ || x > largest_) && !clamps_cells) x = moved(x);
    AxisTaps result;
    if (nearest) {
      result.at[0] = cell(std::trunc(x));
      return result;
    }
    const bool linear = op_.mode == op::ResizeMode::linear;
    result.count = linear ? 2 : 4;
    const double first = std::floor(x) - (linear ? 0 : 1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(result.count); ++i) {
      const double at = first + static_cast<double>(i), distance = std::fabs(x - at);
      result.at[i] = cell(at);
      result.weight[i] = linear ? 1 - distance : detail::cubic_weight(distance);
    }
    return result;
  }

 private:
  [[nodiscard]] Index cell(double at) const {
    if (at < 0 || at >= size_) at = op_.padding == op::GridPadding::zeros ? -1 : std::trunc(moved(at));
    return std::isnan(at) ? -1 : static_cast<Index>(at);
  }
  /// Moves x between the borders, as the padding mode requires.
  [[nodiscard]] double moved(double x) const {
    if (op_.padding == op::GridPadding::zeros) return x;
    if (op_.padding == op::GridPadding::border) return std::clamp(x, 0.0, size_ - 1);
    const double span = largest_ - least_;
    if (span <= 0) return std::max(least_, 0.0);
    if (x >= least_ && x <= largest_) return x;
    const double phase = std::fmod(std::fabs(x - least_), 2 * span);  // mirrored at both ends
    return least_ + (phase <= span ? phase : 2 * span - phase);
  }

  const op::GridSample& op_;
  double size_, least_, largest_;
};

/// Every combination of the axes' taps for one point.
void combine_axes(const op::GridSample& op, const std::vector<PaddedAxis>& axes, const float* position, Index point,
                  PointTaps& table) {
  std::array<AxisTaps, 4> of_axis;
  for (std::size_t k = 0; k < axes.size(); ++k)  // the grid names the last axis first
    of_axis[k] = axes[k].taps(static_cast<double>(position[axes.size() - 1 - k]));
  for (Index tap = 0; tap < table.taps; ++tap) {
    Index place = 0, rest = tap;
    double weight = 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto i = static_cast<std::size_t>(rest % of_axis[k].count);
      rest /= of_axis[k].count;
      place = place * op.x[k + 2] + std::max<Index>(of_axis[k].at[i], 0);
      weight *= of_axis[k].at[i] < 0 ? 0 : of_axis[k].weight[i];
    }
    table.set(tap, point, place, weight);
  }
}

/// A box of a RoiAlign and its samples.
struct SampledBox {
  double top = 0, left = 0, cell_height = 0, cell_width = 0;
  Index rows = 0, columns = 0;  // samples per cell
};
SampledBox sampled_box(const op::RoiAlign& op, const float* corners) {
  const double shift = op.half_pixel ? 0.5 : 0;
  SampledBox box{.top = static_cast<double>(corners[1]) - shift, .left = static_cast<double>(corners[0]) - shift};
  double height = static_cast<double>(corners[3]) - shift - box.top,
         width = static_cast<double>(corners[2]) - shift - box.left;
  if (!op.half_pixel) {
    height = std::max(height, 1.0);
    width = std::max(width, 1.0);
  }
  box.cell_height = height / static_cast<double>(op.out[0]);
  box.cell_width = width / static_cast<double>(op.out[1]);
  const auto samples = [&](double cells) {
    return op.samples > 0 ? op.samples : std::max<Index>(static_cast<Index>(std::ceil(cells)), 0);
  };
  box.rows = samples(box.cell_height);
  box.columns = samples(box.cell_width);
  return box;
}
void set_box(const op::RoiAlign& op, const SampledBox& box, PointTaps& table) {
  const Index height = op.x[2], width = op.x[3], samples = box.rows * box.columns;
  table.resize(op.out[0] * op.out[1], 4 * samples);
  const auto part = [](Index k, Index count) { return (static_cast<double>(k) + 0.5) / static_cast<double>(count); };
  for (Index point = 0; point < table.points; ++point)
    for (Index s = 0; s < samples; ++s) {
      const double row =
          box.top + (static_cast<double>(point / op.out[1]) + part(s / box.columns, box.rows)) * box.cell_height;
      const double column =
          box.left + (static_cast<double>(point % op.out[1]) + part(s % box.columns, box.columns)) * box.cell_width;
      if (row < -1 || row > static_cast<double>(height) || column < -1 || column > static_cast<double>(width)) continue;
      table.set_bilinear(4 * s, point, height, width, std::clamp(row, 0.0, static_cast<double>(height - 1)),
                         std::clamp(column, 0.0, static_cast<double>(width - 1)),
                         op.max ? 1 : 1 / static_cast<double>(samples));
    }
}
/// The largest weighted tap of each point.
void largest_taps(const PointTaps& table, const float* x, float* y) {
  for (Index point = 0; point < table.points; ++point) {
    float largest = 0;
    for (Index t = 0; t < table.taps; ++t) {
      const auto at = static_cast<std::size_t>(t * table.points + point);
      const float value = table.weight[at] * x[table.at[at]];
      largest = t == 0 ? value : std::max(largest, value);
    }
    y[point] = largest;
  }
}

}  // namespace

Result plans(const op::GridSample& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  constexpr Index most = 256;  // points of a table
  const Index points = op.points(), blocks = (points + most - 1) / most, channels = op.x[1];
  const Index plane = element_count(op.x) / op.x[0] / channels, rank = static_cast<Index>(op.spatial());
  return one_plan(
      context, op.operands(), "grid_sample",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        std::vector<PaddedAxis> axes;
        for (std::size_t k = 0; k < op.spatial(); ++k) axes.emplace_back(op, k);
        pool->split(op.x[0] * blocks, threads, 1, [&](Index begin, Index end) {
          PointTaps table;
          for (Index item = begin; item < end; ++item) {
            const Index image = item / blocks, first = item % blocks * most;
            table.resize(std::min(most, points - first), op.taps());
            for (Index i = 0; i < table.points; ++i)
              combine_axes(op, axes, input<float>(arguments, 1) + (image * points + first + i) * rank, i, table);
            for (Index c = 0; c < channels; ++c)
              table.interpolate(kernels, input<float>(arguments, 0) + (image * channels + c) * plane,
                                output<float>(arguments) + (image * channels + c) * points + first);
          }
        });
      });
}

Result plans(const op::RoiAlign& op, const Context& context) {
  const auto index = index_class(op.index_type);
  if (op.type != DataType::f32 || !index) return unsupported(op.kind, op.type);
  const Index channels = op.x[1], plane = op.x[2] * op.x[3];
  return one_plan(
      context, op.operands(), op.max ? "roi_align:max" : "roi_align:average",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(op.boxes, threads, 1, [&](Index begin, Index end) {
          PointTaps table;
          for (Index b = begin; b < end; ++b) {
            set_box(op, sampled_box(op, input<float>(arguments, 1) + b * 4), table);
            const Index image = index_at(arguments.inputs[2], *index, b, op.x[0]);
            for (Index c = 0; c < channels; ++c) {
              const float* x = input<float>(arguments, 0) + (image * channels + c) * plane;
              float* y = output<float>(arguments) + (b * channels + c) * table.points;
              if (op.max) largest_taps(table, x, y);
              else table.interpolate(kernels, x, y);
            }
          }
        });
      });
}

Result plans(const op::DeformConv& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  constexpr Index most = 64;  // positions of a table
  const TensorShape y_shape = op.y();
  const Index places = y_shape[2] * y_shape[3], blocks = (places + most - 1) / most, kernel = op.kernel();
  const Index channels = op.x[1], height = op.x[2], width = op.x[3], depth = op.w[1] * kernel;
  const std::size_t scratch = static_cast<std::size_t>(channels * kernel * most) * sizeof(float);
  // The sampled taps of some positions form a row for each channel and tap; the rows are then multiplied by the
  // weights.
  return one_plan(
      context, op.operands(), "deform_conv",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->parallel(threads, [&](int thread) {
          auto* rows = reinterpret_cast<float*>(static_cast<std::byte*>(arguments.workspace) +
                                                static_cast<std::size_t>(thread) * scratch);
          PointTaps table;
          const Range mine = share(op.x[0] * blocks, threads, thread);
          for (Index item = mine.begin; item < mine.end; ++item) {
            const Index image = item / blocks, first = item % blocks * most, n = std::min(most, places - first);
            const Index of_offset = channels / op.offset_group;
            for (Index tap = 0; tap < op.offset_group * kernel; ++tap) {
              table.resize(n, 4);
              const Index k = tap % kernel, at = image * op.offset_group * kernel + tap;
              const float* offset = input<float>(arguments, 2) + 2 * at * places + first;
              const float* mask = op.mask ? input<float>(arguments, op.bias ? 4 : 3) + at * places + first : nullptr;
              for (Index i = 0; i < n; ++i) {
                const auto shifted = [&](std::size_t axis, Index output_at, Index step) {
                  const Index cell = output_at * detail::at_or(op.strides, axis, 1) +
                                     step * detail::at_or(op.dilations, axis, 1) - detail::at_or(op.pads, axis, 0);
                  return static_cast<double>(cell) + static_cast<double>(offset[static_cast<Index>(axis) * places + i]);
                };
                table.set_bilinear(0, i, height, width, shifted(0, (first + i) / y_shape[3], k / op.w[3]),
                                   shifted(1, (first + i) % y_shape[3], k % op.w[3]),
                                   mask == nullptr ? 1 : static_cast<double>(mask[i]));
              }
              for (Index c = tap / kernel * of_offset; c < (tap / kernel + 1) * of_offset; ++c)
                table.interpolate(kernels, input<float>(arguments, 0) + (image * channels + c) * height * width,
                                  rows + (c * kernel + k) * most);
            }
            for (Index m = 0; m < op.w[0]; ++m) {
              const float* weights = input<float>(arguments, 1) + m * depth;
              const float* of_group = rows + m / (op.w[0] / op.group) * depth * most;
              float* y = output<float>(arguments) + (image * op.w[0] + m) * places + first;
              std::fill_n(y, n, op.bias ? input<float>(arguments, 3)[m] : 0.0F);
              for (Index d = 0; d < depth; ++d) kernels.scale_add(y, of_group + d * most, weights[d], n);
            }
          }
        });
      },
      scratch * static_cast<std::size_t>(context.threads));
}

}  // namespace benanza::native
