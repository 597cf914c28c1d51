// SPDX-License-Identifier: Apache-2.0
// What operators that move elements need of their operands for a part of their results.
#pragma once

#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

[[nodiscard]] inline std::optional<LiveRule> slice(const SizedNode& at) {
  const auto box = op::Slice::taken_box(at.node, at.graph);
  if (!box || box->taken != at.y()) return std::nullopt;
  bool known = true;
  for (std::size_t i = 1; i < at.node.inputs.size(); ++i)
    known = known && (!at.node.has_input(i) || at.graph.input(at.node, i).literal);
  return LiveRule{.operand = [at, box, known](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < y.size(); ++i)
      if (known || box->taken[i] == at.x(0)[i]) result[i] = stepped(y[i], box->first[i], box->step[i], at.x(0)[i]);
    return {result};
  }};
}

/// Gather: places that are known are needed, else the whole axis.
[[nodiscard]] inline std::optional<LiveRule> gather(const SizedNode& at) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  const Value& indices = at.graph.input(at.node, 1);
  const std::size_t rank = indices.dims.size();
  if (!axis || at.y().size() + 1 != at.x(0).size() + rank) return std::nullopt;
  std::vector<std::int64_t> places;
  if (indices.literal && rank < 2) places = indices.literal->ints;
  if (static_cast<std::int64_t>(places.size()) != indices.elements()) places.clear();
  const std::int64_t size = at.x(0)[*axis];
  for (auto& place : places) place += place < 0 ? size : 0;
  return LiveRule{.operand = [at, places, rank, size, first = *axis](std::size_t k, std::size_t j,
                                                                     const Box& y) -> std::vector<Box> {
    FollowedAxes axes;
    if (k == 1) {
      for (std::size_t i = 0; i < rank; ++i) axes.push_back(first + i);
      return {follow(axes, at.x(1), at.y(j), y)};
    }
    for (std::size_t i = 0; i < at.x(0).size(); ++i)
      axes.push_back(i < first ? i : i == first ? whole_axis : i + rank - 1);
    Box result = follow(axes, at.x(0), at.y(j), y);
    if (places.empty()) return {result};
    std::vector<Positions::Run> runs;
    const Positions wanted = rank == 0 ? Positions::whole(1) : y[first];
    for (const auto& run : wanted.runs())
      for (auto i = run.begin; i < run.end; ++i) {
        const std::int64_t place = places[static_cast<std::size_t>(i)];
        runs.push_back({place, place + 1});
      }
    result[first] = common(Positions(std::move(runs)), Positions::whole(size));
    return {result};
  }};
}

/// GatherND and GatherElements: places that are known are needed, else all.
[[nodiscard]] inline std::optional<LiveRule> gather_places(const SizedNode& at) {
  const bool slices = at.node.op_type == "GatherND";
  const Dims &x = at.x(0), &indices = at.x(1), &y = at.y();
  const auto& literal = at.graph.input(at.node, 1).literal;
  if (!literal || indices.empty() || static_cast<std::int64_t>(literal->ints.size()) != element_count(indices) ||
      (slices && (at.node.attribute<std::int64_t>("batch_dims", 0) != 0 || indices.back() < 1)))
    return std::nullopt;
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), x.size());
  const auto depth = slices ? static_cast<std::size_t>(indices.back()) : x.size();
  const std::size_t outer = slices ? indices.size() - 1 : indices.size();  // axes of y that the indices have
  if (!axis || depth > x.size() || outer + x.size() - depth != y.size() || (!slices && indices.size() != x.size()))
    return std::nullopt;
  const std::vector<std::int64_t> places = literal->ints;
  return LiveRule{.operand = [at, places, slices, depth, outer, along = *axis](std::size_t k, std::size_t,
                                                                               const Box& y) -> std::vector<Box> {
    if (k > 0) return {whole_box(at.x(k))};
    const Dims &x = at.x(0), &indices = at.x(1);
    std::set<Dims> taken;  // positions along the first axes of x
    Dims at_y(outer, 0);
    const std::int64_t count = element_count(std::span(indices).first(outer));
    for (std::int64_t flat = 0; flat < count; ++flat) {
      std::int64_t rest = flat;
      bool wanted = true;
      for (std::size_t i = outer; i-- > 0; rest /= indices[i]) {
        at_y[i] = rest % indices[i];
        wanted = wanted && contains(y[i], Positions::run(at_y[i], at_y[i] + 1));
      }
      if (!wanted) continue;
      Dims place = slices ? Dims(depth, 0) : at_y;
      const auto from_end = [&](std::int64_t index, std::size_t axis) { return index < 0 ? index + x[axis] : index; };
      if (!slices) place[along] = from_end(places[static_cast<std::size_t>(flat)], along);
      for (std::size_t i = 0; slices && i < depth; ++i)
        place[i] = from_end(places[static_cast<std::size_t>(flat) * depth + i], i);
      taken.insert(std::move(place));
    }
    std::vector<Box> boxes;
    for (const Dims& place : taken) {
      Box box = whole_box(x);
      for (std::size_t i = 0; i < depth; ++i) box[i] = Positions::run(place[i], place[i] + 1);
      for (std::size_t i = depth; i < x.size(); ++i) box[i] = y[outer + i - depth];
      boxes.push_back(std::move(box));
    }
    return boxes;
  }};
}

