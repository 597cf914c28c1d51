// SPDX-License-Identifier: Apache-2.0
// What operators need of their operands for a part of their results: operators that follow axes. live_movement.hpp has
// operators that move elements, live_choices.hpp Where and similar ones, live_products.hpp products, live_windows.hpp
// sums over windows, live_attention.hpp attention.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/region.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::detail {

/// An axis of an operand that is always needed whole.
inline constexpr std::size_t whole_axis = static_cast<std::size_t>(-1);
/// For each axis of an operand, the axis of the result that it follows.
using FollowedAxes = std::vector<std::size_t>;

/// How the needed parts of a node's operands follow from those of its results.
struct LiveRule {
  /// The boxes of input `k` that the box `y` of result `j` needs.
  std::function<std::vector<Box>(std::size_t k, std::size_t j, const Box& y)> operand{};
  /// Share of the arithmetic, for parts of the results and of the first input. Empty: the share of the first result.
  std::function<double(std::span<const Region> y, const Region& x)> flops{};
  /// The axes of the result that input `k` follows position by position, for bands. Empty: none.
  std::function<FollowedAxes(std::size_t k)> follows{};
  Dims begins{};  ///< offset of each axis of the result in the first operand; empty: 0
  /// A band of input `k` outside of which nothing is read, whatever is needed of the result. Empty: none.
  std::function<std::optional<AxesBand>(std::size_t k)> reads{};
};

/// A list initializer would copy the box.
[[nodiscard]] inline std::vector<Box> only(Box box) {
  std::vector<Box> result;
  result.push_back(std::move(box));
  return result;
}

