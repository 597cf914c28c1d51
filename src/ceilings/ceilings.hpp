// SPDX-License-Identifier: Apache-2.0
// Ceilings: how fast this machine can multiply and move data, measured in place (docs/measuring.md, "Ceilings"). They
// are bounds from below, so each is the best result of many ways.
#pragma once

#include "caches.hpp"
#include "plan/thread_pool.hpp"
#include <benanza/model/units.hpp>
#include <benanza/results/ceiling_row.hpp>

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace benanza::ceilings {

/// Peak and bandwidths at each thread count, in about `budget` in total; the pool's threads run on the first of
/// `cpus()`. The caches in front of a level are those of all `cpus()`, since any of them may hold the data.
/// `report(done, total)` reports progress.
[[nodiscard]] std::vector<CeilingRow> measure_ceilings(const ThreadPool& pool, std::span<const int> thread_counts,
                                                       Bytes available_memory, Seconds budget,
                                                       const std::stop_token& stop,
                                                       const std::function<void(std::size_t, std::size_t)>& report);

/// The bytes to traverse when measuring what lies behind a level: at least 4 times the size of what is in front of it,
/// and at most half of the level itself. Empty if there is no such number; then the next inner level's bandwidth is
/// used, which is higher.
[[nodiscard]] std::optional<Bytes> footprint(Bytes in_front, Bytes capacity);

}  // namespace benanza::ceilings
