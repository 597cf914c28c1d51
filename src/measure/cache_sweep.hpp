// SPDX-License-Identifier: Apache-2.0
// Cache sweep: up to which size data is faster than memory. A virtual machine may report less than there is.
#pragma once

#include <benanza/model/units.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace benanza::bench {

/// What one load takes that waits for the one before, somewhere in so many bytes.
struct LoadLatency {
  Bytes size{};
  Seconds latency{};
};

/// Loads that each wait for the one before, at pseudo-random places of words that are all 1; `place` is the last
/// result, which is returned for the next call.
[[nodiscard]] std::uint64_t chase(std::span<const std::uint64_t> words, std::uint64_t place, int loads);

/// Least latencies at growing sizes, the largest at most `largest`, on the calling thread. `now`: a clock.
[[nodiscard]] std::vector<LoadLatency> load_latencies(Bytes largest, const std::function<Seconds()>& now);

/// What the caches hold by such a curve, whose last point is of memory. In random loads from `S` bytes the share that
/// finds a cache of `C` bytes is C / S. It follows from the latency, which lies between the least one and that of
/// memory. Points at which at least half of the loads find it count, the greatest `C` is taken. Zero for a curve that
/// rises to less than twice its least latency, and for an empty one.
[[nodiscard]] Bytes cached_bytes(std::span<const LoadLatency> curve);

}  // namespace benanza::bench
