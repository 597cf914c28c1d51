// SPDX-License-Identifier: Apache-2.0
// Sweep: a model's latency and throughput over batch sizes or sizes of one symbolic dimension, and the point at which
// throughput stops gaining.
//
// Throughput counts inputs per second (for an axis other than the batch its elements, such as tokens for a sequence
// length), at the expected latency of the headline.
#pragma once

#include <benanza/bounds/analysis.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace benanza {

struct SweepPoint {
  std::int64_t value = 0;            ///< size along the axis
  std::optional<Seconds> latency{};  ///< `Rung::expected`
  std::optional<Seconds> bound{};    ///< p10 of rounds
  double uncertainty = 0;            ///< the bound's, relative
  double floor_share = 0;            ///< as `Rung::floor_share`
  std::optional<Seconds> model_floor{};
  std::optional<double> throughput{};  ///< units per second at `latency`; empty while rows are missing
  bool partial = false;                ///< rows are missing: the bound is weak, and the latency lacks them
  bool provisional = false;            ///< as `Rung::provisional`
};

struct Sweep {
  std::string model{};
  std::string axis{};                ///< `batch`, or a symbolic dimension
  std::string fixed{};               ///< the other dimensions: `batch 1`
  std::string unit{};                ///< what throughput counts: `inputs`, or `seq`
  RungName rung{};                   ///< the rung that latency and bound belong to: the headline of the first point
  std::vector<SweepPoint> points{};  ///< by value, ascending

  /// Index of the point after which throughput no longer gains 5 %: no later one is that much above it. Empty if that
  /// is true only of the last point, which shows no limit, or if a throughput is unknown.
  [[nodiscard]] std::optional<std::size_t> last_gain() const {
    constexpr double gain = 1.05;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const auto gains = [&](const SweepPoint& later) { return *later.throughput >= gain * *points[i].throughput; };
      for (const auto& point : points)
        if (!point.throughput) return std::nullopt;
      if (std::none_of(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(), gains)) return i;
    }
    return std::nullopt;
  }
};

}  // namespace benanza