/// The positions of a result that a Tile has copied.
[[nodiscard]] inline std::optional<LiveRule> tiling(const SizedNode& at) {
  if (at.x(0).size() != at.y().size()) return std::nullopt;
  return LiveRule{.operand = [at](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < y.size(); ++i) {
      const std::int64_t size = at.x(0)[i];
      std::vector<Positions::Run> runs;
      for (const auto& run : y[i].runs()) {
        if (size < 1 || run.end - run.begin >= size) {
          runs = {{0, size}};
          break;
        }
        const std::int64_t first = run.begin % size, length = run.end - run.begin;
        runs.push_back({first, std::min(size, first + length)});
        runs.push_back({0, std::max<std::int64_t>(0, first + length - size)});
      }
      result[i] = Positions(std::move(runs));
    }
    return {result};
  }};
}

/// Where: of a condition that is known to follow one axis, each operand is needed where it is chosen.
[[nodiscard]] inline LiveRule choice(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  const Value& condition = at.graph.input(at.node, 0);
  const auto& literal = condition.literal;
  if (!literal || static_cast<std::int64_t>(literal->ints.size()) != condition.elements()) return rule;
  std::size_t axis = at.y().size(), own = 0;
  for (std::size_t i = 0; i < condition.dims.size(); ++i)
    if (condition.dims[i] != 1) axis = at.y().size() - condition.dims.size() + i, ++own;
  if (own > 1 || (own == 1 && condition.elements() != at.y()[axis])) return rule;
  rule.operand = [axis, of_all = rule.operand, chosen = literal->ints](std::size_t k, std::size_t j,
                                                                       const Box& y) -> std::vector<Box> {
    if (k == 0) return of_all(k, j, y);
    const bool wanted = k == 1;
    if (axis == y.size()) return (chosen.at(0) != 0) == wanted ? of_all(k, j, y) : std::vector<Box>{};
    std::vector<Positions::Run> runs;
    for (std::size_t p = 0; p < chosen.size(); ++p)
      if ((chosen[p] != 0) == wanted) runs.push_back({static_cast<std::int64_t>(p), static_cast<std::int64_t>(p) + 1});
    Box part = y;
    part[axis] = common(part[axis], Positions(std::move(runs)));
    return part[axis].empty() ? std::vector<Box>{} : of_all(k, j, part);
  };
  return rule;
}

/// Concat: an operand has the results' positions from its offset on. Split: the other way round.
[[nodiscard]] inline std::optional<LiveRule> joined(const SizedNode& at, bool splits) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", 0), at.x(0).size());
  if (!axis) return std::nullopt;
  std::vector<std::int64_t> offsets{0};
  for (const auto& part : splits ? at.node.outputs : at.node.inputs) {
    if (!part || at.graph.value(*part).dims.size() != at.x(0).size()) return std::nullopt;
    offsets.push_back(offsets.back() + at.graph.value(*part).dims[*axis]);
  }
  if (offsets.back() != (splits ? at.x(0) : at.y())[*axis]) return std::nullopt;
  return LiveRule{
      .operand = [at, offsets, splits, along = *axis](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
        if (splits && k > 0) return {whole_box(at.x(k))};
        Box result = y;
        result[along] = stepped(y[along], splits ? offsets[j] : -offsets[k], 1, at.x(k)[along]);
        return {result};
      }};
}

