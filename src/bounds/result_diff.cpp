// SPDX-License-Identifier: Apache-2.0
#include <benanza/bounds/result_diff.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace benanza {

namespace {

using Key = std::pair<std::string, CacheState>;

/// What one side knows of a layer.
struct TriedPlans {
  std::map<std::string, const Measurement*> plans{};  ///< by backend and algorithm; the later run's

  [[nodiscard]] const Measurement* fastest() const {
    const Measurement* best = nullptr;
    for (const auto& [plan, row] : plans)
      if (!row->excluded && (!best || timing_of(*row).median < timing_of(*best).median)) best = row;
    return best;
  }
  [[nodiscard]] std::string why_none() const {
    return plans.empty() ? "no row" : "no valid row: " + plans.begin()->second->excluded.value_or("");
  }
};

std::map<Key, TriedPlans> sides(const ResultDatabase& results, int threads, const std::set<std::string>& only) {
  const auto machines = results.machines();
  if (threads == 0 && !machines.empty()) threads = machines.front().cores;
  std::map<Key, TriedPlans> found;
  for (const auto& run : results.runs())
    for (const auto& row : run.rows)
      if (row.threads <= threads && row.backend != "reference" && (only.empty() || only.contains(row.signature)))
        found[{row.signature, row.cache}].plans[row.backend + "/" + row.algorithm] = &row;
  return found;
}

auto rank(const LayerChange& layer) {
  return std::tuple(layer.comparison.verdict, -std::fabs(layer.comparison.change.value_or(0)));
}

Timing timing_of(const Rung& rung) {
  return {.p10 = rung.bound.value_or(Seconds{}), .median = rung.median.value_or(Seconds{}), .noise = rung.uncertainty};
}

Comparison compare_rows(const Measurement& before, const Measurement& after, double tolerance) {
  if (is_same(before, after)) return {.verdict = Verdict::same, .change = 0.0};
  return compare(timing_of_session(before), timing_of_session(after), tolerance);
}

/// No two sessions give the same figures: equal ones are of the same rows.
Comparison compare_rungs(const Rung& before, const Rung& after, double tolerance) {
  const bool is_same = before.median && before.median == after.median && before.bound == after.bound &&
                       before.uncertainty == after.uncertainty;
  if (is_same) return {.verdict = Verdict::same, .change = 0.0};
  return compare(timing_of(before), timing_of(after), tolerance);
}

}  // namespace

bool ResultDiff::has(Verdict verdict) const {
  const auto is_it = [verdict](const auto& change) { return change.comparison.verdict == verdict; };
  if (models.empty()) return std::any_of(layers.begin(), layers.end(), is_it);
  return std::any_of(models.begin(), models.end(), [&](const ModelChange& model) {
    return std::any_of(model.rungs.begin(), model.rungs.end(), is_it);
  });
}

std::vector<LayerChange> diff_layers(const ResultDatabase& before, const ResultDatabase& after,
                                     const DiffOptions& options, const std::set<std::string>& only) {
  const auto old_side = sides(before, options.threads_before, only);
  const auto new_side = sides(after, options.threads_after, only);
  std::map<Key, std::pair<TriedPlans, TriedPlans>> both;
  for (const auto& [key, side] : old_side) both[key].first = side;
  for (const auto& [key, side] : new_side) both[key].second = side;
  std::vector<LayerChange> changes;
  for (const auto& [key, pair] : both) {
    const Measurement *first = pair.first.fastest(), *second = pair.second.fastest();
    if (!first && !second) continue;  // no library has it on either side
    LayerChange change{.signature = key.first, .cache = key.second};
    if (first) change.before = *first;
    else change.comparison.reason = "before: " + pair.first.why_none();
    if (second) change.after = *second;
    else change.comparison.reason = "after: " + pair.second.why_none();
    if (first && second) change.comparison = compare_rows(*first, *second, options.tolerance);
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LayerChange& a, const LayerChange& b) { return rank(a) < rank(b); });
  return changes;
}

ModelChange diff_models(const Analysis& before, const Analysis& after, const DiffOptions& options) {
  ModelChange result{.model = before.model};
  for (std::size_t i = 0; i < rung_count; ++i) {
    RungChange change{.rung = static_cast<RungName>(i), .before = before.rungs[i], .after = after.rungs[i]};
    if (!change.before.median && !change.after.median) continue;
    if (before.partial() || after.partial())
      change.comparison.reason = std::string(before.partial() ? "before" : "after") +
                                 ": the bound is partial, it lacks " +
                                 (before.partial() ? before.missing : after.missing).front();
    else change.comparison = compare_rungs(change.before, change.after, options.tolerance);
    result.rungs.push_back(std::move(change));
  }
  return result;
}

}  // namespace benanza
