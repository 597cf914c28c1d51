// SPDX-License-Identifier: Apache-2.0
// What GridSample and RoiAlign need of an image if the positions that they read are constants.
#pragma once

#include <benanza/model/detail/live_items.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The cells from `first` to `last` that exist on an axis of `size`.
[[nodiscard]] inline Positions::Run cells_between(double first, double last, std::int64_t size) {
  const auto within = [size](double at) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size)));
  };
  return {within(first), within(last + 1)};
}

/// The cells of axis `i` of the image from which the value at a position in [-1, 1] is computed (ONNX GridSample). All
/// cells if the position is reflected.
[[nodiscard]] inline Positions::Run sampled_cells(const op::GridSample& sample, std::size_t i, double position) {
  const std::int64_t cells = sample.x[i + 2];
  const auto size = static_cast<double>(cells);
  if (!std::isfinite(position)) return {0, cells};
  double place = sample.align_corners ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
  if (sample.mode == op::ResizeMode::nearest) place = std::nearbyint(place);
  const double below = std::floor(place), above = std::ceil(place),
               beside = sample.mode == op::ResizeMode::cubic && below < above ? 1 : 0;  // at a cell it has all weight
  double first = below - beside, last = above + beside;
  if (first < 0 || last > size - 1) {
    if (sample.padding == op::GridPadding::reflection) return {0, cells};
    if (sample.padding == op::GridPadding::border) {
      first = std::clamp(first, 0.0, size - 1);
      last = std::clamp(last, 0.0, size - 1);
    }
  }
  return cells_between(first, last, cells);
}

/// The cells of an axis of the image from which `bins`, positions along an axis of a RoiAlign's result, are computed in
/// a box from `begin` to `end`. All cells if there are too many samples, or none.
[[nodiscard]] inline Positions binned_cells(const op::RoiAlign& align, std::size_t i, double begin, double end,
                                            const Positions& bins) {
  constexpr double most_samples = 4096;
  const std::int64_t cells = align.x[i + 2];
  const double shift = align.half_pixel ? 0.5 : 0, length = align.half_pixel ? end - begin : std::max(end - begin, 1.0),
               bin = length / static_cast<double>(align.out[i]),
               samples = align.samples > 0 ? static_cast<double>(align.samples) : std::ceil(bin);
  if (!(samples >= 1 && samples * static_cast<double>(bins.count()) <= most_samples) || !std::isfinite(begin))
    return Positions::whole(cells);
  std::vector<Positions::Run> runs;
  for (const auto& run : bins.runs())
    for (auto at = run.begin; at < run.end; ++at)
      for (double sample = 0.5; sample < samples; ++sample) {
        const double place = begin - shift + (static_cast<double>(at) + sample / samples) * bin;
        if (place < -1 || place > static_cast<double>(cells)) continue;
        const double inside = std::clamp(place, 0.0, static_cast<double>(cells - 1));
        runs.push_back(cells_between(std::floor(inside), std::ceil(inside), cells));
      }
  return Positions(std::move(runs));
}

/// The boxes, or the one box around them if there are more than a region can hold.
[[nodiscard]] inline std::vector<Box> few_boxes(std::vector<Box> boxes) {
  if (boxes.size() <= Region::most_boxes) return boxes;
  Box all = boxes.front();
  for (const Box& each : boxes)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = unite(all[i], each[i]);
  return {std::move(all)};
}

/// For each image, the cells at the positions of its grid.
[[nodiscard]] inline std::vector<Box> grid_cells(const op::GridSample& sample, std::span<const double> grid,
                                                 const Box& y) {
  std::vector<Box> boxes;
  const std::size_t axes = sample.spatial();
  const Positions points = folded(std::span(y).subspan(2), sample.out);
  for (const auto& images : y[0].runs())
    for (auto image = images.begin; image < images.end; ++image) {
      std::vector<std::vector<Positions::Run>> read(axes);
      for (const auto& run : points.runs())
        for (auto point = run.begin; point < run.end; ++point) {
          const auto place = grid.subspan(static_cast<std::size_t>(image * sample.points() + point) * axes, axes);
          std::vector<Positions::Run> cells;
          for (std::size_t i = 0; i < axes; ++i) cells.push_back(sampled_cells(sample, i, place[axes - 1 - i]));
          if (std::any_of(cells.begin(), cells.end(), [](const auto& each) { return each.begin >= each.end; }))
            continue;
          for (std::size_t i = 0; i < axes; ++i) read[i].push_back(cells[i]);
        }
      Box box{Positions::run(image, image + 1), y[1]};
      for (auto& runs : read) box.emplace_back(std::move(runs));
      if (!box.back().empty()) boxes.push_back(std::move(box));
    }
  return few_boxes(std::move(boxes));
}

/// GridSample with a grid that is known before a request.
[[nodiscard]] inline LiveRule grid_samples(const SizedNode& at, std::vector<FollowedAxes> axes) {
  LiveRule rule = items(at, std::move(axes));
  const auto* sample = std::get_if<op::GridSample>(&at.layer);
  const Value& grid = at.graph.input(at.node, 1);
  if (sample == nullptr || !grid.literal || static_cast<std::int64_t>(grid.literal->floats.size()) != grid.elements())
    return rule;
  rule.operand = [sample, &grid, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) {
    return k == 0 ? grid_cells(*sample, grid.literal->floats, y) : of_all(k, j, y);
  };
  rule.flops = [](std::span<const Region> y, const Region& x) { return x.empty() ? 0 : y[0].share(); };
  return rule;
}

/// RoiAlign with boxes and images that are known before a request.
[[nodiscard]] inline LiveRule box_samples(const SizedNode& at, std::vector<FollowedAxes> axes) {
  LiveRule rule = items(at, std::move(axes));
  const auto* align = std::get_if<op::RoiAlign>(&at.layer);
  const Value &corners = at.graph.input(at.node, 1), &images = at.graph.input(at.node, 2);
  if (align == nullptr || !corners.literal || !images.literal ||
      static_cast<std::int64_t>(corners.literal->floats.size()) != 4 * align->boxes ||
      static_cast<std::int64_t>(images.literal->ints.size()) != align->boxes ||
      std::any_of(images.literal->ints.begin(), images.literal->ints.end(),
                  [&](auto image) { return image < 0 || image >= align->x[0]; }))
    return rule;
  const auto scale = at.node.attribute<double>("spatial_scale", 1);
  rule.operand = [align, &corners, &images, scale, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) {
    if (k > 0) return of_all(k, j, y);
    std::vector<Box> boxes;
    for (const auto& run : y[0].runs())
      for (auto r = static_cast<std::size_t>(run.begin); r < static_cast<std::size_t>(run.end); ++r) {
        const auto corner = [&](std::size_t n) { return corners.literal->floats[4 * r + n] * scale; };
        const std::int64_t image = images.literal->ints[r];
        boxes.push_back({Positions::run(image, image + 1), y[1], binned_cells(*align, 0, corner(1), corner(3), y[2]),
                         binned_cells(*align, 1, corner(0), corner(2), y[3])});
      }
    return few_boxes(std::move(boxes));
  };
  return rule;
}

}  // namespace benanza::detail
