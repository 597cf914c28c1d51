// SPDX-License-Identifier: Apache-2.0
// TeamSentinel: decides which executions count, namely those during which the threads of OpenMP's team are as near to
// each other as usual (results/round_trips.hpp).
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
  /// `read` measures the round trip. `known` is its usual time on this machine, or 0 if it is not known.
  explicit TeamSentinel(std::function<Seconds()> read, Seconds known = {}) : read_(std::move(read)), trips_(known) {}

  /// Begins a turn of executions.
  void begin() { turns_.emplace_back(take(), Seconds{}); }
  /// Ends the turn.
  void end() { turns_.back().second = take(); }
  /// Forgets the turns, but not the readings.
  void restart() { turns_.clear(); }
  /// Whether the threads are near each other according to a new reading.
  [[nodiscard]] bool near();
  /// Whether each turn counts: neither the reading before it nor the one after it is slow. If no turn would count, all
  /// do.
  [[nodiscard]] std::vector<bool> counted() const;
  [[nodiscard]] std::size_t quiet_turns() const;
  /// The shortest reading of the turns; 0 without turns.
  [[nodiscard]] Seconds least() const;

 private:
  Seconds take();
  [[nodiscard]] bool quiet(const std::pair<Seconds, Seconds>& turn) const;

  std::function<Seconds()> read_;
  RoundTrips trips_;
  bool alone_ = false;  ///< there are fewer than two threads
  std::vector<std::pair<Seconds, Seconds>> turns_{};
};

/// 10th percentile of the times that count.
[[nodiscard]] Seconds p10_of(std::vector<double> times, const std::vector<bool>& counted);

}  // namespace benanza::execution
