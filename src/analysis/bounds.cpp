// SPDX-License-Identifier: Apache-2.0
#include "bounds.hpp"

#include "branches.hpp"
#include <benanza/detail/quantile.hpp>

#include <algorithm>
#include <map>

namespace benanza::analysis {

namespace {

/// Longest chain of the layers that run; loops count their carried part in sequence. A branch of less work may have the
/// longer chain, so all executions are tried and the one of the shortest path counts; of too many, what lies in
/// branches takes no time.
CriticalPath longest(const LayerGraph& graph, std::span<const double> amounts) {
  const auto path = [&](auto&& does_run) {
    std::vector<Seconds> times(amounts.size());
    std::vector<std::vector<Predecessor>> edges(amounts.size());
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const Occurrence& at = graph.layers[i];
      if (at.repeat == 0 || !does_run(at)) continue;
      times[i] = {amounts[i] * static_cast<double>(at.serial_repeat)};
      edges[i] = at.predecessors;
    }
    return critical_path(times, edges);
  };
  constexpr std::size_t most = 256;
  std::size_t executions = 1;
  for (const auto& choice : graph.choices) executions = std::min(most + 1, executions * choice.labels.size());
  if (executions > most) return path([](const Occurrence& at) { return at.branches.empty(); });
  CriticalPath shortest;
  for (std::size_t e = 0; e < executions; ++e) {
    ResolvedChoices execution;
    for (std::size_t rest = e; const auto& choice : graph.choices) {
      execution.taken.push_back(rest % choice.labels.size());
      rest /= choice.labels.size();
    }
    CriticalPath next = path([&](const Occurrence& at) { return runs(at, execution); });
    if (e == 0 || next.length < shortest.length) shortest = std::move(next);
  }
  return shortest;
}

/// Half the range of a statistic over at least four consecutive groups of rounds, relative to its value over all.
template <class Statistic>
double half_range(const std::vector<double>& totals, Statistic statistic) {
  constexpr std::size_t groups = 4;
  if (totals.size() < groups) return 1;
  double least = 0, most = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto begin = totals.begin() + static_cast<std::ptrdiff_t>(g * totals.size() / groups);
    const auto end = totals.begin() + static_cast<std::ptrdiff_t>((g + 1) * totals.size() / groups);
    const double value = statistic(std::vector<double>(begin, end));
    least = g == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  }
  return (most - least) / 2 / statistic(totals);
}

double low(const std::vector<double>& values) { return detail::quantile(values, 0.1); }

}  // namespace

Seconds Bounds::sequential(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time) const {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : plan.parts[i]) sum += time(part);
    amounts.push_back(sum.value * static_cast<double>(graph.layers[i].repeat));
  }
  return {cheapest_total(graph, amounts)};
}

/// CPU: max(critical path of each layer's best time, sum of each layer's least work / all threads).
Seconds Bounds::parallel(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time, const TimeOf& work) const {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : plan.parts[i]) sum += time(part);
    amounts.push_back(sum.value);
  }
  return std::max(longest(graph, amounts).length, sequential(graph, plan, work) / static_cast<double>(threads_));
}

Rung Bounds::measured(const LayerGraph& graph, const FormPlan& plan, bool is_parallel) const {
  const auto total = [&](const TimeOf& time, const TimeOf& work) {
    return is_parallel ? parallel(graph, plan, time, work).value : sequential(graph, plan, time).value;
  };
  const auto by_row = [](auto&& of_row) {
    return std::pair<TimeOf, TimeOf>{
        [of_row](const Part& part) { return part.best ? of_row(*part.best->fastest) : part.floor; },
        [of_row](const Part& part) {
          return part.best ? of_row(*part.best->least_work) * part.best->least_work->threads : part.floor;
        }};
  };
  Rung rung;
  const auto& rounds = times_.rounds();
  if (rounds.empty()) {
    const auto [low_time, low_work] = by_row([](const Measurement& row) { return p10(row); });
    const auto [mid_time, mid_work] = by_row([](const Measurement& row) { return RowTimes::expected(row); });
    rung.bound = Seconds{total(low_time, low_work)};
    rung.median = Seconds{total(mid_time, mid_work)};
    rung.uncertainty = rung.bound->value > 0 ? (*rung.median - *rung.bound) / *rung.bound : 0;
    const auto has_row = [](const std::vector<Part>& parts) {
      return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.best != nullptr; });
    };
    rung.common_rounds = std::none_of(plan.parts.begin(), plan.parts.end(), has_row);
    return rung;
  }
  std::vector<double> totals;
  for (std::size_t round : rounds) {
    const auto [time, work] = by_row([this, round](const Measurement& row) { return times_.in_round(row, round); });
    totals.push_back(total(time, work));
  }
  rung.bound = Seconds{low(totals)};
  rung.median = Seconds{detail::quantile(totals, 0.5)};
  const auto [tick, tick_of_work] = by_row([this](const Measurement& row) {
    return ceilings_.timer_floor / static_cast<double>(std::max<std::int64_t>(1, row.calls_per_sample));
  });
  const double resolution = rung.bound->value > 0
                                ? total([&](const Part& part) { return part.best ? tick(part) : Seconds{}; },
                                        [&](const Part& part) { return part.best ? tick_of_work(part) : Seconds{}; }) /
                                      rung.bound->value
                                : 0;
  rung.uncertainty = half_range(totals, low) + resolution;
  return rung;
}

