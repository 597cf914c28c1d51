// SPDX-License-Identifier: Apache-2.0
// What computing the results along the axes of a Resize takes.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/tensor_shape.hpp>
#include <benanza/op/detail/resize_axis.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<ResizeRounding> early_rounding(const TensorShape& x, const TensorShape& y) {
  bool grows = false, shrinks = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    grows = grows || y[i] > x[i];
    shrinks = shrinks || y[i] < x[i];
  }
  if (grows && shrinks) return std::nullopt;
  return shrinks ? ResizeRounding::ceil : ResizeRounding::floor;
}

BENANZA_INLINE ResizePass resize_pass(const ResizeAxis& axis) {
  constexpr std::int64_t most_results = 1 << 20;
  if (axis.is_unchanged()) return {.read = axis.x, .made = axis.x};
  if (axis.y > most_results) return {.read = std::min(axis.x, axis.y), .made = axis.y};
  ResizePass pass;
  std::int64_t several = 0, between = 0, below = -1, read_end = 0;  // `between`: results above the element `below`
  double last = -2e9;
  bool middle = false;
  const auto leave = [&] {
    if (between > 0) pass.flops += between == 1 && middle ? 1.0 : static_cast<double>(between) + 1;
    between = 0;
  };
  for (std::int64_t i = 0; i < axis.y; ++i) {
    const double place = axis.place(axis.end < axis.begin ? axis.y - 1 - i : i);  // in increasing order
    if (axis.is_outside(place)) continue;
    const ResizeCells cells = axis.cells(place);
    pass.read += std::max<std::int64_t>(0, cells.end - std::max(cells.begin, read_end));
    read_end = std::max(read_end, cells.end);
    const double own = cells.count() == 1 ? static_cast<double>(cells.begin) : place;
    if (own == last) continue;
    last = own;
    ++pass.made;
    if (cells.count() == 1) continue;
    ++several;
    if (axis.widens()) continue;
    if (axis.mode == ResizeMode::cubic) {
      pass.flops += static_cast<double>(cells.count() - 1);
      continue;
    }
    if (cells.begin != below) leave();
    below = cells.begin;
    ++between;
    middle = std::abs(place - static_cast<double>(below) - 0.5) < ResizeAxis::rounding_of_scale;
  }
  leave();
  if (axis.widens()) pass.flops = static_cast<double>(std::max(several, pass.read - pass.made));
  return pass;
}

BENANZA_INLINE double least_resize_flops(std::vector<ResizePass> passes) {
  double lines = 1, flops = 0;
  std::vector<ResizePass> computing;
  for (const ResizePass& pass : passes) {
    if (pass.flops > 0) computing.push_back(pass);
    else lines *= static_cast<double>(std::min(pass.read, pass.made));
  }
  const auto shrinks = [](const ResizePass& pass) { return static_cast<double>(pass.read - pass.made) / pass.flops; };
  std::stable_sort(computing.begin(), computing.end(),
                   [&](const ResizePass& a, const ResizePass& b) { return shrinks(a) > shrinks(b); });
  for (const ResizePass& pass : computing) lines *= static_cast<double>(pass.read);
  for (const ResizePass& pass : computing) {
    lines /= static_cast<double>(pass.read);
    flops += lines * pass.flops;
    lines *= static_cast<double>(pass.made);
  }
  return flops;
}

BENANZA_INLINE double least_resize_flops(const TensorShape& x, const TensorShape& y, ResizeMode mode,
                                         ResizeCoordinates coordinates, bool antialias) {
  if (mode == ResizeMode::nearest || coordinates == ResizeCoordinates::tf_crop_and_resize) return 0;
  std::vector<ResizePass> passes;
  for (std::size_t i = 0; i < x.size(); ++i)
    passes.push_back(resize_pass(ResizeAxis::of_sizes(x[i], y[i], mode, coordinates, antialias)));
  return least_resize_flops(std::move(passes));
}

}  // namespace benanza::op
