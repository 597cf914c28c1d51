// SPDX-License-Identifier: Apache-2.0
// TuningTask: one layer and its candidates. The candidates of each cache state are compared among themselves: the plan
// that is best with its weights in the caches need not be the best without them.
#pragma once

#include "lazy_plan.hpp"
#include "sampling/sampler.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/results/measurement.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::measure {

/// One plan in one cache state, and its samples. A candidate that has no plan (unsupported, failed, dropped) is only a
/// row.
struct Candidate {
  const Backend* backend = nullptr;
  std::shared_ptr<LazyPlan> plan{};  ///< one for all cache states
  Measurement row{};
  std::vector<sampling::Sample> samples{};  ///< taken during selection
  /// Empty if every try of the estimate was contended or failed.
  std::vector<std::optional<sampling::Sample>> rounds{};
  Seconds first_call{};               ///< of the call whose result was checked
  bool only_checked = false;          ///< that call is its only sample
  std::vector<std::size_t> visits{};  ///< visits of the selection: where the samples of each begin
  bool chosen = false;
  bool seldom = false;  ///< chosen only for its least work: a few rounds are enough

  /// Still a candidate: has a plan and is not excluded.
  [[nodiscard]] bool competes() const { return plan != nullptr && row.measured(); }
  /// Whether it was timed, or one call showed that it is slower.
  [[nodiscard]] bool was_tried() const { return !visits.empty() || row.status == RowStatus::slower; }
  /// Whether its threads were far from each other in each of its samples; near each other, it may be faster.
  [[nodiscard]] bool only_distant(const sampling::Sampler& sampler) const {
    return !samples.empty() && std::all_of(samples.begin(), samples.end(),
                                           [&](const sampling::Sample& sample) { return sampler.distant(sample); });
  }
  /// Builds the plan if no other cache state has done so; excludes the candidate if there is none. Throws what the
  /// backend throws.
  void build(const sampling::Host& host) {
    if (const auto why = plan->build(host)) return exclude(RowStatus::unsupported, why->reason);
    row.preparation = plan->preparation();
    row.workspace_bytes = static_cast<std::int64_t>(plan->get().workspace_bytes());
    row.saves_multiplications = plan->get().saves_multiplications();
  }
  void exclude(RowStatus status, std::string_view why = {}) {
    row.exclude(status, why);
    drop();
  }
  /// Excludes it for a reason in the form of a results file.
  void exclude_for(std::string reason) {
    row.exclude_for(std::move(reason));
    drop();
  }
  /// Drops the plan; only the row remains.
  void drop() {
    plan.reset();
    chosen = false;
  }
};

struct TuningTask {
  Layer layer{};
  std::string signature{};
  Operands operands{};
  double weight = 1;
  bool known = false;  ///< chosen from the database's rows
  std::vector<Candidate> candidates{};

  /// How many candidates are left in a cache state.
  [[nodiscard]] std::ptrdiff_t competitors(CacheState cache) const {
    return std::count_if(candidates.begin(), candidates.end(), [cache](const Candidate& candidate) {
      return candidate.row.cache == cache && candidate.competes();
    });
  }
  /// Whether there is nothing left to choose from.
  [[nodiscard]] bool decided() const {
    return std::all_of(cache_states.begin(), cache_states.end(),
                       [this](CacheState cache) { return competitors(cache) < 2; });
  }
};

/// How to read a candidate's samples that a device timed: all by the method with the lower median.
struct Method {
  std::string_view name{};  ///< empty if there is only a clock
  Seconds launch{};         ///< median of the part of its times that empty kernels take
};
[[nodiscard]] Method method_of(const Candidate& candidate);
/// A sample's time by that method, or by the other one if that method gave none.
[[nodiscard]] Seconds time_by(const Method& method, const sampling::Sample& sample);

/// Times of the samples that count.
[[nodiscard]] std::vector<double> times(const std::vector<sampling::Sample>& samples, const sampling::Sampler& sampler,
                                        const Method& method = {});

/// What contended samples would have taken on an idle machine.
struct Undisturbed {
  std::vector<double> estimates{};  ///< without what the thread that waited longest lost
  std::vector<double> at_least{};   ///< without all that was lost, and without the slowdown
  std::vector<double> at_most{};    ///< if all threads waited at the same time
};
/// Estimates from the contended samples. Waiting times are inexact. A sample whose threads waited for more than a
/// quarter of its time is ignored if another sample waited less. If they waited for more than half of it, the waiting
/// time is not subtracted.
[[nodiscard]] Undisturbed undisturbed(const std::vector<sampling::Sample>& samples, const sampling::Sampler& sampler,
                                      const Method& method = {});
/// The time of a candidate's call so far: the first decile of its samples that count, otherwise of all its samples,
/// otherwise the time in the database.
[[nodiscard]] std::optional<Seconds> standing(const Candidate& candidate, const sampling::Sampler& sampler);
/// The same as a bound counts it, that is, without launches.
[[nodiscard]] std::optional<Seconds> counted(const Candidate& candidate, const sampling::Sampler& sampler);

/// In each cache state, drops candidates that are slower than `margin` times the best and also do more than `margin`
/// times the least work (threads x time), both with launches and without. They remain as rows. The best counts with the
/// most that it may take if all its samples are contended.
void drop_losers(TuningTask& task, double margin, const sampling::Sampler& sampler);
/// Marks two winners in each cache state: the candidate with the least time as a bound counts it, without launches, and
/// the one with the least time including launches, which is what to expect and to advise. With a clock, launches are
/// not known, and one candidate is both. In the hot state, also marks the candidate of least work, which the parallel
/// rungs need. Ties are decided by the other time, then by the name.
void choose(TuningTask& task, const sampling::Sampler& sampler);

}  // namespace benanza::measure