Seconds Bounds::model_memory_floor() const {
  return ceilings_.memory_floor(model_.single.model_reads, model_.single.model_writes);
}

/// max over arithmetic types of (FLOPs in it / its peak), and the memory floor of the model: inputs and weights touched
/// once, outputs.
Seconds Bounds::model_floor() const {
  std::map<DataType, std::vector<double>> by_type;
  for (std::size_t i = 0; i < model_.fused.layers.size(); ++i) {
    auto& amounts = by_type[arithmetic_type(model_.fused.layers[i].layer)];
    amounts.resize(model_.fused.layers.size(), 0.0);
    amounts[i] = fused_.flops[i] * static_cast<double>(model_.fused.layers[i].repeat);
  }
  Seconds floor = model_memory_floor();
  for (const auto& [type, amounts] : by_type)
    floor = std::max(floor, ceilings_.arithmetic_floor(type, {cheapest_total(model_.fused, amounts)}));
  return floor;
}

/// No rung may lie below the model floor; one whose plans save multiplications not below its memory part.
void Bounds::raise(Rung& rung, const FormPlan& plan) const {
  bool saves = false;
  for (const auto& parts : plan.parts)
    for (const auto& part : parts) saves = saves || (part.best && part.best->fastest->saves_multiplications);
  const Seconds floor = saves ? model_memory_floor() : model_floor();
  if (!rung.bound || *rung.bound >= floor) return;
  constexpr double rounding = 1e-9;  // the same floors summed in another order
  if (*rung.bound < floor * (1 - rounding)) rung.raised = floor - *rung.bound;
  rung.bound = floor;
  if (rung.median) rung.median = std::max(*rung.median, floor);
}

std::array<Rung, rung_count> Bounds::ladder() const {
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
  if (!ceilings_.peaks.empty() && !ceilings_.levels.empty()) {
    at(RungName::model_floor).bound = model_floor();
    at(RungName::roofline).bound =
        std::max(model_floor(), Seconds{cheapest_total(model_.fused, repeated(amounts(fused_.floors)))});
    at(RungName::roofline_parallel).bound =
        std::max(longest(model_.fused, amounts(fused_.floors_without_weights)).length, model_floor());
    Bytes bytes{};
    std::vector<double> moved;
    for (const auto& layer : model_.fused.layers)
      moved.push_back(is_movement(layer.layer) ? 0
                                               : (layer.read_weights + layer.read_activations + layer.written).value);
    bytes.value = cheapest_total(model_.fused, repeated(moved));
    if (ceilings_.memory_bandwidth().value > 0)
      at(RungName::roofline_memory).bound = bytes / ceilings_.memory_bandwidth();
  }
  Rung library = measured(model_.single, single_, false), library_parallel = measured(model_.single, single_, true);
  Rung fused = measured(model_.fused, fused_, false), fused_parallel = measured(model_.fused, fused_, true);
  raise(library, single_);
  raise(library_parallel, single_);
  raise(fused, fused_);
  raise(fused_parallel, fused_);
  // Not to fuse is a partition too, and one layer after the other a schedule.
  if (*library.bound < *fused.bound) fused = library;
  if (*library_parallel.bound < *fused_parallel.bound) fused_parallel = library_parallel;
  if (*library.bound < *library_parallel.bound) library_parallel = library;
  if (*fused.bound < *fused_parallel.bound) fused_parallel = fused;
  at(RungName::library) = library;
  at(RungName::library_fused) = fused;
  at(RungName::library_parallel) = library_parallel;
  at(RungName::library_fused_parallel) = fused_parallel;
  return rungs;
}

std::vector<std::string> Bounds::choices() const {
  std::vector<double> amounts;
  for (std::size_t i = 0; i < model_.single.layers.size(); ++i) {
    Seconds sum{};
    for (const auto& part : single_.parts[i]) sum += part.expected();
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

CriticalPath Bounds::path(const LayerGraph& graph, const FormPlan& plan) const {
  std::vector<double> amounts;
  for (const auto& parts : plan.parts) {
    Seconds sum{};
    for (const auto& part : parts) sum += part.expected();
    amounts.push_back(sum.value);
  }
  return longest(graph, amounts);
}

}  // namespace benanza::analysis
