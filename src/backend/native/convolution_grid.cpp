// SPDX-License-Identifier: Apache-2.0
#include "convolution_grid.hpp"

#include <algorithm>
#include <numeric>

namespace benanza::native {

namespace {

/// The number of steps to the first position not below `limit`: least i >= 0 with at + i * step >= limit.
Index steps_to(Index limit, Index at, Index step) { return at >= limit ? 0 : (limit - at + step - 1) / step; }

}  // namespace

// Element o of y uses tap k if o + pad - k * dilation is a multiple of the stride; the quotient is the index of the
// element of x that it reads. Equal remainders repeat every stride / gcd(stride, dilation) taps.
GridAxis::GridAxis(const detail::Window& reverse, Index x_size, Index first_output)
    : outputs((reverse.size - first_output + reverse.stride - 1) / reverse.stride), first(first_output) {
  const Index common = std::gcd(reverse.stride, reverse.dilation), step = reverse.stride / common;
  const auto from_first = [&](Index k) { return first + reverse.pad_begin - k * reverse.dilation; };
  const Index most = std::min(step, reverse.kernel);
  Index nearest = 0;  // the first tap reads the last element of x
  while (nearest < most && from_first(nearest) % reverse.stride != 0) ++nearest;
  const Index taps = nearest < most ? (reverse.kernel - nearest + step - 1) / step : 0;
  window = {.size = x_size, .kernel = taps, .dilation = reverse.dilation / common};
  if (taps > 0) {
    tap = nearest + (taps - 1) * step;
    tap_step = -step;
    window.pad_begin = -from_first(tap) / reverse.stride;
  }
  window.pad_end = outputs - 1 - window.pad_begin + (taps - 1) * window.dilation + 1 - x_size;
}

Range GridAxis::taps(Index begin, Index end) const {
  const Index first_seen = begin * window.stride - window.pad_begin,
              last_seen = (end - 1) * window.stride - window.pad_begin;
  const Index from = std::min(steps_to(0, last_seen, window.dilation), window.kernel),
              to = std::min(steps_to(window.size, first_seen, window.dilation), window.kernel);
  return {from, std::max(from, to)};
}

std::vector<GridAxis> transposed_grids(const detail::Window& reverse, Index x_size) {
  std::vector<GridAxis> grids;
  for (Index first = 0; first < std::min(reverse.stride, reverse.size); ++first)
    grids.emplace_back(reverse, x_size, first);
  return grids;
}

detail::Window window_around(const std::vector<GridAxis>& grids) {
  Index begin = 0, last = 0;
  bool any = false;
  for (const auto& grid : grids) {
    const auto& w = grid.window;
    if (w.kernel == 0) continue;
    const Index behind = (w.kernel - 1) * w.dilation - w.pad_begin;
    begin = any ? std::min(begin, -w.pad_begin) : -w.pad_begin;
    last = any ? std::max(last, behind) : behind;
    any = true;
  }
  const Index size = grids.front().window.size;
  return {.size = size,
          .kernel = last - begin + 1,
          .pad_begin = -begin,
          .pad_end = grids.front().outputs - 1 + last + 1 - size};
}

}  // namespace benanza::native
