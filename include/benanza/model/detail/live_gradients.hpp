// SPDX-License-Identifier: Apache-2.0
// What gradients of normalizations, softmax and Gather need of their operands for a part of their results.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace benanza::detail {

/// For each axis of dy, whether each position of the gradient of the operand follows from dy at that position alone.
/// Empty for other layers.
[[nodiscard]] inline std::optional<std::vector<bool>> independent_axes(const SizedNode& at) {
  const std::size_t rank = at.x(0).size();
  std::vector<bool> result(rank, false);
  if (std::holds_alternative<op::SoftmaxGradient>(at.layer)) {
    const bool flattens = at.node.attribute<std::int64_t>("flattens", 0) != 0;
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", flattens ? 1 : -1), rank);
    if (!axis) return std::nullopt;
    for (std::size_t i = 0; i < rank; ++i) result[i] = i < *axis || (!flattens && i > *axis);
    return result;
  }
  const auto* norm = std::get_if<op::NormGradient>(&at.layer);
  if (norm == nullptr || at.y() != at.x(0) || at.x(1) != at.x(0)) return std::nullopt;
  if (norm->by_channel()) {
    const bool batch = norm->of == op::NormGradientOf::batch;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, rank); ++i)
      result[i] = i == 0 ? !batch : batch || norm->groups == at.x(0)[1];
    return result;
  }
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", -1), rank);
  if (!axis) return std::nullopt;
  for (std::size_t i = 0; i < *axis; ++i) result[i] = true;
  return result;
}

/// Gradients of a norm: of its operand, its scale and its bias. Where dy is 0, it adds nothing to any of them.
[[nodiscard]] inline std::optional<LiveRule> norm_gradient(const SizedNode& at) {
  const auto independent = independent_axes(at);
  if (!independent) return std::nullopt;
  const std::size_t scales = std::get<op::NormGradient>(at.layer).affine ? 2 : at.node.inputs.size();
  return LiveRule{.operand =
                      [at, independent, scales](std::size_t k, std::size_t j, const Box& y) {
                        const Dims &x = at.x(k), &all = at.x(0);
                        Box read = j == 0 ? y : at.known_x(0).filled.value_or(whole_box(all));
                        for (std::size_t i = 0; j == 0 && i < read.size(); ++i)
                          if (!(*independent)[i]) read[i] = Positions::whole(all[i]);
                        if (x == all) return only(std::move(read));
                        Box part = whole_box(x);
                        if (k == scales) return j == 0 ? only(std::move(part)) : std::vector<Box>{};
                        for (std::size_t i = 0; i < std::min(x.size(), all.size()); ++i)  // statistics
                          if ((*independent)[i] && x[i] == all[i]) part[i] = read[i];
                        return only(std::move(part));
                      },
                  .flops = [](std::span<const Region>, const Region& dy) { return dy.share(); }};
}

/// Gradient of a Gather's operand: each element of dy is added at its place.
[[nodiscard]] inline std::optional<LiveRule> gather_gradient(const SizedNode& at) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.y().size());
  const std::size_t rank = at.x(1).size();
  if (!axis || at.y().size() + rank != at.x(0).size() + 1) return std::nullopt;
  const std::vector<std::int64_t> places = places_along(at, at.y()[*axis]);
  return LiveRule{.operand =
                      [at, places, first = *axis](std::size_t k, std::size_t, const Box& y) {
                        if (k > 0) return only(whole_box(at.x(k)));
                        std::vector<Positions::Run> named;
                        for (std::size_t n = 0; n < places.size(); ++n)
                          if (contains(y[first], Positions::run(places[n], places[n] + 1)))
                            named.push_back({static_cast<std::int64_t>(n), static_cast<std::int64_t>(n) + 1});
                        std::vector<Box> boxes{whole_box(at.x(1))};
                        if (!places.empty()) boxes = unfolded(Positions(std::move(named)), at.x(1));
                        for (Box& box : boxes) {
                          box.insert(box.begin(), y.begin(), y.begin() + static_cast<std::ptrdiff_t>(first));
                          box.insert(box.end(), y.begin() + static_cast<std::ptrdiff_t>(first) + 1, y.end());
                        }
                        return boxes;
                      },
                  .flops = [](std::span<const Region>, const Region& dy) { return dy.share(); }};
}

/// Gradient of a softmax or its logarithm: whole rows. Of 4 operations, the sum of a row takes 2 and 1. Where a softmax
/// is 0, its gradient is 0, whatever that of its result is.
[[nodiscard]] inline std::optional<LiveRule> softmax_gradient(const SizedNode& at) {
  const auto independent = independent_axes(at);
  if (!independent) return std::nullopt;
  const bool log = std::get<op::SoftmaxGradient>(at.layer).log;
  auto rule = along_axes(
      at, [&](std::size_t i) { return !(*independent)[i]; }, log ? 3.0 / 4 : 2.0 / 4);
  if (const KnownElements& y = at.known_x(1); !log && y.outside == 0 && y.band)
    rule.reads = [band = y.band](std::size_t) { return band; };
  return rule;
}

}  // namespace benanza::detail
