// SPDX-License-Identifier: Apache-2.0
// Sentinel: tells quiet times from contended ones. A shared machine has slow phases of seconds in which samples look
// tight, so their spread says nothing; a register-only loop of fixed length, which nothing of the measured layer can
// slow down, tells how fast the processor is. Vector instructions lower the clock for a while, so a loop's time is
// compared with the best one after the same kind of work at the same thread count. Readings are kept and judged again
// by later bests: a run that starts in a slow phase is found out when the phase ends.
#pragma once

#include <benanza/units.hpp>

#include <map>
#include <string>
#include <utility>

namespace benanza::bench {

class Sentinel {
 public:
  /// A loop's time must reach this share of the best speed after the same kind of work.
  static constexpr double quiet_share = 0.97;
  /// And this share of the best after any work: what clocks that follow the work can explain. Otherwise a kind of work
  /// that was only seen in one slow phase would be its own standard.
  static constexpr double clock_share = 0.7;

  /// Kind of work and thread count.
  using Kind = std::pair<std::string, int>;
  struct Reading {
    const Kind* kind = nullptr;  ///< one of the sentinel's own
    Seconds time{};
  };

  Reading read(const Kind& kind, Seconds time) {
    const auto best = best_.try_emplace(kind, time).first;
    if (time < best->second) best->second = time;
    const auto any = best_at_.try_emplace(kind.second, time).first;
    if (time < any->second) any->second = time;
    return {&best->first, time};
  }
  [[nodiscard]] bool quiet(const Reading& reading) const {
    return reading.time * quiet_share <= best_.at(*reading.kind) &&
           reading.time * clock_share <= best_at_.at(reading.kind->second);
  }

 private:
  std::map<Kind, Seconds> best_;  // its keys stay where they are: readings point to them
  std::map<int, Seconds> best_at_;
};

}  // namespace benanza::bench
