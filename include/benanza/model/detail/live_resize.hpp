// SPDX-License-Identifier: Apache-2.0
// What Resize needs of its operand for a part of its result: the cells with a weight.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Upsample and Resize. The region of a crop must be known.
[[nodiscard]] inline std::optional<LiveRule> resize(const SizedNode& at) {
  if (std::holds_alternative<op::View>(at.layer)) return same_axes(at);  // to the same size
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
  std::vector<op::ResizeAxis> axes;
  for (std::size_t i = 0; i < x.size(); ++i) axes.push_back(layer->axis(i));
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto axis = to_axis(named[i], x.size());
    if (!axis) return std::nullopt;
    if (scales && scales->size() == named.size() && (*scales)[i] > 0) axes[*axis].scale = (*scales)[i];
    if (cut) axes[*axis].begin = (*region)[i], axes[*axis].end = (*region)[i + named.size()];
  }
  LiveRule rule{.operand = [at, axes](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < axes.size(); ++i) {
      if (axes[i].is_unchanged()) {
        result[i] = y[i];
        continue;
      }
      if (y[i].count() > static_cast<std::int64_t>(Positions::most_runs)) continue;
      std::vector<Positions::Run> runs;
      for (const auto& run : y[i].runs())
        for (auto p = run.begin; p < run.end; ++p) {
          const double place = axes[i].place(p);
          if (axes[i].is_outside(place)) continue;  // filled with a number
          const op::ResizeCells cells = axes[i].cells(place);
          runs.push_back({cells.begin, cells.end});
        }
      result[i] = Positions(std::move(runs));
    }
    return {result};
  }};
  if (at.known.empty()) return rule;
  // The layer has the scales that its sizes imply. Those of the node may take less.
  std::vector<op::ResizePass> passes;
  for (const op::ResizeAxis& axis : axes) passes.push_back(op::resize_pass(axis));
  const double implied = layer->least_interpolation(), least = op::least_resize_flops(std::move(passes));
  if (least < implied || least == 0)
    rule.flops = [share = least > 0 ? least / implied : 0.0](std::span<const Region> y, const Region&) {
      return share * y[0].share();
    };
  return rule;
}

}  // namespace benanza::detail
