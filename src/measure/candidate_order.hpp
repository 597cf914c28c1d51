// SPDX-License-Identifier: Apache-2.0
// The order in which the candidates of a layer are tried: time may run out before the last.
#pragma once

#include "sampler.hpp"
#include "tuning_task.hpp"

#include <vector>

namespace benanza::bench {

/// The candidates of a cache state and thread count, last resorts or others. First come those whose plan was the
/// fastest where it was tried before: with more threads, or with everything in the caches. Then comes the first one of
/// each library, then the second of each: a library that offers many plans does not keep the only plan of another from
/// being tried. Among those that an earlier try of the session timed, the fastest goes first of all and the others go
/// last: time is for the untried ones.
[[nodiscard]] std::vector<Candidate*> best_first(TuningTask& task, CacheState cache, int threads, bool last_resorts,
                                                 const Sampler& sampler);

/// The same algorithm with more threads, if it was tried there, takes long, and was clearly slower than the best; null
/// otherwise.
[[nodiscard]] const Candidate* lost_with_more_threads(const TuningTask& task, const Candidate& candidate);

}  // namespace benanza::bench
