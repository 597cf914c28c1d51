// SPDX-License-Identifier: Apache-2.0
// What convolutions and pools need of their operands for a part of their results.
#pragma once

#include <benanza/detail/window_axes.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/fused_node.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The positions that the windows at some positions read.
[[nodiscard]] inline Positions read_by(const Window& window, const Positions& at) {
  std::vector<Positions::Run> runs;
  const bool adjoin = window.dilation == 1 && window.stride <= window.kernel;
  const bool each = at.count() <= static_cast<std::int64_t>(Positions::most_runs) / window.kernel;
  const std::int64_t reach = window.dilation * (window.kernel - 1) + 1;
  for (const auto& run : at.runs()) {
    const std::int64_t first = run.begin * window.stride - window.pad_begin,
                       last = (run.end - 1) * window.stride - window.pad_begin;
    if (adjoin || !each) {
      runs.push_back({first, last + reach});
      continue;
    }
    for (std::int64_t p = first; p <= last; p += window.stride)
      for (std::int64_t tap = 0; tap < window.kernel; ++tap)
        runs.push_back({p + tap * window.dilation, p + tap * window.dilation + 1});
  }
  return common(Positions(std::move(runs)), Positions::whole(window.size));
}

/// The steps o for which a tap that reads o * stride + offset reads within a run.
[[nodiscard]] inline Positions::Run steps_within(const Positions::Run& run, std::int64_t stride, std::int64_t offset) {
  const auto rounded_up = [stride](std::int64_t n) { return n <= 0 ? -(-n / stride) : (n - 1) / stride + 1; };
  return {rounded_up(run.begin - offset), rounded_up(run.end - offset)};
}
/// Number of pairs of a position and a tap that read a real element.
[[nodiscard]] inline double taps(const Window& window, const Positions& at) {
  double total = 0;
  for (std::int64_t tap = 0; tap < window.kernel; ++tap) {
    const auto inside = steps_within({0, window.size}, window.stride, tap * window.dilation - window.pad_begin);
    total += static_cast<double>(common(at, Positions::run(inside.begin, inside.end)).count());
  }
  return total;
}
/// The same for a transposed convolution: the window slides over the result, `at` is what is needed of the result, and
/// the steps are elements of x.
struct TransposedTaps {
  Positions x{}, used{};  ///< elements of x, taps of the window
  double count = 0;
};
[[nodiscard]] inline TransposedTaps transposed_taps(const Window& window, const Positions& at, std::int64_t x_size) {
  TransposedTaps result;
  std::vector<Positions::Run> runs, used;
  for (std::int64_t tap = 0; tap < window.kernel; ++tap)
    for (const auto& run : at.runs()) {
      auto steps = steps_within(run, window.stride, tap * window.dilation - window.pad_begin);
      steps = {std::max<std::int64_t>(0, steps.begin), std::min(steps.end, x_size)};
      runs.push_back(steps);
      if (steps.begin < steps.end) used.push_back({tap, tap + 1});
      result.count += static_cast<double>(std::max<std::int64_t>(0, steps.end - steps.begin));
    }
  result.x = Positions(std::move(runs));
  result.used = Positions(std::move(used));
  return result;
}

/// Channels of x from which channels of y are computed.
[[nodiscard]] inline Positions channels_read(const Positions& at, std::int64_t y_each, std::int64_t x_each) {
  std::vector<Positions::Run> runs;
  for (const auto& run : at.runs())
    runs.push_back({run.begin / y_each * x_each, ((run.end - 1) / y_each + 1) * x_each});
  return Positions(std::move(runs));
}

/// The channels of x behind channels of y, in groups of `x_each` and `y_each`, except those that are known to be 0 and
/// those that are copies of others in their group.
class GroupedChannels {
 public:
  GroupedChannels(Positions filled, std::int64_t x_channels, std::int64_t y_channels, std::int64_t group,
                  const FirstEqual& copies = nullptr)
      : filled_(std::move(filled)), x_each_(x_channels / group), y_each_(y_channels / group), group_(group) {
    if (!copies) return;
    std::vector<Positions::Run> distinct;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;  // group, and first of equal channels
    for (const auto& run : filled_.runs())
      for (auto c = run.begin; c < run.end; ++c)
        if (seen.emplace(c / x_each_, (*copies)[static_cast<std::size_t>(c)]).second) distinct.push_back({c, c + 1});
    filled_ = Positions(std::move(distinct));
  }

