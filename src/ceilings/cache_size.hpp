// SPDX-License-Identifier: Apache-2.0
// The size of the caches in front of memory, by the latencies of loads. A virtual machine may report a smaller size
// than there is.
#pragma once

#include <benanza/model/units.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace benanza::ceilings {

/// Dependent loads from pseudo-random places of `words`, which are all 1. `place` is where the chase starts; the result
/// is where it ends, for the next call.
[[nodiscard]] std::uint64_t chase(std::span<const std::uint64_t> words, std::uint64_t place, int loads);

/// The bytes that caches hold. `latency` returns the time of a random load from a block of so many bytes, after each of
/// them was touched. It is called for a few sizes from `least` to `most`. A cache of C bytes serves the share C / S of
/// random loads from S bytes. The share follows from the latency: `least` bytes are all in caches, `most` bytes are
/// taken to be all in memory. S is doubled, starting with `reported`, until less than half of the loads hit; the result
/// is the greatest C. Zero if `most` bytes have less than twice the latency of `least` bytes.
[[nodiscard]] Bytes cache_size(Bytes reported, Bytes least, Bytes most, const std::function<Seconds(Bytes)>& latency);

/// The same for the processor that the calling thread runs on. `reported`: the size that the system reports. Takes some
/// tenths of a second and at most a quarter of `available_memory`. `now`: a clock.
[[nodiscard]] Bytes measured_cache_size(Bytes reported, Bytes available_memory, const std::function<Seconds()>& now);

}  // namespace benanza::ceilings
