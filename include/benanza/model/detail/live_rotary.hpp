// SPDX-License-Identifier: Apache-2.0
// What rotary embeddings need of their operands for a part of their results.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/detail/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// The operand of a rotation that contains the positions of tokens.
[[nodiscard]] inline std::size_t positions_operand(const Node& node) { return node.domain.empty() ? 3 : 1; }

/// The share of the angles that a rotation certainly touches: if data determine the positions of tokens, all may be
/// equal.
[[nodiscard]] inline double certain_angles(const SizedNode& at, std::size_t k) {
  const std::size_t ids = positions_operand(at.node);
  if (!std::holds_alternative<op::Rotary>(at.layer) || k == 0 || k == ids || !at.node.has_input(ids) ||
      at.x(ids).size() != 2 || at.x(k).size() != 2)
    return 1;
  return 1 / static_cast<double>(std::max<std::int64_t>(1, element_count(at.x(ids))));
}

/// What a rotation needs for columns of its result: columns of the operand, and of the angles if there is one for each
/// pair. Columns behind those that are rotated are copied.
struct RotatedColumns {
  Positions operand{}, angles{};
  std::int64_t turned = 0;  ///< how many of the columns are rotated
};
[[nodiscard]] inline RotatedColumns rotated_columns(const op::Rotary& rotary, const Positions& columns) {
  const std::int64_t depth = rotary.depth(), half = rotary.turned_depth() / 2;
  RotatedColumns result;
  std::vector<Positions::Run> operand, angles;
  for (const auto& run : columns.runs())
    for (auto column = run.begin; column < run.end; ++column) {
      operand.push_back({column, column + 1});
      const std::int64_t in_row = column % depth;
      if (in_row >= 2 * half) continue;
      ++result.turned;
      const std::int64_t pair = rotary.interleaved ? in_row / 2 : in_row % half,
                         other = rotary.interleaved ? in_row ^ 1 : (in_row + half) % (2 * half);
      operand.push_back({column - in_row + other, column - in_row + other + 1});
      angles.push_back({pair, pair + 1});
    }
  result.operand = Positions(std::move(operand));
  result.angles = Positions(std::move(angles));
  return result;
}

/// Rotary embeddings: pairs of columns of each depth axis rotate each other. Each token has a position.
[[nodiscard]] inline LiveRule rotation(const SizedNode& at) {
  const auto& rotary = std::get<op::Rotary>(at.layer);
  const std::size_t angles = at.node.domain.empty() ? 1 : 2;  // cosines, followed by sines
  const auto operand = [at, &rotary, angles](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    const Dims& x = at.x(k);
    const RotatedColumns columns = rotated_columns(rotary, y.back());
    if (k > 0 && columns.turned == 0) return {};  // copied columns have no angle
    if (k == positions_operand(at.node) && x.size() == 2 && y.size() > 2)
      return {follow({0, y.size() - 2}, x, at.y(j), y)};
    if (at.x(0).size() != y.size()) return {whole_box(x)};
    if (k == 0) {
      Box box = follow(last_axes(y.size(), y.size()), x, at.y(j), y);
      box.back() = columns.operand;
      return {box};
    }
    Box box = whole_box(x);
    if (k != angles && k != angles + 1) return {box};
    if (at.node.domain.empty() && x.size() == 3 && y.size() > 2)  // angles of each token
      box = follow({0, y.size() - 2, whole_axis}, x, at.y(j), y);
    if (!at.node.domain.empty() && element_count(at.x(1)) == 1 && box.size() == 2 && y.size() > 2)
      box[0] = Positions::run(0, std::min(x[0], y[y.size() - 2].count()));  // positions are consecutive
    if (certain_angles(at, k) < 1) box[0] = Positions::run(0, std::min<std::int64_t>(1, x[0]));
    if (!box.empty() && x.back() == rotary.turned_depth() / 2) box.back() = columns.angles;
    return {box};
  };
  const auto flops = [at, &rotary](std::span<const Region> y, const Region&) {
    const auto turned = [&](const Region& region) {
      return region.measure([&](std::size_t i, const Positions& p) {
        return static_cast<double>(i + 1 == at.y().size() ? rotated_columns(rotary, p).turned : p.count());
      });
    };
    const double all = turned(Region::whole(at.y()));
    return all > 0 ? turned(y[0]) / all : 1;
  };
  return {.operand = operand, .flops = flops};
}

}  // namespace benanza::detail
