// SPDX-License-Identifier: Apache-2.0
// Bounds: the rungs of the ladder (docs/measuring.md, "The ladder"), from the partitions of a model for each of its
// figures.
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
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

class Bounds {
 public:
  Bounds(const ModelLayers& model, const FormPlans& bound, const FormPlans& expected, const RowTimes& times,
         const Ceilings& ceilings, int threads, bool device)
      : model_(model),
        bound_(bound),
        expected_(expected),
        times_(times),
        ceilings_(ceilings),
        threads_(threads),
        device_(device) {}

  [[nodiscard]] std::array<Rung, rung_count> ladder() const;
  /// For each If, the times of its branches in the `library` rung, the cheapest of which is in the bound.
  [[nodiscard]] std::vector<std::string> choices() const;
  /// Critical path of a form at expected times.
  [[nodiscard]] CriticalPath path(const LayerGraph& graph, const FormPlan& plan) const;
  /// Critical path of a form at analytic times without weights; for the fused form that of `roofline_parallel`.
  [[nodiscard]] CriticalPath floor_path(const LayerGraph& graph, const FormPlan& plan) const;
  /// The least time for the bytes of the model.
  [[nodiscard]] Seconds model_memory_floor() const;

 private:
  /// Time of one part: the given statistic for a measured part, the floor for a modelled one.
  using TimeOf = std::function<Seconds(const Part&)>;
  using TimeOfRow = std::function<Seconds(const Measurement&)>;
  struct PartTimes {
    TimeOf time{}, work{}, cold{};  ///< the best time, the least threads x time, the best without weights in the caches
  };
  using Total = std::function<Seconds(const FormPlan&, const PartTimes&)>;

  [[nodiscard]] static Seconds total_of(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time);
  [[nodiscard]] Seconds sequential(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds parallel(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds resident(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  /// The rung whose totals are taken per round: the bound and the expected figure, each from its own partition.
  [[nodiscard]] Rung measured(const FormPlan& bound, const FormPlan& expected, const Total& total) const;
  [[nodiscard]] bool knows_arithmetic() const;
  [[nodiscard]] Seconds model_floor() const;
  /// The lower limit of every total of these calls.
  [[nodiscard]] Seconds floor_of(const FormPlan& plan, Figure figure) const;
  void raise(Rung& rung, const FormPlan& bound, const FormPlan& expected) const;
  /// The lower of two rungs; the first if they are equal or if only that one is known.
  [[nodiscard]] Rung lower(const Rung& a, const Rung& b) const;

  const ModelLayers& model_;
  const FormPlans& bound_;
  const FormPlans& expected_;  ///< equals `bound_` if calls have no launch overhead
  const RowTimes& times_;
  const Ceilings& ceilings_;
  int threads_;
  bool device_;  ///< an accelerator, whose branches overlap
};

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

inline bool has_row(const std::vector<Part>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.best != nullptr; });
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

inline Seconds Bounds::total_of(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time) {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : plan.parts[i]) sum += time(part);
    amounts.push_back(sum.value * static_cast<double>(graph.layers[i].repeat));
  }
  return {cheapest_total(graph, amounts)};
}

inline Seconds Bounds::sequential(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const {
  return total_of(graph, plan, times.time);
}

/// CPU: max(critical path of each layer's best time, sum of each layer's least work / all threads). GPU: max(critical
/// path, model floor), since layers that saturate different units overlap.
inline Seconds Bounds::parallel(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : plan.parts[i]) sum += times.time(part);
    amounts.push_back(sum.value);
  }
  const Seconds path = longest(graph, amounts).length;
  if (device_) return std::max(path, model_floor());
  return std::max(path, total_of(graph, plan, times.work) / static_cast<double>(threads_));
}

/// Hot times cannot all be true at once if the weights exceed the caches. A tensor used twice is cold once, and so is
/// one that a loop reads in each pass.
inline Seconds Bounds::resident(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const {
  const Bytes caches = ceilings_.levels.empty() ? Bytes{} : ceilings_.levels.back().in_front;
  const auto total = [&](auto&& does_run) {
    std::vector<ResidentCall> calls;
    std::set<TensorId> seen;
    Seconds later{};
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Occurrence& at = graph.layers[i];
      if (at.repeat == 0 || !does_run(at)) continue;
      const double fresh = fresh_share(graph, at, seen);
      for (const auto& part : plan.parts[i]) {
        const Seconds hot = times.time(part);
        calls.push_back({.hot = hot, .cold = times.cold(part), .weights = weight_bytes(part.layer), .fresh = fresh});
        later += hot * static_cast<double>(at.repeat - 1);
      }
    }
    return resident_total(calls, caches) + later;
  };
  return least_execution(graph, total, std::less<>{});
}

