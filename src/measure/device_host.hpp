// SPDX-License-Identifier: Apache-2.0
// DeviceHost: a device as the host of a session. The thread that drives it decides nothing about a time, so neither
// binding nor lost processors matter; what has to be watched is the device itself.
#pragma once

#include "device_timer.hpp"
#include "host.hpp"
#include <benanza/plan/device.hpp>

namespace benanza::bench {

class DeviceHost final : public Host {
 public:
  /// Real work before anything is measured: clocks rise within that time.
  static constexpr Seconds warm_up{1.0};

  explicit DeviceHost(Device& device);

  [[nodiscard]] const LaunchFloors& floors() const { return timer_.floors(); }

  [[nodiscard]] Seconds now() const override;
  [[nodiscard]] Seconds timer_floor() const override { return timer_.floors().event; }
  [[nodiscard]] Seconds probe(int threads) override;
  void watch() override {}
  [[nodiscard]] bool disturbed(Seconds) override { return false; }
  void occupy(Runtime, int) override {}
  void dismiss() override;
  void finish() override { device_.finish(); }
  void pause(Seconds time) override;
  [[nodiscard]] Bytes cached() const override;
  [[nodiscard]] Bytes available_memory() const override { return device_.available(); }
  [[nodiscard]] Memory* memory() override { return &device_; }
  [[nodiscard]] Window window(Work& work, std::int64_t calls) override { return timer_.time(work, calls); }
  [[nodiscard]] std::optional<Seconds> kernel_time(Work& work) override;

 private:
  Device& device_;
  DeviceTimer timer_;
};

}  // namespace benanza::bench
