// SPDX-License-Identifier: Apache-2.0
// Rounds: the estimate. Each round times every chosen plan of the run once, so that a total can be taken within a
// round; the first decile and the median of such totals are unbiased, sums of per-row deciles are not
// (docs/measuring.md, "Two phases").
#pragma once

#include "tuner.hpp"
#include "workplace.hpp"

#include <optional>
#include <span>
#include <vector>

namespace benanza::measure {

class Rounds {
 public:
  /// This many if the budget allows, in groups whose starts are apart from each other, since disturbances of a machine
  /// come in phases.
  static constexpr std::size_t wanted = Tuner::rounds_to_come, groups = 4, most = 160;
  static constexpr Seconds group_distance{0.5};
  /// More rounds follow, as long as the budget allows, while the total moves by more than this between groups.
  static constexpr double wanted_uncertainty = 0.005;
  /// A contended sample is taken again at once, up to this many times, and once more at the end of its round.
  static constexpr int retries = 3;

  /// A group of rounds waits for at most this share of the remaining time while threads are far from each other.
  static constexpr double longest_wait = 0.1;

  explicit Rounds(Workplace& place) : place_(place) {}

  /// Runs rounds until the budget or the need for them ends. A round that was cut short does not count.
  void run(std::vector<TuningTask>& tasks);

 private:
  struct Entry {
    TuningTask* task = nullptr;
    Candidate* candidate = nullptr;
  };
  /// Entries of equal thread counts follow each other: fewer changes of threads, fewer readings of the sentinel.
  static void order(std::vector<Entry>& entries);
  /// Adds the plans that the selection saw take less time than the chosen ones take in rounds: contended samples may
  /// have chosen a slower plan.
  void add_faster(std::vector<TuningTask>& tasks, std::vector<Entry>& entries);
  /// Returns false if it was cut short.
  bool round(std::vector<Entry>& entries, std::size_t number);
  [[nodiscard]] std::optional<sampling::Sample> time(const Entry& entry, int tries);
  /// If there are too few rounds in which the threads of a candidate were near each other, all rounds count.
  void accept_distant_if_needed(const std::vector<Entry>& entries);
  /// Checks the times of the chosen plans by what the device records of their kernels.
  void check_by_activity(std::vector<Entry>& entries);
  /// Asks the device for the kernels and counters that the options request, whatever is left of the budget.
  void ask_kernels(std::vector<Entry>& entries);
  [[nodiscard]] double uncertainty(const std::vector<TuningTask>& tasks, std::size_t done) const;
  void pause(Seconds time);
  /// Returns when so many threads are near each other, or after `most`.
  void wait_until_near(int threads, Seconds most);

  Workplace& place_;
};

/// The time of each round; NaN if it was contended or missing.
[[nodiscard]] std::vector<double> round_times(const Candidate& candidate, const sampling::Sampler& sampler,
                                              const Method& method);

/// All rows that `finished_row` returns.
[[nodiscard]] std::vector<Measurement> finished_rows(std::span<const TuningTask> tasks,
                                                     const sampling::Sampler& sampler);
/// The finished row. Quantiles over the rounds of a chosen plan if there are enough of them; otherwise over the samples
/// of the selection, which flatter a plan that was selected by them. Without any samples, the row that an earlier try
/// of the session left. Empty for a candidate that was neither timed nor excluded.
[[nodiscard]] std::optional<Measurement> finished_row(const Candidate& candidate, const sampling::Sampler& sampler);

}  // namespace benanza::measure
