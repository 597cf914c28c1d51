// SPDX-License-Identifier: Apache-2.0
// Ramp: integers that increase evenly along each axis, such as the indices of adjacent positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza {

/// `first` + the sum of step times index over the axes. The step of an axis with one position is 0.
struct Ramp {
  std::int64_t first = 0;
  std::vector<std::int64_t> steps{};  ///< one per axis
  bool operator==(const Ramp&) const = default;
};

/// The ramp that the elements of a tensor form. `number` returns the element at a row-major index. Empty if they do not
/// form a ramp.
template <class Number>
[[nodiscard]] std::optional<Ramp> find_ramp(std::span<const std::int64_t> dims, const Number& number) {
  std::int64_t count = 1;
  for (const auto dim : dims) count *= dim;
  if (count == 0) return std::nullopt;
  constexpr std::int64_t most = std::int64_t{1} << 32;  // no sum overflows
  Ramp ramp{number(0), std::vector<std::int64_t>(dims.size(), 0)};
  std::int64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis])
    if (dims[axis] > 1) ramp.steps[axis] = number(stride);
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    std::int64_t& step = ramp.steps[axis];
    if (std::max(step, ramp.first) > most || std::min(step, ramp.first) < -most) return std::nullopt;
    if (dims[axis] > 1) step -= ramp.first;
  }
  std::vector<std::int64_t> place(dims.size(), 0);
  for (std::int64_t at = 0, expected = ramp.first; at < count; ++at) {
    if (number(at) != expected) return std::nullopt;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      expected += ramp.steps[axis];
      if (++place[axis] < dims[axis]) break;
      expected -= ramp.steps[axis] * place[axis];
      place[axis] = 0;
    }
  }
  return ramp;
}

/// The ramps of a tensor's elements, one per position along its last axis. Empty if any of them is not a ramp.
template <class Number>
[[nodiscard]] std::vector<Ramp> find_ramps(std::span<const std::int64_t> dims, const Number& number) {
  std::vector<Ramp> ramps;
  for (std::int64_t k = 0; !dims.empty() && k < dims.back(); ++k) {
    auto ramp = find_ramp(dims.first(dims.size() - 1), [&](std::int64_t at) { return number(at * dims.back() + k); });
    if (!ramp) return {};
    ramp->steps.push_back(0);
    ramps.push_back(std::move(*ramp));
  }
  return ramps;
}

}  // namespace benanza
