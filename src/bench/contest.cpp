// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <benanza/detail/quantile.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace benanza::bench {

std::vector<double> times(const std::vector<Sample>& samples, const Sampler& sampler, bool contended) {
  std::vector<double> result;
  for (const auto& sample : samples)
    if (sampler.quiet(sample) != contended) result.push_back(sample.time.value);
  return result;
}

std::optional<Seconds> standing(const Rival& rival, const Sampler& sampler) {
  std::vector<double> counted = times(rival.samples, sampler);
  if (counted.empty()) counted = times(rival.samples, sampler, true);
  if (counted.empty()) return rival.row.p10.value > 0 ? std::optional(rival.row.p10) : std::nullopt;
  return Seconds{detail::quantile(counted, 0.1)};
}

void drop_losers(Contest& contest, double margin, const Sampler& sampler) {
  std::map<CacheState, double> best, least_work;
  const auto lower = [](std::map<CacheState, double>& least, CacheState cache, double value) {
    const auto entry = least.try_emplace(cache, value).first;
    entry->second = std::min(entry->second, value);
  };
  for (const auto& rival : contest.rivals) {
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    if (!time) continue;
    lower(best, rival.row.cache, time->value);
    lower(least_work, rival.row.cache, time->value * rival.row.threads);
  }
  for (auto& rival : contest.rivals) {
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    if (time && time->value > margin * best.at(rival.row.cache) &&
        time->value * rival.row.threads > margin * least_work.at(rival.row.cache))
      rival.plan.reset();
  }
}

void choose(Contest& contest, const Sampler& sampler) {
  using Rank = std::tuple<double, std::string>;
  for (auto& rival : contest.rivals) rival.chosen = rival.seldom = false;
  for (const CacheState cache : cache_states) {
    Rival *fastest = nullptr, *least = nullptr;
    Rank fastest_rank, least_rank;
    for (auto& rival : contest.rivals) {
      const auto time = rival.row.cache == cache && rival.competes() ? standing(rival, sampler) : std::nullopt;
      if (!time) continue;
      const Rank by_time{time->value, rival.row.name()}, by_work{time->value * rival.row.threads, rival.row.name()};
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
