// SPDX-License-Identifier: Apache-2.0
// How copies change when elements are moved: by a Reshape, a Transpose, a Tile or a Pad.
#pragma once

#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_movement.hpp>
#include <benanza/model/detail/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Positions along an axis of `size`, with `inner` elements each, that have the same numbers. Null if all differ.
[[nodiscard]] inline FirstEqual equal_positions(std::span<const std::int64_t> numbers, std::int64_t size,
                                                std::int64_t inner) {
  std::vector<std::vector<std::int64_t>> at(static_cast<std::size_t>(size));
  for (std::size_t n = 0; n < numbers.size(); ++n)
    at[static_cast<std::size_t>(static_cast<std::int64_t>(n) / inner % size)].push_back(numbers[n]);
  auto first = std::make_shared<std::vector<std::int64_t>>();
  std::map<std::vector<std::int64_t>, std::int64_t> seen;
  for (auto& each : at)
    first->push_back(seen.try_emplace(std::move(each), static_cast<std::int64_t>(first->size())).first->second);
  return static_cast<std::int64_t>(seen.size()) < size ? first : nullptr;
}

/// The copies in a reshaped form `y`, where `copies` are those in `x`. Axes that fold into an axis of more than 2^20
/// positions have none.
[[nodiscard]] inline std::vector<FirstEqual> reshaped_copies(const std::vector<FirstEqual>& copies, const Dims& x,
                                                             const Dims& y) {
  constexpr std::int64_t most_positions = 1 << 20;
  std::vector<FirstEqual> result(y.size());
  if (copies.size() != x.size()) return result;
  for (const FoldedAxes& axes : folded_axes(x, y)) {
    const std::int64_t size = product(x, axes.x, axes.x_end);
    const auto begin = copies.begin() + static_cast<std::ptrdiff_t>(axes.x),
               end = copies.begin() + static_cast<std::ptrdiff_t>(axes.x_end);
    if (size > most_positions || std::all_of(begin, end, [](const FirstEqual& first) { return first == nullptr; }))
      continue;
    auto first = std::make_shared<std::vector<std::int64_t>>();  // along the folded axis
    for (std::int64_t p = 0; p < size; ++p) {
      std::int64_t rest = p, equal = 0, stride = 1;
      for (std::size_t i = axes.x_end; i-- > axes.x; rest /= x[i], stride *= x[i])
        equal += stride * (copies[i] ? (*copies[i])[static_cast<std::size_t>(rest % x[i])] : rest % x[i]);
      first->push_back(equal);
    }
    for (std::size_t j = axes.y; j < axes.y_end; ++j)
      if (y[j] == size) result[j] = first;
      else if (y[j] > 1) result[j] = equal_positions(*first, y[j], product(y, j + 1, axes.y_end));
  }
  return result;
}

/// The copies along an axis that a Tile extends to `size` positions.
[[nodiscard]] inline FirstEqual tiled_copies(const FirstEqual& copies, std::int64_t x_size, std::int64_t size) {
  if (x_size == size) return copies;
  auto first = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t p = 0; p < size; ++p)
    first->push_back(copies ? (*copies)[static_cast<std::size_t>(p % x_size)] : p % x_size);
  return first;
}

/// Parts of a tensor that is reshaped, if positions along their axis stay together.
[[nodiscard]] inline std::vector<KnownPart> reshaped_parts(const SizedNode& at) {
  const Dims &x = at.x(0), &y = at.y();
  std::vector<KnownPart> result;
  const std::vector<FoldedAxes> groups = folded_axes(x, y);
  for (const KnownPart& part : at.known_x(0).parts) {
    const auto axes =
        std::find_if(groups.begin(), groups.end(), [&part](const FoldedAxes& each) { return part.axis < each.x_end; });
    if (axes == groups.end() || product(x, axes->x, part.axis) != 1) return {};
    const std::int64_t inner = product(x, part.axis + 1, axes->x_end);
    KnownPart moved{axes->y, part.begin * inner, part.end * inner, part.copies};
    while (moved.axis < axes->y_end && y[moved.axis] != x[part.axis] * inner) ++moved.axis;
    if (moved.axis == axes->y_end) return {};
    for (std::size_t i = axes->x; i < axes->x_end; ++i) moved.copies[i] = nullptr;
    moved.copies = reshaped_copies(moved.copies, x, y);
    if (std::any_of(moved.copies.begin(), moved.copies.end(), [](const FirstEqual& first) { return first != nullptr; }))
      result.push_back(std::move(moved));
  }
  return result;
}

[[nodiscard]] inline std::vector<KnownPart> transposed_parts(const SizedNode& at) {
  const auto rule = transposition(at);
  std::vector<KnownPart> parts = rule ? at.known_x(0).parts : std::vector<KnownPart>{};
  for (KnownPart& part : parts) {
    const FollowedAxes axes = rule->follows(0);
    std::vector<FirstEqual> copies(part.copies.size());
    for (std::size_t i = 0; i < copies.size(); ++i) copies[axes[i]] = part.copies[i];
    part.copies = std::move(copies);
    part.axis = axes[part.axis];
  }
  return parts;
}

/// Parts of a tensor that a Pad pads along other axes: the elements that it adds are equal, whatever it fills in.
[[nodiscard]] inline std::vector<KnownPart> padded_parts(const SizedNode& at) {
  const auto cells = known_padding(at);
  std::vector<KnownPart> parts = cells ? at.known_x(0).parts : std::vector<KnownPart>{};
  for (KnownPart& part : parts) {
    if (at.y()[part.axis] != at.x(0)[part.axis] || cells->before[part.axis] != 0) return {};
    for (std::size_t i = 0; i < part.copies.size(); ++i) {
      if (!part.copies[i]) continue;
      auto first = std::make_shared<std::vector<std::int64_t>>();
      std::map<std::int64_t, std::int64_t> seen;
      for (std::int64_t p = 0; p < at.y()[i]; ++p) {
        const std::int64_t q = p - cells->before[i];
        const bool added = q < 0 || q >= at.x(0)[i];
        first->push_back(
            seen.try_emplace(added ? -1 : (*part.copies[i])[static_cast<std::size_t>(q)], p).first->second);
      }
      part.copies[i] = std::move(first);
    }
  }
  return parts;
}

}  // namespace benanza::detail