inline Rung Bounds::measured(const FormPlan& bound, const FormPlan& expected, const Total& total) const {
  const auto by_row = [](Figure figure, const TimeOfRow& of_row) {
    return PartTimes{
        .time = [=](const Part& part) { return part.best ? of_row(*part.best->of(figure).fastest) : part.floor; },
        .work =
            [=](const Part& part) {
              return part.best ? of_row(*part.best->least_work) * part.best->least_work->threads : part.floor;
            },
        .cold =
            [=](const Part& part) {
              if (!part.best) return part.floor;
              const BestRows::Of& best = part.best->of(figure);
              return of_row(best.cold ? *best.cold : *best.fastest);
            }};
  };
  const auto bound_by = [&](const TimeOfRow& of_row) { return total(bound, by_row(Figure::bound, of_row)); };
  const auto expected_by = [&](const TimeOfRow& of_row) { return total(expected, by_row(Figure::expected, of_row)); };
  Rung rung;
  const auto& rounds = times_.rounds();
  const Seconds summed = bound_by([](const Measurement& row) { return p10(row); });
  if (rounds.empty()) {
    rung.common_rounds = std::none_of(bound.parts.begin(), bound.parts.end(), has_row);
    if (!rung.common_rounds && times_.of_sessions()) {
      rung.withheld = std::to_string(RowTimes::least_rounds) + " quiet rounds of all layers together (there are " +
                      std::to_string(times_.most_rounds()) + ")";
      return rung;
    }
    rung.bound = summed;
    rung.median = expected_by([](const Measurement& row) { return expected_time(row); });
    const Seconds most = bound_by([this](const Measurement& row) { return without_launch(row, times_.doubtful(row)); });
    rung.uncertainty = rung.bound->value > 0 ? (most - *rung.bound) / *rung.bound : 0;
    return rung;
  }
  // One for each round that was taken, so that the groups are those of the session.
  std::vector<double> totals(times_.taken_rounds(), std::numeric_limits<double>::quiet_NaN()), expected_totals;
  for (std::size_t round : rounds) {
    const auto in_round = [this, round](const Measurement& row) { return times_.in_round(row, round); };
    const auto for_bound = [&](const Measurement& row) { return without_launch(row, in_round(row)); };
    totals[round] = bound_by(for_bound).value;
    expected_totals.push_back(device_ ? expected_by(in_round).value : totals[round]);
  }
  rung.bound = Seconds{detail::quantile(totals, 0.1)};
  rung.median = Seconds{detail::quantile(expected_totals, 0.5)};
  // A sum of medians estimates the median of sums. It is scaled by the ratio of the first decile to the median in the
  // rounds.
  const double decile = *rung.bound / Seconds{detail::quantile(totals, 0.5)};
  // Machines drift over minutes, and rounds are the last part of a session: earlier times of the same plans count.
  std::vector<double> visits;
  for (std::size_t i = 0; i < times_.visits(); ++i) {
    const auto in_visit = [this, i](const Measurement& row) { return without_launch(row, times_.in_visit(row, i)); };
    visits.push_back(decile * bound_by(in_visit).value);
  }
  PartTimes ticks = by_row(Figure::bound, [this](const Measurement& row) {
    return ceilings_.timer_floor / static_cast<double>(std::max<std::int64_t>(1, row.calls_per_sample));
  });
  for (auto* tick : {&ticks.time, &ticks.work, &ticks.cold})
    *tick = [of = *tick](const Part& part) { return part.best ? of(part) : Seconds{}; };
  // The groups of rounds cover only a part of a session; the processor's speed wandered over all of it.
  const Seconds doubt{half_interval(totals, 0.1, round_groups(totals.size()), visits) + total(bound, ticks).value};
  rung.uncertainty = rung.bound->value > 0 ? doubt / *rung.bound + times_.wander() : 0;
  // Models that share layers share their times: the same sum, with the times of the rows in the quietest session of
  // each.
  const Seconds quiet = bound_by([this](const Measurement& row) { return times_.quietest(row); });
  const Seconds at_most = bound_by([this](const Measurement& row) { return times_.quietest_at_most(row); });
  if (summed > quiet * (1 + default_tolerance) && summed * (1 - rung.uncertainty) > at_most)
    rung.withheld = "quiet rounds: all layers took " + std::to_string(summed.value * 1e3) +
                    " ms when they were timed together, and " + std::to_string(quiet.value * 1e3) +
                    " ms in the quietest session of each";
  return rung;
}

