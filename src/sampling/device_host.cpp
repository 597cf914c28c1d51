// SPDX-License-Identifier: Apache-2.0
#include "device_host.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace benanza::sampling {

namespace {

Device& warmed_up(Device& device) {
  device.warm_up(DeviceHost::warm_up);
  return device;
}

}  // namespace

DeviceHost::DeviceHost(Device& device, Clock clock, Clock running)
    : device_(device),
      clock_(std::move(clock)),
      running_(std::move(running)),
      timer_(warmed_up(device)),
      timed_until_(clock_()) {}

Seconds DeviceHost::steady_time() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

void DeviceHost::wake() {
  const Seconds idle = now() - timed_until_;
  if (idle > longest_idle) device_.warm_up(std::min(idle * warm_up_share, longest_warm_up));
}

Seconds DeviceHost::probe(int) {
  wake();
  const Seconds time = device_.probe();
  timed_until_ = now();
  return time;
}

Window DeviceHost::window(Work& work, std::int64_t calls) {
  wake();
  work.announce(calls);
  const Seconds start = now();
  Window window = timer_.time(work, calls);
  timed_until_ = now();
  if (const Seconds all = window.time * static_cast<double>(calls); all.value > 0)
    window.effort = std::max(1.0, (timed_until_ - start) / all);
  return window;
}

Bytes DeviceHost::cached() const {
  Bytes total{};
  for (const auto& cache : device_.machine().caches) total += cache.total;
  return total;
}

std::optional<KernelTime> DeviceHost::kernel_time(Work& work) {
  constexpr int calls = 16;
  wake();
  const auto time = device_.kernel_time([&] {
    for (int i = 0; i < calls; ++i) work.call();
  });
  timed_until_ = now();
  return time ? std::optional(KernelTime{.whole = time->whole / calls, .empty = time->empty / calls}) : std::nullopt;
}

KernelRecords DeviceHost::kernels(Work& work, std::span<const KernelMetric> metrics) {
  work.call();  // excludes what a first call loads or allocates from the records
  device_.finish();
  KernelRecords records = device_.kernels([&] { work.call(); }, metrics);
  timed_until_ = now();
  return records;
}

void DeviceHost::pause(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); }

}  // namespace benanza::sampling
