// SPDX-License-Identifier: Apache-2.0
#include "tuning_task.hpp"

#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace benanza::measure {

Method method_of(const Candidate& candidate) {
  std::map<std::string_view, std::pair<std::vector<double>, std::vector<double>>> seen;
  const auto add = [&](const sampling::Window& window) {
    if (window.method.empty()) return;
    const auto note = [&](std::string_view name, Seconds time, Seconds launch) {
      seen[name].first.push_back(time.value);
      seen[name].second.push_back(launch.value);
    };
    note(window.method, window.time, window.launch);
    if (window.other.value > 0)
      note(window.method == sampling::by_events ? sampling::by_graph : sampling::by_events, window.other,
           window.other_launch);
  };
  for (const auto& sample : candidate.samples) add(sample.window);
  for (const auto& sample : candidate.rounds)
    if (sample) add(sample->window);
  Method result;
  double least = 0;
  for (const auto& [name, values] : seen) {
    const double median = detail::quantile(values.first, 0.5);
    if (!result.name.empty() && median >= least) continue;
    least = median;
    result = {.name = name, .launch = {detail::quantile(values.second, 0.5)}};
  }
  return result;
}

Seconds time_by(const Method& method, const sampling::Sample& sample) {
  const bool by_other = !method.name.empty() && sample.window.method != method.name && sample.window.other.value > 0;
  return by_other ? sample.window.other : sample.time;
}

std::vector<double> times(const std::vector<sampling::Sample>& samples, const sampling::Sampler& sampler,
                          const Method& method) {
  std::vector<double> result;
  for (const auto& sample : samples)
    if (sampler.quiet(sample)) result.push_back(time_by(method, sample).value);
  return result;
}

Undisturbed undisturbed(const std::vector<sampling::Sample>& samples, const sampling::Sampler& sampler,
                        const Method& method) {
  constexpr double little = 0.25, much = 0.5;  // shares of a sample's time
  const auto lost = [&](const sampling::Sample& sample) { return sample.lost.longest / time_by(method, sample); };
  double least = 1;
  for (const auto& sample : samples)
    if (!sampler.quiet(sample)) least = std::min(least, lost(sample));
  Undisturbed result;
  for (const auto& sample : samples) {
    if (sampler.quiet(sample) || lost(sample) > std::max(little, least)) continue;
    const Seconds time = time_by(method, sample);
    const int threads = sample.before.kind->second;
    const bool is_known = threads == 1 || lost(sample) <= much;  // one thread took its processor time
    result.estimates.push_back((is_known ? time - sample.lost.longest : time).value);
    result.at_most.push_back((is_known ? time - sample.lost.all / static_cast<double>(threads) : time).value);
    result.at_least.push_back(std::max(Seconds{}, time - sample.lost.all).value / sampler.slowdown(sample));
  }
  return result;
}

namespace {

std::optional<Seconds> standing_by(const Method& method, const Candidate& candidate, const sampling::Sampler& sampler) {
  std::vector<double> counted = times(candidate.samples, sampler, method);
  if (counted.empty()) counted = undisturbed(candidate.samples, sampler, method).estimates;
  if (counted.empty()) return candidate.row.times ? std::optional(candidate.row.times->p10) : std::nullopt;
  return Seconds{detail::quantile(counted, 0.1)};
}

/// What a candidate whose samples are all contended takes at most; empty for another one.
std::optional<Seconds> at_most(const Candidate& candidate, const sampling::Sampler& sampler) {
  if (!times(candidate.samples, sampler).empty()) return std::nullopt;
  const std::vector<double> most = undisturbed(candidate.samples, sampler).at_most;
  return most.empty() ? std::nullopt : std::optional(Seconds{detail::quantile(most, 0.1)});
}

}  // namespace

std::optional<Seconds> standing(const Candidate& candidate, const sampling::Sampler& sampler) {
  return standing_by({}, candidate, sampler);
}

