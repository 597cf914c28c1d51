// SPDX-License-Identifier: Apache-2.0
// RowTimes: the rows that the figures of each layer come from, and their time in each common round.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/detail/quantile.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/expected_time.hpp>
#include <benanza/results/results.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The two figures of a rung. A bound excludes launches from a time, since an engine may launch differently; the
/// expected figure includes them. Each has its own best rows and its own cheapest partition: three kernels of 8.2 us in
/// all may be less work than one fused kernel of 6.0 us, and are not faster. If there is only a clock, both are the
/// same.
enum class Figure : std::uint8_t { bound, expected };

/// What a figure counts for one call of a row.
[[nodiscard]] Seconds time_of(const Measurement& row, Figure figure);

/// One layer's best rows.
struct BestRows {
  struct Of {
    const Measurement* fastest = nullptr;  ///< least time over thread counts
    const Measurement* cold = nullptr;     ///< least time with its weights out of the caches
  };
  Of bound{}, expected{};
  const Measurement* least_work = nullptr;  ///< least threads x expected time

  [[nodiscard]] const Of& of(Figure figure) const { return figure == Figure::bound ? bound : expected; }
  [[nodiscard]] std::array<const Measurement*, 5> all() const {
    return {bound.fastest, expected.fastest, bound.cold, expected.cold, least_work};
  }
};

/// The time of a row on an idle machine, without launches, and the interval around its p10.
struct QuietTime {
  Seconds p10{}, median{}, at_least{}, at_most{};
};