/// The part of an operand of dimensions `x` for a box of a result of dimensions `y`. Axes that broadcast are needed
/// whole.
[[nodiscard]] inline Box follow(const FollowedAxes& axes, std::span<const std::int64_t> x,
                                std::span<const std::int64_t> y, const Box& box) {
  Box result = whole_box(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (axes[i] != whole_axis && x[i] == y[axes[i]]) result[i] = box[axes[i]];
  return result;
}
/// Every axis follows the same axis of the result, counted from the last.
[[nodiscard]] inline FollowedAxes last_axes(std::size_t rank, std::size_t y_rank) {
  FollowedAxes axes;
  axes.reserve(rank);
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(i + y_rank >= rank ? i + y_rank - rank : whole_axis);
  return axes;
}

/// Operands broadcast to the result. A vector with one number per position of an axis is a scale of that axis.
[[nodiscard]] inline LiveRule elementwise(const SizedNode& at, std::optional<std::size_t> scaled_axis = {}) {
  return {.operand = [at, scaled_axis](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            const Dims& x = at.x(k);
            if (scaled_axis && k > 0 && x.size() == 1 && *scaled_axis < y.size())
              return only(follow({*scaled_axis}, x, at.y(j), y));
            return only(follow(last_axes(x.size(), y.size()), x, at.y(j), y));
          },
          .follows = [at](std::size_t k) { return last_axes(at.x(k).size(), at.y().size()); }};
}

/// Whether the result is an unchanged operand: Where chooses between a tensor and itself, or Max or a similar operator
/// takes the same operand twice.
[[nodiscard]] inline bool repeats_operand(const Node& node) {
  const std::size_t first = node.op_type == "Where" ? 1 : 0;  // after the condition
  if (node.inputs.size() < first + 2 || !facts_of(node).is(Trait::idempotent)) return false;
  const auto is_first = [&node, first](const auto& input) { return input && input == node.inputs[first]; };
  return std::all_of(node.inputs.begin() + static_cast<std::ptrdiff_t>(first), node.inputs.end(), is_first);
}
[[nodiscard]] inline LiveRule repeated_operand(const SizedNode& at) {
  LiveRule rule = elementwise(at);
  rule.operand = [chooses = at.node.op_type == "Where", of_all = rule.operand](std::size_t k, std::size_t j,
                                                                               const Box& y) -> std::vector<Box> {
    return chooses && k == 0 ? std::vector<Box>{} : of_all(k, j, y);
  };
  rule.flops = [](std::span<const Region>, const Region&) { return 0.0; };
  return rule;
}

/// The same rule, but operands of which a result needs only the type or the shape are not read:
/// `is_unread(operand, result)`.
template <class IsUnread>
[[nodiscard]] LiveRule leaving_out(LiveRule rule, IsUnread is_unread) {
  rule.operand = [of_all = rule.operand, is_unread](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    return is_unread(k, j) ? std::vector<Box>{} : of_all(k, j, y);
  };
  return rule;
}

/// Whether all elements along the axes [first, last) are equal.
[[nodiscard]] inline bool are_equal_along(const SizedNode& at, std::size_t first, std::size_t last) {
  const KnownElements& x = at.known_x(0);
  for (std::size_t i = first; i < last; ++i) {
    const FirstEqual equal = x.copies_along(i);
    if (at.x(0)[i] != 1 && (!equal || std::any_of(equal->begin(), equal->end(), [](auto p) { return p != 0; })))
      return false;
  }
  return true;
}

/// The first input has the axes of the results; axes for which `is_whole` is true are needed whole. `of_result` is the
/// share of the arithmetic that is done once per element of the result. The rest is done once per input element.
template <class IsWhole>
[[nodiscard]] LiveRule along_axes(const SizedNode& at, IsWhole is_whole, double of_result, std::size_t data = 1) {
  FollowedAxes axes;
  for (std::size_t i = 0; i < at.x(0).size(); ++i) axes.push_back(is_whole(i) ? whole_axis : i);
  return {.operand = [at, axes, data](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            const Dims& x = at.x(k);
            if (k < data && x == at.x(0) && y.size() == x.size()) return only(follow(axes, x, at.y(j), y));
            return only(follow(last_axes(x.size(), y.size()), x, at.y(j), y));
          },
          .flops = [of_result](std::span<const Region> y,
                               const Region& x) { return of_result * y[0].share() + (1 - of_result) * x.share(); }};
}

/// Softmax and similar operators: one axis, or before version 13 all axes from `axis` on.
[[nodiscard]] inline std::optional<LiveRule> along_axis(const SizedNode& at, bool flattens, double of_result,
                                                        std::optional<std::int64_t> otherwise = {}) {
  const auto given = at.node.attribute<std::int64_t>("axis", otherwise.value_or(flattens ? 1 : -1));
  const auto axis = to_axis(given, at.x(0).size());
  if (!axis) return std::nullopt;
  return along_axes(
      at, [&](std::size_t i) { return flattens ? i >= *axis : i == *axis; }, of_result);
}

/// A batch norm in training uses the mean and variance of each channel's own elements. Only the running mean and
/// variance (results 1 and 2) need inputs 3 and 4. Mean and variance take 3 of 5 operations.
[[nodiscard]] inline LiveRule batch_statistics(const SizedNode& at) {
  return {
      .operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
        const Positions& channels = y[j == 0 ? 1 : 0];
        if (k == 0) {
          Box box = whole_box(at.x(0));
          box[1] = channels;
          return {box};
        }
        const bool reads = j == 0 ? k < 3 : k == j + 2;
        return reads ? std::vector<Box>{{channels}} : std::vector<Box>{};
      },
      .flops = [](std::span<const Region> y, const Region& x) { return 2.0 / 5 * y[0].share() + 3.0 / 5 * x.share(); }};
}

