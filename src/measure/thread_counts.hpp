// SPDX-License-Identifier: Apache-2.0
// Thread counts: how many threads plans are tried with, and ceilings measured with.
#pragma once

#include "caches.hpp"

#include <span>
#include <vector>

namespace benanza::bench {

/// Those of ceilings: 1, 2, 4 ... and `most` itself.
[[nodiscard]] std::vector<int> doubled_counts(int most);
/// Those of plans: all up to 8, beyond that the powers of two, what fills `groups`, and `most` itself; ascending.
[[nodiscard]] std::vector<int> thread_counts(int most, std::span<const int> groups);
/// How many of `cpus`, from the first on, fill one group, two groups and so on: those behind the outermost cache that
/// several of them share, but not all. Empty where there is none.
[[nodiscard]] std::vector<int> group_counts(std::span<const Cache> caches, std::span<const int> cpus);

}  // namespace benanza::bench
