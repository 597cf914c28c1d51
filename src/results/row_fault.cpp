// SPDX-License-Identifier: Apache-2.0
#include "row_fault.hpp"

#include <benanza/base/detail/limits.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace benanza::results {

namespace {

/// A time that may be absent.
bool is_absent_or_possible(Seconds time) { return time == Seconds{} || detail::is_possible(time); }

bool are_possible(const std::vector<double>& times) {
  return std::all_of(times.begin(), times.end(),
                     [](double time) { return std::isnan(time) || detail::is_possible(Seconds{time}); });
}

std::string not_possible(const std::string& what) {
  return "has " + what + " that is not from " + std::string(detail::time_range);
}

std::string fault_of_times(const Measurement& row) {
  for (const auto& [name, time] : {std::pair("p10", row.times->p10), std::pair("median", row.times->median),
                                   std::pair("p90", row.times->p90), std::pair("min", row.times->min)})
    if (!detail::is_possible(time)) return not_possible("a " + std::string(name));
  if (!are_possible(row.rounds_s)) return not_possible("a round");
  if (!are_possible(row.visits_s)) return not_possible("a visit");
  std::vector<Seconds> others;
  for (const auto& time : {row.preparation, row.at_least, row.at_most})
    if (time) others.push_back(*time);
  if (row.device && row.device->other)
    others.insert(others.end(), {row.device->other->time, row.device->other->launch});
  if (row.device && row.device->kernels)
    others.insert(others.end(), {row.device->kernels->whole, row.device->kernels->empty});
  if (!std::all_of(others.begin(), others.end(), is_absent_or_possible))
    return not_possible("a preparation or other time");
  return "";
}

/// The number of rounds that most rows with rounds have; 0 if there are none.
std::size_t usual_rounds(const Run& run) {
  std::map<std::size_t, std::size_t> rows;  // by number of rounds
  for (const auto& row : run.rows)
    if (row.measured() && !row.rounds_s.empty()) ++rows[row.rounds_s.size()];
  const auto most =
      std::max_element(rows.rbegin(), rows.rend(), [](const auto& x, const auto& y) { return x.second < y.second; });
  return most == rows.rend() ? 0 : most->first;
}

}  // namespace

std::string row_fault(const Measurement& row) {
  if (!row.measured()) return row.reason.empty() ? "is excluded without a reason" : "";
  if (!row.times) return "has no time";
  if (std::string fault = fault_of_times(row); !fault.empty()) return fault;
  const MeasuredTimes& times = *row.times;
  if (!(times.min <= times.p10 && times.p10 <= times.median && times.median <= times.p90))
    return "has quantiles out of order: min, p10, median, p90";
  constexpr double rounding = 1e-3;  // a file keeps at least four digits
  if (std::any_of(row.rounds_s.begin(), row.rounds_s.end(),
                  [&](double round) { return round < times.min.value * (1 - rounding); }))
    return "has a round below its min";
  if (row.samples == 0 && !row.contended) return "has a time and no sample that counts";
  const double cv = times.cv.value_or(0);
  if (!std::isfinite(cv) || cv < 0) return "has a cv that is not a number";
  const double disagreement = row.device ? row.device->disagreement.value_or(0) : 0;
  for (const auto& [name, value] : {std::pair("cv", cv), std::pair("wander", row.wander.value_or(0)),
                                    std::pair("methods_disagreement", disagreement)})
    if (!detail::is_possible_spread(value))
      return "has a " + std::string(name) + " that is not from 0 to " + std::string(detail::spread_limit);
  if (!row.device) return "";
  const double clock = row.device->clock_hz.value_or(1e9);
  if (!(clock >= 1e6 && clock <= 1e12)) return "has a clock that is not a frequency";
  const Seconds launch = row.device->launch;
  if (!(launch >= Seconds{} && launch < times.p10)) return "has a launch that is not between 0 and its time";
  return "";
}

std::vector<UnlikeOthers> unlike_others(const Run& run) {
  struct State {
    std::size_t fastest = 0;
    bool has_rounds = false;
  };
  std::vector<UnlikeOthers> found;
  std::map<std::string, std::map<CacheState, State>> layers;
  std::set<std::pair<std::string, CacheState>> had_rounds;  // one of these rows may have had them
  const std::size_t usual = usual_rounds(run);
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const Measurement& row = run.rows[i];
    if (!row.measured()) {
      using enum RowStatus;
      if (row.status == failed || row.status == ended || row.status == wrong || row.status == damaged)
        had_rounds.emplace(row.signature, row.cache);
      continue;
    }
    const std::size_t own = row.rounds_s.size();
    if (own != 0 && own != usual)
      found.push_back({i, "has " + std::to_string(own) + " rounds, others of the run have " + std::to_string(usual)});
    State& state = layers[row.signature].try_emplace(row.cache, State{.fastest = i}).first->second;
    if (row.times->p10 < run.rows[state.fastest].times->p10) state.fastest = i;
    state.has_rounds = state.has_rounds || own != 0;
  }
  for (const auto& [signature, states] : layers) {
    const auto with =
        std::find_if(states.begin(), states.end(), [](const auto& each) { return each.second.has_rounds; });
    if (with == states.end()) continue;
    for (const auto& [cache, state] : states)
      if (!state.has_rounds && !had_rounds.contains({signature, cache}))
        found.push_back(
            {state.fastest, "has no rounds, nor has another row of its layer and cache state; its " +
                                std::string(enum_names(with->first)[static_cast<std::size_t>(with->first)]) +
                                " rows have"});
  }
  return found;
}

std::string version_in(const Run& run, const std::string& backend) {
  const auto found = std::find_if(run.backends.begin(), run.backends.end(),
                                  [&](const BackendVersion& entry) { return entry.name == backend; });
  return found == run.backends.end() ? "" : found->version;
}

std::string unnamed_text(const std::string& backend) {
  return "backend '" + backend + "' has rows, but the context names no version of it";
}

}  // namespace benanza::results
