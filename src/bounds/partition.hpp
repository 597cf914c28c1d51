// SPDX-License-Identifier: Apache-2.0
// The cheapest partition of a form into calls: in single form each layer is one call; in fused form each group is one
// call, or is split into smaller groups and single layers where that is faster.
#pragma once

#include "row_times.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace benanza::analysis {

/// One call.
struct Part {
  Layer layer{};
  std::string signature{};
  Status status = Status::missing;
  const BestRows* best = nullptr;  ///< when measured
  Seconds floor{};                 ///< analytic, with the distinct bytes of this occurrence; stands in when modelled
  std::size_t node = 0;            ///< the first of the occurrence's nodes that it covers

  [[nodiscard]] Seconds time(Figure figure) const { return best ? time_of(*best->of(figure).fastest, figure) : floor; }
  /// With its weights out of the caches, as far as it has any.
  [[nodiscard]] Seconds cold_time(Figure figure) const {
    const bool has_cold = best && best->of(figure).cold;
    return has_cold ? std::max(time(figure), time_of(*best->of(figure).cold, figure)) : time(figure);
  }
};
/// By which of a part's times the cheapest partition is found.
using PartTime = Seconds (Part::*)(Figure) const;

struct FormPlan {
  std::vector<std::vector<Part>> parts{};  ///< for each occurrence; none for a free one
  std::vector<Status> status{};            ///< worst of the parts
  std::vector<Seconds> floors{};           ///< analytic time of the whole occurrence: the least over its partitions
  std::vector<Seconds> floors_without_weights{};
  std::vector<double> flops{};         ///< the least over its partitions
  std::vector<std::string> untried{};  ///< signatures of ways to do a group that have no time yet
};

/// p10 of one call for a bound: over common rounds or samples, without launches.
[[nodiscard]] Seconds p10(const Measurement& row);
/// Whether the peak of its arithmetic is known. Integers of more than 8 bits have none: theirs is the work of
/// addresses, and counts nothing.
[[nodiscard]] bool has_arithmetic_floor(const Layer& layer, const Ceilings& ceilings);
/// The key of a layer in results.
[[nodiscard]] std::string text_of(const Layer& layer);

[[nodiscard]] FormPlan plan_single(const LayerGraph& graph, const RowTimes& times, const Ceilings& ceilings);
[[nodiscard]] FormPlan plan_fused(const LayerGraph& fused, const LayerGraph& single, const FormPlan& single_plan,
                                  const RowTimes& times, const Ceilings& ceilings, Figure figure, PartTime time);

/// The cheapest partitions of both forms for one figure.
struct FormPlans {
  FormPlan single{}, fused{};
  FormPlan resident{};  ///< fused, when no weights are in the caches
};
[[nodiscard]] FormPlans plan_forms(const ModelLayers& model, const RowTimes& times, const Ceilings& ceilings,
                                   Figure figure);

}  // namespace benanza::analysis
