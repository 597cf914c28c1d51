// SPDX-License-Identifier: Apache-2.0
#include "this_host.hpp"

#include "ceilings/caches.hpp"
#include "ceilings/peak_kernels.hpp"
#include "plan/cpu_set.hpp"
#include "plan/round_trip.hpp"
#include "thread_counts.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <time.h>

namespace benanza::sampling {

namespace {

/// About 10 us of multiply-adds on registers.
constexpr std::int64_t probe_repeats = 4000;
/// The reading of a processor is the fastest of this many, because an interrupt is not a slow phase.
constexpr int probe_runs = 3;

std::vector<int> first_cpus(int threads) {
  std::vector<int> cpus = benanza::cpus();
  if (threads > 0 && static_cast<std::size_t>(threads) < cpus.size()) cpus.resize(static_cast<std::size_t>(threads));
  return cpus;
}

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  static_cast<void>(sched_getaffinity(0, sizeof set, &set));
  return set;
}

Seconds clock_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

/// The least positive difference of two consecutive readings.
Seconds least_step() {
  using Clock = std::chrono::steady_clock;
  auto least = Clock::duration::max();
  for (int i = 0; i < 20000; ++i) {
    const auto first = Clock::now();
    const auto second = Clock::now();
    if (second > first) least = std::min(least, second - first);
  }
  return {std::chrono::duration<double>(least).count()};
}

/// The processor time of the calling thread.
Seconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

/// How long each thread of the process has waited for a processor (the second number of Linux's schedstat); empty if
/// the system does not report it.
std::map<std::string, Seconds> waited() {
  std::map<std::string, Seconds> result;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(thread.path() / "schedstat");
    std::int64_t ran = 0, wait = 0;
    if (file >> ran >> wait) result[thread.path().filename()] = {static_cast<double>(wait) * 1e-9};
  }
  return result;
}

/// What the cgroup still grants; empty if it sets no limit.
std::optional<double> cgroup_rest() {
  std::ifstream limit("/sys/fs/cgroup/memory.max"), used("/sys/fs/cgroup/memory.current");
  double most = 0, now = 0;
  if (!(limit >> most) || !(used >> now)) return std::nullopt;
  return std::max(0.0, most - now);
}

}  // namespace

ThisHost::ThisHost(int threads)
    : allowed_before_(affinity()), cpus_(first_cpus(threads)), pool_(cpus_), probed_(cpus_.size()) {
  stay();
  timer_floor_ = least_step();
}

ThisHost::~ThisHost() {
  team_.end();
  static_cast<void>(sched_setaffinity(0, sizeof allowed_before_, &allowed_before_));
}

Seconds ThisHost::now() const { return clock_now(); }

void ThisHost::stay() {
  if (!staying_) static_cast<void>(bind_this_thread(cpus_.front()));
  staying_ = true;
}

Seconds ThisHost::probe(int threads) {
  stay();
  const ceilings::PeakKernels& kernels = ceilings::peak_kernels();
  pool_.parallel(threads, [&](int thread) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run < probe_runs; ++run) {
      const Seconds start = clock_now();
      static_cast<void>(kernels.multiply_add(probe_repeats));
      least = std::min(least, (clock_now() - start).value);
    }
    probed_[static_cast<std::size_t>(thread)] = {least};
  });
  return *std::max_element(probed_.begin(), probed_.begin() + threads);
}

std::optional<Seconds> ThisHost::probe_at(FlopsPerSecond each) const {
  return Flops{ceilings::peak_kernels().multiply_add(1) * probe_repeats} / each;
}

MemoryProbe* ThisHost::memory_probe(Bytes cached) {
  constexpr double distance = 4, most_share = 0.1;  // multiple of the caches; share of the memory
  if (!memory_probe_) {
    const Bytes beyond = cached * distance;
    if (beyond > available_memory() * most_share) return nullptr;
    memory_probe_.emplace(beyond, clock_now);
  }
  return &*memory_probe_;
}

std::optional<MemoryTimes> ThisHost::probe_memory(Bytes cached) {
  MemoryProbe* const probe = memory_probe(cached);
  return probe != nullptr ? std::optional(probe->read()) : std::nullopt;
}

void ThisHost::settle_memory(Bytes cached) {
  if (MemoryProbe* const probe = memory_probe(cached)) probe->walk(cached);
}

Seconds ThisHost::round_trip(int threads) {
  stay();
  return benanza::round_trip(pool_, threads);
}

void ThisHost::watch() {
  waited_ = alone() ? std::map<std::string, Seconds>{} : waited();
  own_time_ = thread_time();
}

bool ThisHost::disturbed(Seconds window) {
  constexpr double lost_share = 0.05;  // quantiles over samples deal with smaller shares
  const Seconds most = window * lost_share, own = window - (thread_time() - own_time_);
  lost_ = {};
  if (alone()) {
    lost_.longest = lost_.all = std::max(Seconds{}, own);
  } else {
    for (const auto& [thread, now] : waited()) {
      const auto before = waited_.find(thread);
      const Seconds wait = before == waited_.end() ? now : now - before->second;
      lost_.longest = std::max(lost_.longest, wait);
      lost_.all += wait;
    }
  }
  return own > most || lost_.all > most;
}

void ThisHost::occupy(Runtime runtime, int threads) {
  if (runtime == Runtime::own || threads == 1) {
    stay();
    own_pool_ran_ = own_pool_ran_ || threads > 1;
    return;
  }
  staying_ = false;
  team_.bind(std::span(cpus_).first(static_cast<std::size_t>(threads)));
}

void ThisHost::dismiss() {
  team_.end();
  stay();
  if (!own_pool_ran_) return;
  own_pool_ran_ = false;
  const auto end = std::chrono::steady_clock::now() + 2 * ThreadPool::linger;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void ThisHost::pause(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); }

std::vector<int> ThisHost::group_counts() const { return sampling::group_counts(ceilings::caches_of(cpus_), cpus_); }

Bytes ThisHost::cached() const {
  constexpr Bytes assumed{128.0 * (1 << 20)};  // if the system does not report caches: more than most processors have
  Bytes all{};
  for (const auto& cache : ceilings::caches_of(cpus_)) all += cache.size;
  return all.value > 0 ? all : assumed;
}

Bytes ThisHost::available_memory() const {
  double available = std::numeric_limits<double>::infinity();
  std::ifstream file("/proc/meminfo");
  for (std::string key, unit; file >> key;) {
    double kibibytes = 0;
    if (!(file >> kibibytes)) break;
    std::getline(file, unit);
    if (key == "MemAvailable:") available = kibibytes * 1024;
  }
  return {std::min(available, cgroup_rest().value_or(available))};
}

}  // namespace benanza::sampling
