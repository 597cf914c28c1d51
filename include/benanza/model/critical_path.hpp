// SPDX-License-Identifier: Apache-2.0
// Critical path: the longest chain of times through a graph of layers, which no number of parallel streams can beat.
#pragma once

#include <benanza/model/units.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace benanza {

/// A dependence on an earlier layer. A late one delays only the end: the operand enters after the group's head (a
/// residual that is added in a fused convolution's epilogue).
struct Predecessor {
  std::size_t from = 0;
  bool late = false;
  bool operator==(const Predecessor&) const = default;
};

struct CriticalPath {
  Seconds length{};
  std::vector<bool> on_path{};  ///< one per layer
};

/// `times[i]` is the time of layer i; all of `predecessors[i]` come before it. finish(i) = max(finish(p) + time(i) for
/// an ordinary p, finish(p) for a late one). If several paths are longest, the one through the earliest layers is
/// marked.
template <class Predecessors>
[[nodiscard]] CriticalPath critical_path(std::span<const Seconds> times, const Predecessors& predecessors) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  const std::size_t count = times.size();
  std::vector<Seconds> finish(count);
  std::vector<std::size_t> through(count, none);
  std::vector<bool> runs(count, true);  // false if a late operand alone determines the end
  CriticalPath result{.on_path = std::vector<bool>(count, false)};
  std::size_t last = none;
  for (std::size_t i = 0; i < count; ++i) {
    finish[i] = times[i];
    for (const auto& p : predecessors[i])
      if (!p.late && finish[p.from] + times[i] > finish[i]) {
        finish[i] = finish[p.from] + times[i];
        through[i] = p.from;
      }
    for (const auto& p : predecessors[i])
      if (p.late && finish[p.from] > finish[i]) {
        finish[i] = finish[p.from];
        through[i] = p.from;
        runs[i] = false;
      }
    if (last == none || finish[i] > finish[last]) last = i;
  }
  if (last == none) return result;
  result.length = finish[last];
  for (std::size_t i = last; i != none; i = through[i]) result.on_path[i] = runs[i];
  return result;
}

}  // namespace benanza
