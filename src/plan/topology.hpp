// SPDX-License-Identifier: Apache-2.0
// Topology: what hwloc knows about this machine's processors, caches and memory.
#pragma once

#include <memory>

struct hwloc_topology;  // declared here because hwloc.h itself is not needed

namespace benanza {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const;
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// Reads it from the system. Throws EnvironmentError.
[[nodiscard]] Topology load_topology();

}  // namespace benanza
