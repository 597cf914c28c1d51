// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include <benanza/error.hpp>

#include <hwloc.h>

namespace benanza {

void TopologyDeleter::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw EnvironmentError("hwloc_topology_init failed");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) throw EnvironmentError("hwloc_topology_load failed");
  return topology;
}

}  // namespace benanza
