// SPDX-License-Identifier: Apache-2.0
// Positions: a set of positions along one axis of a tensor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace benanza {

/// Positions along one axis, as sorted runs with a gap between any two. More than `most_runs` runs become one run from
/// the first position to the last.
class Positions {
 public:
  static constexpr std::size_t most_runs = 4096;
  struct Run {
    std::int64_t begin = 0, end = 0;
    auto operator<=>(const Run&) const = default;
  };

  Positions() = default;
  [[nodiscard]] static Positions run(std::int64_t begin, std::int64_t end) {
    Positions result;
    if (begin < end) result.only_ = {begin, end};
    return result;
  }
  [[nodiscard]] static Positions whole(std::int64_t size) { return run(0, size); }
  /// In any order; overlapping runs are joined, empty ones are dropped.
  explicit Positions(std::vector<Run> runs) {
    std::erase_if(runs, [](const Run& run) { return run.begin >= run.end; });
    std::sort(runs.begin(), runs.end());
    std::size_t count = 0;
    for (const Run& run : runs)
      if (count > 0 && run.begin <= runs[count - 1].end) runs[count - 1].end = std::max(runs[count - 1].end, run.end);
      else runs[count++] = run;
    if (count == 1 || count > most_runs) only_ = {runs.front().begin, runs[count - 1].end};
    if (count < 2 || count > most_runs) return;
    runs.resize(count);
    several_ = std::move(runs);
  }

  [[nodiscard]] std::span<const Run> runs() const {
    return several_.empty() ? std::span(&only_, only_.begin < only_.end ? 1 : 0) : std::span(several_);
  }
  [[nodiscard]] bool empty() const { return runs().empty(); }
  [[nodiscard]] std::int64_t count() const {
    std::int64_t total = 0;
    for (const Run& run : runs()) total += run.end - run.begin;
    return total;
  }
  bool operator==(const Positions&) const = default;

 private:
  Run only_{};                  ///< if there is one run, as there usually is
  std::vector<Run> several_{};  ///< if there are more
};

[[nodiscard]] inline Positions unite(const Positions& a, const Positions& b) {
  std::vector<Positions::Run> runs(a.runs().begin(), a.runs().end());
  runs.insert(runs.end(), b.runs().begin(), b.runs().end());
  return Positions(std::move(runs));
}
[[nodiscard]] inline Positions common(const Positions& a, const Positions& b) {
  if (a.runs().size() == 1 && b.runs().size() == 1)
    return Positions::run(std::max(a.runs()[0].begin, b.runs()[0].begin), std::min(a.runs()[0].end, b.runs()[0].end));
  std::vector<Positions::Run> runs;
  for (std::size_t i = 0, j = 0; i < a.runs().size() && j < b.runs().size();) {
    runs.push_back({std::max(a.runs()[i].begin, b.runs()[j].begin), std::min(a.runs()[i].end, b.runs()[j].end)});
    ++(a.runs()[i].end < b.runs()[j].end ? i : j);
  }
  return Positions(std::move(runs));
}
/// Positions of `from` that are not among the others.
[[nodiscard]] inline Positions without(const Positions& from, const Positions& others) {
  std::vector<Positions::Run> runs;
  for (Positions::Run run : from.runs()) {
    for (const auto& other : others.runs()) {
      if (other.end <= run.begin || other.begin >= run.end) continue;
      runs.push_back({run.begin, other.begin});
      run.begin = other.end;
    }
    runs.push_back(run);
  }
  return Positions(std::move(runs));
}
/// The remainders of positions modulo a size.
[[nodiscard]] inline Positions wrapped(const Positions& from, std::int64_t size) {
  std::vector<Positions::Run> runs;
  for (const auto& run : from.runs()) {
    const std::int64_t length = run.end - run.begin;
    if (size < 1 || length >= size) return Positions::whole(size);
    const std::int64_t first = run.begin % size;
    runs.push_back({first, std::min(size, first + length)});
    runs.push_back({0, first + length - size});
  }
  return Positions(std::move(runs));
}
[[nodiscard]] inline bool contains(const Positions& outer, const Positions& inner) {
  return common(outer, inner) == inner;
}
/// `first + step * p` for each position; results outside of [0, size) are left out.
[[nodiscard]] inline Positions stepped(const Positions& from, std::int64_t first, std::int64_t step,
                                       std::int64_t size) {
  std::vector<Positions::Run> runs;
  const bool each = step != 1 && from.count() <= static_cast<std::int64_t>(Positions::most_runs);
  for (const auto& run : from.runs()) {
    if (each) {
      for (std::int64_t p = run.begin; p < run.end; ++p) runs.push_back({first + step * p, first + step * p + 1});
    } else {
      const auto [least, most] = std::minmax({first + step * run.begin, first + step * (run.end - 1)});
      runs.push_back({least, most + 1});
    }
  }
  return common(Positions(std::move(runs)), Positions::whole(size));
}

/// For each position of an axis, the first position with equal elements. Null if all differ, or are not known to be
/// equal.
using FirstEqual = std::shared_ptr<const std::vector<std::int64_t>>;

/// The positions that represent these: the first of each set of equal ones.
[[nodiscard]] inline Positions firsts(const Positions& of, const FirstEqual& first) {
  if (!first) return of;
  std::vector<Positions::Run> runs;
  for (const auto& run : of.runs())
    for (auto p = run.begin; p < run.end; ++p) {
      const std::int64_t at = (*first)[static_cast<std::size_t>(p)];
      if (!runs.empty() && at == runs.back().end) ++runs.back().end;
      else if (runs.empty() || at < runs.back().begin || at > runs.back().end) runs.push_back({at, at + 1});
    }
  return Positions(std::move(runs));
}

}  // namespace benanza
