// SPDX-License-Identifier: Apache-2.0
// TeamSentinel: tells which executions count: those while the threads of OpenMP's team are as near to each other as
// usual (results/round_trips.hpp).
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/results/round_trips.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace benanza::execution {

class TeamSentinel {
 public:
  /// `read`: takes the round trip. `known`: what it usually takes on this machine; 0: nothing is known.
  explicit TeamSentinel(std::function<Seconds()> read, Seconds known = {}) : read_(std::move(read)), trips_(known) {}

  /// Begins a turn of executions,
  void begin() { turns_.emplace_back(take(), Seconds{}); }
  /// and ends it.
  void end() { turns_.back().second = take(); }
  /// Forgets the turns, not what the readings were.
  void restart() { turns_.clear(); }
  /// Whether the threads are near by a reading taken now.
  [[nodiscard]] bool near();
  /// Whether each turn counts: a reading before or after it is not slow. All do where none would.
  [[nodiscard]] std::vector<bool> counted() const;
  [[nodiscard]] std::size_t quiet_turns() const;
  /// The shortest reading of the turns; 0 without turns.
  [[nodiscard]] Seconds least() const;

 private:
  Seconds take();
  [[nodiscard]] bool quiet(const std::pair<Seconds, Seconds>& turn) const;

  std::function<Seconds()> read_;
  RoundTrips trips_;
  bool alone_ = false;  ///< there are no two threads
  std::vector<std::pair<Seconds, Seconds>> turns_{};
};

/// 10th percentile of the times that count.
[[nodiscard]] Seconds p10_of(std::vector<double> times, const std::vector<bool>& counted);

}  // namespace benanza::execution
