// SPDX-License-Identifier: Apache-2.0
// The ladder (docs/measuring.md, "The ladder"). The times of all calls are a table: a line for each call, a column for
// each sample. A measured rung is a sum over the columns, and its bound and uncertainty are statistics of these sums.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/resident.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/detail/confidence_interval.hpp>
#include <benanza/detail/quantile.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// Everything that the rungs are made of.
struct LadderInput {
  const ModelLayers& model;
  const FormPlans& bound;
  const FormPlans& expected;  ///< equals `bound` if calls have no launch overhead
  const RowTimes& times;
  const Ceilings& ceilings;
  int threads = 1;
  bool device = false;  ///< an accelerator, whose branches overlap
};

using Rungs = std::array<Rung, rung_count>;
[[nodiscard]] Rungs ladder(const LadderInput& in);
/// The model floor if only direct algorithms existed; empty if there is no model floor.
[[nodiscard]] std::optional<Seconds> direct_floor(const LadderInput& in);

// The relations between rungs.

enum class Kept : std::uint8_t {
  raised,   ///< a bound for more engines also bounds fewer: the higher rung is raised
  lowered,  ///< every schedule of the higher rung is also one of the lower rung: the lower rung is lowered
  checked,  ///< only scripts/check-measurements checks it
};
/// `low` is at most `high`.
struct Relation {
  RungName low, high;
  Kept kept;
};
/// In the order in which they are established.
inline constexpr std::array relations{
    Relation{RungName::model_floor, RungName::roofline_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::roofline, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::library_parallel, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused, Kept::raised},
    Relation{RungName::model_floor, RungName::library, Kept::raised},
    Relation{RungName::model_floor, RungName::library_fused_resident, Kept::raised},
    Relation{RungName::model_floor, RungName::library_resident, Kept::raised},
    Relation{RungName::library_fused, RungName::library, Kept::lowered},
    Relation{RungName::library_fused_parallel, RungName::library_parallel, Kept::lowered},
    Relation{RungName::library_parallel, RungName::library, Kept::lowered},
    Relation{RungName::library_fused_parallel, RungName::library_fused, Kept::lowered},
    Relation{RungName::library_fused_resident, RungName::library_resident, Kept::lowered},
    Relation{RungName::library_fused, RungName::library_fused_resident, Kept::raised},
    Relation{RungName::library, RungName::library_resident, Kept::raised},
    Relation{RungName::roofline_parallel, RungName::roofline, Kept::checked},
    Relation{RungName::roofline, RungName::library_fused, Kept::checked},
};

/// On a device the expected figure has another partition than the bound, and the other rung may have the lower one.
inline Rung lower(const Rung& a, const Rung& b, bool device) {
  Rung result = b.bound && (!a.bound || *b.bound < *a.bound) ? b : a;
  if (device && a.median && b.median) result.median = std::min(*a.median, *b.median);
  return result;
}

inline void establish(Kept kept, Rung& low, Rung& high, bool device) {
  if (kept == Kept::lowered) low = lower(low, high, device);
  if (kept != Kept::raised || !low.bound || !high.bound || *high.bound >= *low.bound) return;
  constexpr double rounding = 1e-9;  // the same floors summed in another order
  if (low.median) {                  // in single rounds another partition may have been faster
    high = low;
    return;
  }
  if (high.median && *high.bound < *low.bound * (1 - rounding)) high.raised = *low.bound - *high.bound;
  high.bound = low.bound;
  if (high.median) high.median = std::max(*high.median, *low.bound);
}

// Sums over a column.

/// The times of one call in one sample.
struct CallTimes {
  Seconds time{};  ///< of its fastest row
  Seconds work{};  ///< the least threads x time
  Seconds cold{};  ///< of its fastest row with its weights out of the caches
};
/// The times of all calls of a form in one sample, in the order of `FormPlan::parts`.
using Column = std::vector<std::vector<CallTimes>>;

inline std::vector<double> by_layer(const Column& column, Seconds CallTimes::*which) {
  std::vector<double> result;
  for (const auto& calls : column) {
    Seconds sum{};
    for (const auto& call : calls) sum += call.*which;
    result.push_back(sum.value);
  }
  return result;
}

/// Each amount as often as its layer runs, in the cheapest execution.
inline Seconds total_of(const LayerGraph& graph, std::vector<double> amounts) {
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] *= static_cast<double>(graph.layers[i].repeat);
  return {cheapest_total(graph, amounts)};
}

/// One call after the other.
inline Seconds sequential(const LayerGraph& graph, const Column& column) {
  return total_of(graph, by_layer(column, &CallTimes::time));
}

/// The critical path of each layer's best time. A processor also takes at least the sum of each layer's least work,
/// divided by all threads; the branches of a device overlap, since they use different units.
inline Seconds parallel(const LayerGraph& graph, const Column& column, int threads, bool device) {
  const Seconds path = longest(graph, by_layer(column, &CallTimes::time)).length;
  if (device) return path;
  return std::max(path, total_of(graph, by_layer(column, &CallTimes::work)) / static_cast<double>(threads));
}

