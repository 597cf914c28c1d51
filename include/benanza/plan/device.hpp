// SPDX-License-Identifier: Apache-2.0
// Device: an accelerator: its memory, the one stream that its plans enqueue their work on, and what it takes to time
// that work. A clock around calls that only enqueue measures the processor; therefore the stream is blocked, the calls
// are queued between two events, and the block is released. Without vendor headers: a session is timed by one piece of
// code over this interface, which is tested on a device whose time is a counter.
#pragma once

#include <benanza/error.hpp>
#include <benanza/model/units.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/plan/memory.hpp>
#include <benanza/results/ceiling_row.hpp>
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

/// The device no longer answers this process (an illegal address, a hang that was ended): the process can measure
/// nothing more.
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
  /// Called with a ceiling's name (`Peak/f16`) before it is measured: if the process ends there, this was why.
  std::function<void(std::string_view name)> trying{};
  std::map<std::string, std::string> crashing{};  ///< those that ended a process, with the reason: not tried again
};
struct DeviceCeilings {
  std::vector<CeilingRow> rows{};
  std::vector<std::string> absent{};  ///< one line for each ceiling that could not be measured: `<name>: <why>`
};

/// What kernels took by a device's own records.
struct KernelTime {
  Seconds whole{};  ///< their sum, copies and fills included
  Seconds empty{};  ///< what as many empty ones of the same kinds take by such records: no work
};

class Device : public Memory {
 public:
  /// Its identity, the driver included.
  [[nodiscard]] virtual const Machine& machine() const = 0;
  /// What may change while it is measured: clocks, power, temperature, throttling, modes, other processes.
  [[nodiscard]] virtual std::map<std::string, std::string> state() const = 0;
  /// The vendor's stream (cudaStream_t) that plans enqueue on.
  [[nodiscard]] virtual void* stream() const = 0;

  /// Waits for all work. Throws what has failed since the last call, DeviceLost if the device cannot recover.
  virtual void finish() = 0;
  /// Enqueues a copy within its memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Real work for about this long, so that the clocks rise.
  virtual void warm_up(Seconds time) = 0;
  /// Enqueues a kernel that ends when `release_block` is called, or by itself after the time-out.
  virtual void block(Seconds time_out) = 0;
  /// Lets the block end and waits until it has. False: its time-out ended a call that waits for the device inside
  /// itself.
  [[nodiscard]] virtual bool release_block() = 0;
  /// Enqueue the events that `elapsed` is the time between.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// Waits for the stop event.
  [[nodiscard]] virtual Seconds elapsed() = 0;
  /// Mean clock of the processors from the last block's end to the stop event; 0 where that was too short to tell.
  [[nodiscard]] virtual double clock_hz() = 0;
  /// The highest clock of the processors, which peaks are given for.
  [[nodiscard]] virtual double highest_clock_hz() const = 0;
  /// Enqueues this many kernels that do nothing.
  virtual void launch_empty(std::int64_t kernels) = 0;
  /// Records what `calls` enqueues; null where that cannot be recorded.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(const std::function<void()>& calls) = 0;
  /// What the kernels of these calls take by the device's own records (CUPTI), launches and gaps left out; nothing
  /// where it may not be asked. The calls run once more, and slower; whatever is timed later in this process may be
  /// slower as well.
  [[nodiscard]] virtual std::optional<KernelTime> kernel_time(const std::function<void()>& calls) = 0;
  /// The kernels of these calls by the device's own records, with counters for the metrics. The calls run once for the
  /// records; for counters each kernel is then replayed by itself, several times and far slower. Not for a moment in
  /// which anything is timed.
  [[nodiscard]] virtual KernelRecords kernels(const std::function<void()>& /*calls*/,
                                              std::span<const KernelMetric> /*metrics*/) {
    return {.missing = "this device keeps no records of kernels"};
  }
  /// A loop of fixed length on registers, in time at the highest clock: longer only when another process had the
  /// device.
  [[nodiscard]] virtual Seconds probe() = 0;

  /// Peaks and bandwidths by kernels of its own, in about `budget`. A kernel that fails costs its own ceiling; throws
  /// DeviceLost where the device goes with it.
  [[nodiscard]] virtual DeviceCeilings ceilings(const CeilingRequest& request) = 0;
};

}  // namespace benanza
