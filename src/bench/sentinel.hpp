// SPDX-License-Identifier: Apache-2.0
// Sentinel: tells quiet times from contended ones. A shared machine has slow phases of seconds in which samples look
// tight, so their spread says nothing; a register-only loop of fixed length, which nothing of the measured layer can
// slow down, tells how fast the processor is. Vector instructions lower the clock for a while, so a loop's time is
// compared with the best ones after the same kind of work at the same thread count. The best is what a twentieth of the
// readings reach: a clock that boosts now and then would otherwise make one lucky reading the standard, and all others
// contended (Zen 5: the least of 400,000 readings is 6 % below their median, the twentieth 2 %). Readings are kept and
// judged again by later ones: a run that starts in a slow phase is found out when the phase ends.
#pragma once

#include <benanza/units.hpp>

#include <cmath>
#include <cstddef>
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
    const auto level = levels_.try_emplace(kind).first;
    level->second.add(time);
    const auto any = best_at_.try_emplace(kind.second, time).first;
    if (time < any->second) any->second = time;
    return {&level->first, time};
  }
  [[nodiscard]] bool quiet(const Reading& reading) const {
    return reading.time * quiet_share <= levels_.at(*reading.kind).best() &&
           reading.time * clock_share <= best_at_.at(reading.kind->second);
  }

 private:
  /// The time that `best_part` of all readings are not above, to 0.1 %; the least of few readings.
  class Level {
   public:
    void add(Seconds time) {
      ++all_;
      ++counts_[std::lround(std::log(time.value) / step)];
      std::size_t below = 0;
      for (const auto& [bucket, count] : counts_) {
        below += count;
        if (static_cast<double>(below) < best_part * static_cast<double>(all_)) continue;
        best_ = {std::exp(step * (static_cast<double>(bucket) + 0.5))};
        break;
      }
    }
    [[nodiscard]] Seconds best() const { return best_; }

   private:
    static constexpr double best_part = 0.05, step = 0.001;
    std::map<long, std::size_t> counts_;  // by the logarithm of the time
    std::size_t all_ = 0;
    Seconds best_{};
  };

  std::map<Kind, Level> levels_;  // its keys stay where they are: readings point to them
  std::map<int, Seconds> best_at_;
};

}  // namespace benanza::bench
