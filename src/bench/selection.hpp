// SPDX-License-Identifier: Apache-2.0
// Selection: finds the plans of each layer that later rounds time. Every plan is checked, then timed once; clear losers
// are dropped, the others meet in further visits spread over the run, where they alternate in blocks.
#pragma once

#include "workplace.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::bench {

using Backends = std::span<const std::shared_ptr<const Backend>>;

class Selection {
 public:
  /// The first is the one that admits; measurement.md asks for three.
  static constexpr int visits = 3;
  /// A rival is a clear loser when it is this much slower than the best: after one sample, and after a visit.
  static constexpr double first_margin = 2, later_margin = 1.25;
  /// Visits leave time for so many rounds, if one sample of each rival does.
  static constexpr int rounds_to_come = 40;
  /// In a block, where time allows.
  static constexpr int most_samples = 5;
  /// A contended sample is taken again so often at once.
  static constexpr int retries = 3;

  /// `thread_counts` ascending.
  Selection(Workplace& place, Backends backends, std::vector<int> thread_counts)
      : place_(place), backends_(backends), thread_counts_(std::move(thread_counts)) {}

  /// A contest for each wanted layer, in the same order. Layers with known rows get the plans that these choose.
  [[nodiscard]] std::vector<Contest> enlist(std::span<const Wanted> wanted) const;
  /// Asks every backend for its plans at every thread count; what there is none for becomes a row.
  void find_rivals(Contest& contest) const;
  /// Runs all visits of the layers that are not known and marks the chosen plans; ends early when so much time of the
  /// session has passed.
  void run(std::vector<Contest>& contests, Seconds until);

 private:
  /// With `algorithm` only the plan of that name.
  void add_plans(Contest& contest, const Backend& backend, int threads, std::string_view algorithm = {}) const;
  void recall(Contest& contest, std::span<const Measurement> rows) const;
  void admit(Contest& contest);
  void try_out(Contest& contest, Rival& rival, const std::vector<Expected>& expected);
  void visit(Contest& contest, int samples, Seconds until);
  void take(Rival& rival, int samples, Seconds until);
  [[nodiscard]] Seconds estimate(const Contest& contest) const;
  /// When the visits after the first have to end.
  [[nodiscard]] Seconds end_of_visits(std::vector<Contest>& contests, std::span<Contest* const> open, Seconds until);
  /// Nothing is left to choose between.
  [[nodiscard]] static bool decided(const Contest& contest);

  Workplace& place_;
  Backends backends_;
  std::vector<int> thread_counts_;
};

/// 1, 2, 4 ... and `most` itself.
[[nodiscard]] std::vector<int> thread_counts(int most);

/// What one sample of a rival is expected to take, discarded calls and readings included.
[[nodiscard]] Seconds sample_cost(const Rival& rival, const Sampler& sampler);
/// The same for one sample of each chosen plan.
[[nodiscard]] Seconds round_cost(std::span<const Contest> contests, const Sampler& sampler);

}  // namespace benanza::bench