  [[nodiscard]] Positions read(const Positions& y) const { return common(channels_read(y, y_each_, x_each_), filled_); }
  /// Channels of y that depend on any channel of x.
  [[nodiscard]] Positions computed(const Positions& y) const {
    return common(y, channels_read(filled_, x_each_, y_each_));
  }
  /// Number of pairs of a channel of y and one of x.
  [[nodiscard]] double pairs(const Positions& y) const {
    if (filled_ == Positions::whole(x_each_ * group_)) return all_pairs(y);
    double total = 0;
    for (std::int64_t g = 0; g < group_; ++g)
      total += static_cast<double>(common(y, Positions::run(g * y_each_, (g + 1) * y_each_)).count()) *
               static_cast<double>(common(filled_, Positions::run(g * x_each_, (g + 1) * x_each_)).count());
    return total;
  }
  [[nodiscard]] double all_pairs(const Positions& y) const {
    return static_cast<double>(y.count()) * static_cast<double>(x_each_);
  }
  /// Channels of x and of y, as positions within a group: the weights of all groups share an axis.
  [[nodiscard]] Positions x_in_group(const Positions& y) const { return wrapped(read(y), x_each_); }
  [[nodiscard]] Positions y_in_group(const Positions& y) const { return wrapped(computed(y), y_each_); }

 private:
  Positions filled_;
  std::int64_t x_each_, y_each_, group_;
};

/// The measure of a region as a share of the measure of the whole tensor.
template <class Weight>
[[nodiscard]] double part_of(const Region& region, const Weight& weight) {
  const double all = Region::whole(region.dims()).measure(weight);
  return region.is_whole() || all <= 0 ? 1 : region.measure(weight) / all;
}

/// Which axes of an operand and of the result are channels and positions.
struct WindowLayout {
  std::size_t channels = 1, first_place = 2;

  explicit WindowLayout(const SizedNode& at) {
    if (has_channels_last(at.node)) channels = at.y().size() - 1, first_place = 1;
  }
  [[nodiscard]] std::size_t place(std::size_t i) const { return first_place + i; }
  /// The weight for the measure of a region: `of_channels(positions)`, `of_places(i, positions)`, and the number of
  /// batches.
  template <class OfChannels, class OfPlaces>
  [[nodiscard]] auto weight(const OfChannels& of_channels, const OfPlaces& of_places) const {
    return [layout = *this, of_channels, of_places](std::size_t axis, const Positions& p) -> double {
      if (axis == 0) return static_cast<double>(p.count());
      return axis == layout.channels ? of_channels(p) : of_places(axis - layout.first_place, p);
    };
  }
};

/// A scale or bias per channel, a tensor that is added, or an operand that is needed whole.
[[nodiscard]] inline Box beside_window(const Dims& x, const Dims& y, const Box& box, std::size_t channels = 1) {
  if (x == y) return box;
  return x.size() == 1 ? follow({channels}, x, y, box) : whole_box(x);
}

/// The windows of a convolution.
[[nodiscard]] inline std::optional<std::vector<Window>> convolution_windows(const SizedNode& at) {
  const auto& node = at.node;
  const std::size_t w = node.op_type == "QLinearConv" ? 3 : 1;
  const Dims x_dims = channels_first(node, at.x(0)), y_dims = channels_first(node, at.y());
  const Dims& w_dims = at.x(w);
  if (node.domain == "com.microsoft.nchwc" || w_dims.size() != x_dims.size() || x_dims.size() < 3 ||
      y_dims.size() != x_dims.size())
    return std::nullopt;
  auto read = WindowAxes::read(node, std::span(x_dims).subspan(2), std::span(w_dims).subspan(2));
  if (!read) return std::nullopt;
  read->resolve_same_padding(node.attribute<std::string>("auto_pad", "NOTSET"));
  std::vector<Window> windows;
  for (const auto& axis : read->axes) {
    if (axis.window.outputs() != y_dims[windows.size() + 2]) return std::nullopt;
    windows.push_back(axis.window);
  }
  return windows;
}

