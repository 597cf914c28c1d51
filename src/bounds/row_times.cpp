// SPDX-License-Identifier: Apache-2.0
#include "row_times.hpp"

#include <benanza/detail/quantile.hpp>
#include <benanza/results/expected_time.hpp>
#include <benanza/results/refused.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::analysis {

namespace {

using RowsOfLayers = std::map<std::string, std::vector<const Measurement*>>;

bool usable(const Measurement& row, int threads, std::span<const std::string> backends) {
  return row.threads <= threads && row.backend != "reference" &&
         (backends.empty() || std::find(backends.begin(), backends.end(), row.backend) != backends.end());
}

/// What the same plan's times differ by between two moments of a shared machine, roughly: samples of one moment, and a
/// row of few samples has no others, do not show it.
constexpr double least_spread = 0.05;

/// Samples that show a spread.
bool has_spread(const Measurement& row) { return row.samples >= 4 || !row.rounds_s.empty(); }

bool has_rounds(const Measurement& row) { return !row.rounds_s.empty(); }

BestRows best_of(const std::vector<const Measurement*>& rows) {
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

/// A round counts when the rows whose sample was contended in it, and which stand there with their median, make up less
/// than a quarter of the time.
bool counts(const std::map<std::string, BestRows>& best, std::size_t round) {
  Seconds all{}, contended{};
  for (const auto& [signature, rows] : best) {
    const Measurement& row = *rows.expected.fastest;
    const Seconds time = expected_time(row);
    all += time;
    if (!std::isfinite(row.rounds_s[round])) contended += time;
  }
  return contended.value < 0.25 * all.value;
}

}  // namespace

Seconds time_of(const Measurement& row, Figure figure) {
  return figure == Figure::bound ? counted_time(row) : expected_time(row);
}

RowTimes::RowTimes(const ResultDatabase& results, const std::set<std::string>& needed, int threads,
                   std::span<const std::string> backends) {
  RowsOfLayers all;
  std::set<std::string> had_time;  // rows by their names, as one run may have had time for what another had not
  std::map<std::string, const Measurement*> had_none;
  const Run* common = nullptr;
  using State = std::pair<std::string, CacheState>;  // of a layer
  std::set<State> states;                            // of which any run has rounds
  std::size_t most = 0;
  for (const auto& run : results.runs()) {
    std::set<State> timed;
    for (const auto& row : run.rows) {
      if (!needed.contains(row.signature) || !usable(row, threads, backends)) continue;
      if (row.excluded && *row.excluded == out_of_time) had_none[row.name()] = &row;
      else if (was_tried(row)) had_time.insert(row.name());
      if (row.excluded) {
        if (!cannot_run(row)) tried_.insert(row.signature);
        auto& reason = reasons_[row.signature];
        if (reason.empty() || row.backend != "reference") reason += (reason.empty() ? "" : "; ") + *row.excluded;
        continue;
      }
      all[row.signature].push_back(&row);
      if (has_rounds(row)) timed.emplace(row.signature, row.cache);
    }
    states.insert(timed.begin(), timed.end());
    if (timed.size() >= most && !timed.empty()) {  // of equals the later run
      most = timed.size();
      common = &run;
    }
  }
  for (const auto& [name, row] : had_none)
    if (!had_time.contains(name)) ++untried_[row->signature];
  RowsOfLayers together;
  if (common && most == states.size())
    for (const auto& row : common->rows)
      if (needed.contains(row.signature) && usable(row, threads, backends) && !row.excluded && has_rounds(row))
        together[row.signature].push_back(&row);
  if (!together.empty() && together.size() == all.size()) {
    for (const auto& [signature, rows] : together) best_[signature] = best_of(rows);
    std::size_t count = static_cast<std::size_t>(-1);
    for (const auto& [signature, best] : best_)
      for (const auto* row : best.all())
        if (row) count = std::min(count, row->rounds_s.size());
    for (std::size_t r = 0; r < count && !best_.empty(); ++r)
      if (counts(best_, r)) rounds_.push_back(r);
    if (rounds_.size() >= 4) {
      count_observations();
      return;
    }
    rounds_.clear();
  }
  Seconds p10{}, median{};
  for (const auto& [signature, rows] : all) {
    const Measurement& row = *(best_[signature] = best_of(rows)).expected.fastest;
    if (!has_spread(row)) continue;
    p10 += row.p10;
    median += row.median;
  }
  if (p10.value > 0) spread_ = std::max(least_spread, (median - p10) / p10);
  count_observations();
}

void RowTimes::count_observations() {
  for (const auto& [signature, best] : best_) {
    for (const auto* row : best.all()) {
      if (!row) continue;
      wander_ = std::max(wander_, row->wander);
      visits_ = std::max(visits_, row->visits_s.size());
      if (rounds_.empty()) few_rounds_ = std::max(few_rounds_, row->rounds_s.size());
    }
  }
}

Seconds RowTimes::doubtful(const Measurement& row) const {
  return has_spread(row) ? expected_time(row) : std::max(expected_time(row), row.p10 * (1 + spread_));
}

Seconds RowTimes::in_round(const Measurement& row, std::size_t round) const {
  return std::isfinite(row.rounds_s[round]) ? Seconds{row.rounds_s[round]} : expected_time(row);
}

Seconds RowTimes::in_observation(const Measurement& row, std::size_t observation) const {
  const auto& times = observation < visits_ ? row.visits_s : row.rounds_s;
  const std::size_t i = observation < visits_ ? observation : observation - visits_;
  return i < times.size() && std::isfinite(times[i]) ? Seconds{times[i]} : expected_time(row);
}

const BestRows* RowTimes::find(const std::string& signature) const {
  const auto found = best_.find(signature);
  return found == best_.end() ? nullptr : &found->second;
}

std::string RowTimes::reason(const std::string& signature) const {
  const auto found = reasons_.find(signature);
  return found == reasons_.end() ? reason_of_all_ : found->second;
}

std::int64_t RowTimes::untried(const std::string& signature) const {
  const auto found = untried_.find(signature);
  return found == untried_.end() ? 0 : found->second;
}

bool RowTimes::unsupported(const std::string& signature) const {
  return !reason(signature).empty() && !tried_.contains(signature);
}

}  // namespace benanza::analysis
