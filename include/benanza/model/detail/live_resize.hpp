// SPDX-License-Identifier: Apache-2.0
// What Resize needs of its operand for a part of its result: the cells with a weight.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// One axis of a Resize.
struct ResizedAxis {
  std::int64_t x = 1, y = 1;
  double scale = 1;           ///< y / x, unless the node specifies it
  double begin = 0, end = 1;  ///< the region to which x is cropped, as shares of the axis

  /// The position of a result among the cells of x (ONNX Resize, coordinate_transformation_mode).
  [[nodiscard]] double place(std::int64_t at, op::ResizeCoordinates mode) const {
    using enum op::ResizeCoordinates;
    const auto i = static_cast<double>(at), size = static_cast<double>(x), results = static_cast<double>(y);
    switch (mode) {
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
};

/// Cells from which one result is computed.
[[nodiscard]] inline Positions::Run cells_at(double place, const ResizedAxis& axis, const op::Resize& resize) {
  using enum op::ResizeRounding;
  const double below = std::floor(place), above = std::ceil(place);
  const auto run = [](double first, double last) {
    return Positions::Run{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last) + 1};
  };
  if (resize.mode == op::ResizeMode::nearest) {
    const bool half = place - below == 0.5;
    const double nearest = resize.rounding == floor                ? below
                           : resize.rounding == ceil               ? above
                           : !half                                 ? std::round(place)
                           : resize.rounding == round_prefer_floor ? below
                                                                   : above;
    return run(nearest, nearest);
  }
  const double taps = resize.mode == op::ResizeMode::linear ? 1 : 2;  // on each side
  if (resize.antialias && axis.scale < 1) {  // cells at the very end of the window have no weight
    const double reach = taps / axis.scale;
    return run(std::floor(place - reach) + 1, std::ceil(place + reach) - 1);
  }
  return below == above ? run(below, above) : run(above - taps, below + taps);
}

/// Upsample and Resize. The region of a crop must be known.
[[nodiscard]] inline std::optional<LiveRule> resize(const SizedNode& at) {
  const auto* layer = std::get_if<op::Resize>(&at.layer);
  const Dims &x = at.x(0), &y = at.y();
  if (layer == nullptr || x.size() != y.size()) return std::nullopt;
  const bool cut = layer->coordinates == op::ResizeCoordinates::tf_crop_and_resize;
  const bool early = at.node.op_type == "Upsample" || at.node.opset < 11;
  const auto floats = [&](std::size_t k) -> const std::vector<double>* {
    const Value* value = optional_input(at.node, at.graph, k);
    return value && value->literal && !value->literal->floats.empty() ? &value->literal->floats : nullptr;
  };
  Dims named = at.node.attribute<Dims>("axes", {});
  if (named.empty())
    for (std::size_t i = 0; i < x.size(); ++i) named.push_back(static_cast<std::int64_t>(i));
  const auto *scales = floats(early ? 1 : 2), *region = cut ? floats(1) : nullptr;
  if (cut && (!region || region->size() != 2 * named.size())) return std::nullopt;
  std::vector<ResizedAxis> axes;
  for (std::size_t i = 0; i < x.size(); ++i)
    axes.push_back({.x = x[i], .y = y[i], .scale = static_cast<double>(y[i]) / static_cast<double>(x[i])});
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto axis = to_axis(named[i], x.size());
    if (!axis) return std::nullopt;
    if (scales && scales->size() == named.size() && (*scales)[i] > 0) axes[*axis].scale = (*scales)[i];
    if (cut) axes[*axis].begin = (*region)[i], axes[*axis].end = (*region)[i + named.size()];
  }
  const auto is_unchanged = [](const ResizedAxis& axis) {
    return axis.x == axis.y && axis.scale == 1 && axis.begin == 0 && axis.end == 1;
  };
  LiveRule rule{
      .operand = [at, axes, layer, cut, is_unchanged](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
        Box result = whole_box(at.x(k));
        for (std::size_t i = 0; k == 0 && i < axes.size(); ++i) {
          if (is_unchanged(axes[i])) {
            result[i] = y[i];
            continue;
          }
          if (y[i].count() > static_cast<std::int64_t>(Positions::most_runs)) continue;
          std::vector<Positions::Run> runs;
          for (const auto& run : y[i].runs())
            for (auto p = run.begin; p < run.end; ++p) {
              const double place = axes[i].place(p, layer->coordinates), last = static_cast<double>(axes[i].x - 1);
              if (cut && (place < 0 || place > last)) continue;  // filled with a number
              auto cells = cells_at(std::clamp(place, -1e9, 1e9), axes[i], *layer);
              cells.begin = std::clamp<std::int64_t>(cells.begin, 0, axes[i].x - 1);  // an edge is extended
              cells.end = std::clamp<std::int64_t>(cells.end, cells.begin + 1, axes[i].x);
              runs.push_back(cells);
            }
          result[i] = Positions(std::move(runs));
        }
        return {result};
      }};
  // There is nothing to compute between a cell and itself.
  if (std::all_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.x == 1 || is_unchanged(axis); }))
    rule.flops = [](std::span<const Region>, const Region&) { return 0.0; };
  return rule;
}

}  // namespace benanza::detail
