// SPDX-License-Identifier: Apache-2.0
// What Where, And and Or need of their operands for a part of their results, if constants choose between the operands.
#pragma once

#include <benanza/model/detail/known_zeros.hpp>
#include <benanza/model/detail/live_rules.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The parts of a box of a result at which a constant that broadcasts to it is `wanted`: true or false. All of the box
/// if the numbers of the constant are not known.
[[nodiscard]] inline std::vector<Box> parts_where(const Value& constant, bool wanted, const Dims& result,
                                                  const Box& y) {
  const auto& literal = constant.literal;
  const Dims& c = constant.dims;
  if (!literal || static_cast<std::int64_t>(literal->ints.size()) != constant.elements() || c.size() > result.size())
    return {y};
  const std::size_t first = result.size() - c.size();  // axis of the result that is the constant's first axis
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i] != 1 && c[i] != result[first + i]) return {y};
  std::vector<Positions::Run> runs;
  for (std::size_t n = 0; n < literal->ints.size(); ++n) {
    const auto place = static_cast<std::int64_t>(n);
    if ((literal->ints[n] != 0) == wanted) runs.push_back({place, place + 1});
  }
  std::vector<Box> boxes;
  for (const Box& places : runs.empty() ? std::vector<Box>{} : unfolded(Positions(std::move(runs)), c)) {
    Box part = y;
    bool any = true;
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (c[i] != 1) part[first + i] = common(y[first + i], places[i]);
      any = any && !part[first + i].empty();
    }
    if (any) boxes.push_back(std::move(part));
  }
  return boxes;
}

/// Where: if the condition is known, each operand is needed only at positions at which it is chosen.
[[nodiscard]] inline LiveRule choice(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  const auto& filled = at.known_x(0).filled;
  const Box true_at = filled ? broadcast_box(*filled, at.x(0), at.y()) : whole_box(at.y());
  rule.operand = [at, true_at, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k == 0) return of_all(k, j, y);
    std::vector<Box> boxes;
    for (Box& part : parts_where(at.graph.input(at.node, 0), k == 1, at.y(), y)) {
      for (std::size_t i = 0; k == 1 && i < part.size(); ++i) part[i] = common(part[i], true_at[i]);
      for (Box& box : of_all(k, j, part)) boxes.push_back(std::move(box));
    }
    return boxes;
  };
  return rule;
}

/// Whether one operand may determine the result alone: false for And, true for Or.
[[nodiscard]] inline bool decides(const Node& node) {
  return node.domain.empty() && node.opset >= 7 && (node.op_type == "And" || node.op_type == "Or");
}
/// And, Or: at positions at which a constant operand determines the result, the other operand is not needed.
[[nodiscard]] inline LiveRule decision(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  const auto undecided = [at](const Box& y) {
    std::vector<Box> parts{y};
    for (const std::size_t k : {0U, 1U})
      for (const Box& part : std::exchange(parts, {}))
        for (Box& box : parts_where(at.graph.input(at.node, k), at.node.op_type == "And", at.y(), part))
          parts.push_back(std::move(box));
    return parts;
  };
  rule.operand = [undecided, of_all = rule.operand](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    std::vector<Box> boxes;
    for (const Box& part : undecided(y))
      for (Box& box : of_all(k, j, part)) boxes.push_back(std::move(box));
    return boxes;
  };
  if (!at.known.empty())
    rule.flops = [undecided](std::span<const Region> y, const Region&) {
      Region part(y[0].dims());
      for (const Box& each : y[0].boxes())
        for (Box& box : undecided(each)) part.add(std::move(box));
      if (y[0].band()) part.clip(*y[0].band());
      return part.share();
    };
  return rule;
}

}  // namespace benanza::detail
