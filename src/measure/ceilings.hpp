// SPDX-License-Identifier: Apache-2.0
// Ceilings: how fast this machine can multiply and move data, measured on the spot (docs/measuring.md, "Ceilings").
// They bound from below, so each is the best that any of many ways reached.
#pragma once

#include "caches.hpp"
#include <benanza/measure/measure.hpp>
#include <benanza/plan/thread_pool.hpp>

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace benanza::bench {

/// Peak and bandwidths at each thread count, in about `budget` altogether; the pool's threads are on the first of
/// `cpus()`. What stands in front of a level are the caches of all `cpus()`, since any of them may hold the data.
/// `report(done, total)`.
[[nodiscard]] std::vector<CeilingRow> measure_ceilings(const ThreadPool& pool, std::span<const int> thread_counts,
                                                       Bytes available_memory, Seconds budget,
                                                       const std::stop_token& stop,
                                                       const std::function<void(std::size_t, std::size_t)>& report);

/// The bytes of a walk that measures what lies behind a level: at least 4 times what is in front, at most half of the
/// level itself. Nothing if there is no such number: then the next inner level's bandwidth stands in, which is higher.
[[nodiscard]] std::optional<Bytes> footprint(Bytes in_front, Bytes capacity);

}  // namespace benanza::bench
