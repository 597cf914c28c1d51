// SPDX-License-Identifier: Apache-2.0
// What the windows of convolutions and pools read: positions, taps, channels, and elements that are equal or known.
#pragma once

#include <benanza/base/detail/window_axes.hpp>
#include <benanza/model/detail/live_rules.hpp>
#include <benanza/model/fused_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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

}  // namespace benanza::detail
