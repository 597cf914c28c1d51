// SPDX-License-Identifier: Apache-2.0
// Passes of a loop.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/positions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace benanza::detail {

/// Whether passes lie along the first axis of what a loop collects: a Scan may have it otherwise.
[[nodiscard]] inline bool stacks_first(const Node& node) {
  const auto axes = node.attribute<Dims>("scan_output_axes", {});
  return std::all_of(axes.begin(), axes.end(), [](std::int64_t axis) { return axis == 0; });
}

/// Whether they do, the first pass first.
[[nodiscard]] inline bool stacks_in_order(const Node& node) {
  const auto directions = node.attribute<Dims>("scan_output_directions", {});
  return stacks_first(node) &&
         std::all_of(directions.begin(), directions.end(), [](std::int64_t each) { return each == 0; });
}

/// Runs of passes before `end` that make the same results; `made` are the passes that make each of them.
[[nodiscard]] inline std::vector<Positions::Run> alike_passes(std::span<const Positions> made, std::int64_t end) {
  std::vector<std::int64_t> borders{0, end};
  for (const Positions& passes : made)
    for (const auto& run : passes.runs())
      for (const std::int64_t border : {run.begin, run.end}) borders.push_back(std::min(border, end));
  std::sort(borders.begin(), borders.end());
  std::vector<Positions::Run> runs;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i)
    if (borders[i] < borders[i + 1]) runs.push_back({borders[i], borders[i + 1]});
  return runs;
}

}  // namespace benanza::detail
