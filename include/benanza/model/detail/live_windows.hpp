// SPDX-License-Identifier: Apache-2.0
// What convolutions and pools need of their operands for a part of their results.
#pragma once

#include <benanza/model/detail/window_positions.hpp>

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
