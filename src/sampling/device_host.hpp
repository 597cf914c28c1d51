// SPDX-License-Identifier: Apache-2.0
// DeviceHost: a device as the host of a session. The thread that drives it does not affect a time, so neither binding
// nor lost processors matter; only the device itself has to be watched.
#pragma once

#include "device_timer.hpp"
#include "host.hpp"
#include <benanza/plan/device.hpp>

#include <functional>

namespace benanza::sampling {

class DeviceHost final : public Host {
 public:
  /// Real work before anything is measured; clocks rise within this time.
  static constexpr Seconds warm_up{1.0};
  /// A device that was idle for longer may have lowered its clocks. Before it is measured, it works for this share of
  /// the idle time, but at most for `longest_warm_up`. During selection, every plan follows such a pause.
  static constexpr Seconds longest_idle{50e-3}, longest_warm_up{50e-3};
  static constexpr double warm_up_share = 0.1;
  /// Long enough to read a clock (`Device::clock_hz`), so that a low one is seen.
  static constexpr Seconds shortest_window{2e-3};

  using Clock = std::function<Seconds()>;
  /// `clock` must be monotonic; `running` as `Host::running`, empty: `clock`.
  explicit DeviceHost(Device& device, Clock clock = steady_time, Clock running = {});
  [[nodiscard]] static Seconds steady_time();

  [[nodiscard]] const LaunchFloors& floors() const { return timer_.floors(); }

  [[nodiscard]] Seconds now() const override { return clock_(); }
  [[nodiscard]] Seconds running() const override { return running_ ? running_() : clock_(); }
  [[nodiscard]] Seconds timer_floor() const override { return timer_.floors().event; }
  [[nodiscard]] Seconds least_window() const override { return shortest_window; }
  [[nodiscard]] bool is_shared() const override { return false; }
  [[nodiscard]] Seconds probe(int threads) override;
  void watch() override {}
  [[nodiscard]] bool disturbed(Seconds) override { return false; }
  void occupy(Runtime, int) override {}
  void dismiss() override { device_.finish(); }
  void finish() override { device_.finish(); }
  void pause(Seconds time) override;
  [[nodiscard]] Bytes cached() const override;
  [[nodiscard]] Bytes available_memory() const override { return device_.available(); }
  [[nodiscard]] Memory* memory() override { return &device_; }
  [[nodiscard]] Window window(Work& work, std::int64_t calls) override;
  [[nodiscard]] std::optional<KernelTime> kernel_time(Work& work) override;
  [[nodiscard]] KernelRecords kernels(Work& work, std::span<const KernelMetric> metrics) override;

 private:
  /// To be called before anything is timed. Untimed work in between (checks, uploads) does not keep the clocks up.
  void wake();

  Device& device_;
  Clock clock_, running_;
  DeviceTimer timer_;
  Seconds timed_until_;
};

}  // namespace benanza::sampling