/// A group of channels is normalised together. Scales and biases belong to a channel, or before version 21 to a group.
[[nodiscard]] inline std::optional<LiveRule> group_normalization(const SizedNode& at, std::int64_t groups) {
  const Dims& x = at.x(0);
  if (x.size() < 2 || groups < 1 || x[1] % groups != 0 || at.y() != x) return std::nullopt;
  const std::int64_t channels = x[1] / groups;
  if (element_count(x) == x[0] * groups)  // one number minus itself: the bias is left
    return LiveRule{.operand = [at](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
                      if (k != 2) return {};
                      return {at.x(2).size() == 1 && at.x(2)[0] == at.x(0)[1] ? Box{y[1]} : whole_box(at.x(2))};
                    },
                    .flops = [](std::span<const Region>, const Region&) { return 0.0; }};
  const auto of_groups = [channels](const Positions& at_channels) {
    std::vector<Positions::Run> runs;
    for (const auto& run : at_channels.runs()) runs.push_back({run.begin / channels, (run.end - 1) / channels + 1});
    return Positions(std::move(runs));
  };
  return LiveRule{.operand = [at, channels, of_groups](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
                    Box box = whole_box(at.x(k));
                    if (k > 0) {
                      if (box.size() == 1) box[0] = at.x(k)[0] == at.x(0)[1] ? y[1] : of_groups(y[1]);
                      return {box};
                    }
                    box[0] = y[0];
                    std::vector<Positions::Run> runs;
                    const Positions read = of_groups(y[1]);
                    for (const auto& run : read.runs()) runs.push_back({run.begin * channels, run.end * channels});
                    box[1] = Positions(std::move(runs));
                    return {box};
                  },
                  .flops = [](std::span<const Region> y,
                              const Region& read) { return 2.0 / 5 * y[0].share() + 3.0 / 5 * read.share(); }};
}

/// LRN: a channel is divided by a sum over a window of channels around it.
[[nodiscard]] inline std::optional<LiveRule> channel_window(const SizedNode& at) {
  const std::int64_t size = at.node.attribute<std::int64_t>("size", 1);
  if (at.x(0).size() < 2 || at.y() != at.x(0) || size < 1) return std::nullopt;
  return LiveRule{.operand = [at, size](std::size_t, std::size_t, const Box& y) -> std::vector<Box> {
    std::vector<Positions::Run> runs;
    for (const auto& run : y[1].runs()) runs.push_back({run.begin - (size - 1) / 2, run.end + size / 2});
    Box box = y;
    box[1] = common(Positions(std::move(runs)), Positions::whole(at.x(0)[1]));
    return {box};
  }};
}

/// MeanVarianceNormalization: its axes are needed whole; mean and variance are 3 of 5 operations.
[[nodiscard]] inline std::optional<LiveRule> mean_variance(const SizedNode& at) {
  std::vector<bool> together(at.x(0).size(), false);
  for (const auto given : at.node.attribute<Dims>("axes", {0, 2, 3})) {
    const auto axis = to_axis(given, together.size());
    if (!axis) return std::nullopt;
    together[*axis] = true;
  }
  return along_axes(
      at, [&](std::size_t i) { return together[i]; }, 2.0 / 5);
}

/// A norm of a sum that is its fourth result. The sum needs neither the norm nor its weights, and each of its elements
/// needs only its own addends. `of_norm` is the rule without the sum, `of_result` the operations per element of the
/// norm alone.
[[nodiscard]] inline LiveRule norm_and_sum(const SizedNode& at, const op::LayerNorm& norm, const LiveRule& of_norm,
                                           double of_result) {
  static constexpr std::size_t sum = 3;
  const double sums = norm.x_bias ? 2 : 1,
               all = norm.arithmetic().flops / static_cast<double>(std::max<std::int64_t>(1, element_count(norm.x)));
  return {.operand = [of_norm = of_norm.operand, of_sum = elementwise(at).operand, x_bias = norm.rms ? 3U : 4U](
                         std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            if (j != sum) return of_norm(k, j, y);
            return k < 2 || k == x_bias ? of_sum(k, j, y) : std::vector<Box>{};
          },
          .flops =
              [at, sums, all, of_result](std::span<const Region> y, const Region& x) {
                Region rows(at.x(0));  // rows that are normalised
                for (Box box : y[0].certain()) {
                  box.back() = Positions::whole(at.x(0).back());
                  rows.add(std::move(box));
                }
                for (std::size_t j = 1; j < std::min(y.size(), sum); ++j)
                  if (!y[j].empty()) rows = x;
                return (of_result * y[0].share() + (all - sums - of_result) * rows.share() + sums * x.share()) / all;
              }};
}