/// A crop reads what it keeps. Elements that are reflected, or continued beyond an edge, take the axis whole.
[[nodiscard]] inline std::optional<LiveRule> padding(const SizedNode& at) {
  if (at.node.op_type == "Pad") {
    const auto pads = given_ints(at.node, at.graph, at.node.opset < 2 ? "paddings" : "pads", 1);
    if (!pads.known || !given_ints(at.node, at.graph, "axes", 3).known) return std::nullopt;
  }
  const auto cells = op::Pad::padding(at.node, at.graph);
  if (!cells) return std::nullopt;
  const bool constant = at.node.attribute<std::string>("mode", "constant") == "constant";
  return LiveRule{.operand = [at, cells, constant](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box result = whole_box(at.x(k));
    for (std::size_t i = 0; k == 0 && i < result.size(); ++i)
      if (constant || (cells->before[i] <= 0 && cells->behind[i] <= 0))
        result[i] = stepped(y[i], -cells->before[i], 1, at.x(0)[i]);
    return {result};
  }};
}

[[nodiscard]] inline std::optional<LiveRule> transposition(const SizedNode& at) {
  const std::size_t rank = at.x(0).size();
  auto perm = at.node.attribute<Dims>("perm", {});
  for (std::size_t i = rank; perm.size() < rank; --i) perm.push_back(static_cast<std::int64_t>(i) - 1);
  FollowedAxes axes(rank, whole_axis);
  for (std::size_t i = 0; i < rank; ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<std::int64_t>(rank)) return std::nullopt;
    axes[static_cast<std::size_t>(perm[i])] = i;
  }
  return LiveRule{.operand = [at, axes](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    return {follow(axes, at.x(k), at.y(j), y)};
                  },
                  .follows = [axes](std::size_t) { return axes; }};
}

[[nodiscard]] inline LiveRule reshape(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            return k == 0 ? reshaped(y, at.y(j), at.x(0)) : std::vector<Box>{whole_box(at.x(k))};
          },
          .follows = [at](std::size_t k) -> FollowedAxes {
            const Dims &x = at.x(k), &y = at.y();
            const bool matrices =
                k == 0 && x.size() >= 2 && y.size() >= 2 && std::equal(x.end() - 2, x.end(), y.end() - 2);
            return matrices ? last_axes(x.size(), y.size()) : FollowedAxes{};
          }};
}

/// DepthToSpace and SpaceToDepth: a transposition between two reshapes.
[[nodiscard]] inline std::optional<LiveRule> blocks(const SizedNode& at) {
  const std::int64_t size = at.node.attribute<std::int64_t>("blocksize", 0);
  const bool to_space = at.node.op_type == "DepthToSpace";
  const Dims& wide = to_space ? at.y() : at.x(0);  // few channels, many places
  if (size < 1 || wide.size() != 4 || wide[2] % size != 0 || wide[3] % size != 0) return std::nullopt;
  const std::int64_t n = wide[0], c = wide[1], h = wide[2] / size, w = wide[3] / size;
  const bool by_column = to_space && at.node.attribute<std::string>("mode", "DCR") == "CRD";
  // Dimensions as they lie in the wide tensor, and for each axis of the deep one which of them it is.
  const Dims inside{n, c, h, size, w, size};
  const std::vector<std::size_t> order =
      by_column ? std::vector<std::size_t>{0, 1, 3, 5, 2, 4} : std::vector<std::size_t>{0, 3, 5, 1, 2, 4};
  return LiveRule{
      .operand = [at, to_space, inside, order](std::size_t, std::size_t j, const Box& y) -> std::vector<Box> {
        Dims deep(6);
        for (std::size_t i = 0; i < 6; ++i) deep[i] = inside[order[i]];
        std::vector<Box> result;
        for (const Box& from : reshaped(y, at.y(j), to_space ? inside : deep)) {
          Box turned(6);
          for (std::size_t i = 0; i < 6; ++i) (to_space ? turned[i] : turned[order[i]]) = from[to_space ? order[i] : i];
          for (Box& box : reshaped(turned, to_space ? deep : inside, at.x(0))) result.push_back(std::move(box));
        }
        return result;
      }};
}

}  // namespace benanza::detail