/// The taps that read a real element at some position.
[[nodiscard]] inline Positions taps_used(const Window& window, const Positions& at) {
  std::vector<Positions::Run> runs;
  for (std::int64_t tap = 0; tap < window.kernel; ++tap) {
    const auto inside = steps_within({0, window.size}, window.stride, tap * window.dilation - window.pad_begin);
    if (!common(at, Positions::run(inside.begin, inside.end)).empty()) runs.push_back({tap, tap + 1});
  }
  return Positions(std::move(runs));
}

/// What the window reads at a position; equal elements are replaced by the first of them; -1 is padding.
[[nodiscard]] inline std::vector<std::int64_t> read_at(const Window& window, std::int64_t position,
                                                       const FirstEqual& first) {
  std::vector<std::int64_t> read;
  for (std::int64_t tap = 0; tap < window.kernel; ++tap) {
    const std::int64_t p = position * window.stride + tap * window.dilation - window.pad_begin;
    read.push_back(p < 0 || p >= window.size ? -1 : first ? (*first)[static_cast<std::size_t>(p)] : p);
  }
  return read;
}
/// The same positions of an axis of `size`, but positions outside of `filled` are zeros and count as padding.
[[nodiscard]] inline FirstEqual as_padding_outside(const Positions& filled, std::int64_t size,
                                                   const FirstEqual& first) {
  auto result = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(size), -1);
  for (const auto& run : filled.runs())
    for (auto p = run.begin; p < run.end; ++p)
      (*result)[static_cast<std::size_t>(p)] = first ? (*first)[static_cast<std::size_t>(p)] : p;
  return result;
}
/// Positions whose windows read equal elements. Null if none are known.
[[nodiscard]] inline FirstEqual equal_windows(const Window& window, const FirstEqual& x) {
  constexpr std::int64_t most_positions = 8192;
  const std::int64_t count = window.outputs();
  if (!x || count > most_positions) return nullptr;
  auto first = std::make_shared<std::vector<std::int64_t>>();
  std::map<std::vector<std::int64_t>, std::int64_t> seen;
  for (std::int64_t p = 0; p < count; ++p) first->push_back(seen.try_emplace(read_at(window, p, x), p).first->second);
  return static_cast<std::int64_t>(seen.size()) < count ? first : nullptr;
}
/// Number of pairs of a position and a distinct element of its window: the weights of equal elements can be added up
/// beforehand.
[[nodiscard]] inline double distinct_taps(const Window& window, const Positions& at, const FirstEqual& x) {
  if (!x) return taps(window, at);
  double total = 0;
  for (const auto& run : at.runs())
    for (auto p = run.begin; p < run.end; ++p) {
      const auto read = read_at(window, p, x);
      std::set<std::int64_t> distinct(read.begin(), read.end());
      distinct.erase(-1);
      total += static_cast<double>(distinct.size());
    }
  return total;
}

/// What a window operator knows of its input. If it sums, zeros do not count.
struct KnownInput {
  std::vector<Window> windows{};     ///< over the part that is not 0
  std::vector<FirstEqual> copies{};  ///< one per window axis
  Positions channels{};              ///< channels that are not all 0
};
[[nodiscard]] inline KnownInput known_input(const SizedNode& at, const std::vector<Window>& windows, bool sums) {
  const WindowLayout layout(at);
  KnownInput result{.windows = windows, .channels = Positions::whole(at.x(0)[layout.channels])};
  const KnownElements& x = at.known_x(0);
  for (std::size_t i = 0; i < windows.size(); ++i) result.copies.push_back(x.copies_along(layout.place(i)));
  if (!x.filled) return result;
  result.channels = (*x.filled)[layout.channels];
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Positions& filled = (*x.filled)[layout.place(i)];
    const auto runs = filled.runs();
    if (sums && (result.copies[i] || runs.size() > 1))
      result.copies[i] = as_padding_outside(filled, windows[i].size, result.copies[i]);
    if (runs.size() != 1 || result.copies[i]) continue;
    result.windows[i].pad_begin += runs[0].begin;
    result.windows[i].size = runs[0].end - runs[0].begin;
  }
  return result;
}