class RowTimes {
 public:
  /// Uses rows of at most `threads` threads of the named backends. `needed`: the signatures that one total is summed
  /// over. If there are runs that timed all of these signatures that have rows at all, in at least `least_rounds`
  /// common rounds, one such run is used: the latest one whose rows take at most `default_tolerance` more than those of
  /// the quietest run.
  RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
           std::span<const std::string> backends);
  /// Without rows: every signature lacks one for `reason`.
  explicit RowTimes(std::string reason) : reason_of_all_(std::move(reason)) {}

  [[nodiscard]] const BestRows* find(const std::string& signature) const;
  /// Why a signature has no valid row; empty if no plan was ever tried.
  [[nodiscard]] std::string reason(const std::string& signature) const;
  /// How many plans of a signature, counted for each thread count and cache state, a budget left untried that might be
  /// the best.
  [[nodiscard]] std::int64_t untried(const std::string& signature) const;
  /// Plans of a signature that ended the process that tried them last (`RowStatus::ended`) and that may be its fastest:
  /// those without a time, or with a lower one than any plan that has not ended.
  [[nodiscard]] std::vector<Measurement> ended(const std::string& signature) const;
  /// The session that took the rounds, if it is older than the newest one that timed all layers by a week or more.
  [[nodiscard]] const std::optional<Analysis::QuietestSession>& quietest_session() const { return quietest_session_; }
  /// The most threads with which a plan of it was tried, of those that count; 0: none was tried.
  [[nodiscard]] int most_threads(const std::string& signature) const;
  /// Whether no library supports it: there are rows, but none of a plan, failed or not.
  [[nodiscard]] bool unsupported(const std::string& signature) const;

  /// Whether no measurement is intended.
  [[nodiscard]] bool analytic() const { return !reason_of_all_.empty(); }

  /// A total takes at least this many common rounds.
  static constexpr std::size_t least_rounds = 4;
  /// Indices of the rounds that count: at least `least_rounds`, or none.
  [[nodiscard]] const std::vector<std::size_t>& rounds() const { return rounds_; }
  /// How many rounds their run took, including those that do not count.
  [[nodiscard]] std::size_t taken_rounds() const { return taken_rounds_; }
  /// Time of a row in a common round; the row's median if this sample was contended.
  [[nodiscard]] Seconds in_round(const Measurement& row, std::size_t round) const;
  /// The most common rounds of any run, of those that count in it.
  [[nodiscard]] std::size_t most_rounds() const { return most_rounds_; }
  /// Whether any row is from a session, which times rounds; rows of 2019 and of other programs are not.
  [[nodiscard]] bool of_sessions() const { return of_sessions_; }
  /// The time of a row on an idle machine: that of the quietest rounds of any run for its layer in its cache state with
  /// the same number of threads, or its own if that is lower or no run has such rounds.
  [[nodiscard]] QuietTime quiet(const Measurement& row) const;
  /// Why rounds that timed all layers together do not show the time on an idle machine; empty if they may.
  [[nodiscard]] const std::string& doubt() const { return doubt_; }
  /// How often the selection timed the rows, long before the common rounds.
  [[nodiscard]] std::size_t visits() const { return visits_; }
  /// Time of a row in such a visit; its expected time if the visit does not count.
  [[nodiscard]] Seconds in_visit(const Measurement& row, std::size_t visit) const;
  /// How far the processor's speed wandered in the sessions of the rows, relative.
  [[nodiscard]] double wander() const { return wander_; }
  /// The expected time of one call. If the row has too few samples to show a spread, it is at least the p10 plus the
  /// average spread of the other rows: 5 % or more, 100 % if no row shows one.
  [[nodiscard]] Seconds doubtful(const Measurement& row) const;

 private:
  using Place = std::tuple<std::string, CacheState, int>;  // a layer's signature, its cache state, threads
  /// One run that timed all layers together.
  struct Together {
    std::map<std::string, BestRows> best{};
    std::vector<std::size_t> rounds{};
    std::size_t taken = 0;  ///< rounds, including those that do not count
    Seconds p10{};          ///< sum over the best rows
    std::string started{};
    std::string doubt{};  ///< as `RowTimes::doubt`
  };

  void note_quiet(const Measurement& row);
  void count_visits();
  /// The session among these that counts, of those in the order in which they were started.
  [[nodiscard]] static std::vector<Together>::iterator quietest_of(std::vector<Together>& candidates);
  /// What a call took at least on an idle machine, by its own samples, with launches.
  [[nodiscard]] Seconds least_time(const Measurement& row) const;
  [[nodiscard]] QuietTime own_time(const Measurement& row) const;

  std::map<std::string, BestRows> best_{};
  std::map<std::string, std::string> reasons_{};
  std::set<std::string> tried_{};  ///< signatures with a row of a plan that failed or was not timed
  std::map<std::string, std::int64_t> untried_{};
  std::map<std::string, std::vector<const Measurement*>> ended_{};
  std::map<std::string, Seconds> timed_{};  ///< the least p10 of a row by its name, of any session
  std::optional<Analysis::QuietestSession> quietest_session_{};
  std::map<std::string, int> most_threads_{};
  std::string reason_of_all_{};
  std::vector<std::size_t> rounds_{};
  std::size_t most_rounds_ = 0, taken_rounds_ = 0;
  bool of_sessions_ = false;
  std::map<Place, QuietTime> quiet_{};
  std::set<const Measurement*> crowded_{};  ///< rows with several threads, while other processes used their processors
  std::map<std::pair<std::string, CacheState>, Seconds> single_{};  ///< the least time of a layer with one thread
  std::string doubt_{};
  double wander_ = 0;
  std::size_t visits_ = 0;
  double spread_ = 1;  ///< (median - p10) / p10 over the best rows with enough samples
};

inline constexpr int days_of_week = 7;

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

/// Other processes may keep this much of a processor busy: what an idle system does by itself.
inline constexpr double few_others = 0.05;

using RowsOfLayers = std::map<std::string, std::vector<const Measurement*>>;

inline bool usable(const Measurement& row, int threads, std::span<const std::string> backends) {
  return row.threads <= threads && row.backend != "reference" &&
         (backends.empty() || std::find(backends.begin(), backends.end(), row.backend) != backends.end());
}

/// Roughly the difference between the same plan's times at two moments of a shared machine. Samples of one moment do
/// not show it, and a row of few samples has no others.
inline constexpr double least_spread = 0.05;

/// Samples that show a spread.
inline bool has_spread(const Measurement& row) { return row.samples >= 4 || !row.rounds_s.empty(); }

inline bool has_rounds(const Measurement& row) { return !row.rounds_s.empty(); }

