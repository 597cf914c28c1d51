// SPDX-License-Identifier: Apache-2.0
// Selection: finds the plans of each layer that later rounds time. Every plan is checked, then timed once; clear losers
// are dropped, the others meet in further visits spread over the run, where they alternate in blocks.
#pragma once

#include "roster.hpp"
#include "workplace.hpp"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace benanza::bench {

class Selection {
 public:
  /// The first is the one that admits; measurement.md asks for three.
  static constexpr std::size_t visits = 3;
  /// A rival is a clear loser when it is this much slower than the best: after one sample, and after a visit.
  static constexpr double first_margin = 2, later_margin = 1.25;
  /// Visits leave time for so many rounds, if one sample of each rival does.
  static constexpr int rounds_to_come = 40;
  /// A plan that was chosen for its least work alone is timed in one of so many rounds.
  static constexpr int seldom_rounds = 4;
  /// In a block, where time allows.
  static constexpr int most_samples = 5;
  /// A contended sample is taken again so often at once.
  static constexpr int retries = 3;

  Selection(Workplace& place, const Roster& roster) : place_(place), roster_(roster) {}

  /// Runs all visits of the layers that are not known and marks the chosen plans; ends early when so much time of the
  /// session has passed.
  void run(std::vector<Contest>& contests, Seconds until);

 private:
  /// The first visit of all rivals, or of those that there is time for; of each cache state and thread count one at
  /// least.
  void admit(Contest& contest, Seconds until);
  /// The first visit, everything in the caches: checked, dropped at once if that call already tells, else timed.
  void try_out(Contest& contest, Rival& rival, const std::vector<Expected>& expected);
  /// The first visit in another cache state. `hot`: the same plan's rival that was tried, if there is one.
  void try_colder(Contest& contest, Rival& rival, const Rival* hot, const std::vector<Expected>& expected);
  void first_samples(Rival& rival, Seconds expected);
  /// Whether a rival that was timed is a clear loser of its cache state, with launches and without.
  [[nodiscard]] bool is_lost(const Contest& contest, const Rival& rival) const;
  /// The best time, if the rival's first call shows that it comes near neither that nor the least work.
  [[nodiscard]] std::optional<Seconds> hopeless(const Contest& contest, const Rival& rival) const;
  void visit(Contest& contest, int samples, Seconds until);
  void take(Rival& rival, int samples, Seconds until);
  [[nodiscard]] Seconds estimate(const Contest& contest) const;
  /// When the visits after the first have to end.
  [[nodiscard]] Seconds end_of_visits(std::vector<Contest>& contests, std::span<Contest* const> open, Seconds until);

  Workplace& place_;
  const Roster& roster_;
};

/// What one sample of a rival is expected to take, discarded calls and readings included.
[[nodiscard]] Seconds sample_cost(const Rival& rival, const Sampler& sampler);
/// The same for one sample of each chosen plan.
[[nodiscard]] Seconds round_cost(std::span<const Contest> contests, const Sampler& sampler);

}  // namespace benanza::bench