/// Share of an occurrence's weights that no earlier occurrence read; they are added to `seen`.
inline double fresh_share(const LayerGraph& graph, const Occurrence& at, std::set<TensorId>& seen) {
  double all = 0, fresh = 0;
  for (const auto& input : at.inputs) {
    if (!input) continue;
    for (const auto& [base, bytes] : graph.tensors[*input].behind) {
      if (!graph.tensors[base].constant) continue;
      all += bytes.value;
      if (seen.insert(base).second) fresh += bytes.value;
    }
  }
  return all > 0 ? fresh / all : 1;
}

/// One call after the other, with at most `caches` bytes of weights in the caches: cached times cannot all be true at
/// once if the weights exceed the caches. A tensor used twice is cold once, and so is one that a loop reads in each
/// pass.
inline Seconds resident(const LayerGraph& graph, const FormPlan& plan, const Column& column, Bytes caches) {
  const auto total = [&](auto&& does_run) {
    std::vector<ResidentCall> calls;
    std::set<TensorId> seen;
    Seconds later{};
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Occurrence& at = graph.layers[i];
      if (at.repeat == 0 || !does_run(at)) continue;
      const double fresh = fresh_share(graph, at, seen);
      for (std::size_t k = 0; k < column[i].size(); ++k) {
        const auto& [hot, work, cold] = column[i][k];
        calls.push_back({.hot = hot, .cold = cold, .weights = weight_bytes(plan.parts[i][k].layer), .fresh = fresh});
        later += hot * static_cast<double>(at.repeat - 1);
      }
    }
    return resident_total(calls, caches) + later;
  };
  return least_execution(graph, total, std::less<>{});
}

// The table of a form.

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

/// How far the timer's resolution may be off in each call; nothing for a modelled one.
inline Column make_ticks(const FormPlan& plan, Seconds timer_floor) {
  Column ticks = make_column(plan, Figure::bound, [&](const Measurement& row) {
    return timer_floor / static_cast<double>(std::max<std::int64_t>(1, row.calls_per_sample));
  });
  for (std::size_t i = 0; i < ticks.size(); ++i)
    for (std::size_t k = 0; k < ticks[i].size(); ++k)
      if (!plan.parts[i][k].best) ticks[i][k] = {};
  return ticks;
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
  double cancelled = 1;
};

/// By rows, since all calls of a row have its time in a round.
inline double cancelled_share(const LayerGraph& graph, const FormPlan& plan, const RowTimes& times) {
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

inline SampleTable make_table(const LayerGraph& graph, const FormPlan& bound, const FormPlan& expected,
                              const LadderInput& in) {
  const RowTimes& times = in.times;
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
  table.cancelled = cancelled_share(graph, bound, times);
  if (times.rounds().empty()) {
    table.expected = for_expected([](const Measurement& row) { return expected_time(row); });
    table.at_most = for_bound([&](const Measurement& row) { return without_launch(row, times.doubtful(row)); });
    return table;
  }
  for (const std::size_t round : times.rounds()) {
    const auto in_round = [&](const Measurement& row) { return times.in_round(row, round); };
    table.rounds.push_back(for_bound([&](const Measurement& row) { return without_launch(row, in_round(row)); }));
    if (in.device) table.expected_rounds.push_back(for_expected(in_round));
  }
  for (std::size_t i = 0; i < times.visits(); ++i)
    table.visits.push_back(
        for_bound([&](const Measurement& row) { return without_launch(row, times.in_visit(row, i)); }));
  table.ticks = make_ticks(bound, in.ceilings.timer_floor);
  return table;
}

// Measured rungs.

inline bool has_row(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.best != nullptr; });
}

