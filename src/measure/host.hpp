// SPDX-License-Identifier: Apache-2.0
// Host: what the measuring session needs of the machine it runs on: a clock, the sentinel's loop, threads in their
// places. Everything that decides goes through it, so that tests run the session on a host whose time is a counter.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/plan/device.hpp>
#include <benanza/plan/memory.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::bench {

struct Work;

/// The methods that a device's calls are timed by (device_timer.hpp).
inline constexpr std::string_view by_events = "events", by_graph = "graph";

/// What a window took, of one call on average.
struct Window {
  Seconds time{};             ///< by the method that told less
  std::string_view method{};  ///< its name; empty where there is only a clock
  Seconds launch{};           ///< part of `time` that as many empty kernels would have taken
  Seconds other{};            ///< by the other method; 0: there is none
  Seconds other_launch{};     ///< the same part of `other`
  double clock_hz = 0;        ///< clock of a device; 0: not known
  double effort = 1;          ///< what taking it took, by the time of its calls: another method, and recording
};

/// What a fixed amount of work beyond the caches took.
struct MemoryTimes {
  Seconds chase{};   ///< dependent loads: latency
  Seconds stream{};  ///< consecutive loads: bandwidth
};

/// Whose threads a plan's calls run on.
enum class Runtime { own, openmp };

class Host {
 public:
  virtual ~Host() = default;
  /// Monotonic.
  [[nodiscard]] virtual Seconds now() const = 0;
  /// The least time that two readings of the clock can be apart.
  [[nodiscard]] virtual Seconds timer_floor() const = 0;
  /// A window is at least so long, so that what an interrupt or a wake-up adds at its borders is small.
  [[nodiscard]] virtual Seconds least_window() const { return {20e-6}; }
  /// Whether a window can take longer for what another process does, or for threads that gather: then more than one is
  /// discarded before a sample, and a sample's length is found in two windows.
  [[nodiscard]] virtual bool is_shared() const { return true; }
  /// Runs the sentinel, a register-only loop of fixed length, on this many processors at once; returns the slowest
  /// one's time. No thread of a library may be spinning.
  [[nodiscard]] virtual Seconds probe(int threads) = 0;
  /// What the sentinel takes if each processor does this many multiply-adds; nothing if its loop is not made of them.
  [[nodiscard]] virtual std::optional<Seconds> probe_at(FlopsPerSecond) const { return std::nullopt; }
  /// Times the memory from the calling thread, beyond caches of this size; nothing where there is no such probe.
  [[nodiscard]] virtual std::optional<MemoryTimes> probe_memory(Bytes) { return std::nullopt; }
  /// Walks beyond caches of this size until they hold nothing of what ran before, so that the next `probe_memory` does
  /// not depend on it.
  virtual void settle_memory(Bytes) {}
  /// The round trip of a cache line between this many threads (plan/round_trip.hpp); 0 where there is none.
  [[nodiscard]] virtual Seconds round_trip(int) { return {}; }
  /// Begins to watch whether threads lose their processors to others.
  virtual void watch() = 0;
  /// Whether they did since `watch`, `window` ago, for so long or so often that a sample of that length is spoiled.
  [[nodiscard]] virtual bool disturbed(Seconds window) = 0;
  /// Puts the calling thread and, where they can be reached, the runtime's other threads on the first `threads`
  /// processors. To be called before calls of a plan and again after `probe` or `dismiss`.
  virtual void occupy(Runtime runtime, int threads) = 0;
  /// Ends the threads that a library keeps spinning after a call; until a plan asks for more, the library has one.
  virtual void dismiss() = 0;
  /// Waits for calls that are under way where a call only enqueues its work.
  virtual void finish() {}
  /// Waits for a while.
  virtual void pause(Seconds time) = 0;
  /// Thread counts that fill whole groups of processors behind a cache (thread_counts.hpp).
  [[nodiscard]] virtual std::vector<int> group_counts() const { return {}; }
  /// What all caches in front of memory hold together, of the processors in use.
  [[nodiscard]] virtual Bytes cached() const = 0;
  /// Memory that can still be allocated, where calls' buffers lie.
  [[nodiscard]] virtual Bytes available_memory() const = 0;
  /// Where that is; null: in the processor's own memory.
  [[nodiscard]] virtual Memory* memory() { return nullptr; }
  /// Times this many calls in a row.
  [[nodiscard]] virtual Window window(Work& work, std::int64_t calls);
  /// What the kernels of one call take by the device's own records; nothing where there are none.
  [[nodiscard]] virtual std::optional<KernelTime> kernel_time(Work& work);
  /// The kernels of one call, as `Device::kernels` tells them.
  [[nodiscard]] virtual KernelRecords kernels(Work& work, std::span<const KernelMetric> metrics);
};

}  // namespace benanza::bench
