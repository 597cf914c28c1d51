// SPDX-License-Identifier: Apache-2.0
// What operators need of their operands for a part of their results: operators that follow axes, and those that move
// elements. live_products.hpp has products, live_windows.hpp those that sum over windows or keys.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza::detail {

/// An axis of an operand that is needed whole, whatever is needed of the result.
inline constexpr std::size_t whole_axis = static_cast<std::size_t>(-1);
/// For each axis of an operand the axis of the result that it follows.
using FollowedAxes = std::vector<std::size_t>;

/// How a node's operands follow from its results.
struct LiveRule {
  /// The boxes of input `k` that the box `y` of result `j` needs.
  std::function<std::vector<Box>(std::size_t k, std::size_t j, const Box& y)> operand{};
  /// Share of the arithmetic, for parts of the results and of the first input; empty: the share of the first result.
  std::function<double(std::span<const Region> y, const Region& x)> flops{};
  /// The axes of the result that input `k` follows position by position, for bands; empty: none.
  std::function<FollowedAxes(std::size_t k)> follows{};
  /// A band of input `k` that is read alone, whatever is needed of the result; empty: none.
  std::function<std::optional<AxesBand>(std::size_t k)> reads{};
};

/// The part of an operand of dimensions `x` for a box of a result of dimensions `y`. What broadcasts is needed whole.
[[nodiscard]] inline Box follow(const FollowedAxes& axes, std::span<const std::int64_t> x,
                                std::span<const std::int64_t> y, const Box& box) {
  Box result = whole_box(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (axes[i] != whole_axis && x[i] == y[axes[i]]) result[i] = box[axes[i]];
  return result;
}
/// Every axis the same of the result, axes counted from the last.
[[nodiscard]] inline FollowedAxes last_axes(std::size_t rank, std::size_t y_rank) {
  FollowedAxes axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(i + y_rank >= rank ? i + y_rank - rank : whole_axis);
  return axes;
}

/// Operands broadcast to the result. One number for each position of an axis is a scale of that axis.
[[nodiscard]] inline LiveRule elementwise(const SizedNode& at, std::optional<std::size_t> scaled_axis = {}) {
  return {.operand = [at, scaled_axis](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            const Dims& x = at.x(k);
            if (scaled_axis && k > 0 && x.size() == 1 && *scaled_axis < y.size())
              return {follow({*scaled_axis}, x, at.y(j), y)};
            return {follow(last_axes(x.size(), y.size()), x, at.y(j), y)};
          },
          .follows = [at](std::size_t k) { return last_axes(at.x(k).size(), at.y().size()); }};
}

/// The first input has the axes of the results; those for which `is_whole` is true are needed whole. `of_result` is the
/// share of the arithmetic that is done once for each element of the result. The rest is done for each input element.
template <class IsWhole>
[[nodiscard]] LiveRule along_axes(const SizedNode& at, IsWhole is_whole, double of_result) {
  FollowedAxes axes;
  for (std::size_t i = 0; i < at.x(0).size(); ++i) axes.push_back(is_whole(i) ? whole_axis : i);
  return {.operand = [at, axes](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            const Dims& x = at.x(k);
            if (x == at.x(0) && y.size() == x.size()) return {follow(axes, x, at.y(j), y)};
            return {follow(last_axes(x.size(), y.size()), x, at.y(j), y)};
          },
          .flops = [of_result](std::span<const Region> y,
                               const Region& x) { return of_result * y[0].share() + (1 - of_result) * x.share(); }};
}

/// Softmax and its kind: one axis, or all from the axis on before version 13.
[[nodiscard]] inline std::optional<LiveRule> along_axis(const SizedNode& at, bool flattens, double of_result) {
  const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", flattens ? 1 : -1), at.x(0).size());
  if (!axis) return std::nullopt;
  return along_axes(
      at, [&](std::size_t i) { return flattens ? i >= *axis : i == *axis; }, of_result);
}

[[nodiscard]] inline std::optional<LiveRule> normalization(const SizedNode& at) {
  if (std::holds_alternative<op::Softmax>(at.layer)) return along_axis(at, at.node.opset < 13, 1.0 / 5);
  if (const auto* norm = std::get_if<op::AxisNorm>(&at.layer)) {
    const bool hardmax = norm->fn == op::AxisNormFn::hardmax;
    return along_axis(at, hardmax && at.node.opset < 13, hardmax ? 0 : 1.0 / 3);
  }
  if (const auto* norm = std::get_if<op::LayerNorm>(&at.layer)) {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", -1), at.x(0).size());
    const double of_result = (norm->rms ? 1.0 : 2.0) + (norm->scale ? 1.0 : 0.0) + (norm->bias ? 1.0 : 0.0);
    const double all =
        norm->arithmetic().flops / static_cast<double>(std::max<std::int64_t>(1, element_count(norm->x)));
    return along_axes(
        at, [&](std::size_t i) { return !axis || i >= *axis; }, of_result / all);
  }
  if (std::holds_alternative<op::GroupNorm>(at.layer)) {
    const bool instance = at.node.op_type == "InstanceNormalization";
    return along_axes(
        at, [&](std::size_t i) { return i > (instance ? 1U : 0U); }, 2.0 / 5);
  }
  if (std::holds_alternative<op::TopK>(at.layer)) return along_axis(at, false, 0);
  return std::nullopt;
}

/// Sums of what comes before along an axis: all up to the last one that is read, from the other end if reversed.
[[nodiscard]] inline std::optional<LiveRule> cumulation(const SizedNode& at) {
  const Value* given = optional_input(at.node, at.graph, 1);
  const auto number = given ? scalar(*given) : std::nullopt;
  const auto axis = number ? to_axis(static_cast<std::int64_t>(*number), at.x(0).size()) : std::nullopt;
  if (!axis) return std::nullopt;
  const bool reverse = at.node.attribute<std::int64_t>("reverse", 0) != 0;
  return LiveRule{.operand = [at, axis, reverse](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
                    if (k > 0) return {whole_box(at.x(k))};
                    Box result = y;
                    const auto runs = y[*axis].runs();
                    if (!runs.empty())
                      result[*axis] = reverse ? Positions::run(runs.front().begin, at.x(0)[*axis])
                                              : Positions::run(0, runs.back().end);
                    return {result};
                  },
                  .flops = [](std::span<const Region>, const Region& x) { return x.share(); }};
}

/// Reductions: axes that the result lacks, or has as 1, are needed whole.
[[nodiscard]] inline std::optional<LiveRule> reduction(const SizedNode& at) {
  const auto& node = at.node;
  const bool index = node.op_type.starts_with("Arg");
  const auto given = index ? GivenInts{.given = true, .values = {node.attribute<std::int64_t>("axis", 0)}}
                           : given_ints(node, at.graph, "axes", 1);
  const std::size_t rank = at.x(0).size();
  if (!given.known) return std::nullopt;
  std::vector<bool> reduced(rank, given.values.empty() && node.attribute<std::int64_t>("noop_with_empty_axes", 0) == 0);
  for (const auto each : given.values) {
    const auto axis = to_axis(each, rank);
    if (!axis) return std::nullopt;
    reduced[*axis] = true;
  }
  const bool keeps = at.y().size() == rank;
  FollowedAxes axes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    axes.push_back(reduced[i] ? whole_axis : next);
    next += keeps || !reduced[i] ? 1 : 0;
  }
  if (next != at.y().size()) return std::nullopt;
  return LiveRule{.operand = [at, axes](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    return {k == 0 ? follow(axes, at.x(0), at.y(j), y) : whole_box(at.x(k))};
  }};
}

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

/// Rotary embeddings: each depth, whose halves turn each other, is needed whole.
[[nodiscard]] inline LiveRule rotation(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k > 0 || at.x(0).size() != y.size()) return {whole_box(at.x(k))};
    FollowedAxes axes = last_axes(y.size(), y.size());
    axes.back() = whole_axis;
    return {follow(axes, at.x(0), at.y(j), y)};
  }};
}

/// The operand has the result's axes, but for those of another size, which are needed whole. So are further operands.
[[nodiscard]] inline LiveRule same_axes(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k > 0 || at.x(0).size() != y.size()) return {whole_box(at.x(k))};
    return {follow(last_axes(y.size(), y.size()), at.x(0), at.y(j), y)};
  }};
}

}  // namespace benanza::detail
