// SPDX-License-Identifier: Apache-2.0
// What samples take: the tuner and the rounds plan their time by it.
#pragma once

#include "sampler.hpp"
#include "tuning_task.hpp"

#include <span>

namespace benanza::bench {

/// A plan that was chosen for its least work alone is timed in one of this many rounds.
inline constexpr int seldom_rounds = 4;

/// What one sample of a candidate is expected to take, discarded calls and readings included.
[[nodiscard]] Seconds sample_cost(const Candidate& candidate, const Sampler& sampler);
/// The same for one sample of each chosen plan.
[[nodiscard]] Seconds round_cost(std::span<const TuningTask> tasks, const Sampler& sampler);

}  // namespace benanza::bench