/// Channels with copies of their own: sums of equal elements are computed once.
struct ConvolvedPart {
  GroupedChannels channels;
  std::vector<Window> windows{};     ///< over the part that is not 0
  std::vector<FirstEqual> copies{};  ///< one per window axis
  std::vector<FirstEqual> sums{};    ///< one per axis of the result
};
/// The channels that a Concat joins, if some of them have copies.
[[nodiscard]] inline std::vector<ConvolvedPart> convolved_parts(const SizedNode& at, const std::vector<Window>& windows,
                                                                const KnownInput& x, std::int64_t group) {
  std::vector<ConvolvedPart> result;
  std::vector<Positions::Run> rest;
  const WindowLayout layout(at);
  const std::int64_t x_channels = at.x(0)[layout.channels], y_channels = at.y()[layout.channels];
  const auto& filled = at.known_x(0).filled;
  std::int64_t end = 0;
  for (const KnownPart& part : at.known_x(0).parts) {
    if (part.axis != layout.channels) return {};
    ConvolvedPart own{.channels = {Positions::run(part.begin, part.end), x_channels, y_channels, group},
                      .windows = x.windows,
                      .copies = x.copies,
                      .sums = std::vector<FirstEqual>(at.y().size())};
    own.sums[0] = part.copies[0];
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::size_t place = layout.place(i);
      if (!part.copies[place]) continue;
      own.windows[i] = windows[i];
      own.copies[i] =
          filled ? as_padding_outside((*filled)[place], windows[i].size, part.copies[place]) : part.copies[place];
      own.sums[place] = equal_windows(windows[i], own.copies[i]);
    }
    result.push_back(std::move(own));
    rest.push_back({end, part.begin});
    end = part.end;
  }
  if (result.empty()) return result;
  rest.push_back({end, x_channels});
  result.push_back({{Positions(std::move(rest)), x_channels, y_channels, group},
                    x.windows,
                    x.copies,
                    std::vector<FirstEqual>(at.y().size())});
  return result;
}

/// The share of the products of a window that is left if the file stores a share of the weights: each of them is
/// counted like those of the tap that reads the fewest real elements. `steps[i]`: for each tap along axis i, the number
/// of positions at which the tap reads a real element.
[[nodiscard]] inline double stored_products(double nonzero, const std::vector<std::vector<std::int64_t>>& steps) {
  double share = nonzero;
  for (const auto& each : steps) {
    if (nonzero == 1 || each.empty()) break;
    const auto all = static_cast<double>(std::accumulate(each.begin(), each.end(), std::int64_t{0}));
    const auto least = static_cast<double>(*std::min_element(each.begin(), each.end()));
    if (all > 0) share *= static_cast<double>(each.size()) * least / all;
  }
  return share;
}

/// The products of a convolution whose input is 0 outside of several boxes that have no element in common, as those of
/// the phases of a dilated convolution: for each box, the taps that read it. Weighed like `measure` of a region.
[[nodiscard]] inline double products_in_boxes(const std::vector<Box>& filled, const Region& y,
                                              const WindowLayout& layout, const std::vector<Window>& windows,
                                              std::int64_t x_channels, std::int64_t y_channels, std::int64_t group) {
  double total = 0;
  for (const Box& box : filled) {
    const GroupedChannels channels(box[layout.channels], x_channels, y_channels, group);
    total += y.measure([&](std::size_t axis, const Positions& p) -> double {
      if (axis == 0) return static_cast<double>(common(p, box[0]).count());
      if (axis == layout.channels) return channels.pairs(p);
      const std::size_t i = axis - layout.first_place;
      const FirstEqual inside = as_padding_outside(box[axis], windows[i].size, nullptr);
      return distinct_taps(windows[i], p, inside);
    });
  }
  return total;
}

