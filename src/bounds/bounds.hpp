// SPDX-License-Identifier: Apache-2.0
// Bounds: the rungs of the ladder (docs/measuring.md, "The ladder"), from the partitions of a model for each of their
// figures.
#pragma once

#include "partition.hpp"
#include "row_times.hpp"
#include <benanza/bounds/analysis.hpp>

#include <functional>
#include <string>
#include <vector>

namespace benanza::analysis {

class Bounds {
 public:
  Bounds(const ModelLayers& model, const FormPlans& bound, const FormPlans& expected, const RowTimes& times,
         const Ceilings& ceilings, int threads, bool device)
      : model_(model),
        bound_(bound),
        expected_(expected),
        times_(times),
        ceilings_(ceilings),
        threads_(threads),
        device_(device) {}

  [[nodiscard]] std::array<Rung, rung_count> ladder() const;
  /// For each If the time of its branches in the `library` rung, the cheaper of which is in the bound.
  [[nodiscard]] std::vector<std::string> choices() const;
  /// Critical path of a form at expected times.
  [[nodiscard]] CriticalPath path(const LayerGraph& graph, const FormPlan& plan) const;
  /// Critical path of a form at analytic times without weights: of `roofline_parallel`, for the fused one.
  [[nodiscard]] CriticalPath floor_path(const LayerGraph& graph, const FormPlan& plan) const;

 private:
  /// Time of one part: of a measured one by the given statistic, of a modelled one its floor.
  using TimeOf = std::function<Seconds(const Part&)>;
  struct PartTimes {
    TimeOf time{}, work{}, cold{};  ///< the best time, the least threads x time, the best without weights in the caches
  };
  using Total = std::function<Seconds(const FormPlan&, const PartTimes&)>;

  [[nodiscard]] static Seconds total_of(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time);
  [[nodiscard]] Seconds sequential(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds parallel(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds resident(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  /// The rung whose totals are taken per round: the bound and the expected figure each of their own partition.
  [[nodiscard]] Rung measured(const FormPlan& bound, const FormPlan& expected, const Total& total) const;
  [[nodiscard]] bool knows_arithmetic() const;
  [[nodiscard]] Seconds model_floor() const;
  [[nodiscard]] Seconds model_memory_floor() const;
  /// What no total of these calls may lie below.
  [[nodiscard]] Seconds floor_of(const FormPlan& plan, Figure figure) const;
  void raise(Rung& rung, const FormPlan& bound, const FormPlan& expected) const;
  /// The lower of two rungs, the first where they are equal or only that one is known.
  [[nodiscard]] Rung lower(const Rung& a, const Rung& b) const;

  const ModelLayers& model_;
  const FormPlans& bound_;
  const FormPlans& expected_;  ///< the same where there are no launches
  const RowTimes& times_;
  const Ceilings& ceilings_;
  int threads_;
  bool device_;  ///< an accelerator, whose branches overlap
};

}  // namespace benanza::analysis