/// Without rounds: the sum of each row's p10.
template <class Sum>
Rung rung_without_rounds(const SampleTable& table, const FormPlan& bound, const RowTimes& times, const Sum& sum) {
  Rung rung;
  rung.common_rounds = std::none_of(bound.parts.begin(), bound.parts.end(), has_row);
  if (!rung.common_rounds && times.of_sessions()) {
    rung.doubt = "only " + std::to_string(times.most_rounds()) +
                 " rounds that time all layers together were quiet, and a total takes " +
                 std::to_string(RowTimes::least_rounds);
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
    rung.doubt = "all layers took " + std::to_string(summed.value * 1e3) + " ms when they were timed together, and " +
                 std::to_string(quiet.value * 1e3) + " ms in the quietest session of each";
  return rung;
}

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
  rung.bound = p10 + (median - p10) * (1 - table.cancelled);
  rung.median = median;
  Seconds below = *rung.bound - std::min(p10, sum(table.quiet_at_least, Figure::bound));
  const Seconds above = sum(table.quiet_at_most, Figure::bound) - p10, in_rounds = sum(table.p10, Figure::bound);
  if (!times.rounds().empty() && in_rounds > p10) below = std::max(below, *rung.bound * (1 - p10 / in_rounds));
  below = std::min(below, std::max(Seconds{}, *rung.bound - floor));
  if (rung.bound->value > 0)
    rung.uncertainty = std::max(default_tolerance, std::max(below, above) / *rung.bound) + times.wander();
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

// Analytic rungs.

/// The memory floor of the model's bytes: inputs and weights touched once, outputs. Behind each level, a recurrence
/// reads again what exceeds the caches.
inline Seconds model_memory_floor(const LayerGraph& single, const Ceilings& ceilings) {
  Seconds floor{};
  for (const auto& level : ceilings.levels) {
    Bytes reads = single.model_reads;
    for (const auto& [weights, times] : single.rereads)
      reads += Bytes{std::max(0.0, weights.value - level.in_front.value)} * times;
    floor = std::max(floor, Ceilings{.levels = {level}}.memory_floor(reads, single.model_writes));
  }
  return floor;
}

/// max over arithmetic types of (FLOPs in it / its peak), and the memory floor of the model. `flops`: of each layer of
/// the fused form.
inline Seconds model_floor(const LadderInput& in, const std::vector<double>& flops) {
  const LayerGraph& fused = in.model.fused;
  std::map<DataType, std::vector<double>> by_type;
  for (std::size_t i = 0; i < fused.layers.size(); ++i) {
    auto& amounts = by_type[arithmetic_type(fused.layers[i].layer)];
    amounts.resize(fused.layers.size(), 0.0);
    amounts[i] = flops[i];
  }
  Seconds floor = model_memory_floor(in.model.single, in.ceilings);
  for (const auto& [type, amounts] : by_type)
    floor = std::max(floor, in.ceilings.arithmetic_floor(type, {total_of(fused, amounts).value}));
  return floor;
}

/// Whether ceilings are known, and peaks for all arithmetic except a hundredth; otherwise floors would cover only the
/// rest.
inline bool has_floors(const LadderInput& in) {
  constexpr double most_unknown = 0.01;
  double all = 0, unknown = 0;
  for (std::size_t i = 0; i < in.model.fused.layers.size(); ++i) {
    const Occurrence& at = in.model.fused.layers[i];
    const double flops = in.bound.fused.flops[i] * static_cast<double>(at.repeat);
    all += flops;
    if (!has_arithmetic_floor(at.layer, in.ceilings)) unknown += flops;
  }
  return unknown <= most_unknown * all && !in.ceilings.peaks.empty() && !in.ceilings.levels.empty();
}

inline std::optional<Seconds> direct_floor(const LadderInput& in) {
  return has_floors(in) ? std::optional(model_floor(in, in.bound.fused.direct_flops)) : std::nullopt;
}

inline std::vector<double> values_of(const std::vector<Seconds>& times) {
  std::vector<double> result;
  for (const auto& time : times) result.push_back(time.value);
  return result;
}

/// All bytes of all groups from memory.
inline std::optional<Seconds> roofline_memory(const LadderInput& in) {
  std::vector<double> moved;
  for (const auto& at : in.model.fused.layers)
    moved.push_back(is_movement(at.layer) ? 0 : (at.read_weights + at.read_activations + at.written).value);
  const auto bandwidth = in.ceilings.memory_bandwidth();
  if (!(bandwidth.value > 0)) return std::nullopt;
  return Bytes{total_of(in.model.fused, std::move(moved)).value} / bandwidth;
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
  const SampleTable table = make_table(graph, bound, expected, in);
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

inline Rungs ladder(const LadderInput& in) {
  const LayerGraph& fused = in.model.fused;
  const FormPlans& bound = in.bound;
  const Seconds floor = model_floor(in, bound.fused.flops);
  Rungs rungs = measured_ladder(in, floor, in.times.doubt());
  const auto in_doubt = std::find_if(rungs.begin(), rungs.end(), [](const Rung& rung) { return rung.provisional(); });
  if (in_doubt != rungs.end() && in.times.doubt().empty())  // all are from the same rounds
    rungs = measured_ladder(in, floor, std::string(in_doubt->doubt));
  const auto at = [&](RungName name) -> Rung& { return rungs[static_cast<std::size_t>(name)]; };
  at(RungName::model_floor).bound = floor;
  const bool has_analytic = has_floors(in);
  if (has_analytic) {
    at(RungName::roofline).bound = total_of(fused, values_of(bound.fused.floors));
    at(RungName::roofline_parallel).bound = longest(fused, values_of(bound.fused.floors_without_weights)).length;
    at(RungName::roofline_memory).bound = roofline_memory(in);
  }
  for (const auto& [low, high, kept] : relations) establish(kept, at(low), at(high), in.device);
  if (!has_analytic) at(RungName::model_floor) = {};
  return rungs;
}

}  // namespace benanza::detail
