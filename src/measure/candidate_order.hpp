// SPDX-License-Identifier: Apache-2.0
// The order in which the candidates of a layer are tried: time may run out before the last one.
#pragma once

#include "related_times.hpp"
#include "sampling/sampler.hpp"
#include "tuning_task.hpp"

#include <vector>

namespace benanza::measure {

/// The candidates of a cache state and thread count, either last resorts or others. The order is:
///
/// 1. the fastest of those that an earlier try of the session timed;
/// 2. promising ones, the fastest first: their plan was the fastest, or nearly, where it was tried before (with more
///    threads, with everything in the caches, or for a related layer);
/// 3. those whose plan was not tried anywhere: the first of each library that saves multiplications (Winograd), then
///    the first other one of each library, then the second of each, so that a library that offers many plans does not
///    keep the only plan of another library from being tried;
/// 4. those whose plan was slower where it was tried before;
/// 5. the others of those that an earlier try of the session timed.
[[nodiscard]] std::vector<Candidate*> best_first(TuningTask& task, CacheState cache, int threads, bool last_resorts,
                                                 const sampling::Sampler& sampler, const RelatedTimes& related);

/// The same algorithm with more threads, if it was tried, takes long, and was clearly slower than the best; null
/// otherwise.
[[nodiscard]] const Candidate* lost_with_more_threads(const TuningTask& task, const Candidate& candidate);

}  // namespace benanza::measure
