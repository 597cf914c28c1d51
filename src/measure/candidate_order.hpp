// SPDX-License-Identifier: Apache-2.0
// The order in which the candidates of a layer are tried: time may run out before the last one.
#pragma once

#include "sampler.hpp"
#include "tuning_task.hpp"

#include <vector>

namespace benanza::bench {

/// The candidates of a cache state and thread count, either last resorts or others. Candidates whose plan was the
/// fastest where it was tried before come first: with more threads, or with everything in the caches. Then comes the
/// first candidate of each library, then the second of each, so that a library that offers many plans does not keep the
/// only plan of another library from being tried. Among the candidates that an earlier try of the session timed, the
/// fastest comes first of all and the others come last, which leaves the time to untried ones.
[[nodiscard]] std::vector<Candidate*> best_first(TuningTask& task, CacheState cache, int threads, bool last_resorts,
                                                 const Sampler& sampler);

/// The same algorithm with more threads, if it was tried, takes long, and was clearly slower than the best; null
/// otherwise.
[[nodiscard]] const Candidate* lost_with_more_threads(const TuningTask& task, const Candidate& candidate);

}  // namespace benanza::bench
