// SPDX-License-Identifier: Apache-2.0
// Sentinel: distinguishes quiet times from contended ones. A shared machine has slow phases that last seconds, in which
// samples look consistent, so their spread does not show contention. A register-only loop of fixed length, which
// nothing of the measured layer can slow down, shows how fast the processor is. Vector instructions lower the clock for
// a while, so a loop's time is compared with others after the same kind of work at the same thread count: with what
// three quarters of them reach, unless that is much slower than the best of them, as it is if much of a run is
// contended. A boosting clock varies by some percent over minutes; if its best moments were the standard, all others
// would be contended (Zen 5, 26 minutes: 56 % of the samples, although each was tried four times). The effect of this
// variation on times is part of their uncertainty. The best is what a twentieth of the readings reach: the least of
// 400,000 lies 6 % below their median. Readings are kept and judged again by later ones: a run that starts in a slow
// phase is detected when the phase ends.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::sampling {

class Sentinel {
 public:
  /// A loop's time must reach this share of the usual speed after the same kind of work.
  static constexpr double quiet_share = 0.97;
  /// The usual speed is at least this share of the best; a clock may vary by this much.
  static constexpr double wander_share = 0.92;
  /// It is also at least this share of the best after any work; clocks that depend on the work explain this much.
  /// Otherwise, a kind of work that was only seen in one slow phase would be its own standard.
  static constexpr double clock_share = 0.7;

  /// Kind of work and thread count.
  using Kind = std::pair<std::string, int>;
  struct Reading {
    const Kind* kind = nullptr;  ///< one of the sentinel's own
    Seconds time{};
  };

  Reading read(const Kind& kind, Seconds time, Seconds now) {
    const auto level = levels_.try_emplace(kind).first;
    level->second.add(time, now);
    const auto any = best_at_.try_emplace(kind.second, time).first;
    if (time < any->second) any->second = time;
    return {&level->first, time};
  }
  /// Sets the best reading at a thread count, derived from a known peak: a session that lies entirely in one slow phase
  /// has no better reading of its own.
  void know(int threads, Seconds best) {
    const auto any = best_at_.try_emplace(threads, best).first;
    any->second = std::min(any->second, best);
  }
  [[nodiscard]] bool quiet(const Reading& reading) const { return quiet(*reading.kind, reading.time); }
  /// The same for a time that is not recorded yet. The first time of a kind is compared with the best after any work.
  [[nodiscard]] bool quiet(const Kind& kind, Seconds time) const {
    const auto any = best_at_.find(kind.second);
    if (any == best_at_.end()) return true;
    const auto level = levels_.find(kind);
    return time * clock_share <= any->second &&
           (level == levels_.end() ? time * wander_share <= any->second : time * quiet_share <= level->second.usual());
  }
  /// How many times the usual time the reading took, at least 1; compared with the best reading after any work, if
  /// kinds of work do not explain the difference.
  [[nodiscard]] double slowdown(const Reading& reading) const {
    const Seconds usual = levels_.at(*reading.kind).usual(), best = best_at_.at(reading.kind->second);
    return std::max(1.0, reading.time / (reading.time * clock_share > best ? std::min(usual, best) : usual));
  }
  /// Half the relative range of the processor's speed over all seconds, without the outermost twentieths. A layer that
  /// was measured within some seconds saw only a part of a clock's variation.
  [[nodiscard]] double wander() const {
    std::vector<double> speeds;
    for (const auto& [kind, level] : levels_) level.add_speeds(speeds);
    return speeds.empty() ? 0 : (detail::quantile(speeds, 0.95) - detail::quantile(speeds, 0.05)) / 2;
  }

 private:
  /// The standard for readings of one kind; resolution of times: 0.1 %.
  class Level {
   public:
    void add(Seconds time, Seconds now) {
      if (now - slice_begin_ >= slice) {
        close_slice();
        slice_begin_ = now;
      }
      slice_.push_back(time.value);
      ++all_;
      ++counts_[std::lround(std::log(time.value) / step)];
      usual_ = std::min(quantile(usual_part), quantile(best_part) / wander_share);
    }
    [[nodiscard]] Seconds usual() const { return usual_; }
    /// Adds the median of every second with usual speed, relative to the usual time.
    void add_speeds(std::vector<double>& speeds) const {
      for (const double median : medians_)
        if (median * quiet_share <= usual_.value) speeds.push_back(median / usual_.value);
    }

   private:
    static constexpr double best_part = 0.05, usual_part = 0.75, step = 0.001;
    static constexpr Seconds slice{1};

    void close_slice() {
      if (!slice_.empty()) medians_.push_back(detail::quantile(slice_, 0.5));
      slice_.clear();
    }

    /// The least time that this part of the readings does not exceed.
    [[nodiscard]] Seconds quantile(double part) const {
      std::size_t below = 0;
      for (const auto& [bucket, count] : counts_) {
        below += count;
        if (static_cast<double>(below) >= part * static_cast<double>(all_))
          return {std::exp(step * (static_cast<double>(bucket) + 0.5))};
      }
      return {};
    }

    std::map<long, std::size_t> counts_;  // by the logarithm of the time
    std::size_t all_ = 0;
    Seconds usual_{}, slice_begin_{};
    std::vector<double> slice_, medians_;  // readings of this second; medians of earlier seconds
  };

  std::map<Kind, Level> levels_;  // keys must not move: readings point to them
  std::map<int, Seconds> best_at_;
};

}  // namespace benanza::sampling