inline Seconds Bounds::model_memory_floor() const {
  return ceilings_.memory_floor(model_.single.model_reads, model_.single.model_writes);
}

/// max over arithmetic types of (FLOPs in it / its peak), and the memory floor of the model: inputs and weights touched
/// once, outputs.
inline Seconds Bounds::model_floor() const {
  std::map<DataType, std::vector<double>> by_type;
  for (std::size_t i = 0; i < model_.fused.layers.size(); ++i) {
    auto& amounts = by_type[arithmetic_type(model_.fused.layers[i].layer)];
    amounts.resize(model_.fused.layers.size(), 0.0);
    amounts[i] = bound_.fused.flops[i] * static_cast<double>(model_.fused.layers[i].repeat);
  }
  Seconds floor = model_memory_floor();
  for (const auto& [type, amounts] : by_type)
    floor = std::max(floor, ceilings_.arithmetic_floor(type, {cheapest_total(model_.fused, amounts)}));
  return floor;
}

/// Whether peaks are known for all arithmetic except a hundredth; otherwise floors would cover only the rest.
inline bool Bounds::knows_arithmetic() const {
  constexpr double most_unknown = 0.01;
  double all = 0, unknown = 0;
  for (std::size_t i = 0; i < model_.fused.layers.size(); ++i) {
    const Occurrence& at = model_.fused.layers[i];
    const double flops = bound_.fused.flops[i] * static_cast<double>(at.repeat);
    all += flops;
    if (!has_arithmetic_floor(at.layer, ceilings_)) unknown += flops;
  }
  return unknown <= most_unknown * all;
}

inline bool saves_multiplications(const FormPlan& plan, Figure figure) {
  const auto saves = [figure](const Part& part) {
    return part.best && part.best->of(figure).fastest->saves_multiplications;
  };
  return std::any_of(plan.parts.begin(), plan.parts.end(),
                     [&](const auto& parts) { return std::any_of(parts.begin(), parts.end(), saves); });
}

/// The model floor; for plans that save multiplications its memory part.
inline Seconds Bounds::floor_of(const FormPlan& plan, Figure figure) const {
  return saves_multiplications(plan, figure) ? model_memory_floor() : model_floor();
}

inline void Bounds::raise(Rung& rung, const FormPlan& bound, const FormPlan& expected) const {
  rung.saves_multiplications = saves_multiplications(bound, Figure::bound);
  const Seconds floor = floor_of(bound, Figure::bound);
  if (!rung.bound || *rung.bound >= floor) return;
  constexpr double rounding = 1e-9;  // the same floors summed in another order
  if (*rung.bound < floor * (1 - rounding)) rung.raised = floor - *rung.bound;
  rung.bound = floor;
  if (rung.median) rung.median = std::max(*rung.median, floor_of(expected, Figure::expected));
}

/// On a device the expected figure has another partition than the bound, and the other rung may have the lower one.
inline Rung Bounds::lower(const Rung& a, const Rung& b) const {
  Rung result = b.bound && (!a.bound || *b.bound < *a.bound) ? b : a;
  if (device_ && a.median && b.median) result.median = std::min(*a.median, *b.median);
  return result;
}

