// SPDX-License-Identifier: Apache-2.0
// RoundTrips: detects whether threads are far from each other, from readings of the round trip of a cache line between
// them (plan/round_trip.hpp). In a virtual machine, two processors may share a cache at one time and not at another.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/model/units.hpp>

#include <algorithm>
#include <vector>

namespace benanza {

/// Whether a round trip is that of threads farther apart than usual. `usual`: 0 if not known; then no trip is distant.
[[nodiscard]] constexpr bool is_distant(Seconds trip, Seconds usual) {
  constexpr double slow = 1.75;  // usual readings differ by a half
  return usual.value > 0 && trip.value > slow * usual.value;
}

class RoundTrips {
 public:
  /// `known`: the usual value on this machine; 0: nothing is known.
  explicit RoundTrips(Seconds known = {}) : known_(known) {}

  void add(Seconds reading) {
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), reading.value), reading.value);
  }
  /// The 25th percentile of the readings, since some are shorter if two processors are threads of one core. If it is
  /// slow compared with the known value, that value counts instead: a slow phase may last as long as the program. 0
  /// without readings.
  [[nodiscard]] Seconds usual() const {
    if (sorted_.empty()) return {};
    const Seconds own{detail::quantile_of_sorted(sorted_, 0.25)};
    return benanza::is_distant(own, known_) ? known_ : own;
  }
  /// Compares with what is known now.
  [[nodiscard]] bool is_distant(Seconds reading) const { return benanza::is_distant(reading, usual()); }

 private:
  Seconds known_{};
  std::vector<double> sorted_{};
};

}  // namespace benanza
