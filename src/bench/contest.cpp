// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <benanza/detail/quantile.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace benanza::bench {

Method method_of(const Rival& rival) {
  std::map<std::string_view, std::pair<std::vector<double>, std::vector<double>>> seen;
  const auto add = [&](const Window& window) {
    if (window.method.empty()) return;
    const auto note = [&](std::string_view name, Seconds time, Seconds launch) {
      seen[name].first.push_back(time.value);
      seen[name].second.push_back(launch.value);
    };
    note(window.method, window.time, window.launch);
    if (window.other.value > 0)
      note(window.method == by_events ? by_graph : by_events, window.other, window.other_launch);
  };
  for (const auto& sample : rival.samples) add(sample.window);
  for (const auto& sample : rival.rounds)
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

Seconds time_by(const Method& method, const Sample& sample) {
  const bool by_other = !method.name.empty() && sample.window.method != method.name && sample.window.other.value > 0;
  return by_other ? sample.window.other : sample.time;
}

std::vector<double> times(const std::vector<Sample>& samples, const Sampler& sampler, const Method& method,
                          bool contended) {
  std::vector<double> result;
  for (const auto& sample : samples)
    if (sampler.quiet(sample) != contended) result.push_back(time_by(method, sample).value);
  return result;
}

namespace {

std::optional<Seconds> standing_by(const Method& method, const Rival& rival, const Sampler& sampler) {
  std::vector<double> counted = times(rival.samples, sampler, method);
  if (counted.empty()) counted = times(rival.samples, sampler, method, true);
  if (counted.empty()) return rival.row.p10.value > 0 ? std::optional(rival.row.p10) : std::nullopt;
  return Seconds{detail::quantile(counted, 0.1)};
}

}  // namespace

std::optional<Seconds> standing(const Rival& rival, const Sampler& sampler) { return standing_by({}, rival, sampler); }

std::optional<Seconds> counted(const Rival& rival, const Sampler& sampler) {
  const Method method = method_of(rival);
  const auto time = standing_by(method, rival, sampler);
  if (!time) return time;
  return method.name.empty() ? without_launch(rival.row, *time) : std::max(Seconds{}, *time - method.launch);
}

void drop_losers(Contest& contest, double margin, const Sampler& sampler) {
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
  std::map<CacheState, Least> whole, without;
  std::vector<std::optional<std::pair<double, double>>> seen;  // with launches, and without
  for (const auto& rival : contest.rivals) {
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    seen.push_back(time ? std::optional(std::pair(time->value, counted(rival, sampler)->value)) : std::nullopt);
    if (!time) continue;
    whole[rival.row.cache].lower(seen.back()->first, rival.row.threads);
    without[rival.row.cache].lower(seen.back()->second, rival.row.threads);
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Rival& rival = contest.rivals[i];
    if (seen[i] && whole[rival.row.cache].is_lost(seen[i]->first, rival.row.threads, margin) &&
        without[rival.row.cache].is_lost(seen[i]->second, rival.row.threads, margin))
      rival.plan.reset();
  }
}

void choose(Contest& contest, const Sampler& sampler) {
  using Rank = std::tuple<double, double, std::string>;
  for (auto& rival : contest.rivals) rival.chosen = rival.seldom = false;
  for (const CacheState cache : cache_states) {
    Rival *fastest = nullptr, *least = nullptr;
    Rank fastest_rank, least_rank;
    for (auto& rival : contest.rivals) {
      const auto time = rival.row.cache == cache && rival.competes() ? counted(rival, sampler) : std::nullopt;
      if (!time) continue;
      const double whole = standing(rival, sampler)->value;
      const Rank by_time{time->value, whole, rival.row.name()},
          by_work{time->value * rival.row.threads, whole * rival.row.threads, rival.row.name()};
      if (fastest == nullptr || by_time < fastest_rank) fastest = &rival, fastest_rank = by_time;
      if (least == nullptr || by_work < least_rank) least = &rival, least_rank = by_work;
    }
    if (fastest != nullptr) fastest->chosen = true;
    if (least == nullptr || cache != CacheState::hot) continue;
    least->chosen = true;
    least->seldom = least != fastest;
  }
}

}  // namespace benanza::bench
