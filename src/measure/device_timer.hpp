// SPDX-License-Identifier: Apache-2.0
// DeviceTimer: how long calls take on a device, whatever the processor that queues them does meanwhile. Two methods:
//
// events: the stream is blocked, a start event, the calls and a stop event are queued, the block is released. So many
//         calls at a time as the queue takes without waiting; a call that waits for the device inside itself never
//         returns, is rescued by the block's time-out, and has no time.
// graph:  the same calls, recorded once and replayed as one graph, behind the same block. Of calls that walk through a
//         region (work.hpp) the graph is one whole walk, so that each replay finds what it touches out of the caches;
//         a walk of more kernels than a graph holds has no graph.
//
// Both contain what launching costs on the device's side; a chain of as many empty kernels tells how much that is.
#pragma once

#include "work.hpp"
#include <benanza/plan/device.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace benanza::bench {

/// What an empty kernel takes in a chain, and the device's queue.
struct LaunchFloors {
  Seconds event{};         ///< between two events with nothing in between
  Seconds launch{};        ///< of one kernel in a stream
  Seconds graph_launch{};  ///< of one kernel in a graph
  std::int64_t queue = 0;  ///< kernels that are queued behind a block without waiting
};

class DeviceTimer {
 public:
  /// Calls of an ordinary plan are queued within far less.
  static constexpr Seconds block_time_out{0.25};
  /// A block around one item that timed out because somebody else had the processor is tried again so often; behind one
  /// around more, half of them are tried.
  static constexpr int retries = 2;
  /// Queues are filled up to this share of what they were seen to take, and tried out up to this length.
  static constexpr double queue_share = 0.5;
  static constexpr std::int64_t longest_queue = 4096;
  /// Graphs of more calls cost more to make than they tell, except that a walk is recorded whole or not at all.
  static constexpr std::int64_t most_recorded = 256;
  /// Making a graph takes microseconds and a few kB for each kernel.
  static constexpr std::int64_t most_kernels = 4096;

  /// Measures the floors.
  explicit DeviceTimer(Device& device);

  [[nodiscard]] const LaunchFloors& floors() const { return floors_; }
  /// Throws EnvironmentError for a call that waits inside itself, and what calls throw.
  [[nodiscard]] Window time(Work& work, std::int64_t calls);
  /// What was recorded may be of a plan that is no more.
  void forget() { recorded_ = {}; }

 private:
  /// The calls that were recorded last.
  struct Recorded {
    const Plan* plan = nullptr;
    std::vector<const void*> buffers{};  ///< those that move as they are at position 0
    std::int64_t calls = 0;
    std::int64_t kernels = 1;  ///< of one call
    std::unique_ptr<Recording> graph{};
    bool possible = true;
  };
  struct Blocks {
    Seconds time{};
    double clock_hz = 0;
  };

  [[nodiscard]] std::int64_t measure_queue();
  /// `enqueue(n)` is called for `count` items, at most `at_once` behind one block, fewer where that is too many for the
  /// queue.
  template <class Enqueue>
  [[nodiscard]] Blocks blocked(std::int64_t count, std::int64_t at_once, const Enqueue& enqueue);
  const Recorded& recorded(Work& work, std::int64_t calls);
  /// How many calls are recorded; less than a walk: one, which has told how many kernels it is.
  [[nodiscard]] std::int64_t calls_to_record(Work& work, std::int64_t calls, std::int64_t walk);

  Device& device_;
  LaunchFloors floors_{};
  Recorded recorded_{};
};

}  // namespace benanza::bench
