// SPDX-License-Identifier: Apache-2.0
// Host: what the measuring session needs from the machine it runs on: a clock, the sentinel's loop, and bound threads.
// Everything that affects a decision goes through it, so that tests can run the session on a host whose time is a
// counter.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/plan/device.hpp>
#include <benanza/plan/memory.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::sampling {

struct Work;

/// The methods that time a device's calls (device_timer.hpp).
inline constexpr std::string_view by_events = "events", by_graph = "graph";

/// What a window took, averaged over its calls.
struct Window {
  Seconds time{};             ///< by the method with the lower result
  std::string_view method{};  ///< its name; empty if there is only a clock
  Seconds launch{};           ///< the part of `time` that as many empty kernels would have taken
  Seconds other{};            ///< by the other method; 0 if there is none
  Seconds other_launch{};     ///< the same part of `other`
  double clock_hz = 0;        ///< clock of a device; 0 if not known
  double effort = 1;  ///< total time of taking the window relative to its calls: includes another method and recording
};

/// The time of a fixed amount of work beyond the caches.
struct MemoryTimes {
  Seconds chase{};   ///< dependent loads: latency
  Seconds stream{};  ///< consecutive loads: bandwidth
};

/// Time of a window for which threads waited for a processor that another process had. If each thread has its share of
/// the work, the window took `longest` longer than on an idle machine while all threads waited at the same time, and
/// `all` longer while the others waited for each of them in turn. If the others take over the work of a thread that
/// waits, it took `all` longer, divided by the threads.
struct Lost {
  Seconds longest{};  ///< by the thread that waited longest
  Seconds all{};      ///< by all threads together
};

/// Whose threads run a plan's calls.
enum class Runtime { own, openmp };

class Host {
 public:
  virtual ~Host() = default;
  /// Must be monotonic.
  [[nodiscard]] virtual Seconds now() const = 0;
  /// The same clock, which stands still while the process is stopped: for what limits a session, not for a time.
  [[nodiscard]] virtual Seconds running() const { return now(); }
  /// The least positive difference between two readings of the clock.
  [[nodiscard]] virtual Seconds timer_floor() const = 0;
  /// The minimum length of a window; it keeps small what an interrupt or a wake-up adds at its borders.
  [[nodiscard]] virtual Seconds least_window() const { return {20e-6}; }
  /// Whether a window may take longer because of other processes, or because threads have to gather. If so, more than
  /// one window is discarded before a sample, and a sample's length is determined in two windows.
  [[nodiscard]] virtual bool is_shared() const { return true; }
  /// Runs the sentinel, a register-only loop of fixed length, on this many processors at once and returns the time of
  /// the slowest one. No thread of a library may be spinning.
  [[nodiscard]] virtual Seconds probe(int threads) = 0;
  /// The time of the sentinel if each processor does this many multiply-adds; empty if its loop does not consist of
  /// them.
  [[nodiscard]] virtual std::optional<Seconds> probe_at(FlopsPerSecond) const { return std::nullopt; }
  /// Times the memory from the calling thread, beyond caches of this size; empty if there is no such probe.
  [[nodiscard]] virtual std::optional<MemoryTimes> probe_memory(Bytes) { return std::nullopt; }
  /// Traverses memory beyond caches of this size until they hold nothing of what ran before, so that the next
  /// `probe_memory` does not depend on it.
  virtual void settle_memory(Bytes) {}
  /// The round trip of a cache line between this many threads (plan/round_trip.hpp); 0 if there is none.
  [[nodiscard]] virtual Seconds round_trip(int) { return {}; }
  /// Begins to watch whether threads lose their processors to others.
  virtual void watch() = 0;
  /// Whether they did since `watch`, `window` ago, for so long or so often that a sample of that length is spoiled.
  [[nodiscard]] virtual bool disturbed(Seconds window) = 0;
  /// What the last call of `disturbed` saw.
  [[nodiscard]] virtual Lost lost() const { return {}; }
  /// Puts the calling thread and, if they can be reached, the runtime's other threads on the first `threads`
  /// processors. To be called before calls of a plan and again after `probe` or `dismiss`.
  virtual void occupy(Runtime runtime, int threads) = 0;
  /// Ends the threads that a library keeps spinning after a call. The library has one thread until a plan asks for
  /// more.
  virtual void dismiss() = 0;
  /// Waits for pending calls, if a call only enqueues its work.
  virtual void finish() {}
  /// Waits for a while.
  virtual void pause(Seconds time) = 0;
  /// Thread counts that fill whole groups of processors behind a cache (thread_counts.hpp).
  [[nodiscard]] virtual std::vector<int> group_counts() const { return {}; }
  /// The total size of all caches in front of memory, of the processors in use.
  [[nodiscard]] virtual Bytes cached() const = 0;
  /// Memory that can still be allocated for the calls' buffers.
  [[nodiscard]] virtual Bytes available_memory() const = 0;
  /// Where these buffers are; null means the processor's own memory.
  [[nodiscard]] virtual Memory* memory() { return nullptr; }
  /// Times this many calls in a row.
  [[nodiscard]] virtual Window window(Work& work, std::int64_t calls);
  /// The time of one call's kernels in the device's own records; empty if there are none.
  [[nodiscard]] virtual std::optional<KernelTime> kernel_time(Work& work);
  /// The kernels of one call, as `Device::kernels` reports them.
  [[nodiscard]] virtual KernelRecords kernels(Work& work, std::span<const KernelMetric> metrics);
};

}  // namespace benanza::sampling
