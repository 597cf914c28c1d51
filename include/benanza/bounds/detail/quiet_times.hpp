// SPDX-License-Identifier: Apache-2.0
// QuietTimes: what rows take on an idle machine, by the least disturbed samples of all sessions.
#pragma once

#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/bounds/detail/session_rounds.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::detail {

/// The time of a row on an idle machine, without launches, and the interval around its p10.
struct QuietTime {
  Seconds p10{}, median{}, at_least{}, at_most{};
};

class QuietTimes {
 public:
  QuietTimes() = default;
  /// Of the sessions that started at `since` or later. `spread`: of a row that shows none, relative.
  QuietTimes(const ResultDatabase& results, const RowFilter& counts, const std::string& since, double spread);

  /// That of the quietest rounds of any session for the row's layer in its cache state with the same number of threads,
  /// or its own if that is lower or no session has such rounds. It may be as low as disturbed rows with more threads
  /// take at least, in any cache state: a neighbour slows down several threads more than one, so the selection may be
  /// wrong. If no sample of several threads counts, the time is known only to lie in the interval: it is taken as the
  /// geometric mean of both ends.
  [[nodiscard]] QuietTime of(const Measurement& row) const;

 private:
  using Place = std::tuple<std::string, CacheState, int>;  // a layer's signature, its cache state, threads
  /// Rows with several threads beside a neighbour.
  struct Disturbed {
    Seconds at_least{};     ///< the least of these rows
    bool is_timed = false;  ///< whether samples of any of them count
  };

  void add_rounds(const Measurement& row);
  /// What a call took at least by the row's own samples, with launches.
  [[nodiscard]] Seconds least_time(const Measurement& row) const;
  [[nodiscard]] QuietTime own_time(const Measurement& row) const;

  std::map<Place, QuietTime> by_rounds_{};
  std::map<Place, Seconds> single_{};  ///< the least time with one thread
  std::set<const Measurement*> crowded_{};
  std::map<std::pair<std::string, int>, Disturbed> disturbed_{};  ///< by a layer's signature and threads
  double spread_ = 1;
};

inline QuietTimes::QuietTimes(const ResultDatabase& results, const RowFilter& counts, const std::string& since,
                              double spread)
    : spread_(spread) {
  std::vector<const Measurement*> disturbed;
  for (const auto& run : results.runs())
    for (const auto& row : run.rows) {
      if (run.started < since || !counts(row) || !row.measured()) continue;
      if (is_crowded(run, row)) crowded_.insert(&row);
      add_rounds(row);
      if (row.threads > 1 && (row.contended || crowded_.contains(&row))) disturbed.push_back(&row);
      if (row.threads > 1) continue;
      const Seconds least = least_time(row);
      const auto [at, is_first] = single_.try_emplace({row.signature, row.cache, 1}, least);
      if (!is_first) at->second = std::min(at->second, least);
    }
  for (const auto* row : disturbed) {
    const Seconds least = own_time(*row).at_least;
    Disturbed& at = disturbed_.try_emplace({row->signature, row->threads}, Disturbed{least}).first->second;
    at.at_least = std::min(at.at_least, least);
    at.is_timed = at.is_timed || !row->contended;
  }
}

inline void QuietTimes::add_rounds(const Measurement& row) {
  if (row.contended || sorted_finite(row.rounds_s).size() < rounds_for_spread) return;
  const Timing timing = timing_of_session(row);
  const double noise = timing.noise.value_or(0);
  const Seconds p10 = without_launch(row, timing.p10);
  const QuietTime quiet{.p10 = p10,
                        .median = without_launch(row, timing.median),
                        .at_least = crowded_.contains(&row) ? p10 / row.threads : p10 * std::max(0.0, 1 - noise),
                        .at_most = p10 * (1 + noise)};
  const auto [at, is_first] = by_rounds_.try_emplace({row.signature, row.cache, row.threads}, quiet);
  if (!is_first && p10 < at->second.p10) at->second = quiet;
}

inline Seconds QuietTimes::least_time(const Measurement& row) const {
  if (row.contended) return row.at_least.value_or(Seconds{});
  return row.times->p10 * std::max(0.0, 1 - timing_of_session(row).noise.value_or(spread_));
}

inline QuietTime QuietTimes::own_time(const Measurement& row) const {
  const Seconds p10 = without_launch(row, row.times->p10);
  QuietTime own{.p10 = p10, .median = p10, .at_least = without_launch(row, least_time(row))};
  // Several threads may be as slow as one while another process has a processor, and are no faster than all together.
  const auto single = single_.find({row.signature, row.cache, 1});
  const std::optional<Seconds> shared =
      row.threads > 1 && single != single_.end() ? std::optional(single->second / row.threads) : std::nullopt;
  if (row.contended) {
    if (shared) own.at_least = std::min(p10, std::max(own.at_least, *shared));
    own.at_most = std::max(p10, without_launch(row, row.at_most.value_or(Seconds{})));
    return own;
  }
  own.median = counted_time(row);
  own.at_most = p10 + (p10 - own.at_least);
  if (crowded_.contains(&row)) own.at_least = std::min(own.at_least, shared.value_or(p10 / row.threads));
  return own;
}

inline QuietTime QuietTimes::of(const Measurement& row) const {
  const QuietTime own = own_time(row);
  const auto found = by_rounds_.find({row.signature, row.cache, row.threads});
  const bool is_own = found == by_rounds_.end() || own.p10 < found->second.p10;
  QuietTime result = is_own ? own : found->second;
  // A thread that lost more than half of a sample does not tell what the call takes.
  bool is_known = !is_own || !row.contended || row.threads == 1 || own.at_most > own.p10;
  for (auto more = disturbed_.upper_bound({row.signature, row.threads});
       more != disturbed_.end() && more->first.first == row.signature; ++more) {
    if (more->second.at_least >= result.at_least) continue;
    result.at_least = more->second.at_least;
    is_known = is_known && more->second.is_timed;
  }
  if (is_known || result.at_least.value <= 0) return result;
  result.at_most = std::max(result.at_most, result.p10);
  const double share = std::sqrt(result.at_least / result.p10);
  result.p10 = result.p10 * share;
  result.median = result.median * share;
  return result;
}

}  // namespace benanza::detail
