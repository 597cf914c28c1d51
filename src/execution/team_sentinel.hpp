// SPDX-License-Identifier: Apache-2.0
// TeamSentinel: tells whether the threads of OpenMP's team are far from each other. Two processors of a virtual machine
// may share a cache at one time and not at another. When they do not, what one thread wrote takes two or three times as
// long to reach the next, and so do calls that read it, while a loop in registers is as fast as ever. Executions in
// such a phase do not count.
#pragma once

#include <benanza/model/units.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace benanza::execution {

/// The round trip of a cache line between the first thread of OpenMP's team and each other one, the longest of them;
/// 0 without such a team, or with one thread.
[[nodiscard]] Seconds round_trip(int threads);

class TeamSentinel {
 public:
  /// `read`: takes the round trip, as `round_trip` does.
  explicit TeamSentinel(std::function<Seconds()> read) : read_(std::move(read)) {}

  /// Begins a turn of executions,
  void begin() { turns_.emplace_back(take(), Seconds{}); }
  /// and ends it.
  void end() { turns_.back().second = take(); }
  /// Forgets the turns, not what the readings were.
  void restart() { turns_.clear(); }
  /// Whether each turn counts: a reading before or after it is not slow. All do where none would.
  [[nodiscard]] std::vector<bool> counted() const;
  [[nodiscard]] std::size_t quiet_turns() const;

 private:
  /// A reading is slow if it is this many times the usual one, the 25th percentile: some are shorter than usual, where
  /// two processors are threads of one core.
  static constexpr double slow = 1.75;

  Seconds take();
  [[nodiscard]] bool quiet(const std::pair<Seconds, Seconds>& turn) const;

  std::function<Seconds()> read_;
  std::vector<double> readings_{};
  std::vector<std::pair<Seconds, Seconds>> turns_{};
};

/// 10th percentile of the times that count.
[[nodiscard]] Seconds p10_of(std::vector<double> times, const std::vector<bool>& counted);

}  // namespace benanza::execution
