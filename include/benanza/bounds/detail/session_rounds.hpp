// SPDX-License-Identifier: Apache-2.0
// The session whose rounds a total is summed over: the quietest one, or the latest of those that are as quiet
// (docs/measuring.md, "Uncertainty").
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// A total takes at least this many common rounds.
inline constexpr std::size_t least_rounds = 4;

/// One session that timed all layers together.
struct SessionRounds {
  BestOfLayers best{};
  std::vector<std::size_t> rounds{};  ///< indices of those that count
  std::size_t taken = 0;              ///< rounds, including those that do not count
  Seconds p10{};                      ///< sum over the best rows
  std::string started{};
  std::string doubt{};  ///< why its rounds do not show the time on an idle machine; empty if they may
};

struct ChosenSession {
  std::optional<SessionRounds> rounds{};  ///< empty: no session has `least_rounds` that count
  std::size_t most_rounds = 0;            ///< that count in any session
  /// If it is older than the newest one by a week or more.
  std::optional<Analysis::QuietestSession> quietest{};
  std::string since{};  ///< sessions that started earlier no longer count; empty: all count
};

/// Other processes may keep this much of a processor busy: what an idle system does by itself.
inline constexpr double few_others = 0.05;

/// Whether another process may have used a processor of the row's threads.
[[nodiscard]] inline bool is_crowded(const Run& run, const Measurement& row) {
  return row.threads > 1 && run.others > few_others;
}

/// The layers whose number of threads was only chosen beside other processes, in the runs so far. Several threads may
/// have lost only because of these. Above a quarter of a processor; below, most samples see no neighbour.
class CrowdedChoices {
 public:
  /// `run`: later than those before it.
  void add(const Run& run, const Measurement& row) {
    constexpr double many_others = 0.25;
    if (row.threads < 2 || !row.measured()) return;
    if (run.others > many_others) crowded_.insert(row.signature);
    else quiet_.insert(row.signature);
  }
  [[nodiscard]] bool contains(const std::string& signature) const {
    return crowded_.contains(signature) && !quiet_.contains(signature);
  }

 private:
  std::set<std::string> crowded_{}, quiet_{};
};

/// A round counts if the rows whose sample was contended in it, which have their median there, make up less than a
/// quarter of the time.
[[nodiscard]] inline bool round_counts(const BestOfLayers& best, std::size_t round) {
  Seconds all{}, contended{};
  for (const auto& [signature, rows] : best) {
    const Measurement& row = *rows.expected.fastest;
    const Seconds time = expected_time(row);
    all += time;
    if (!std::isfinite(row.rounds_s[round])) contended += time;
  }
  return contended.value < 0.25 * all.value;
}

[[nodiscard]] inline SessionRounds rounds_of(const Run& run, const RowsOfLayers& rows) {
  SessionRounds session{.taken = std::numeric_limits<std::size_t>::max(), .started = run.started};
  for (const auto& [signature, of_layer] : rows) {
    const BestRows& best = session.best[signature] = best_of(of_layer);
    session.p10 += without_launch(*best.bound.fastest, best.bound.fastest->times->p10);
    for (const auto* row : best.all()) {
      if (!row) continue;
      session.taken = std::min(session.taken, row->rounds_s.size());
      if (is_crowded(run, *row))
        session.doubt = "other processes used " + std::to_string(std::lround(100 * run.others)) + " % of a processor";
    }
  }
  for (std::size_t r = 0; r < session.taken; ++r)
    if (round_counts(session.best, r)) session.rounds.push_back(r);
  return session;
}

