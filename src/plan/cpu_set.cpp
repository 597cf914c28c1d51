// SPDX-License-Identifier: Apache-2.0
#include "cpu_set.hpp"

#include "topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace benanza {

namespace {

struct BitmapDeleter {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, BitmapDeleter>;

/// Threads that run without being stopped by the quota of the control group: one for each whole processor, at least
/// one.
std::size_t threads_of_quota() {
  const auto quota = cpu_quota();
  return quota ? static_cast<std::size_t>(std::clamp(*quota, 1.0, 1e6)) : std::numeric_limits<std::size_t>::max();
}

/// Looks up a function of an OpenMP runtime that a library brought along; null if there is none.
template <class Function>
Function* openmp_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The variables by which an OpenMP runtime bound this thread to the processors `left`, as `OMP_PROC_BIND, OMP_PLACES`;
/// empty if there is no evidence that it did. The evidence is that its places (OpenMP 5.0, section 3.2) have further
/// processors, since these are among the processors that the process had when the runtime was loaded.
std::string openmp_binding(hwloc_const_bitmap_t left) {
  std::string variables;
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (std::getenv(name) != nullptr) variables += (variables.empty() ? "" : ", ") + std::string(name);
  if (variables.empty()) return {};
  auto* const policy = openmp_function<int()>("omp_get_proc_bind");
  auto* const places = openmp_function<int()>("omp_get_num_places");
  auto* const place_size = openmp_function<int(int)>("omp_get_place_num_procs");
  auto* const place = openmp_function<void(int, int*)>("omp_get_place_proc_ids");
  if (policy == nullptr || places == nullptr || place_size == nullptr || place == nullptr) return {};
  constexpr int unbound = 0;  // omp_proc_bind_false
  if (policy() == unbound) return {};
  const Bitmap all(hwloc_bitmap_alloc()), one(hwloc_bitmap_alloc());
  bool is_a_place = false;
  for (int i = 0; i < places(); ++i) {
    std::vector<int> ids(static_cast<std::size_t>(std::max(0, place_size(i))));
    if (!ids.empty()) place(i, ids.data());
    hwloc_bitmap_zero(one.get());
    for (const int id : ids) hwloc_bitmap_set(one.get(), static_cast<unsigned>(id));
    hwloc_bitmap_or(all.get(), all.get(), one.get());
    is_a_place = is_a_place || hwloc_bitmap_isequal(one.get(), left) != 0;
  }
  const bool has_more = hwloc_bitmap_weight(all.get()) > hwloc_bitmap_weight(left);
  return is_a_place && has_more ? variables : std::string();
}

struct CpuSet {
  std::vector<int> cpus{};
  std::string limit{};
};

CpuSet find_cpus() {
  CpuSet found;
  const auto add_limit = [&](const std::string& what, auto left, auto all) {
    if (left >= all) return;
    found.limit += (found.limit.empty() ? "" : "; ") + what + " leaves " + std::to_string(left) + " of " +
                   std::to_string(all) + " processors";
  };
  const auto count = [](hwloc_const_bitmap_t set) { return hwloc_bitmap_weight(set); };

  const Topology topology = load_topology();
  const Bitmap allowed(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
  const int of_cgroup = count(allowed.get());
  add_limit("the cpuset of its cgroup", of_cgroup, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  if (const Bitmap bound(hwloc_bitmap_alloc());
      hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_THREAD) == 0)
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  const std::string openmp = count(allowed.get()) < of_cgroup ? openmp_binding(allowed.get()) : "";
  add_limit(openmp.empty() ? "the affinity mask of the process" : "OpenMP's binding of threads (" + openmp + ")",
            count(allowed.get()), of_cgroup);

  const int nodes = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < nodes; ++i) {
    const auto* node = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    if (!hwloc_bitmap_intersects(node->cpuset, allowed.get())) continue;
    hwloc_bitmap_and(allowed.get(), allowed.get(), node->cpuset);
    break;
  }

  std::vector<int>& result = found.cpus;
  const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
  const Bitmap of_core(hwloc_bitmap_alloc());
  for (int i = 0; i < cores; ++i) {
    const auto* core = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    hwloc_bitmap_and(of_core.get(), allowed.get(), core->cpuset);
    if (const int first = hwloc_bitmap_first(of_core.get()); first >= 0) result.push_back(first);
  }
  if (cores <= 0)  // a virtual machine that hides its cores: every processor counts as one
    for (int cpu = hwloc_bitmap_first(allowed.get()); cpu >= 0; cpu = hwloc_bitmap_next(allowed.get(), cpu))
      result.push_back(cpu);
  if (result.empty()) result.push_back(0);
  std::sort(result.begin(), result.end());
  const std::size_t granted = threads_of_quota();
  add_limit("the quota of its cgroup", granted, result.size());
  result.resize(std::min(result.size(), granted));
  return found;
}

const CpuSet& cpu_set() {
  static const CpuSet found = find_cpus();
  return found;
}

}  // namespace

const std::vector<int>& cpus() { return cpu_set().cpus; }

const std::string& cpu_limit() { return cpu_set().limit; }

std::size_t usable_processors() {
  cpu_set_t mask{};
  const int bound = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
  const std::size_t all = bound > 0 ? static_cast<std::size_t>(bound) : std::thread::hardware_concurrency();
  return std::max<std::size_t>(1, std::min(all, threads_of_quota()));
}

bool bind_this_thread(int cpu) {
  static_cast<void>(cpus());
  static const Topology topology = load_topology();
  const Bitmap set(hwloc_bitmap_alloc());
  hwloc_bitmap_set(set.get(), static_cast<unsigned>(cpu));
  return hwloc_set_cpubind(topology.get(), set.get(), HWLOC_CPUBIND_THREAD) == 0;
}

}  // namespace benanza
