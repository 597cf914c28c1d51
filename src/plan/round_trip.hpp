// SPDX-License-Identifier: Apache-2.0
// round_trip: how far the threads of a pool are from each other. Two processors of a virtual machine may share a cache
// at one time and not at another. If they do not, what one thread wrote takes several times as long to reach the
// next. Calls that read it also take several times as long, while a loop in registers is as fast as ever.
#pragma once

#include "thread_pool.hpp"
#include <benanza/model/units.hpp>

namespace benanza {

/// The longest round trip of a cache line between the first thread of a region and each other one, or seven of the
/// others; 0 with one thread, or if a thread never answers.
[[nodiscard]] Seconds round_trip(const ThreadPool& pool, int threads);

}  // namespace benanza