/// Only sessions write these.
inline bool is_of_session(const Measurement& row) { return has_rounds(row) || !row.visits_s.empty() || row.noisy; }

inline BestRows best_of(const std::vector<const Measurement*>& rows) {
  BestRows best;
  const auto take_faster = [](BestRows::Of& of, const Measurement& row, Figure figure) {
    const Figure other = figure == Figure::bound ? Figure::expected : Figure::bound;  // for ties
    const auto time = [&](const Measurement& m) { return std::pair(time_of(m, figure), time_of(m, other)); };
    if (row.cache == CacheState::cold_weights && (!of.cold || time(row) < time(*of.cold))) of.cold = &row;
    if (!of.fastest || time(row) < time(*of.fastest)) of.fastest = &row;
  };
  const auto work = [](const Measurement& row) { return expected_time(row) * row.threads; };
  for (const auto* row : rows) {
    take_faster(best.bound, *row, Figure::bound);
    take_faster(best.expected, *row, Figure::expected);
    if (!best.least_work || work(*row) < work(*best.least_work)) best.least_work = row;
  }
  return best;
}

/// A round counts if the rows whose sample was contended in it, which have their median there, make up less than a
/// quarter of the time.
inline bool counts(const std::map<std::string, BestRows>& best, std::size_t round) {
  Seconds all{}, contended{};
  for (const auto& [signature, rows] : best) {
    const Measurement& row = *rows.expected.fastest;
    const Seconds time = expected_time(row);
    all += time;
    if (!std::isfinite(row.rounds_s[round])) contended += time;
  }
  return contended.value < 0.25 * all.value;
}

inline Seconds time_of(const Measurement& row, Figure figure) {
  return figure == Figure::bound ? counted_time(row) : expected_time(row);
}

