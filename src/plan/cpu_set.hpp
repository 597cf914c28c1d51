// SPDX-License-Identifier: Apache-2.0
// The processors that a measurement may use: one hardware thread of each physical core of one NUMA node, so that
// neither SMT siblings nor remote memory disturb a time. Affinity mask, cgroup cpuset and cgroup quota are respected.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

/// Operating-system numbers of the processors, ascending; at least one. The process's affinity is read at the first
/// call (or first binding) and remembered, since binding a thread would narrow what a later reading sees.
[[nodiscard]] const std::vector<int>& cpus();

/// What keeps this process from using more of the machine's processors: its affinity mask, or the cpuset or quota of
/// its cgroup, with how many they leave; also the variables with which an OpenMP runtime bound the thread, if that can
/// be detected. Empty if nothing does.
[[nodiscard]] const std::string& cpu_limit();

/// Processors whose time this process may use at once (Linux's CPU bandwidth control), 0.5 for half of one: the least
/// that its control group, or one that encloses it, grants. Nothing without a limit. `root`: the folder that contains
/// proc and sys; versions 1 and 2 of control groups are read (cgroups(7)).
[[nodiscard]] std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

/// Processors on which threads of this process may run at once, SMT siblings and all NUMA nodes included: for work that
/// nothing measures. At least one. Unlike `cpus`, it does not look at the topology, which takes milliseconds.
[[nodiscard]] std::size_t usable_processors();

/// Binds the calling thread to one processor. Returns false if the system does not allow it; a measurement then
/// continues unbound.
bool bind_this_thread(int cpu);

}  // namespace benanza
