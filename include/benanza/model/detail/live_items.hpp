// SPDX-License-Identifier: Apache-2.0
// What operators need of their operands for a part of their results, if they process items of a batch, channels, or
// other positions along some axes independently, and otherwise need operands whole.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Block quantisation: the scales and zero points of the blocks that are needed.
[[nodiscard]] inline std::optional<LiveRule> blocked_quantization(const SizedNode& at) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size());
  const std::int64_t block = at.node.attribute<std::int64_t>("block_size", 0);
  if (!axis || block < 1 || at.x(0) != at.y()) return std::nullopt;
  return LiveRule{.operand = [at, axis = *axis, block, of_all = elementwise(at).operand](
                                 std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    std::vector<Box> boxes = of_all(k, j, y);
    if (k == 0 || at.x(k).size() != y.size()) return boxes;
    std::vector<Positions::Run> blocks;
    for (const auto& run : y[axis].runs()) blocks.push_back({run.begin / block, (run.end - 1) / block + 1});
    for (Box& box : boxes) box[axis] = common(Positions(blocks), Positions::whole(at.x(k)[axis]));
    return boxes;
  }};
}

/// The axis along which a DFT transforms. Empty if it depends on data.
[[nodiscard]] inline std::optional<std::size_t> transformed_axis(const SizedNode& at) {
  if (at.node.opset < 20) return to_axis(at.node.attribute<std::int64_t>("axis", 1), at.y().size());
  const Value* given = optional_input(at.node, at.graph, 2);
  const auto number = given == nullptr ? std::optional(-2.0) : scalar(*given);
  return number ? to_axis(static_cast<std::int64_t>(*number), at.y().size()) : std::nullopt;
}

/// For each operand, the axes of the result that its axes follow.
[[nodiscard]] inline std::vector<FollowedAxes> followed_items(const SizedNode& at) {
  const std::size_t rank = at.y().size();
  std::vector<FollowedAxes> axes;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    axes.emplace_back(at.node.inputs[k] ? at.x(k).size() : 0, whole_axis);
  const auto follows = [&](std::size_t k, std::size_t axis, std::size_t of_result) {
    if (k < axes.size() && axis < axes[k].size() && of_result < rank) axes[k][axis] = of_result;
  };
  const Demand demand = at.facts.demand;
  if (demand == Demand::transform) {
    const auto along = transformed_axis(at);
    for (std::size_t i = 0; along && i + 1 < rank; ++i)  // the last axis has real and imaginary parts
      if (i != *along) follows(0, i, i);
  } else if (demand == Demand::frames || demand == Demand::first_axis) {
    follows(0, 0, 0);
  } else if (demand == Demand::grid_samples) {
    for (const std::size_t i : {0U, 1U}) follows(0, i, i);
    follows(1, 0, 0);
    for (std::size_t i = 2; i < rank; ++i) follows(1, i - 1, i);
  } else if (demand == Demand::deformed_windows) {
    follows(0, 0, 0);
    for (const std::size_t k : {1U, 3U}) follows(k, 0, 1);  // filters and biases
    for (const std::size_t k : {2U, 4U})                    // offsets and masks
      for (std::size_t i = 0; i < rank; ++i)
        if (i != 1) follows(k, i, i);
  } else if (demand == Demand::box_samples) {
    follows(0, 1, 1);
    for (const std::size_t k : {1U, 2U}) follows(k, 0, 0);
  } else if (demand == Demand::cache_rows) {
    const auto along = to_axis(at.node.attribute<std::int64_t>("axis", -2), rank);
    for (std::size_t i = 0; along && i < rank; ++i) {
      follows(0, i, i);
      if (i != *along) follows(1, i, i);
    }
    follows(2, 0, 0);
  } else if (demand == Demand::one_hot) {
    const auto depth = to_axis(at.node.attribute<std::int64_t>("axis", -1), rank);
    for (std::size_t i = 0; depth && i + 1 < rank; ++i) follows(0, i, i < *depth ? i : i + 1);
  }
  return axes;
}

/// A cache of which some rows are replaced. Which ones may be data: of a part of the rows, none is certain to be new,
/// and no old one if as many are replaced.
[[nodiscard]] inline LiveRule cache_rows(const SizedNode& at) {
  const auto along = to_axis(at.node.attribute<std::int64_t>("axis", -2), at.y().size());
  return {.operand = [at, along, axes = followed_items(at)](std::size_t k, std::size_t j,
                                                            const Box& y) -> std::vector<Box> {
    const bool part = along && at.node.has_input(1) && at.x(1).size() == y.size() && y[*along].count() < at.y()[*along];
    if (part && (k == 1 || (k == 0 && y[*along].count() <= at.x(1)[*along]))) return {};
    return {follow(axes[k], at.x(k), at.y(j), y)};
  }};
}

[[nodiscard]] inline LiveRule items(const SizedNode& at, std::vector<FollowedAxes> axes) {
  return {.operand = [at, axes = std::move(axes)](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    return {follow(axes[k], at.x(k), at.y(j), y)};
  }};
}

}  // namespace benanza::detail