inline RowTimes::RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
                          std::span<const std::string> backends) {
  RowsOfLayers all;
  std::set<std::string> had_time;  // rows by name: one run may have had time for what another left out
  std::map<std::string, const Measurement*> had_none, ended;
  using State = std::pair<std::string, CacheState>;  // a layer's signature and its cache state
  std::set<State> states;                            // those for which some run has rounds
  std::map<const Run*, std::set<State>> timed_in;
  for (const auto& run : results.runs()) {
    std::set<State>& timed = timed_in[&run];
    for (const auto& row : run.rows) {
      if (!needed.contains(row.signature) || !usable(row, threads, backends)) continue;
      if (row.has_plan()) {
        int& most = most_threads_[row.signature];
        most = std::max(most, row.threads);
      }
      if (row.status == RowStatus::out_of_time) had_none[row.name()] = &row;
      else if (was_tried(row.status)) had_time.insert(row.name());
      if (row.status == RowStatus::ended) ended[row.name()] = &row;
      else if (was_tried(row.status)) ended.erase(row.name());
      if (!row.measured()) {
        if (row.status != RowStatus::unsupported) tried_.insert(row.signature);
        auto& reason = reasons_[row.signature];
        const bool is_said = reason.find(row.reason) != std::string::npos;
        if (reason.empty() || (row.backend != "reference" && !is_said))
          reason += (reason.empty() ? "" : "; ") + row.reason;
        continue;
      }
      all[row.signature].push_back(&row);
      const auto [least, is_first] = timed_.try_emplace(row.name(), row.p10);
      if (!is_first) least->second = std::min(least->second, row.p10);
      of_sessions_ = of_sessions_ || is_of_session(row);
      if (row.threads > 1 && run.others > few_others) crowded_.insert(&row);
      note_quiet(row);
      if (has_rounds(row)) timed.emplace(row.signature, row.cache);
    }
    states.insert(timed.begin(), timed.end());
  }
  for (const auto& [name, row] : had_none)
    if (!had_time.contains(name)) ++untried_[row->signature];
  for (const auto& [name, row] : ended) ended_[row->signature].push_back(row);
  std::vector<Together> candidates;
  for (const auto& run : results.runs()) {
    if (timed_in[&run].empty() || timed_in[&run].size() != states.size()) continue;
    RowsOfLayers rows;
    for (const auto& row : run.rows)
      if (needed.contains(row.signature) && usable(row, threads, backends) && row.measured() && has_rounds(row))
        rows[row.signature].push_back(&row);
    if (rows.size() != all.size()) continue;
    Together together;
    std::size_t count = static_cast<std::size_t>(-1);
    for (const auto& [signature, of_layer] : rows) {
      const BestRows& best = together.best[signature] = best_of(of_layer);
      together.p10 += without_launch(*best.bound.fastest, best.bound.fastest->p10);
      for (const auto* row : best.all()) {
        if (row) count = std::min(count, row->rounds_s.size());
        if (crowded_.contains(row))
          together.doubt =
              "other processes used " + std::to_string(std::lround(100 * run.others)) + " % of a processor";
      }
    }
    together.taken = count;
    together.started = run.started;
    for (std::size_t r = 0; r < count; ++r)
      if (counts(together.best, r)) together.rounds.push_back(r);
    most_rounds_ = std::max(most_rounds_, together.rounds.size());
    if (together.rounds.size() >= least_rounds) candidates.push_back(std::move(together));
  }
  if (!candidates.empty()) {
    const auto is_doubtful = [](const Together& each) { return !each.doubt.empty(); };
    if (!std::all_of(candidates.begin(), candidates.end(), is_doubtful)) std::erase_if(candidates, is_doubtful);
    auto quietest = quietest_of(candidates);
    const int day = day_number(quietest->started);
    const auto is_later = [day](const std::string& started) { return day_number(started) - day >= days_of_week; };
    const auto later = std::find_if(quietest, candidates.end(), [&](const Together& e) { return is_later(e.started); });
    if (later != candidates.end() && contradict(quietest->p10, later, candidates.end())) {
      // The machine or a library has become slower for good.
      quietest_session_ = {.started = quietest->started, .newest = candidates.back().started, .replaced = true};
      candidates.erase(candidates.begin(), later);
      quietest = quietest_of(candidates);
      quiet_.clear();
      for (const auto& run : results.runs())
        for (const auto& row : run.rows)
          if (run.started >= candidates.front().started && needed.contains(row.signature) &&
              usable(row, threads, backends) && row.measured())
            note_quiet(row);
    } else if (later != candidates.end()) {
      quietest_session_ = {.started = quietest->started,
                           .newest = candidates.back().started,
                           .contested = std::next(later) == candidates.end()};
    }
    doubt_ = std::move(quietest->doubt);
    best_ = std::move(quietest->best);
    rounds_ = std::move(quietest->rounds);
    taken_rounds_ = quietest->taken;
    count_visits();
  } else {
    for (const auto& [signature, rows] : all) best_[signature] = best_of(rows);
  }
  Seconds p10{}, median{};
  for (const auto& [signature, best] : best_) {
    const Measurement& row = *best.expected.fastest;
    if (!has_spread(row)) continue;
    p10 += row.p10;
    median += row.median;
  }
  if (p10.value > 0) spread_ = std::max(least_spread, (median - p10) / p10);
  for (const auto& [signature, rows] : all)
    for (const auto* row : rows) {
      if (row->threads > 1) continue;
      const Seconds least = least_time(*row);
      auto [at, added] = single_.try_emplace({signature, row->cache}, least);
      if (!added) at->second = std::min(at->second, least);
    }
}

inline std::vector<RowTimes::Together>::iterator RowTimes::quietest_of(std::vector<Together>& candidates) {
  Seconds least = candidates.front().p10;
  for (const auto& each : candidates) least = std::min(least, each.p10);
  const auto latest = std::find_if(candidates.rbegin(), candidates.rend(),
                                   [&](const Together& each) { return each.p10 <= least * (1 + default_tolerance); });
  return std::prev(latest.base());
}

inline std::vector<Measurement> RowTimes::ended(const std::string& signature) const {
  std::vector<Measurement> result;
  const auto found = ended_.find(signature);
  if (found == ended_.end()) return result;
  const BestRows* const best = find(signature);
  for (const auto* row : found->second) {
    const auto timed = timed_.find(row->name());
    if (timed == timed_.end() || best == nullptr || timed->second < best->bound.fastest->p10) result.push_back(*row);
  }
  return result;
}