/// The rows of a softmax in which all scores but one are hidden: it gives 1, whatever that score is.
[[nodiscard]] inline Positions rows_with_one_score(const SizedNode& at, std::size_t axis) {
  constexpr std::int64_t most_rows = 1 << 20;
  const KnownElements& x = at.known_x(0);
  if (!x.band || x.outside > masked_score || x.band->column != axis || at.x(0)[x.band->row] > most_rows) return {};
  std::vector<Positions::Run> runs;
  for (std::int64_t row = 0; row < at.x(0)[x.band->row]; ++row) {
    const std::int64_t first = std::max<std::int64_t>(0, row + x.band->band.least),
                       end = std::min(at.x(0)[axis], row + x.band->band.most + 1);
    if (end - first == 1) runs.push_back({row, row + 1});
  }
  return runs.size() <= Positions::most_runs ? Positions(std::move(runs)) : Positions{};
}

/// The same rule, but results that lie in some rows only need nothing.
[[nodiscard]] inline LiveRule without_rows(LiveRule rule, std::size_t axis, const Positions& rows) {
  rule.flops = [of_all = rule.flops, axis, rows](std::span<const Region> y, const Region& x) {
    const auto boxes = y[0].boxes();
    const bool none =
        std::all_of(boxes.begin(), boxes.end(), [&](const Box& box) { return without(box[axis], rows).empty(); });
    return none ? 0.0 : of_all(y, x);
  };
  rule.operand = [of_all = rule.operand, axis, rows](std::size_t k, std::size_t j, const Box& y) {
    return without(y[axis], rows).empty() ? std::vector<Box>{} : of_all(k, j, y);
  };
  return rule;
}

[[nodiscard]] inline std::optional<LiveRule> normalization(const SizedNode& at) {
  if (const auto* softmax = std::get_if<op::Softmax>(&at.layer)) {  // equal numbers give 1 / n
    const bool flattens = at.node.opset < 13;
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", flattens ? 1 : -1), at.x(0).size());
    if (softmax->x[1] == 1 || (axis && are_equal_along(at, *axis, flattens ? at.x(0).size() : *axis + 1)))
      return LiveRule{.operand = [](std::size_t, std::size_t, const Box&) { return std::vector<Box>{}; },
                      .flops = [](std::span<const Region>, const Region&) { return 0.0; }};
    auto rule = along_axis(at, flattens, 1.0 / 5);
    if (const auto& band = at.known_x(0).band; rule && axis)
      if (const Positions alone = rows_with_one_score(at, *axis); !alone.empty())
        return without_rows(std::move(*rule), band->row, alone);
    return rule;
  }
  if (const auto* norm = std::get_if<op::AxisNorm>(&at.layer)) {
    const bool hardmax = norm->fn == op::AxisNormFn::hardmax;
    if (hardmax && norm->x[1] == 1)  // it is 1
      return LiveRule{.operand = [](std::size_t, std::size_t, const Box&) { return std::vector<Box>{}; },
                      .flops = [](std::span<const Region>, const Region&) { return 0.0; }};
    return along_axis(at, hardmax && at.node.opset < 13, hardmax ? 0 : 1.0 / 3);
  }
  if (const auto* norm = std::get_if<op::LayerNorm>(&at.layer)) {
    const auto axis = to_axis(at.node.attribute<std::int64_t>("axis", -1), at.x(0).size());
    const double of_result = (norm->rms ? 1.0 : 2.0) + (norm->scale ? 1.0 : 0.0) + (norm->bias ? 1.0 : 0.0);
    const double all =
        norm->arithmetic().flops / static_cast<double>(std::max<std::int64_t>(1, element_count(norm->x)));
    const bool one_result = norm->residual == op::Residual::none && at.node.outputs.size() == 1;
    if (one_result && !norm->rms && axis && are_equal_along(at, *axis, at.x(0).size()))  // minus their mean, they are 0
      return LiveRule{.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                        const Dims& x = at.x(k);
                        if (k < 2) return {};
                        return only(follow(last_axes(x.size(), y.size()), x, at.y(j), y));
                      },
                      .flops = [](std::span<const Region>, const Region&) { return 0.0; }};
    LiveRule rule = leaving_out(along_axes(
                                    at, [&](std::size_t i) { return !axis || i >= *axis; }, of_result / all,
                                    norm->residual == op::Residual::none ? 1 : 2),
                                [skips = norm->residual != op::Residual::none](std::size_t k, std::size_t j) {
                                  return !skips && k > 0 && j > 0;
                                });
    if (at.node.op_type == "LayerNormalization")  // its second result is the mean, its third the deviation
      rule.flops = [of_rule = rule.flops, all](std::span<const Region> y, const Region& x) {
        const bool mean_alone = y[0].empty() && (y.size() < 3 || y[2].empty());
        return mean_alone ? x.share() / all : of_rule(y, x);
      };
    if (at.node.has_output(3)) return norm_and_sum(at, *norm, rule, of_result);
    return rule;
  }
  if (const auto* norm = std::get_if<op::GroupNorm>(&at.layer)) return group_normalization(at, norm->groups);
  if (std::holds_alternative<op::ChannelNorm>(at.layer) && at.node.op_type == "BatchNormalization" &&
      at.x(0).size() > 1)
    return batch_statistics(at);
  if (std::holds_alternative<op::TopK>(at.layer)) return along_axis(at, false, 0);
  return std::nullopt;
}

