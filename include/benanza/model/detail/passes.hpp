// SPDX-License-Identifier: Apache-2.0
// Passes of a loop, and the outputs that collect their results.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/positions.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Whether a Loop may end before its first pass, according to what is known of its limit and its condition.
[[nodiscard]] inline bool may_have_no_pass(const Graph& graph, const Node& node) {
  if (node.trip_count) return false;
  for (const std::size_t k : {0U, 1U}) {
    if (!node.has_input(k)) continue;
    const auto given = scalar(graph.input(node, k));
    if (!given || *given <= 0) return true;
  }
  return false;
}

/// How the results of passes are arranged in the output that collects them.
struct Stacking {
  std::size_t axis = 0;
  bool reversed = false;  ///< the last pass first
};
/// How passes are collected in output `i` of a Loop or Scan, whose first `carried` outputs are not collected. Empty if
/// the output does not have that axis.
[[nodiscard]] inline std::optional<Stacking> stacking(const Node& node, std::size_t i, std::size_t carried,
                                                      std::size_t rank) {
  const auto given = [&](const char* key) {
    const auto all = node.attribute<Dims>(key, {});
    return i - carried < all.size() ? all[i - carried] : 0;
  };
  const auto axis = to_axis(given("scan_output_axes"), rank);
  return axis ? std::optional(Stacking{*axis, given("scan_output_directions") != 0}) : std::nullopt;
}

/// What is needed of any pass's result, if `all` is needed of the collecting output.
[[nodiscard]] inline Region of_each_pass(const Region& all, const Stacking& stacking) {
  Dims dims = all.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(stacking.axis));
  Region result(dims);
  for (Box box : all.boxes()) {
    box.erase(box.begin() + static_cast<std::ptrdiff_t>(stacking.axis));
    result.add(std::move(box));
  }
  return result;
}

/// Those of the `trips` passes whose results are needed.
[[nodiscard]] inline Positions passes_of(const Region& all, const Stacking& stacking, std::int64_t trips) {
  std::vector<Positions::Run> runs;
  for (const auto& box : all.boxes())
    for (const auto& run : box[stacking.axis].runs())
      runs.push_back(stacking.reversed ? Positions::Run{trips - run.end, trips - run.begin} : run);
  return Positions(std::move(runs));
}

/// Runs of passes before `end` that make the same results. `made` has the passes that make each result.
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
