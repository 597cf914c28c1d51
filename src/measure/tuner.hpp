// SPDX-License-Identifier: Apache-2.0
// Tuner: finds the plans of each layer that later rounds time. Every plan is checked, then timed once. Plans that two
// calls show to be clearly slower are dropped; the others are timed in further visits that are spread over the run,
// where they alternate in blocks.
#pragma once

#include "candidate_finder.hpp"
#include "related_times.hpp"
#include "workplace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::measure {

class Tuner {
 public:
  /// The first visit admits a candidate (docs/measuring.md, "Two phases").
  static constexpr std::size_t visits = 3;
  /// A candidate is clearly slower, and dropped, if it takes this many times as long as the best: after one sample, and
  /// after a visit.
  static constexpr double first_margin = 2, later_margin = 1.25;
  /// The share of the time for selection in which each layer gets a time of its most likely plans.
  static constexpr double likely_share = 0.4;
  /// Visits leave time for this many rounds, if one sample of each candidate does.
  static constexpr int rounds_to_come = 40;
  /// Selection ends early enough for this many rounds: twice as many as a total needs (docs/measuring.md, "Two
  /// phases"), since a busy machine makes rounds longer and spoils some.
  static constexpr int rounds_kept = 8;
  /// In a block, if time allows.
  static constexpr int most_samples = 5;
  /// A contended sample is taken again at once, up to this many times.
  static constexpr int retries = 3;
  /// Other processes delay a call by no more than this, roughly.
  static constexpr Seconds longest_delay{1};

  Tuner(Workplace& place, const CandidateFinder& finder) : place_(place), finder_(finder) {}

  /// Runs all visits of the layers that are not known and marks the chosen plans. Ends early when the session has taken
  /// `until`.
  void run(std::vector<TuningTask>& tasks, Seconds until);

 private:
  /// Candidates are visited first in two passes over the layers, so that each layer has a time early.
  enum class Pass : std::uint8_t {
    likely,  ///< those that come first in the order, until the layer's time is over
    all      ///< the others; those for which there is no time are excluded
  };
  /// The first visit of all candidates, or as many as time allows, but at least one per cache state and thread count.
  void admit(TuningTask& task, Seconds until, Pass pass);
  /// The first visit, with everything in the caches: the candidate is checked, dropped at once if that call and its
  /// repetition show it to be slow, and timed otherwise. `until`: when the layer's time is over.
  void try_out(TuningTask& task, Candidate& candidate, const std::vector<Expected>& expected, Seconds until);
  /// The first visit in another cache state. `hot`: the candidate of the same plan that was tried with everything in
  /// the caches, if there is one.
  void try_colder(TuningTask& task, Candidate& candidate, const Candidate* hot, const std::vector<Expected>& expected,
                  Seconds until);
  /// `just_called`: see Sampler::first_sample. `checked`: the call that was checked, if it is long and was sampled;
  /// then it is the first sample.
  void first_samples(const TuningTask& task, Candidate& candidate, Seconds expected, Seconds until, bool just_called,
                     const std::optional<sampling::Sample>& checked = std::nullopt);
  /// Drops candidates by their first samples. A single call that would drop its candidate is repeated first.
  void drop_after_first(TuningTask& task, Seconds until);
  /// The best time so far with everything in the caches; null if there is none.
  [[nodiscard]] std::optional<Seconds> best_when_hot(const TuningTask& task) const;
  /// Whether a single call must suffice to drop its candidate: it took longer than the best by more than a delay, and
  /// the layer has no time for another call.
  [[nodiscard]] bool is_enough(Seconds call, Seconds best, Seconds until) const;
  /// The best time of its cache state, if a timed candidate is slower than that by `margin`, both with launches and
  /// without.
  [[nodiscard]] std::optional<Seconds> loses(const TuningTask& task, const Candidate& candidate,
                                             double margin = first_margin) const;
  /// The best time, if the candidate's first call shows that it is near neither the best time nor the least work.
  [[nodiscard]] std::optional<Seconds> loses_at_first_call(const TuningTask& task, const Candidate& candidate) const;
  void visit(TuningTask& task, int samples, Seconds until);
  void take(Candidate& candidate, int samples, Seconds until);
  [[nodiscard]] Seconds estimate(const TuningTask& task) const;
  /// The last moment that leaves time for `rounds_kept` rounds.
  [[nodiscard]] Seconds start_of_rounds(Seconds round) const {
    return place_.options().budget - round * static_cast<double>(rounds_kept);
  }
  /// When the visits after the first must end.
  [[nodiscard]] Seconds end_of_visits(std::vector<TuningTask>& tasks, std::span<TuningTask* const> open, Seconds until);

  Workplace& place_;
  const CandidateFinder& finder_;
  RelatedTimes related_{};
};

}  // namespace benanza::measure
