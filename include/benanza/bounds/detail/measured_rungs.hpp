// SPDX-License-Identifier: Apache-2.0
// Rungs of measured calls: statistics of the sums over the columns of a SampleTable.
#pragma once

#include <benanza/base/detail/confidence_interval.hpp>
#include <benanza/base/detail/duration.hpp>
#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/ladder_input.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/provisional_rung.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/detail/rung_sums.hpp>
#include <benanza/bounds/detail/sample_table.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/comparison.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

inline bool has_row(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.best != nullptr; });
}

/// Without rounds: the sum of each row's p10.
template <class Sum>
Rung rung_without_rounds(const SampleTable& table, const FormPlan& bound, const RowTimes& times, const Sum& sum) {
  Rung rung;
  rung.common_rounds = std::none_of(bound.parts.begin(), bound.parts.end(), has_row);
  if (!rung.common_rounds && times.of_sessions()) {
    const std::size_t quiet = times.session().most_rounds;
    rung.doubt = std::to_string(quiet) + (quiet == 1 ? " round" : " rounds") +
                 " timed all layers together without a disturbance, and a total needs " + std::to_string(least_rounds);
    return rung;
  }
  rung.bound = sum(table.p10, Figure::bound);
  rung.median = sum(table.expected, Figure::expected);
  const Seconds most = sum(table.at_most, Figure::bound);
  rung.uncertainty = rung.bound->value > 0 ? (most - *rung.bound) / *rung.bound : 0;
  return rung;
}

/// Statistics of the sums in the common rounds. `sum`: of a column for a figure.
template <class Sum>
Rung rung_of_rounds(const SampleTable& table, const RowTimes& times, const Sum& sum) {
  Rung rung;
  // One for each round that was taken, so that the groups are those of the session.
  std::vector<double> totals(times.taken_rounds(), std::numeric_limits<double>::quiet_NaN()), expected;
  for (std::size_t i = 0; i < table.rounds.size(); ++i)
    totals[times.rounds()[i]] = sum(table.rounds[i], Figure::bound).value;
  for (const auto& column : table.expected_rounds) expected.push_back(sum(column, Figure::expected).value);
  rung.bound = Seconds{quantile(totals, 0.1)};
  rung.median = Seconds{quantile(expected.empty() ? totals : expected, 0.5)};
  // A sum of medians estimates the median of sums. It is scaled by the ratio of the first decile to the median in the
  // rounds.
  const double decile = *rung.bound / Seconds{quantile(totals, 0.5)};
  // Machines drift over minutes, and rounds are the last part of a session: earlier times of the same plans count.
  std::vector<double> visits;
  for (const auto& column : table.visits) visits.push_back(decile * sum(column, Figure::bound).value);
  // The groups of rounds cover only a part of a session; the processor's speed wandered over all of it.
  const Seconds doubt{half_interval(totals, 0.1, round_groups(totals.size()), visits) +
                      sum(table.ticks, Figure::bound).value};
  rung.uncertainty = rung.bound->value > 0 ? doubt / *rung.bound + times.wander() : 0;
  // Models that share layers share their times: the same sum, with the times of the rows in the quietest session of
  // each.
  const Seconds summed = sum(table.p10, Figure::bound), quiet = sum(table.quiet, Figure::bound);
  if (summed > quiet * (1 + default_tolerance) &&
      summed * (1 - rung.uncertainty) > sum(table.quiet_at_most, Figure::bound))
    rung.doubt = "all layers took " + duration_text(summed) + " when they were timed together, and " +
                 duration_text(quiet) + " in the quietest session of each";
  return rung;
}

inline bool lacks_rows(const FormPlan& plan) {
  return std::find(plan.status.begin(), plan.status.end(), Status::missing) != plan.status.end();
}

/// A layer with weights was measured, but never without them in the caches.
inline bool lacks_cold(const FormPlan& plan) {
  for (const auto& parts : plan.parts)
    for (const auto& part : parts)
      if (part.best && !part.best->bound.cold && weight_bytes(part.layer).value > 0) return true;
  return false;
}

inline bool saves_multiplications(const FormPlan& plan) {
  const auto saves = [](const Part& part) { return part.best && part.best->bound.fastest->saves_multiplications; };
  return std::any_of(plan.parts.begin(), plan.parts.end(),
                     [&](const auto& parts) { return std::any_of(parts.begin(), parts.end(), saves); });
}

/// Share of a total that is no measured time.
inline double floor_share(Seconds total, Seconds measured) {
  return total > measured && total.value > 0 ? 1 - measured / total : 0;
}

/// How the calls of a form are summed.
enum class Sum : std::uint8_t { sequential, parallel, resident };
struct MeasuredRung {
  RungName name;
  Sum sum;
};

/// Rungs of one form, from one pair of partitions. With a `doubt`, they are provisional.
inline void measure(Rungs& rungs, const LadderInput& in, Seconds floor, const std::string& doubt,
                    const LayerGraph& graph, const FormPlan& bound, const FormPlan& expected,
                    std::initializer_list<MeasuredRung> wanted) {
  const SampleTable table = make_table(graph, bound, expected, in.times, in.ceilings.timer_floor, in.device);
  const auto& levels = in.ceilings.levels;
  for (const auto& [name, how] : wanted) {
    const auto sum = [&, how = how](const Column& column, Figure figure) {
      switch (how) {
        case Sum::sequential: return sequential(graph, column);
        case Sum::parallel: return parallel(graph, column, in.threads, in.device);
        default: return resident(graph, figure == Figure::bound ? bound : expected, column, levels.back().in_front);
      }
    };
    Rung rung = !doubt.empty()              ? provisional_rung(table, in.times, doubt, floor, sum)
                : in.times.rounds().empty() ? rung_without_rounds(table, bound, in.times, sum)
                                            : rung_of_rounds(table, in.times, sum);
    if (rung.bound && std::max(*rung.bound, floor).value <= 0 && lacks_rows(bound)) continue;  // no time is known
    rung.saves_multiplications = saves_multiplications(bound);
    rung.floor_share = floor_share(sum(table.p10, Figure::bound), sum(without_floors(bound, table.p10), Figure::bound));
    rungs[static_cast<std::size_t>(name)] = std::move(rung);
  }
}

/// All measured rungs. With a `doubt`, they are provisional.
inline Rungs measured_ladder(const LadderInput& in, Seconds floor, const std::string& doubt) {
  Rungs rungs;
  const LayerGraph &single = in.model.single, &fused = in.model.fused;
  const FormPlans &bound = in.bound, &expected = in.expected;
  measure(rungs, in, floor, doubt, single, bound.single, expected.single,
          {{RungName::library, Sum::sequential}, {RungName::library_parallel, Sum::parallel}});
  measure(rungs, in, floor, doubt, fused, bound.fused, expected.fused,
          {{RungName::library_fused, Sum::sequential}, {RungName::library_fused_parallel, Sum::parallel}});
  if (!in.ceilings.levels.empty() && !lacks_cold(bound.single) && !lacks_cold(bound.resident)) {
    measure(rungs, in, floor, doubt, single, bound.single, expected.single,
            {{RungName::library_resident, Sum::resident}});
    measure(rungs, in, floor, doubt, fused, bound.resident, expected.resident,
            {{RungName::library_fused_resident, Sum::resident}});
  }
  return rungs;
}

}  // namespace benanza::detail