inline std::array<Rung, rung_count> Bounds::ladder() const {
  std::array<Rung, rung_count> rungs;
  const auto at = [&](RungName name) -> Rung& { return rungs[static_cast<std::size_t>(name)]; };
  const auto amounts = [&](const std::vector<Seconds>& floors) {
    std::vector<double> result;
    for (const auto& floor : floors) result.push_back(floor.value);
    return result;
  };
  const auto repeated = [&](std::vector<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= static_cast<double>(model_.fused.layers[i].repeat);
    return values;
  };
  if (knows_arithmetic() && !ceilings_.peaks.empty() && !ceilings_.levels.empty()) {
    at(RungName::model_floor).bound = model_floor();
    at(RungName::roofline).bound =
        std::max(model_floor(), Seconds{cheapest_total(model_.fused, repeated(amounts(bound_.fused.floors)))});
    at(RungName::roofline_parallel).bound =
        std::max(longest(model_.fused, amounts(bound_.fused.floors_without_weights)).length, model_floor());
    Bytes bytes{};
    std::vector<double> moved;
    for (const auto& layer : model_.fused.layers)
      moved.push_back(is_movement(layer.layer) ? 0
                                               : (layer.read_weights + layer.read_activations + layer.written).value);
    bytes.value = cheapest_total(model_.fused, repeated(moved));
    if (ceilings_.memory_bandwidth().value > 0)
      at(RungName::roofline_memory).bound = bytes / ceilings_.memory_bandwidth();
  }
  std::string withheld;
  const auto rung_of = [&](const LayerGraph& graph, FormPlan FormPlans::*form, auto member) {
    const FormPlan &bound = bound_.*form, &expected = expected_.*form;
    Rung rung = measured(bound, expected, [&](const FormPlan& plan, const PartTimes& times) {
      return (this->*member)(graph, plan, times);
    });
    if (withheld.empty()) withheld = rung.withheld;
    raise(rung, bound, expected);
    const bool is_known = !rung.bound || rung.bound->value > 0 || !lacks_rows(bound);
    return is_known ? rung : Rung{};  // no layer has a known time
  };
  Rung library = rung_of(model_.single, &FormPlans::single, &Bounds::sequential);
  Rung library_parallel = rung_of(model_.single, &FormPlans::single, &Bounds::parallel);
  Rung fused = rung_of(model_.fused, &FormPlans::fused, &Bounds::sequential);
  Rung fused_parallel = rung_of(model_.fused, &FormPlans::fused, &Bounds::parallel);
  const bool has_resident = !ceilings_.levels.empty() && !lacks_cold(bound_.single) && !lacks_cold(bound_.resident);
  Rung resident, fused_resident;
  if (has_resident) {
    resident = rung_of(model_.single, &FormPlans::single, &Bounds::resident);
    fused_resident = rung_of(model_.fused, &FormPlans::resident, &Bounds::resident);
  }
  if (!withheld.empty()) {  // all are from the same rounds
    for (const auto name : measured_rungs) at(name) = {.withheld = withheld};
    return rungs;
  }
  // Not fusing is a partition too, and one layer after the other is a schedule.
  fused = lower(fused, library);
  fused_parallel = lower(fused_parallel, library_parallel);
  library_parallel = lower(library_parallel, library);
  fused_parallel = lower(fused_parallel, fused);
  at(RungName::library) = library;
  at(RungName::library_fused) = fused;
  at(RungName::library_parallel) = library_parallel;
  at(RungName::library_fused_parallel) = fused_parallel;
  if (!has_resident) return rungs;
  fused_resident = lower(fused_resident, resident);
  // In single rounds another partition may have been faster; what holds for more engines holds for these.
  if (fused_resident.bound && fused.bound && *fused_resident.bound < *fused.bound) fused_resident = fused;
  if (resident.bound && library.bound && *resident.bound < *library.bound) resident = library;
  at(RungName::library_resident) = resident;
  at(RungName::library_fused_resident) = fused_resident;
  return rungs;
}

inline std::vector<std::string> Bounds::choices() const {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < model_.single.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : bound_.single.parts[i]) sum += part.time(Figure::bound);
    amounts.push_back(sum.value * static_cast<double>(model_.single.layers[i].repeat));
  }
  const ResolvedChoices resolved = resolve(model_.single, amounts);
  std::vector<std::string> result;
  for (std::size_t c = 0; c < model_.single.choices.size(); ++c) {
    const Choice& choice = model_.single.choices[c];
    std::string text = "'" + choice.node + "' (If):";
    for (std::size_t b = 0; b < choice.labels.size(); ++b) {
      text += (b ? ", " : " ") + choice.labels[b] + " " + std::to_string(resolved.totals[c][b] * 1e3) + " ms";
      if (b == resolved.taken[c]) text += " (in the bound)";
    }
    result.push_back(text);
  }
  return result;
}

inline CriticalPath Bounds::path(const LayerGraph& graph, const FormPlan& plan) const {
  std::vector<double> amounts;
  for (const auto& parts : plan.parts) {
    Seconds sum{};
    for (const auto& part : parts) sum += part.time(Figure::expected);
    amounts.push_back(sum.value);
  }
  return longest(graph, amounts);
}

inline CriticalPath Bounds::floor_path(const LayerGraph& graph, const FormPlan& plan) const {
  std::vector<double> amounts;
  for (const auto& floor : plan.floors_without_weights) amounts.push_back(floor.value);
  return longest(graph, amounts);
}

}  // namespace benanza::detail