[[nodiscard]] inline std::optional<LiveRule> convolution(const SizedNode& at) {
  const std::size_t w = at.node.op_type == "QLinearConv" ? 3 : 1;
  const std::int64_t group = at.node.attribute<std::int64_t>("group", 1);
  const auto windows = convolution_windows(at);
  if (!windows || group < 1) return std::nullopt;
  const WindowLayout layout(at);
  const std::int64_t x_channels = at.x(0)[layout.channels], y_channels = at.y()[layout.channels];
  if (y_channels % group != 0 || x_channels % group != 0) return std::nullopt;
  const KnownInput x = known_input(at, *windows, true);
  std::vector<std::vector<std::int64_t>> steps;
  for (const Window& window : *windows) {
    auto& of_taps = steps.emplace_back();
    for (std::int64_t tap = 0; tap < window.kernel; ++tap) {
      const auto inside = steps_within({0, window.size}, window.stride, tap * window.dilation - window.pad_begin);
      of_taps.push_back(common(Positions::whole(window.outputs()), Positions::run(inside.begin, inside.end)).count());
    }
  }
  const double stored = stored_products(at.known_x(w).nonzero, steps);
  const FirstEqual copies = at.known_x(0).copies_along(layout.channels);
  const GroupedChannels channels(x.channels, x_channels, y_channels, group, copies);
  const GroupedChannels of_weights(x.channels, x_channels, y_channels, group,
                                   at.graph.input(at.node, w).constant ? copies : nullptr);  // added up beforehand
  return LiveRule{
      .operand = [at, w, windows = *windows, layout, x, channels, of_weights](std::size_t k, std::size_t j,
                                                                              const Box& y) -> std::vector<Box> {
        if (k != 0 && k != w) return {beside_window(at.x(k), at.y(j), y, layout.channels)};
        Box result = whole_box(at.x(k));
        if (k == w) {
          result[0] = of_weights.computed(y[layout.channels]);
          result[1] = of_weights.x_in_group(y[layout.channels]);
          for (std::size_t i = 0; i < windows.size(); ++i) result[i + 2] = taps_used(x.windows[i], y[layout.place(i)]);
          return {result};
        }
        result[0] = y[0];
        result[layout.channels] = channels.read(y[layout.channels]);
        for (std::size_t i = 0; i < windows.size(); ++i)
          result[layout.place(i)] = read_by(windows[i], y[layout.place(i)]);
        return {result};
      },
      .flops =
          [windows = *windows, layout, x, channels, stored, x_channels, y_channels, group, boxes = at.known_x(0).rows,
           parts = convolved_parts(at, *windows, x, group)](std::span<const Region> y, const Region&) {
            const double all =
                Region::whole(y[0].dims())
                    .measure(layout.weight([&](const Positions& p) { return channels.all_pairs(p); },
                                           [&](std::size_t i, const Positions& p) { return taps(windows[i], p); }));
            double part = y[0].measure(layout.weight(
                [&](const Positions& p) { return channels.pairs(p); },
                [&](std::size_t i, const Positions& p) { return distinct_taps(x.windows[i], p, x.copies[i]); }));
            double joined = 0;
            for (const ConvolvedPart& each : parts) {
              const auto weight = layout.weight(
                  [&](const Positions& p) { return each.channels.pairs(p); },
                  [&](std::size_t i, const Positions& p) { return distinct_taps(each.windows[i], p, each.copies[i]); });
              joined += y[0].measure(
                  [&](std::size_t axis, const Positions& p) { return weight(axis, firsts(p, each.sums[axis])); });
            }
            if (!parts.empty()) part = std::min(part, joined);
            if (!boxes.empty())
              part = std::min(part, products_in_boxes(boxes, y[0], layout, windows, x_channels, y_channels, group));
            return all > 0 ? stored * part / all : stored;
          }};
}

