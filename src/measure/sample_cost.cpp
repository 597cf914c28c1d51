// SPDX-License-Identifier: Apache-2.0
#include "sample_cost.hpp"

namespace benanza::measure {

Seconds sample_cost(const Candidate& candidate, const sampling::Sampler& sampler) {
  const auto time = standing(candidate, sampler);
  if (!time) return {};
  const double windows = *time >= sampling::Sampler::long_call ? 1.2 : 2.5;
  const double effort = candidate.samples.empty() ? 1 : candidate.samples.back().window.effort;
  return *time * static_cast<double>(candidate.row.calls_per_sample) * windows * effort + Seconds{200e-6};
}

Seconds round_cost(std::span<const TuningTask> tasks, const sampling::Sampler& sampler) {
  Seconds cost{};
  for (const auto& task : tasks)
    for (const auto& candidate : task.candidates)
      if (candidate.chosen && candidate.competes())
        cost += sample_cost(candidate, sampler) * (candidate.seldom ? 1.0 / seldom_rounds : 1.0);
  return cost;
}

}  // namespace benanza::measure
