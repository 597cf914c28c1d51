// SPDX-License-Identifier: Apache-2.0
#include "known.hpp"

#include "candidate_finder.hpp"
#include <benanza/measure/measure.hpp>

#include <algorithm>

namespace benanza::measure {

std::vector<CacheState> states_of(const Layer& layer, std::span<const CacheState> asked) {
  std::vector<CacheState> result;
  for (const CacheState cache : cache_states)
    if (std::find(asked.begin(), asked.end(), cache) != asked.end() && applies(cache, layer)) result.push_back(cache);
  if (result.empty()) result.push_back(CacheState::hot);
  return result;
}

bool is_known(const Layer& layer, std::span<const Measurement> rows, const Question& question) {
  const auto any = [&](auto&& holds) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Measurement& row) { return row.threads <= question.threads && holds(row); });
  };
  const std::vector<CacheState> states = states_of(layer, question.caches);
  const auto is_asked_for = [&](CacheState cache) {
    return std::find(states.begin(), states.end(), cache) != states.end();
  };
  const bool asked = std::all_of(question.backends.begin(), question.backends.end(), [&](const std::string& backend) {
    return any([&](const Measurement& row) { return row.backend == backend; });
  });
  const bool cut_short = any([&](const Measurement& row) {
    return is_asked_for(row.cache) && (row.noisy || row.status == RowStatus::out_of_time);
  });
  const auto of_plans = [](const Measurement& row) { return row.has_plan; };
  const bool with_all_threads =
      !any(of_plans) || any([&](const Measurement& row) { return row.has_plan && row.threads == question.threads; });
  const bool damaged = any([](const Measurement& row) { return row.status == RowStatus::damaged; });
  if (!asked || !with_all_threads || damaged || (question.certain && cut_short)) return false;
  // A failure may be temporary, but only a caller that asks for more waits for another try.
  const bool none_runs = !any(
      [&](const Measurement& row) { return question.certain ? row.status != RowStatus::unsupported : row.measured(); });
  return none_runs || std::all_of(states.begin(), states.end(), [&](CacheState cache) {
           return any([&](const Measurement& row) { return row.cache == cache && row.measured(); });
         });
}

}  // namespace benanza::measure
