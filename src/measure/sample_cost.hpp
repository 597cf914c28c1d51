// SPDX-License-Identifier: Apache-2.0
// The cost of samples, by which the tuner and the rounds plan their time.
#pragma once

#include "sampling/sampler.hpp"
#include "tuning_task.hpp"

#include <span>

namespace benanza::measure {

/// A plan that was chosen only for its least work is timed in one of this many rounds.
inline constexpr int seldom_rounds = 4;

/// The expected time of one sample of a candidate, including discarded calls and readings.
[[nodiscard]] Seconds sample_cost(const Candidate& candidate, const sampling::Sampler& sampler);
/// The same for one sample of each chosen plan.
[[nodiscard]] Seconds round_cost(std::span<const TuningTask> tasks, const sampling::Sampler& sampler);

}  // namespace benanza::measure