std::optional<Seconds> counted(const Candidate& candidate, const sampling::Sampler& sampler) {
  const Method method = method_of(candidate);
  const auto time = standing_by(method, candidate, sampler);
  if (!time) return time;
  return method.name.empty() ? without_launch(candidate.row, *time) : std::max(Seconds{}, *time - method.launch);
}

void drop_losers(TuningTask& task, double margin, const sampling::Sampler& sampler) {
  struct Least {
    double time = std::numeric_limits<double>::infinity(), work = time;
    void lower(double value, int threads) {
      time = std::min(time, value);
      work = std::min(work, value * threads);
    }
    [[nodiscard]] bool is_lost(double value, int threads, double margin) const {
      return value > margin * time && value * threads > margin * work;
    }
  };
  // Candidates whose threads were always far from each other only lose against others of the same kind.
  std::map<CacheState, Least> whole, without, distant_whole, distant_without;
  std::vector<std::optional<std::pair<double, double>>> seen;  // with launches, and without
  for (const auto& candidate : task.candidates) {
    const auto time = candidate.competes() ? standing(candidate, sampler) : std::nullopt;
    seen.push_back(time ? std::optional(std::pair(time->value, counted(candidate, sampler)->value)) : std::nullopt);
    if (!time) continue;
    const double more = at_most(candidate, sampler).value_or(*time).value - time->value;
    whole[candidate.row.cache].lower(seen.back()->first + more, candidate.row.threads);
    without[candidate.row.cache].lower(seen.back()->second + more, candidate.row.threads);
    if (!candidate.only_distant(sampler)) continue;
    distant_whole[candidate.row.cache].lower(seen.back()->first + more, candidate.row.threads);
    distant_without[candidate.row.cache].lower(seen.back()->second + more, candidate.row.threads);
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Candidate& candidate = task.candidates[i];
    if (!seen[i]) continue;
    const CacheState cache = candidate.row.cache;
    const bool distant = candidate.only_distant(sampler);
    if ((distant ? distant_whole : whole)[cache].is_lost(seen[i]->first, candidate.row.threads, margin) &&
        (distant ? distant_without : without)[cache].is_lost(seen[i]->second, candidate.row.threads, margin))
      candidate.plan.reset();
  }
}

void choose(TuningTask& task, const sampling::Sampler& sampler) {
  using Rank = std::tuple<double, double, std::string>;
  for (auto& candidate : task.candidates) candidate.chosen = candidate.seldom = false;
  for (const CacheState cache : cache_states) {
    struct Winner {
      Candidate* candidate = nullptr;
      Rank rank{};
      void take_better(Candidate& other, const Rank& rank_of_other) {
        if (candidate == nullptr || rank_of_other < rank) candidate = &other, rank = rank_of_other;
      }
    } counts_least, as_run, least_work, best_distant;
    for (auto& candidate : task.candidates) {
      const auto time =
          candidate.row.cache == cache && candidate.competes() ? counted(candidate, sampler) : std::nullopt;
      if (!time) continue;
      const double whole = standing(candidate, sampler)->value;
      const int threads = candidate.row.threads;
      const std::string name = candidate.row.name();
      counts_least.take_better(candidate, {time->value, whole, name});
      as_run.take_better(candidate, {whole, time->value, name});
      least_work.take_better(candidate, {time->value * threads, whole * threads, name});
      if (candidate.only_distant(sampler)) best_distant.take_better(candidate, {whole, time->value, name});
    }
    if (counts_least.candidate == nullptr) continue;
    if (cache == CacheState::hot) least_work.candidate->chosen = least_work.candidate->seldom = true;
    for (Candidate* candidate : {counts_least.candidate, as_run.candidate, best_distant.candidate}) {
      if (candidate == nullptr) continue;
      candidate->chosen = true;
      candidate->seldom = false;
    }
  }
}

}  // namespace benanza::measure