[[nodiscard]] inline std::optional<LiveRule> transposed_convolution(const SizedNode& at) {
  const auto& node = at.node;
  const Dims &x_dims = at.x(0), &w_dims = at.x(1), &y_dims = at.y();
  const auto read = op::ConvTranspose::windows(node, x_dims, w_dims);
  const std::int64_t group = node.attribute<std::int64_t>("group", 1);
  if (!read || y_dims.size() != x_dims.size() || group < 1 || y_dims[1] % group != 0 || x_dims[1] % group != 0)
    return std::nullopt;
  std::vector<Window> windows;
  for (const auto& axis : read->axes) windows.push_back(axis.window);
  std::vector<std::vector<std::int64_t>> steps;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    auto& of_taps = steps.emplace_back();
    for (std::int64_t tap = 0; tap < windows[i].kernel; ++tap) {
      const auto inside =
          steps_within({0, y_dims[i + 2]}, windows[i].stride, tap * windows[i].dilation - windows[i].pad_begin);
      of_taps.push_back(common(Positions::whole(x_dims[i + 2]), Positions::run(inside.begin, inside.end)).count());
    }
  }
  const double stored = stored_products(at.known_x(1).nonzero, steps);
  const auto& filled = at.known_x(0).filled;
  const Positions some = filled ? (*filled)[1] : Positions::whole(x_dims[1]);
  const FirstEqual copies = at.known_x(0).copies_along(1);
  const GroupedChannels channels(some, x_dims[1], y_dims[1], group, copies);
  const GroupedChannels of_weights(some, x_dims[1], y_dims[1], group,
                                   at.graph.input(node, 1).constant ? copies : nullptr);
  return LiveRule{
      .operand = [at, windows, channels, of_weights](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
        if (k > 1) return {beside_window(at.x(k), at.y(j), y)};
        Box result = whole_box(at.x(k));
        if (k == 1) {
          result[0] = of_weights.read(y[1]);
          result[1] = of_weights.y_in_group(y[1]);
          for (std::size_t i = 0; i < windows.size(); ++i)
            result[i + 2] = transposed_taps(windows[i], y[i + 2], at.x(0)[i + 2]).used;
          return {result};
        }
        result[0] = y[0];
        result[1] = channels.read(y[1]);
        for (std::size_t i = 0; i < windows.size(); ++i)
          result[i + 2] = transposed_taps(windows[i], y[i + 2], at.x(0)[i + 2]).x;
        return {result};
      },
      .flops =
          [at, windows, channels, stored](std::span<const Region> y, const Region&) {
            const auto measured = [&](const Region& region, const auto& pairs) {
              return region.measure([&](std::size_t i, const Positions& p) {
                return i == 0   ? static_cast<double>(p.count())
                       : i == 1 ? pairs(p)
                                : transposed_taps(windows[i - 2], p, at.x(0)[i]).count;
              });
            };
            const double all =
                measured(Region::whole(y[0].dims()), [&](const Positions& p) { return channels.all_pairs(p); });
            const double part = measured(y[0], [&](const Positions& p) { return channels.pairs(p); });
            return all > 0 ? stored * part / all : stored;
          }};
}

/// The windows of a pool.
[[nodiscard]] inline std::optional<std::vector<Window>> pool_windows(const SizedNode& at) {
  const auto& node = at.node;
  const Dims x_dims = channels_first(node, at.x(0)), y_dims = channels_first(node, at.y());
  if (x_dims.size() < 3 || y_dims.size() != x_dims.size()) return std::nullopt;
  const bool global = node.op_type.find("Global") != std::string::npos;
  const Dims kernel = global ? Dims(x_dims.begin() + 2, x_dims.end()) : node.attribute<Dims>("kernel_shape", {});
  auto read = WindowAxes::read(node, std::span(x_dims).subspan(2), kernel);
  if (!read) return std::nullopt;
  const std::string auto_pad = node.attribute<std::string>("auto_pad", "NOTSET");
  read->resolve_same_padding(auto_pad);
  if (node.attribute<std::int64_t>("ceil_mode", 0) != 0 && !auto_pad.starts_with("SAME")) read->resolve_ceil_mode();
  std::vector<Window> windows;
  for (const auto& axis : read->axes) {
    if (axis.window.outputs() != y_dims[windows.size() + 2]) return std::nullopt;
    windows.push_back(axis.window);
  }
  return windows;
}

