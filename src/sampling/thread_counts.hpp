// SPDX-License-Identifier: Apache-2.0
// Thread counts: the numbers of threads with which plans are tried and ceilings are measured.
#pragma once

#include "ceilings/caches.hpp"

#include <span>
#include <vector>

namespace benanza::sampling {

/// For ceilings: 1, 2, 4 ... and `most` itself.
[[nodiscard]] std::vector<int> doubled_counts(int most);
/// For plans: all up to 8, beyond that the powers of two, the counts that fill `groups`, and `most` itself; ascending.
[[nodiscard]] std::vector<int> thread_counts(int most, std::span<const int> groups);
/// How many of `cpus`, from the first on, fill one group, two groups and so on. A group is the processors behind the
/// outermost cache that several of them share, but not all. Empty if there is no such cache.
[[nodiscard]] std::vector<int> group_counts(std::span<const ceilings::Cache> caches, std::span<const int> cpus);

}  // namespace benanza::sampling
