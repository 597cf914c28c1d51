// SPDX-License-Identifier: Apache-2.0
// BestRows: the rows of a layer that its figures come from.
#pragma once

#include <benanza/results/expected_time.hpp>
#include <benanza/results/measurement.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The two figures of a rung. A bound excludes launches from a time, since an engine may launch differently; the
/// expected figure includes them. Each has its own best rows and its own cheapest partition: three kernels of 8.2 us in
/// all may be less work than one fused kernel of 6.0 us, and are not faster. If there is only a clock, both are the
/// same.
enum class Figure : std::uint8_t { bound, expected };

/// What a figure counts for one call of a row.
[[nodiscard]] inline Seconds time_of(const Measurement& row, Figure figure) {
  return figure == Figure::bound ? counted_time(row) : expected_time(row);
}

/// One layer's best rows.
struct BestRows {
  struct Of {
    const Measurement* fastest = nullptr;  ///< least time over thread counts
    const Measurement* cold = nullptr;     ///< least time with its weights out of the caches
  };
  Of bound{}, expected{};
  const Measurement* least_work = nullptr;  ///< least threads x expected time

  [[nodiscard]] const Of& of(Figure figure) const { return figure == Figure::bound ? bound : expected; }
  [[nodiscard]] std::array<const Measurement*, 5> all() const {
    return {bound.fastest, expected.fastest, bound.cold, expected.cold, least_work};
  }
};

/// By signature.
using BestOfLayers = std::map<std::string, BestRows>;
using RowsOfLayers = std::map<std::string, std::vector<const Measurement*>>;

[[nodiscard]] inline BestRows best_of(const std::vector<const Measurement*>& rows) {
  BestRows best;
  const auto take_faster = [](BestRows::Of& of, const Measurement& row, Figure figure) {
    const Figure other = figure == Figure::bound ? Figure::expected : Figure::bound;  // for ties
    const auto time = [&](const Measurement& m) { return std::pair(time_of(m, figure), time_of(m, other)); };
    if (row.cache == CacheState::cold_weights && (!of.cold || time(row) < time(*of.cold))) of.cold = &row;
    if (!of.fastest || time(row) < time(*of.fastest)) of.fastest = &row;
  };
  const auto work = [](const Measurement& row) { return expected_time(row) * row.threads; };
  for (const auto* row : rows) {
    take_faster(best.bound, *row, Figure::bound);
    take_faster(best.expected, *row, Figure::expected);
    if (!best.least_work || work(*row) < work(*best.least_work)) best.least_work = row;
  }
  return best;
}

/// The rows that one total may count.
struct RowFilter {
  const std::set<std::string>& signatures;
  int threads;                            ///< at most
  std::span<const std::string> backends;  ///< empty: all

  [[nodiscard]] bool operator()(const Measurement& row) const {
    return signatures.contains(row.signature) && row.threads <= threads && row.backend != "reference" &&
           (backends.empty() || std::find(backends.begin(), backends.end(), row.backend) != backends.end());
  }
};

[[nodiscard]] inline bool has_rounds(const Measurement& row) { return !row.rounds_s.empty(); }

}  // namespace benanza::detail
