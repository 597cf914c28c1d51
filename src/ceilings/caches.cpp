// SPDX-License-Identifier: Apache-2.0
#include "caches.hpp"

#include "plan/cpu_set.hpp"
#include "plan/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <map>
#include <utility>

namespace benanza::ceilings {

std::vector<Cache> caches_of(std::span<const int> cpus) {
  static_cast<void>(benanza::cpus());  // reads the affinity before any thread is bound
  const Topology topology = load_topology();
  std::map<std::pair<int, const hwloc_obj*>, Cache> found;
  for (const int cpu : cpus) {
    for (auto* object = hwloc_get_pu_obj_by_os_index(topology.get(), static_cast<unsigned>(cpu)); object != nullptr;
         object = object->parent) {
      if (hwloc_obj_type_is_dcache(object->type) == 0) continue;
      auto& cache = found[{static_cast<int>(object->attr->cache.depth), object}];
      cache.level = static_cast<int>(object->attr->cache.depth);
      cache.size = {static_cast<double>(object->attr->cache.size)};
      cache.cpus.push_back(cpu);
    }
  }
  std::vector<Cache> result;
  for (auto& [key, cache] : found)
    if (cache.size.value > 0) result.push_back(std::move(cache));
  std::stable_sort(result.begin(), result.end(), [](const Cache& a, const Cache& b) {
    return std::pair(a.level, a.cpus) < std::pair(b.level, b.cpus);
  });
  return result;
}

}  // namespace benanza::ceilings
