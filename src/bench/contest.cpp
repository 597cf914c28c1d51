// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include <benanza/detail/quantile.hpp>

#include <algorithm>
#include <limits>
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
  double best = std::numeric_limits<double>::infinity(), least_work = best;
  for (const auto& rival : contest.rivals) {
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    if (!time) continue;
    best = std::min(best, time->value);
    least_work = std::min(least_work, time->value * rival.row.threads);
  }
  for (auto& rival : contest.rivals) {
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    if (time && time->value > margin * best && time->value * rival.row.threads > margin * least_work)
      rival.plan.reset();
  }
}

void choose(Contest& contest, const Sampler& sampler) {
  using Rank = std::tuple<double, std::string>;
  Rival *fastest = nullptr, *least = nullptr;
  Rank fastest_rank, least_rank;
  for (auto& rival : contest.rivals) {
    rival.chosen = false;
    const auto time = rival.competes() ? standing(rival, sampler) : std::nullopt;
    if (!time) continue;
    const Rank by_time{time->value, rival.row.name()}, by_work{time->value * rival.row.threads, rival.row.name()};
    if (fastest == nullptr || by_time < fastest_rank) fastest = &rival, fastest_rank = by_time;
    if (least == nullptr || by_work < least_rank) least = &rival, least_rank = by_work;
  }
  if (fastest != nullptr) fastest->chosen = true;
  if (least != nullptr) least->chosen = true;
}

}  // namespace benanza::bench
