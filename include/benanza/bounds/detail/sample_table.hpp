// SPDX-License-Identifier: Apache-2.0
// SampleTable: the times of all calls of a form. It has a line for each call and a column for each sample.
#pragma once

#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace benanza::detail {

/// The times of one call in one sample.
struct CallTimes {
  Seconds time{};  ///< of its fastest row
  Seconds work{};  ///< the least threads x time
  Seconds cold{};  ///< of its fastest row with its weights out of the caches
};
/// The times of all calls of a form in one sample, in the order of `FormPlan::parts`.
using Column = std::vector<std::vector<CallTimes>>;

/// `of_row`: the time of a row in the sample. A modelled call takes its floor in every sample.
template <class TimeOfRow>
Column make_column(const FormPlan& plan, Figure figure, const TimeOfRow& of_row) {
  const auto times_of = [&](const Part& part) -> CallTimes {
    if (!part.best) return {part.floor, part.floor, part.floor};
    const BestRows::Of& best = part.best->of(figure);
    const Measurement& least_work = *part.best->least_work;
    return {.time = of_row(*best.fastest),
            .work = of_row(least_work) * least_work.threads,
            .cold = of_row(best.cold ? *best.cold : *best.fastest)};
  };
  Column column;
  for (const auto& parts : plan.parts) {
    column.emplace_back();
    for (const auto& part : parts) column.back().push_back(times_of(part));
  }
  return column;
}

/// Nothing for a call without a measured time.
inline Column without_floors(const FormPlan& plan, Column column) {
  for (std::size_t i = 0; i < column.size(); ++i)
    for (std::size_t k = 0; k < column[i].size(); ++k)
      if (!plan.parts[i][k].best) column[i][k] = {};
  return column;
}

/// How far the timer's resolution may be off in each call; nothing for a modelled one.
inline Column make_ticks(const FormPlan& plan, Seconds timer_floor) {
  return without_floors(plan, make_column(plan, Figure::bound, [&](const Measurement& row) {
                          return timer_floor / static_cast<double>(std::max<std::int64_t>(1, row.calls_per_sample));
                        }));
}

/// Columns of the expected figure are of the expected plan, all others of the plan of the bound.
struct SampleTable {
  Column p10{};                                     ///< of all samples of a row
  Column expected{};                                ///< without rounds: the median
  Column at_most{};                                 ///< without rounds: the upper end of the row's spread
  std::vector<Column> rounds{}, expected_rounds{};  ///< the common rounds that count
  std::vector<Column> visits{};                     ///< earlier times of the same plans
  Column ticks{};                                   ///< the timer's resolution
  /// On an idle machine, by the quietest session of each row.
  Column quiet{}, quiet_median{}, quiet_at_least{}, quiet_at_most{};
  /// Standard deviation of a sum of independent times, relative to the sum of their standard deviations.
  double canceled = 1;
};

/// By rows, since all calls of a row have its time in a round.
inline double canceled_share(const LayerGraph& graph, const FormPlan& plan, const RowTimes& times) {
  std::map<const Measurement*, double> calls;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const auto& part : plan.parts[i])
      if (part.best) calls[part.best->bound.fastest] += static_cast<double>(graph.layers[i].repeat);
  double sum = 0, squares = 0;
  for (const auto& [row, count] : calls) {
    const QuietTime quiet = times.quiet(*row);
    const double spread = count * std::max(0.0, (quiet.median - quiet.p10).value);
    sum += spread;
    squares += spread * spread;
  }
  return sum > 0 ? std::sqrt(squares) / sum : 1;
}

/// `device`: the expected plan may differ from that of the bound.
inline SampleTable make_table(const LayerGraph& graph, const FormPlan& bound, const FormPlan& expected,
                              const RowTimes& times, Seconds timer_floor, bool device) {
  const auto for_bound = [&](const auto& of_row) { return make_column(bound, Figure::bound, of_row); };
  const auto for_expected = [&](const auto& of_row) { return make_column(expected, Figure::expected, of_row); };
  const auto for_idle = [&](Seconds QuietTime::*which) {
    return for_bound([&, which](const Measurement& row) { return times.quiet(row).*which; });
  };
  SampleTable table{.p10 = for_bound([](const Measurement& row) { return p10(row); })};
  table.quiet = for_idle(&QuietTime::p10);
  table.quiet_median = for_idle(&QuietTime::median);
  table.quiet_at_least = for_idle(&QuietTime::at_least);
  table.quiet_at_most = for_idle(&QuietTime::at_most);
  table.canceled = canceled_share(graph, bound, times);
  if (times.rounds().empty()) {
    table.expected = for_expected([](const Measurement& row) { return expected_time(row); });
    table.at_most = for_bound([&](const Measurement& row) { return without_launch(row, times.doubtful(row)); });
    return table;
  }
  for (const std::size_t round : times.rounds()) {
    const auto in_round = [&](const Measurement& row) { return times.in_round(row, round); };
    table.rounds.push_back(for_bound([&](const Measurement& row) { return without_launch(row, in_round(row)); }));
    if (device) table.expected_rounds.push_back(for_expected(in_round));
  }
  for (std::size_t i = 0; i < times.visits(); ++i)
    table.visits.push_back(
        for_bound([&](const Measurement& row) { return without_launch(row, times.in_visit(row, i)); }));
  table.ticks = make_ticks(bound, timer_floor);
  return table;
}

}  // namespace benanza::detail
