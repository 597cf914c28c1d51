// SPDX-License-Identifier: Apache-2.0
// A rung without rounds in which all rows were quiet together.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/detail/sample_table.hpp>
#include <benanza/results/comparison.hpp>

#include <algorithm>
#include <string>

namespace benanza::detail {

/// Without quiet rounds: what the rows take on an idle machine, by their own least disturbed times. The first decile of
/// a sum lies below its median by the standard deviation of the sum, times a constant, where the sum of first deciles
/// lies below the sum of medians by the sum of the standard deviations: the rows' times are taken as independent. The
/// interval reaches from the sum of the first deciles, which is right if they depend on one condition, to the upper
/// ends of the rows. If the rounds took longer than the quietest sessions of the rows, the rows that only these rounds
/// timed may be as slow. The interval begins at `floor` or above.
template <class Sum>
Rung provisional_rung(const SampleTable& table, const RowTimes& times, const std::string& doubt, Seconds floor,
                      const Sum& sum) {
  Rung rung{.common_rounds = false, .doubt = doubt};
  const Seconds p10 = sum(table.quiet, Figure::bound), median = sum(table.quiet_median, Figure::bound);
  rung.bound = p10 + (median - p10) * (1 - table.canceled);
  rung.median = median;
  Seconds below = *rung.bound - std::min(p10, sum(table.quiet_at_least, Figure::bound));
  const Seconds above = sum(table.quiet_at_most, Figure::bound) - p10, in_rounds = sum(table.p10, Figure::bound);
  if (!times.rounds().empty() && in_rounds > p10) below = std::max(below, *rung.bound * (1 - p10 / in_rounds));
  below = std::min(below, std::max(Seconds{}, *rung.bound - floor));
  if (rung.bound->value > 0)
    rung.uncertainty = std::max(default_tolerance, std::max(below, above) / *rung.bound) + times.wander();
  return rung;
}

}  // namespace benanza::detail
