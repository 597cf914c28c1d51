// SPDX-License-Identifier: Apache-2.0
#include "device_host.hpp"

#include <chrono>
#include <thread>

namespace benanza::bench {

namespace {

Device& warmed_up(Device& device) {
  device.warm_up(DeviceHost::warm_up);
  return device;
}

}  // namespace

DeviceHost::DeviceHost(Device& device) : device_(device), timer_(warmed_up(device)) {}

Seconds DeviceHost::now() const {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

Seconds DeviceHost::probe(int) { return device_.probe(); }

void DeviceHost::dismiss() {
  device_.finish();
  timer_.forget();
}

Bytes DeviceHost::cached() const {
  Bytes total{};
  for (const auto& cache : device_.machine().caches) total += cache.total;
  return total;
}

std::optional<Seconds> DeviceHost::kernel_time(Work& work) {
  constexpr int calls = 16;
  const auto time = device_.kernel_time([&] {
    for (int i = 0; i < calls; ++i) work.call();
  });
  return time ? std::optional(*time / calls) : std::nullopt;
}

void DeviceHost::pause(Seconds time) { std::this_thread::sleep_for(std::chrono::duration<double>(time.value)); }

}  // namespace benanza::bench
