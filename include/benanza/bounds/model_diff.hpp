// SPDX-License-Identifier: Apache-2.0
// diff_models: what changed in a model's bounds from one set of results to another, with a verdict for each measured
// rung.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/results/result_diff.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace benanza {

/// A measured rung of a model on each side.
struct RungChange {
  RungName rung{};
  Rung before{}, after{};
  Comparison comparison{};
};

struct ModelChange {
  std::string model{};
  RungName headline{};  ///< of both sides, or `library_fused` if they differ
  std::vector<RungChange> rungs{};
};

/// The changes of layers and, given models, of each measured rung of each of them.
struct ResultDiff {
  std::vector<LayerChange> layers{};  ///< slower, faster, unknown, same; the greatest change first
  std::vector<ModelChange> models{};
  /// Whether the headline of a model has the verdict or, without models, a layer.
  [[nodiscard]] bool has(Verdict verdict) const {
    const auto is_it = [verdict](const auto& change) { return change.comparison.verdict == verdict; };
    if (models.empty()) return std::any_of(layers.begin(), layers.end(), is_it);
    return std::any_of(models.begin(), models.end(), [&](const ModelChange& model) {
      return std::any_of(model.rungs.begin(), model.rungs.end(),
                         [&](const RungChange& change) { return change.rung == model.headline && is_it(change); });
    });
  }
};

namespace detail {

inline Timing timing_of(const Rung& rung) {
  return {.p10 = rung.bound.value_or(Seconds{}), .median = rung.median.value_or(Seconds{}), .noise = rung.uncertainty};
}

/// No two sessions give the same figures: equal ones come from the same rows.
inline Comparison compare_rungs(const Rung& before, const Rung& after, double tolerance) {
  const bool is_same = before.median && before.median == after.median && before.bound == after.bound &&
                       before.uncertainty == after.uncertainty;
  if (is_same) return {.verdict = Verdict::same, .change = 0.0};
  return compare(timing_of(before), timing_of(after), tolerance);
}

}  // namespace detail

/// The most by which two bounds that agree differ, relative to the lower one: wider intervals say nothing.
inline constexpr double most_apart = 0.1;

/// Whether two sessions agree on a rung: both lack it, or both have it and differ by at most `most_apart` and by at
/// most the half intervals of both, added in quadrature, since the errors of sessions are independent.
[[nodiscard]] inline bool agree(const Rung& a, const Rung& b) {
  if (!a.bound || !b.bound) return !a.bound && !b.bound;
  const double apart = std::abs((*a.bound - *b.bound).value);
  return apart <= std::hypot(a.uncertainty * a.bound->value, b.uncertainty * b.bound->value) &&
         apart <= most_apart * std::min(*a.bound, *b.bound).value;
}

/// Compares the measured rungs, p10 and median of rounds, with the uncertainty of each. A rung that is absent on both
/// sides is left out; a rung that lacks layers or is mostly floors is unknown.
[[nodiscard]] inline ModelChange diff_models(const Analysis& before, const Analysis& after,
                                             const DiffOptions& options = {}) {
  ModelChange result{.model = before.model, .headline = common_headline(before, after)};
  for (std::size_t i = 0; i < rung_count; ++i) {
    RungChange change{.rung = static_cast<RungName>(i), .before = before.rungs[i], .after = after.rungs[i]};
    if (!change.before.median && !change.after.median) continue;
    if (before.partial() || after.partial())
      change.comparison.reason = std::string(before.partial() ? "before" : "after") +
                                 ": the bound is partial, it lacks " +
                                 (before.partial() ? before.missing : after.missing).front();
    else if (change.before.mostly_floor() || change.after.mostly_floor())
      change.comparison.reason = std::string(change.before.mostly_floor() ? "before" : "after") +
                                 ": most of the rung is floors of layers without a time";
    else change.comparison = detail::compare_rungs(change.before, change.after, options.tolerance);
    result.rungs.push_back(std::move(change));
  }
  return result;
}

}  // namespace benanza
