// SPDX-License-Identifier: Apache-2.0
#include "thread_counts.hpp"

#include <algorithm>
#include <set>

namespace benanza::sampling {

std::vector<int> doubled_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<int> thread_counts(int most, std::span<const int> groups) {
  constexpr int every = 8;
  const std::vector<int> doubled = doubled_counts(most);
  std::set<int> counts(doubled.begin(), doubled.end());
  for (int count = 1; count <= std::min(every, most); ++count) counts.insert(count);
  for (const int count : groups)
    if (count <= most) counts.insert(count);
  return {counts.begin(), counts.end()};
}

std::vector<int> group_counts(std::span<const ceilings::Cache> caches, std::span<const int> cpus) {
  // Counts processors in use, however they are numbered.
  const auto held_by = [&](const ceilings::Cache& cache) {
    return static_cast<int>(std::count_if(cpus.begin(), cpus.end(), [&](int cpu) {
      return std::find(cache.cpus.begin(), cache.cpus.end(), cpu) != cache.cpus.end();
    }));
  };
  int level = 0;
  for (const auto& cache : caches)
    if (const int held = held_by(cache); held > 1 && held < std::ssize(cpus)) level = std::max(level, cache.level);
  std::set<int> counts;
  int held = 0;  // in the groups so far
  for (const auto& cache : caches) {
    if (level == 0 || cache.level != level) continue;
    held += held_by(cache);
    if (held > 0) counts.insert(held);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace benanza::sampling