/// Cumulative sums along an axis: all elements up to the last one that is read; from the other end if reversed.
[[nodiscard]] inline std::optional<LiveRule> cumulation(const SizedNode& at) {
  const Value* given = optional_input(at.node, at.graph, 1);
  const auto number = given ? scalar(*given) : std::nullopt;
  const auto axis = number ? to_axis(static_cast<std::int64_t>(*number), at.x(0).size()) : std::nullopt;
  if (!axis) return std::nullopt;
  const bool reverse = at.node.attribute<std::int64_t>("reverse", 0) != 0;
  const std::int64_t own = at.node.attribute<std::int64_t>("exclusive", 0) != 0 ? 1 : 0;  // left out
  return LiveRule{.operand = [at, axis, reverse, own](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
                    if (k > 0) return {whole_box(at.x(k))};
                    Box result = y;
                    const auto runs = y[*axis].runs();
                    if (!runs.empty())
                      result[*axis] = reverse ? Positions::run(runs.front().begin + own, at.x(0)[*axis])
                                              : Positions::run(0, runs.back().end - own);
                    return {result};
                  },
                  .flops =
                      [at, axis, own](std::span<const Region>, const Region& x) {
                        const auto sums = [axis](std::size_t i, const Positions& p) {
                          return static_cast<double>(i == *axis ? std::max<std::int64_t>(0, p.count() - 1) : p.count());
                        };
                        Box longest = whole_box(at.x(0));
                        longest[*axis] = Positions::run(0, at.x(0)[*axis] - own);
                        Region all(at.x(0));
                        all.add(std::move(longest));
                        return all.measure(sums) > 0 ? x.measure(sums) / all.measure(sums) : 1;
                      }};
}

/// For each axis of a reduction's operand, the axis of the result; whole_axis for those that are reduced. Empty if data
/// choose them.
[[nodiscard]] inline std::optional<FollowedAxes> kept_axes(const SizedNode& at) {
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
  return next == at.y().size() ? std::optional(axes) : std::nullopt;
}

/// Whether a reduction of zeros is 0: a sum, a maximum or a minimum, but not a position.
[[nodiscard]] inline bool reduces_to_zero(const SizedNode& at) {
  return at.facts.demand == Demand::reduction && !at.node.op_type.starts_with("Arg") &&
         (at.facts.is(Trait::sums) || at.facts.is(Trait::picks));
}

