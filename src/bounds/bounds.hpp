// SPDX-License-Identifier: Apache-2.0
// Bounds: the rungs of the ladder (docs/measuring.md, "The ladder"), from the two plans of a model.
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
  Bounds(const ModelLayers& model, const FormPlan& single, const FormPlan& fused, const FormPlan& fused_resident,
         const RowTimes& times, const Ceilings& ceilings, int threads, bool device)
      : model_(model),
        single_(single),
        fused_(fused),
        fused_resident_(fused_resident),
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
  /// Time of one part: of a measured one by the statistic at hand, of a modelled one its floor.
  using TimeOf = std::function<Seconds(const Part&)>;
  struct PartTimes {
    TimeOf time{}, work{}, cold{};  ///< the best time, the least threads x time, the best without weights in the caches
  };
  using Total = std::function<Seconds(const PartTimes&)>;

  [[nodiscard]] static Seconds total_of(const LayerGraph& graph, const FormPlan& plan, const TimeOf& time);
  [[nodiscard]] Seconds sequential(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds parallel(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  [[nodiscard]] Seconds resident(const LayerGraph& graph, const FormPlan& plan, const PartTimes& times) const;
  /// The rung whose total is taken per round.
  [[nodiscard]] Rung measured(const FormPlan& plan, const Total& total) const;
  [[nodiscard]] bool knows_arithmetic() const;
  [[nodiscard]] Seconds model_floor() const;
  [[nodiscard]] Seconds model_memory_floor() const;
  void raise(Rung& rung, const FormPlan& plan) const;

  const ModelLayers& model_;
  const FormPlan& single_;
  const FormPlan& fused_;
  const FormPlan& fused_resident_;  ///< the cheapest partition when no weights are in the caches
  const RowTimes& times_;
  const Ceilings& ceilings_;
  int threads_;
  bool device_;  ///< an accelerator, whose branches overlap
};

}  // namespace benanza::analysis
