// SPDX-License-Identifier: Apache-2.0
#include <benanza/plan/openmp_team.hpp>

#include <dlfcn.h>
#include <sched.h>

namespace benanza {

namespace {

template <class Function>
void look_up(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void allow(std::span<const int> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));  // if not allowed, the measurement continues unbound
}

struct ParallelRegion {
  std::span<const int> cpus;
  int (*thread_number)();
};

void bind_worker(void* data) {
  const auto& region = *static_cast<const ParallelRegion*>(data);
  const auto number = static_cast<std::size_t>(region.thread_number());
  if (number > 0 && number < region.cpus.size()) allow(region.cpus.subspan(number, 1));
}

struct OwnRegion {
  void (*function)(const void* context, int thread);
  const void* context;
  int (*thread_number)();
};

void run_region(void* data) {
  const auto& region = *static_cast<const OwnRegion*>(data);
  region.function(region.context, region.thread_number());
}

}  // namespace

OpenmpTeam::OpenmpTeam() {
  look_up(parallel_, "GOMP_parallel");
  look_up(thread_number_, "omp_get_thread_num");
  look_up(pause_all_, "omp_pause_resource_all");
  look_up(set_threads_, "omp_set_num_threads");
}

void OpenmpTeam::bind(std::span<const int> cpus) const {
  allow(cpus);
  if (!exists()) return;
  ParallelRegion region{cpus, thread_number_};
  parallel_(bind_worker, &region, static_cast<unsigned>(cpus.size()), 0);
  if (cpus.size() == 2) allow(cpus.first(1));
}

void OpenmpTeam::run(int threads, void (*function)(const void*, int), const void* context) const {
  OwnRegion region{function, context, thread_number_};
  parallel_(run_region, &region, static_cast<unsigned>(threads), 0);
}

void OpenmpTeam::end() const {
  constexpr int omp_pause_soft = 1;  // OpenMP 5.0, section 3.2.44
  if (pause_all_ != nullptr) static_cast<void>(pause_all_(omp_pause_soft));
  if (set_threads_ != nullptr) set_threads_(1);
}

}  // namespace benanza