/// Reductions: axes that the result lacks, or that have size 1 in it, are needed whole.
[[nodiscard]] inline std::optional<LiveRule> reduction(const SizedNode& at) {
  const auto kept = kept_axes(at);
  if (!kept) return std::nullopt;
  const FollowedAxes& axes = *kept;
  const std::size_t rank = axes.size();
  const auto is_reduced = [&axes](std::size_t i) { return axes[i] == whole_axis; };
  const bool sums = at.facts.is(Trait::sums);
  // Elements that are known to be 0 add nothing to a sum, and no more than one comparison to a maximum. One of several
  // equal elements is sufficient: it is their maximum and mean.
  const KnownElements& x = at.known_x(0);
  double some = 1;  // share of the elements
  std::int64_t different = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!is_reduced(i) || at.x(0)[i] < 1) continue;
    const bool zeros = x.filled && reduces_to_zero(at);
    const Positions all = zeros ? (*x.filled)[i] : Positions::whole(at.x(0)[i]);
    const std::int64_t count = firsts(all, x.copies_along(i)).count();
    different = std::max(different, count);
    some *= static_cast<double>(count) / static_cast<double>(at.x(0)[i]);
    if (x.few && x.few->axis == i && x.few->rest == 0 && sums)  // one addition less than addends
      some *= static_cast<double>(std::max<std::int64_t>(0, x.few->count - 1)) / static_cast<double>(x.few->size);
  }
  if (x.few && x.few->rest == 0 && !is_reduced(x.few->axis) && sums) some = 0;  // at different places
  if (different == 1 && !x.copies.empty() && at.facts.is(Trait::picks)) some = 0;
  const bool hidden = x.outside <= masked_score && at.node.op_type == "ReduceMax";
  const bool banded = x.band && (hidden || (x.outside == 0 && reduces_to_zero(at)));
  return LiveRule{.operand = [at, axes = *kept](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
                    return {k == 0 ? follow(axes, at.x(0), at.y(j), y) : whole_box(at.x(k))};
                  },
                  .flops = [some, banded](std::span<const Region> y,
                                          const Region& x) { return banded ? x.share() : y[0].share() * some; }};
}

/// A loss reads at least one of the class weights. Each position has a loss of its own, unless they are reduced. The
/// second result, the logarithms of probabilities, needs only the scores.
[[nodiscard]] inline LiveRule loss(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
            const Dims& x = at.x(k);
            if (j > 0 && k > 0) return {};
            if (k == 2 && x.size() == 1) return {{Positions::run(0, std::min<std::int64_t>(x[0], 1))}};
            Box box = whole_box(x);
            const std::size_t classes = k == 0 ? 1 : x.size(), lost = j == 0 && k == 0 ? 1 : 0;
            if (y.size() + lost != x.size()) return {box};  // reduced
            for (std::size_t i = 0; i < x.size(); ++i)
              if (i != classes) box[i] = y[i > classes ? i - lost : i];
            return {box};
          },
          .flops =
              [at](std::span<const Region> y, const Region& x) {
                const auto& layer = std::get<op::Loss>(at.layer);
                const double all = layer.arithmetic().flops, losses = static_cast<double>(layer.targets()),
                             scores = static_cast<double>(element_count(layer.x)),
                             logarithms = y.size() > 1 && layer.log_prob ? scores : 0;
                const double of_row = std::max(0.0, all - losses - logarithms);
                const double needed =
                    of_row * x.share() + losses * y[0].share() + (logarithms > 0 ? logarithms * y[1].share() : 0);
                return all > 0 ? needed / all : 1;
              }};
}

/// DynamicQuantizeLinear: every result needs the minimum and the maximum, which are 2 of 5 operations.
[[nodiscard]] inline LiveRule dynamic_quantization(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t, const Box&) -> std::vector<Box> { return {whole_box(at.x(k))}; },
          .flops = [](std::span<const Region> y, const Region&) { return 2.0 / 5 + 3.0 / 5 * y[0].share(); }};
}

/// The operand has the result's axes; axes of another size, and further operands, are needed whole.
[[nodiscard]] inline LiveRule same_axes(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    if (k > 0 || at.x(0).size() != y.size()) return {whole_box(at.x(k))};
    return {follow(last_axes(y.size(), y.size()), at.x(0), at.y(j), y)};
  }};
}

}  // namespace benanza::detail