inline void RowTimes::note_quiet(const Measurement& row) {
  if (row.contended || sorted_finite(row.rounds_s).size() < rounds_for_spread) return;
  const Timing timing = timing_of_session(row);
  const double noise = timing.noise.value_or(0);
  const Seconds p10 = without_launch(row, timing.p10);
  const QuietTime quiet{.p10 = p10,
                        .median = without_launch(row, timing.median),
                        .at_least = crowded_.contains(&row) ? p10 / row.threads : p10 * std::max(0.0, 1 - noise),
                        .at_most = p10 * (1 + noise)};
  auto [at, added] = quiet_.try_emplace({row.signature, row.cache, row.threads}, quiet);
  if (!added && p10 < at->second.p10) at->second = quiet;
}

inline Seconds RowTimes::least_time(const Measurement& row) const {
  return row.contended ? row.at_least : row.p10 * std::max(0.0, 1 - timing_of_session(row).noise.value_or(spread_));
}

inline QuietTime RowTimes::own_time(const Measurement& row) const {
  const Seconds p10 = without_launch(row, row.p10);
  QuietTime own{.p10 = p10, .median = p10, .at_least = without_launch(row, least_time(row)), .at_most = row.at_most};
  // Several threads may be as slow as one while another process has a processor, and are no faster than all together.
  const auto single = single_.find({row.signature, row.cache});
  const std::optional<Seconds> shared =
      row.threads > 1 && single != single_.end() ? std::optional(single->second / row.threads) : std::nullopt;
  if (row.contended) {
    if (shared) own.at_least = std::min(p10, std::max(own.at_least, *shared));
    own.at_most = std::max(p10, without_launch(row, row.at_most));
    return own;
  }
  own.median = counted_time(row);
  own.at_most = p10 + (p10 - own.at_least);
  if (crowded_.contains(&row)) own.at_least = std::min(own.at_least, shared.value_or(p10 / row.threads));
  return own;
}

inline QuietTime RowTimes::quiet(const Measurement& row) const {
  const QuietTime own = own_time(row);
  const auto found = quiet_.find({row.signature, row.cache, row.threads});
  return found == quiet_.end() || own.p10 < found->second.p10 ? own : found->second;
}

inline void RowTimes::count_visits() {
  for (const auto& [signature, best] : best_) {
    for (const auto* row : best.all()) {
      if (!row) continue;
      wander_ = std::max(wander_, row->wander);
      visits_ = std::max(visits_, row->visits_s.size());
    }
  }
}

inline Seconds RowTimes::doubtful(const Measurement& row) const {
  return has_spread(row) ? expected_time(row) : std::max(expected_time(row), row.p10 * (1 + spread_));
}

inline Seconds RowTimes::in_round(const Measurement& row, std::size_t round) const {
  return std::isfinite(row.rounds_s[round]) ? Seconds{row.rounds_s[round]} : expected_time(row);
}

inline Seconds RowTimes::in_visit(const Measurement& row, std::size_t visit) const {
  const bool counts = visit < row.visits_s.size() && std::isfinite(row.visits_s[visit]);
  return counts ? Seconds{row.visits_s[visit]} : expected_time(row);
}

inline const BestRows* RowTimes::find(const std::string& signature) const {
  const auto found = best_.find(signature);
  return found == best_.end() ? nullptr : &found->second;
}

inline std::string RowTimes::reason(const std::string& signature) const {
  const auto found = reasons_.find(signature);
  return found == reasons_.end() ? reason_of_all_ : found->second;
}

inline int RowTimes::most_threads(const std::string& signature) const {
  const auto found = most_threads_.find(signature);
  return found == most_threads_.end() ? 0 : found->second;
}
inline std::int64_t RowTimes::untried(const std::string& signature) const {
  const auto found = untried_.find(signature);
  return found == untried_.end() ? 0 : found->second;
}

inline bool RowTimes::unsupported(const std::string& signature) const {
  return !reason(signature).empty() && !tried_.contains(signature);
}

}  // namespace benanza::detail
