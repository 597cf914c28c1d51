// SPDX-License-Identifier: Apache-2.0
// Tuner: finds the plans of each layer that later rounds time. Every plan is checked, then timed once; clearly slower
// ones are dropped, the others are timed in further visits spread over the run, where they alternate in blocks.
#pragma once

#include "candidate_finder.hpp"
#include "workplace.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::bench {

class Tuner {
 public:
  /// The first visit admits a candidate (docs/measuring.md, "Two phases").
  static constexpr std::size_t visits = 3;
  /// A candidate is clearly slower, and dropped, when it takes this many times as long as the best: after one sample,
  /// and after a visit.
  static constexpr double first_margin = 2, later_margin = 1.25;
  /// Visits leave time for this many rounds, if one sample of each candidate does.
  static constexpr int rounds_to_come = 40;
  /// In a block, where time allows.
  static constexpr int most_samples = 5;
  /// A contended sample is taken again at once, up to this many times.
  static constexpr int retries = 3;

  Tuner(Workplace& place, const CandidateFinder& finder) : place_(place), finder_(finder) {}

  /// Runs all visits of the layers that are not known and marks the chosen plans; ends early when this much time of the
  /// session has passed.
  void run(std::vector<TuningTask>& tasks, Seconds until);

 private:
  /// The first visit of all candidates, or of those that there is time for; of each cache state and thread count one at
  /// least.
  void admit(TuningTask& task, Seconds until);
  /// The first visit, everything in the caches: checked, dropped at once if that call already tells, else timed.
  void try_out(TuningTask& task, Candidate& candidate, const std::vector<Expected>& expected);
  /// The first visit in another cache state. `hot`: the same plan's candidate that was tried, if there is one.
  void try_colder(TuningTask& task, Candidate& candidate, const Candidate* hot, const std::vector<Expected>& expected);
  void first_samples(Candidate& candidate, Seconds expected);
  /// Whether a candidate that was timed is clearly slower than the best of its cache state, with launches and without.
  [[nodiscard]] bool is_lost(const TuningTask& task, const Candidate& candidate) const;
  /// The best time, if the candidate's first call shows that it comes near neither that nor the least work.
  [[nodiscard]] std::optional<Seconds> loses_at_first_call(const TuningTask& task, const Candidate& candidate) const;
  void visit(TuningTask& task, int samples, Seconds until);
  void take(Candidate& candidate, int samples, Seconds until);
  [[nodiscard]] Seconds estimate(const TuningTask& task) const;
  /// When the visits after the first have to end.
  [[nodiscard]] Seconds end_of_visits(std::vector<TuningTask>& tasks, std::span<TuningTask* const> open, Seconds until);

  Workplace& place_;
  const CandidateFinder& finder_;
};

}  // namespace benanza::bench
