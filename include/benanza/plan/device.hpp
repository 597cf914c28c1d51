// SPDX-License-Identifier: Apache-2.0
// Device: an accelerator: its memory, the one stream on which its plans enqueue their work, and what is needed to time
// that work. A clock around calls that only enqueue measures the processor. Therefore the stream is blocked, the calls
// are queued between two events, and the block is released. This interface needs no vendor headers: the same code times
// a session on every device, and is tested on a device whose time is a counter.
#pragma once

#include <benanza/error.hpp>
#include <benanza/model/units.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/plan/memory.hpp>
#include <benanza/results/ceiling_row.hpp>
#include <benanza/results/kernel_launch.hpp>
#include <benanza/results/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// The device no longer answers this process (an illegal address, a hang that was ended): the process cannot measure
/// anything more.
struct DeviceLost : EnvironmentError {
  using EnvironmentError::EnvironmentError;
};

/// Calls that were recorded once and can be replayed without the processor in between.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Kernels and copies of one replay.
  [[nodiscard]] virtual std::int64_t kernels() const = 0;
  /// Enqueues one replay.
  virtual void replay() = 0;
};

/// How a device's ceilings are measured.
struct CeilingRequest {
  Seconds budget{};
  /// Called with a ceiling's name (`Peak/f16`) before it is measured: if the process ends there, this is the cause.
  std::function<void(std::string_view name)> trying{};
  std::map<std::string, std::string> crashing{};  ///< those that ended a process, with the reason: not tried again
};
struct DeviceCeilings {
  std::vector<CeilingRow> rows{};
  std::vector<std::string> absent{};  ///< one line for each ceiling that could not be measured: `<name>: <why>`
};

class Device : public Memory {
 public:
  /// Its identity, including the driver.
  [[nodiscard]] virtual const Machine& machine() const = 0;
  /// What may change while it is measured: clocks, power, temperature, throttling, modes, other processes.
  [[nodiscard]] virtual std::map<std::string, std::string> state() const = 0;
  /// The vendor's stream (cudaStream_t) that plans enqueue on.
  [[nodiscard]] virtual void* stream() const = 0;

  /// Waits for all work. Throws what has failed since the last call, DeviceLost if the device cannot recover.
  virtual void finish() = 0;
  /// Enqueues a copy within its memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Does real work for about this long, so that the clocks rise.
  virtual void warm_up(Seconds time) = 0;
  /// Enqueues a kernel that ends when `release_block` is called, or by itself after the time-out.
  virtual void block(Seconds time_out) = 0;
  /// Ends the block and waits until it has ended. False: its time-out ended it, because a call waits for the device
  /// inside itself.
  [[nodiscard]] virtual bool release_block() = 0;
  /// Enqueue the two events; `elapsed` is the time between them.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// Waits for the stop event.
  [[nodiscard]] virtual Seconds elapsed() = 0;
  /// Mean clock of the processors from the last block's end to the stop event; 0 if that was too short to measure it.
  [[nodiscard]] virtual double clock_hz() = 0;
  /// The highest clock of the processors, for which peaks are given.
  [[nodiscard]] virtual double highest_clock_hz() const = 0;
  /// Enqueues this many kernels that do nothing.
  virtual void launch_empty(std::int64_t kernels) = 0;
  /// Records what `calls` enqueues; null if that cannot be recorded.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(const std::function<void()>& calls) = 0;
  /// The time of the kernels of these calls by the device's own records (CUPTI), without launches and gaps; empty if
  /// these may not be read. The calls run once more, and slower; whatever is timed later in this process may be slower
  /// as well.
  [[nodiscard]] virtual std::optional<KernelTime> kernel_time(const std::function<void()>& calls) = 0;
  /// The kernels of these calls by the device's own records, with counters for the metrics. The calls run once for the
  /// records; for counters each kernel is then replayed alone, several times and far slower. Must not run while
  /// anything is timed.
  [[nodiscard]] virtual KernelRecords kernels(const std::function<void()>& /*calls*/,
                                              std::span<const KernelMetric> /*metrics*/) {
    return {.missing = "this device keeps no records of kernels"};
  }
  /// A loop of fixed length on registers, as time at the highest clock: it is longer only if another process used the
  /// device.
  [[nodiscard]] virtual Seconds probe() = 0;

  /// Measures peaks and bandwidths with its own kernels, in about `budget`. A kernel that fails loses its own ceiling;
  /// throws DeviceLost if the device fails with it.
  [[nodiscard]] virtual DeviceCeilings ceilings(const CeilingRequest& request) = 0;
};

}  // namespace benanza