[[nodiscard]] inline std::optional<LiveRule> pool(const SizedNode& at) {
  const auto& node = at.node;
  const auto read = pool_windows(at);
  if (!read) return std::nullopt;
  const std::vector<Window>& windows = *read;
  const WindowLayout layout(at);
  // Zeros around an image add nothing to a sum; the maximum or mean of equal elements is one of them.
  const bool sums = node.op_type.ends_with("AveragePool") || node.op_type.ends_with("LpPool");
  const KnownInput x = known_input(at, windows, sums);
  std::vector<FirstEqual> with_zeros;  // zeros are elements too if all of a window may be equal
  for (std::size_t i = 0; i < windows.size(); ++i) with_zeros.push_back(at.known_x(0).copies_along(layout.place(i)));
  const bool keeps_equal =
      node.op_type.find("LpPool") == std::string::npos &&
      std::any_of(with_zeros.begin(), with_zeros.end(), [](const auto& first) { return first != nullptr; });
  return LiveRule{
      .operand = [at, windows, layout](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
        Box result = whole_box(at.x(k));
        if (k > 0) return {result};
        result[0] = y[0];
        result[layout.channels] = y[layout.channels];
        for (std::size_t i = 0; i < windows.size(); ++i)
          result[layout.place(i)] = read_by(windows[i], y[layout.place(i)]);
        return {result};
      },
      .flops =
          [windows, layout, filled = sums ? x.windows : windows, copies = x.copies, with_zeros, keeps_equal](
              std::span<const Region> y, const Region&) {
            Region both = y[0];  // also the positions of maxima
            for (const auto& each : y) both.add(each);
            const auto measure = [&layout](const Region& region, const auto& along) {
              const auto count = [](const Positions& p) { return static_cast<double>(p.count()); };
              return region.measure(layout.weight(count, along));
            };
            const double all = measure(Region::whole(both.dims()),
                                       [&](std::size_t i, const Positions& p) { return taps(windows[i], p); });
            const double part = measure(
                both, [&](std::size_t i, const Positions& p) { return distinct_taps(filled[i], p, copies[i]); });
            const double results =
                measure(both, [](std::size_t, const Positions& p) { return static_cast<double>(p.count()); });
            const double looked_at = measure(
                both, [&](std::size_t i, const Positions& p) { return distinct_taps(windows[i], p, with_zeros[i]); });
            if (keeps_equal && looked_at <= results) return 0.0;
            return all > 0 ? part / all : 1;
          }};
}

/// STFT: a frame needs its own samples. Empty if their positions depend on data.
[[nodiscard]] inline std::optional<LiveRule> frames(const SizedNode& at) {
  const auto step = scalar(at.graph.input(at.node, 1));
  const Value *window = optional_input(at.node, at.graph, 2), *given = optional_input(at.node, at.graph, 3);
  const auto length = given    ? scalar(*given)
                      : window ? std::optional(static_cast<double>(window->elements()))
                               : std::nullopt;
  if (!step || !length || *step < 1 || *length < 1 || at.x(0).size() < 2 || at.y().size() != 4) return std::nullopt;
  const Window frame{
      .size = at.x(0)[1], .kernel = static_cast<std::int64_t>(*length), .stride = static_cast<std::int64_t>(*step)};
  if (frame.outputs() != at.y()[1]) return std::nullopt;
  return LiveRule{.operand = [at, frame](std::size_t k, std::size_t, const Box& y) -> std::vector<Box> {
    Box box = whole_box(at.x(k));
    if (k == 0) box[0] = y[0], box[1] = read_by(frame, y[1]);
    return {box};
  }};
}

}  // namespace benanza::detail