/// The sessions that timed every layer that any session measured, in every cache state that any session has rounds for.
[[nodiscard]] inline std::vector<SessionRounds> sessions_of_all(const ResultDatabase& results,
                                                                const RowFilter& counts) {
  using State = std::pair<std::string, CacheState>;  // a layer's signature and its cache state
  std::set<std::string> measured;
  std::set<State> states;
  for (const auto& run : results.runs())
    for (const auto& row : run.rows) {
      if (!counts(row) || !row.measured()) continue;
      measured.insert(row.signature);
      if (has_rounds(row)) states.emplace(row.signature, row.cache);
    }
  std::vector<SessionRounds> sessions;
  CrowdedChoices crowded;
  for (const auto& run : results.runs()) {
    RowsOfLayers rows;
    std::set<State> timed;
    for (const auto& row : run.rows) {
      if (!counts(row) || !row.measured()) continue;
      crowded.add(run, row);
      if (!has_rounds(row)) continue;
      rows[row.signature].push_back(&row);
      timed.emplace(row.signature, row.cache);
    }
    if (timed.empty() || timed.size() != states.size() || rows.size() != measured.size()) continue;
    sessions.push_back(rounds_of(run, rows));
    std::string& doubt = sessions.back().doubt;
    const auto is_crowded_choice = [&](const auto& of_layer) { return crowded.contains(of_layer.first); };
    if (doubt.empty() && std::any_of(rows.begin(), rows.end(), is_crowded_choice))
      doubt = "other processes ran while numbers of threads were compared";
  }
  return sessions;
}

/// Of sessions in the order in which they started.
[[nodiscard]] inline std::vector<SessionRounds>::iterator quietest_of(std::vector<SessionRounds>& sessions) {
  Seconds least = sessions.front().p10;
  for (const auto& each : sessions) least = std::min(least, each.p10);
  const auto latest = std::find_if(sessions.rbegin(), sessions.rend(), [&](const SessionRounds& each) {
    return each.p10 <= least * (1 + default_tolerance);
  });
  return std::prev(latest.base());
}

/// Days from 1970-01-01 to the date that an ISO 8601 text begins with; 0 for another text. (Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", days_from_civil.)
[[nodiscard]] inline int day_number(const std::string& date) {
  int year = 0, month = 0, day = 0;
  if (std::sscanf(date.c_str(), "%4d-%2d-%2d", &year, &month, &day) != 3) return 0;
  if (year < 0 || month < 1 || month > 12 || day < 1) return 0;
  if (month <= 2) --year;
  const int era = year / 400, of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// Whether the last two of some sessions agree with each other, within the tolerance, and both are slower than an older
/// one.
template <class Iterator>
[[nodiscard]] bool contradict(Seconds older, Iterator begin, Iterator end) {
  if (end - begin < 2) return false;
  const Seconds last = std::prev(end)->p10, before = std::prev(end, 2)->p10;
  const Seconds least = std::min(last, before);
  return std::max(last, before) <= least * (1 + default_tolerance) && least > older * (1 + default_tolerance);
}

/// The quietest session counts, unless the machine or a library has become slower for good: two sessions of a later
/// week say so.
[[nodiscard]] inline ChosenSession choose_session(const ResultDatabase& results, const RowFilter& counts) {
  constexpr int week = 7;
  ChosenSession chosen;
  std::vector<SessionRounds> sessions = sessions_of_all(results, counts);
  for (const auto& each : sessions) chosen.most_rounds = std::max(chosen.most_rounds, each.rounds.size());
  std::erase_if(sessions, [](const SessionRounds& each) { return each.rounds.size() < least_rounds; });
  if (sessions.empty()) return chosen;
  const auto is_doubtful = [](const SessionRounds& each) { return !each.doubt.empty(); };
  if (!std::all_of(sessions.begin(), sessions.end(), is_doubtful)) std::erase_if(sessions, is_doubtful);
  auto quietest = quietest_of(sessions);
  const int day = day_number(quietest->started);
  const auto later = std::find_if(quietest, sessions.end(),
                                  [day](const SessionRounds& each) { return day_number(each.started) - day >= week; });
  if (later != sessions.end()) {
    const bool replaced = contradict(quietest->p10, later, sessions.end());
    chosen.quietest = {.started = quietest->started,
                       .newest = sessions.back().started,
                       .in_doubt = !replaced && std::next(later) == sessions.end(),
                       .replaced = replaced};
    if (replaced) {
      sessions.erase(sessions.begin(), later);
      chosen.since = sessions.front().started;
      quietest = quietest_of(sessions);
    }
  }
  chosen.rounds = std::move(*quietest);
  return chosen;
}

}  // namespace benanza::detail
