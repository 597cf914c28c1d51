// SPDX-License-Identifier: Apache-2.0
// How many different contents the positions of a result have that a Gather makes, or that are computed from them.
#pragma once

#include <benanza/model/detail/known_copies.hpp>
#include <benanza/model/detail/live_movement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The axes of a reshaped form `y` that have the same positions as some adjacent axes of `x`. Empty if there are none.
[[nodiscard]] inline std::optional<DistinctPositions> reshaped_positions(DistinctPositions of, const Dims& x,
                                                                         const Dims& y) {
  const std::int64_t outer = product(x, 0, of.first), inside = product(x, of.first, of.first + of.axes);
  std::size_t first = 0;
  while (first < y.size() && product(y, 0, first + 1) <= outer) ++first;
  std::size_t end = first;
  while (end < y.size() && product(y, first, end) < inside) ++end;
  if (product(y, 0, first) != outer || product(y, first, end) != inside) return std::nullopt;
  of.first = first;
  of.axes = end - first;
  return of;
}

/// The number of different contents of positions that a Gather makes, and of what is computed from them in the same way
/// at each of these positions.
[[nodiscard]] inline std::vector<DistinctPositions> known_distinct(const SizedNode& at,
                                                                   const std::vector<FirstEqual>& copies) {
  const std::string type = onnx_type(at.node);
  const Dims& y = at.y();
  std::vector<DistinctPositions> result;
  std::optional<std::size_t> from;  // the operand that has such positions
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (!at.known_x(k).distinct.empty()) {
      if (from) return {};
      from = k;
    }
  if (type == "Gather") {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
    const std::size_t rank = at.x(1).size();
    if (!axis || from.value_or(0) != 0 || y.size() + 1 != at.x(0).size() + rank) return {};
    for (DistinctPositions each : at.known_x(0).distinct) {
      if (each.first <= *axis && *axis < each.first + each.axes) continue;
      if (each.first > *axis) each.first += rank - 1;
      result.push_back(each);
    }
    const std::vector<std::int64_t> places = distinct_places(at, *axis);
    double classes = 1;  // that the copies along each axis leave
    for (std::size_t i = *axis; i < *axis + rank; ++i)
      classes *= static_cast<double>(firsts(Positions::whole(y[i]), i < copies.size() ? copies[i] : nullptr).count());
    const auto distinct = static_cast<double>(std::set<std::int64_t>(places.begin(), places.end()).size());
    if (!places.empty() && classes > distinct) result.push_back({*axis, rank, distinct / classes});
    return result;
  }
  if (!from) return {};
  const Dims& x = at.x(*from);
  const bool product_of_rows = std::holds_alternative<op::MatMul>(at.layer) && *from == 0 && at.x(1).size() == 2;
  const bool single = type == "Cast" || std::holds_alternative<op::Unary>(at.layer);
  for (const DistinctPositions& each : at.known_x(*from).distinct) {
    const std::size_t end = each.first + each.axes;
    if (at.facts.moves == Moves::shape) {
      if (const auto moved = reshaped_positions(each, x, y)) result.push_back(*moved);
      continue;
    }
    if (type == "Transpose") {
      const auto rule = transposition(at);
      DistinctPositions moved = each;
      bool adjacent = rule.has_value();
      for (std::size_t i = each.first; adjacent && i < end; ++i) {
        const std::size_t axis = rule->follows(0)[i];
        if (i == each.first) moved.first = axis;
        adjacent = axis == moved.first + i - each.first;
      }
      if (adjacent) result.push_back(moved);
      continue;
    }
    bool alike = single && x == y;
    if (product_of_rows) alike = end < x.size() && at.node.attribute<std::int64_t>("transA", 0) == 0;
    if (std::holds_alternative<op::Binary>(at.layer) && x == y) {  // the other operand has one number for all of them
      const Dims& other = at.x(1 - *from);
      alike = true;
      for (std::size_t i = each.first; i < end; ++i)
        alike = alike && (i + other.size() < y.size() || other[i + other.size() - y.size()] == 1);
    }
    if (alike) result.push_back(each);
  }
  return result;
}

/// The share of the arithmetic of a node that is left if it computes each different content of such positions once.
/// `part`: what is needed of its result.
[[nodiscard]] inline double distinct_share(const std::vector<DistinctPositions>& distinct, double share,
                                           const Region& part) {
  for (const DistinctPositions& each : distinct) {
    bool whole = true;  // otherwise, it is not known how many of the needed ones are equal
    for (std::size_t i = each.first; i < each.first + each.axes; ++i)
      for (const Box& box : part.boxes()) whole = whole && box[i] == Positions::whole(part.dims()[i]);
    share = whole ? share * each.share : std::max(0.0, share - (1 - each.share));
  }
  return share;
}

}  // namespace benanza::detail
