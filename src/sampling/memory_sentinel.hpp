// SPDX-License-Identifier: Apache-2.0
// MemorySentinel: detects whether another process uses the memory while rows whose data exceed the caches are measured,
// by readings before and after each sample. The time of a reading depends on what ran before it: lines that have to be
// written back, pages that are missing in the TLB. Therefore, readings are only compared with those after the same
// work. The threshold follows from how much such readings differ on a quiet machine. A sample is contended if both
// readings are slow, both in latency or both in bandwidth. As in Sentinel, readings are kept and judged again by later
// ones.
//
// A process that runs from the beginning of a session to its end slows all of these readings alike. Therefore,
// additional readings are taken at intervals, after a traversal that evicts from the caches what ran before. Their
// usual time is compared with that of earlier sessions.
#pragma once

#include "host.hpp"
#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::sampling {

class MemorySentinel {
  struct Level;

 public:
  /// With fewer readings after the same work, no reading is slow.
  static constexpr std::size_t least_readings = 4;
  /// A reading is slow if it exceeds the usual one by this share,
  static constexpr double least_excess = 0.25;
  /// and by this many times the typical distance of the 25th percentile from the 10th: 5 standard deviations of a
  /// normal distribution.
  static constexpr double spans = 8;
  /// The least number of readings at intervals that say something about a session: some of them are more than a second
  /// apart.
  static constexpr std::size_t least_of_session = 7;
  /// A session is slow if its readings at intervals usually take this many times as long as those of earlier sessions.
  static constexpr double slow_session = 1.35;

  struct Reading {
    const Level* level = nullptr;  ///< one of the sentinel's own
    MemoryTimes times{};
  };

  /// `after`: the work that ran before the reading.
  Reading read(const std::string& after, MemoryTimes times) {
    Level& level = levels_[after];
    level.add(times);
    spans_.reset();
    return {&level, times};
  }
  /// The usual times of readings at intervals in earlier sessions; 0 if not known.
  void know(MemoryTimes usual) { known_ = {usual.chase.value, usual.stream.value}; }
  /// Adds a reading at an interval.
  void watch(MemoryTimes times) { session_.add(times); }
  /// The usual times of readings at intervals; 0 if there are too few of them.
  [[nodiscard]] MemoryTimes usual() const { return {.chase = {usual_of_session(0)}, .stream = {usual_of_session(1)}}; }
  /// By the present knowledge. A sample without readings is quiet.
  [[nodiscard]] bool quiet(const std::optional<Reading>& before, const std::optional<Reading>& after) const {
    return !before || !after || !((slow(*before, 0) && slow(*after, 0)) || (slow(*before, 1) && slow(*after, 1)));
  }
  /// How many times the usual time the readings took: the lesser of both, for latency or for bandwidth, whichever is
  /// greater. 1 without readings.
  [[nodiscard]] double slowdown(const std::optional<Reading>& before, const std::optional<Reading>& after) const {
    double result = 1;
    for (std::size_t i = 0; before && after && i < 2; ++i)
      result = std::max(result, std::min(slowdown(*before, i), slowdown(*after, i)));
    return result;
  }

 private:
  /// Times of the chase and of the stream after one kind of work, ascending.
  struct Level {
    std::array<std::vector<double>, 2> sorted{};
    void add(MemoryTimes times) {
      const std::array values{times.chase.value, times.stream.value};
      for (std::size_t i = 0; i < values.size(); ++i)
        sorted[i].insert(std::upper_bound(sorted[i].begin(), sorted[i].end(), values[i]), values[i]);
    }
    [[nodiscard]] double quantile(std::size_t i, double p) const { return detail::quantile_of_sorted(sorted[i], p); }
    /// One of the shortest readings: the 5th percentile, but at least the fourth shortest.
    [[nodiscard]] double short_one(std::size_t i) const {
      return std::max(sorted[i][least_readings - 1], quantile(i, 0.05));
    }
    /// The relative distance from the 10th percentile to the 25th. If the 25th is slow compared with the shortest
    /// readings, most readings may be slow. In that case, the distance from the 5th percentile to the 10th, which is
    /// 0.6 times as large in a normal distribution.
    [[nodiscard]] double span(std::size_t i) const {
      const double decile = quantile(i, 0.1), quartile = quantile(i, 0.25);
      const bool mostly_slow = quartile > (1 + least_excess) * short_one(i);
      return mostly_slow ? std::max(0.0, decile / short_one(i) - 1) / 0.6 : quartile / decile - 1;
    }
    /// The usual time of readings, if slow ones take `limit` times as long. Not the median: contended samples are taken
    /// again, so most readings may be slow. If more than three quarters are slow, it is one of the shortest.
    [[nodiscard]] double usual(std::size_t i, double limit) const {
      const double quartile = quantile(i, 0.25);
      return quartile > limit * short_one(i) ? short_one(i) : quartile;
    }
  };

  [[nodiscard]] double slowdown(const Reading& reading, std::size_t i) const {
    const double of_session = slowdown_of_session(i);
    if (reading.level->sorted[i].size() < least_readings) return of_session;
    const double time = i == 0 ? reading.times.chase.value : reading.times.stream.value;
    return std::max(1.0, time / reading.level->usual(i, 1 + least_excess) * of_session);
  }
  [[nodiscard]] bool slow(const Reading& reading, std::size_t i) const {
    const double slowdown = slowdown_of_session(i);
    if (reading.level->sorted[i].size() < least_readings) return slowdown > 1;
    const double time = i == 0 ? reading.times.chase.value : reading.times.stream.value;
    const double limit = 1 + std::max(least_excess, spans * typical_span(i));
    const double usual = reading.level->usual(i, limit);
    return time > limit * usual || (slowdown > 1 && time > (1 + least_excess) * usual / slowdown);
  }
  [[nodiscard]] double usual_of_session(std::size_t i) const {
    return session_.sorted[i].size() < least_of_session ? 0 : session_.usual(i, 1 + least_excess);
  }
  /// How many times as long readings take as in earlier sessions; 1 if that is not slow, or not known.
  [[nodiscard]] double slowdown_of_session(std::size_t i) const {
    const double slowdown = known_[i] > 0 ? usual_of_session(i) / known_[i] : 1;
    return slowdown > slow_session ? slowdown : 1;
  }
  /// The lower quartile of the spans: the span of works during which the machine was mostly quiet.
  [[nodiscard]] double typical_span(std::size_t i) const {
    if (!spans_) {
      spans_.emplace();
      for (std::size_t k = 0; k < 2; ++k) {
        std::vector<double> all;
        for (const auto& [work, level] : levels_)
          if (level.sorted[k].size() >= least_readings) all.push_back(level.span(k));
        (*spans_)[k] = all.empty() ? 0 : detail::quantile(all, 0.25);
      }
    }
    return (*spans_)[i];
  }

  std::map<std::string, Level> levels_;  // values must not move: readings point to them
  Level session_{};                      // at intervals
  std::array<double, 2> known_{};
  mutable std::optional<std::array<double, 2>> spans_{};
};

}  // namespace benanza::sampling
