// SPDX-License-Identifier: Apache-2.0
// RowTimes: the best rows of each layer, and their times in the common rounds of one session.
#pragma once

#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/bounds/detail/quiet_times.hpp>
#include <benanza/bounds/detail/session_rounds.hpp>
#include <benanza/bounds/detail/untimed_plans.hpp>
#include <benanza/op/elementwise_expression.hpp>
#include <benanza/results/detail/damaged_rows.hpp>
#include <benanza/results/expected_time.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

class RowTimes {
 public:
  /// Uses rows of at most `threads` threads of the named backends. `needed`: the signatures that one total is summed
  /// over. If a session timed all of these signatures that have rows at all, in enough common rounds and without doubt,
  /// the best rows are those of that session.
  RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
           std::span<const std::string> backends);
  /// Without rows: every signature lacks one for `reason`.
  explicit RowTimes(std::string reason) : untimed_(std::move(reason)), analytic_(true) {}

  [[nodiscard]] const BestRows* find(const std::string& signature) const {
    const auto found = best_.find(signature);
    return found == best_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const UntimedPlans& untimed() const { return untimed_; }
  /// Whether no measurement is intended.
  [[nodiscard]] bool analytic() const { return analytic_; }
  /// Whether any row is of an expression. Otherwise, the rows may be older than expressions.
  [[nodiscard]] bool has_expressions() const { return has_expressions_; }
  /// Whether any row is from a session, which times rounds; rows of 2019 and of other programs are not.
  [[nodiscard]] bool of_sessions() const { return of_sessions_; }

  [[nodiscard]] const ChosenSession& session() const { return session_; }
  /// Indices of the common rounds that count: at least `least_rounds`, or none.
  [[nodiscard]] const std::vector<std::size_t>& rounds() const { return rounds_; }
  /// How many rounds the session took, including those that do not count.
  [[nodiscard]] std::size_t taken_rounds() const { return session_.rounds ? session_.rounds->taken : 0; }
  /// Time of a row in a common round; the row's median if this sample was contended.
  [[nodiscard]] Seconds in_round(const Measurement& row, std::size_t round) const {
    return std::isfinite(row.rounds_s[round]) ? Seconds{row.rounds_s[round]} : expected_time(row);
  }
  /// How often the selection timed the rows, long before the common rounds.
  [[nodiscard]] std::size_t visits() const { return visits_; }
  /// Time of a row in such a visit; its expected time if the visit does not count.
  [[nodiscard]] Seconds in_visit(const Measurement& row, std::size_t visit) const {
    const bool counts = visit < row.visits_s.size() && std::isfinite(row.visits_s[visit]);
    return counts ? Seconds{row.visits_s[visit]} : expected_time(row);
  }
  /// How far the processor's speed wandered in the session, relative.
  [[nodiscard]] double wander() const { return wander_; }

  /// The time of a row on an idle machine.
  [[nodiscard]] QuietTime quiet(const Measurement& row) const { return quiet_.of(row); }
  /// Why the rows do not show the time on an idle machine; empty if they may.
  [[nodiscard]] std::string doubt() const {
    if (session_.rounds && !session_.rounds->doubt.empty()) return session_.rounds->doubt;
    return damaged_.empty() ? "" : "the times of " + damaged_ + " cannot be true and do not count";
  }
  /// The expected time of one call. If the row has too few samples to show a spread, it is at least the p10 plus the
  /// average spread of the other rows: 5 % or more, 100 % if no row shows one.
  [[nodiscard]] Seconds doubtful(const Measurement& row) const;

 private:
  void choose_rows(const RowsOfLayers& all);
  /// (median - p10) / p10 over the best rows with enough samples.
  [[nodiscard]] double average_spread() const;

  BestOfLayers best_{};
  UntimedPlans untimed_{};
  std::string damaged_{};  ///< a row of a plan that may be the fastest of its layer; empty: there is none
  ChosenSession session_{};
  QuietTimes quiet_{};
  std::vector<std::size_t> rounds_{};
  std::size_t visits_ = 0;
  double wander_ = 0, spread_ = 1;
  bool analytic_ = false, of_sessions_ = false, has_expressions_ = false;
};

/// Samples that show a spread.
[[nodiscard]] inline bool has_spread(const Measurement& row) { return row.samples >= 4 || has_rounds(row); }

/// Only sessions write these.
[[nodiscard]] inline bool is_of_session(const Measurement& row) {
  return has_rounds(row) || !row.visits_s.empty() || row.noisy;
}

inline RowTimes::RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
                          std::span<const std::string> backends) {
  const RowFilter counts{needed, threads, backends};
  session_ = choose_session(results, counts);
  RowsOfLayers all;
  DamagedRows damaged;
  for (const auto& run : results.runs()) {
    damaged.start_session();
    for (const auto& row : run.rows) {
      has_expressions_ = has_expressions_ || row.signature.starts_with(op::Expression::kind);
      if (!counts(row)) continue;
      untimed_.add(row);
      damaged.add(row);
      if (!row.measured()) continue;
      if (run.started >= session_.since) all[row.signature].push_back(&row);
      of_sessions_ = of_sessions_ || is_of_session(row);
    }
  }
  if (const auto names = damaged.names(); !names.empty()) damaged_ = *names.begin();
  choose_rows(all);
  spread_ = average_spread();
  quiet_ = QuietTimes(results, counts, session_.since, spread_);
}

inline void RowTimes::choose_rows(const RowsOfLayers& all) {
  if (!session_.rounds || !doubt().empty()) {
    for (const auto& [signature, rows] : all) best_[signature] = best_of(rows);
    return;
  }
  best_ = session_.rounds->best;
  rounds_ = session_.rounds->rounds;
  for (const auto& [signature, best] : best_)
    for (const auto* row : best.all()) {
      if (!row) continue;
      wander_ = std::max(wander_, row->wander.value_or(0));
      visits_ = std::max(visits_, row->visits_s.size());
    }
}

inline double RowTimes::average_spread() const {
  // Roughly the difference between the same plan's times at two moments of a shared machine. Samples of one moment do
  // not show it, and a row of few samples has no others.
  constexpr double least_spread = 0.05;
  Seconds p10{}, median{};
  for (const auto& [signature, best] : best_) {
    const Measurement& row = *best.expected.fastest;
    if (!has_spread(row)) continue;
    p10 += row.times->p10;
    median += row.times->median;
  }
  return p10.value > 0 ? std::max(least_spread, (median - p10) / p10) : 1;
}

inline Seconds RowTimes::doubtful(const Measurement& row) const {
  return has_spread(row) ? expected_time(row) : std::max(expected_time(row), row.times->p10 * (1 + spread_));
}

}  // namespace benanza::detail
