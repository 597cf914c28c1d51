// SPDX-License-Identifier: Apache-2.0
// DeviceTimer: how long calls take on a device, independent of the processor that queues them. Two methods:
//
// events: the stream is blocked, a start event, the calls and a stop event are queued, the block is released. As many
//         calls at a time as the queue takes without waiting; an eighth of them where a graph times all. A call that
//         waits for the device inside itself, or that launches more kernels than the queue takes, is rescued by the
//         block's time-out and has no time by events.
// graph:  the calls, recorded once and replayed as one graph, after the same block. For calls that walk through a
//         region (work.hpp) the graph is one whole walk, so that each replay finds what it touches out of the caches;
//         a walk of more kernels than a graph holds has no graph.
//
// Both contain what launching costs on the device's side; a chain of as many empty kernels tells how much that is.
//
// What was found out about a plan (whether it can be recorded, how many of its calls the queue takes) and its graphs
// are kept as long as the plan lives: a session visits each plan many times.
#pragma once

#include "work.hpp"
#include <benanza/plan/device.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace benanza::bench {

/// What an empty kernel takes in a chain, and the device's queue.
struct LaunchFloors {
  Seconds event{};         ///< between two events with nothing in between; at least `DeviceTimer::least_event`
  Seconds launch{};        ///< one kernel in a stream
  Seconds graph_launch{};  ///< one kernel in a graph
  std::int64_t queue = 0;  ///< kernels that are queued after a block without waiting
};

class DeviceTimer {
 public:
  /// Calls of an ordinary plan are queued within far less.
  static constexpr Seconds block_time_out{0.25};
  /// A block around one item that timed out because another process had the processor is tried again this many times;
  /// after one around more items, half of them are tried.
  static constexpr int retries = 2;
  /// Queues are filled up to this share of what they were seen to take, and tried out up to this length.
  static constexpr double queue_share = 0.5;
  static constexpr std::int64_t longest_queue = 4096;
  /// Events are not trusted to tell less apart (cudaEventElapsedTime: "a resolution of around 0.5 microseconds").
  static constexpr Seconds least_event{1e-6};
  /// Graphs of more calls cost more to make than they tell, except that a walk is recorded whole or not at all.
  static constexpr std::int64_t most_recorded = 256;
  /// Making a graph takes microseconds and a few kB for each kernel: so many in one graph, and in all that are kept.
  static constexpr std::int64_t most_kernels = 4096, most_kept = 16 * most_kernels;

  /// Measures the floors.
  explicit DeviceTimer(Device& device);

  [[nodiscard]] const LaunchFloors& floors() const { return floors_; }
  /// By both methods, or by the only one that can time these calls. Throws EnvironmentError where neither can, and what
  /// calls throw.
  [[nodiscard]] Window time(Work& work, std::int64_t calls);
  /// Kernels of one call; nothing where it cannot be recorded.
  [[nodiscard]] std::optional<std::int64_t> kernels(Work& work);

 private:
  /// Whether calls take as long in the stream as in a graph. Then launches overlap the work before them in both
  /// (programmatic dependent launch), and no more of the time are launches than in a graph.
  [[nodiscard]] bool is_overlapping(Seconds in_stream, Seconds in_graph, double kernels) const;
  using Key = std::weak_ptr<const Plan>;
  /// What is known of a plan's calls.
  struct Known {
    std::int64_t kernels = 0;  ///< number in one call; 0: it cannot be recorded
    std::int64_t at_once = 0;  ///< calls that the queue takes behind one block; 0: not even one
    int overlapped = 0;        ///< windows in which `is_overlapping` held, less those in which it did not
  };
  /// Calls that were recorded. A plan has one for each step of a rotation, that is for each cache state.
  struct Recorded {
    Key plan{};
    std::size_t step = 0;
    std::vector<const void*> buffers{};  ///< those that move as they are at position 0
    std::int64_t calls = 0;
    std::unique_ptr<Recording> graph{};
  };
  struct Blocks {
    Seconds time{};
    double clock_hz = 0;
  };

  [[nodiscard]] std::int64_t measure_queue();
  /// `enqueue(n)` is called for `count` items, at most `at_once` behind one block; that is lowered where it is too many
  /// for the queue, to 0 where one item is. Nothing then.
  template <class Enqueue>
  [[nodiscard]] std::optional<Blocks> blocked(std::int64_t count, std::int64_t& at_once, const Enqueue& enqueue);
  [[nodiscard]] Known& known(Work& work);
  /// How many calls are recorded; 0: none can be.
  [[nodiscard]] static std::int64_t calls_to_record(const Known& known, std::int64_t calls, std::int64_t walk);
  /// The graph of so many calls; null where it cannot be made.
  [[nodiscard]] Recording* recorded(Work& work, std::int64_t calls);
  /// The kept graph of these calls; drops what was recorded for other ones, or of plans that no longer exist.
  [[nodiscard]] Recording* kept(const Key& plan, std::size_t step, std::span<const void* const> buffers,
                                std::int64_t calls);

  Device& device_;
  LaunchFloors floors_{};
  std::map<Key, Known, std::owner_less<Key>> known_{};
  std::vector<Recorded> kept_{};
  Recorded passing_{};  ///< the last one that there was no room to keep
};

}  // namespace benanza::bench
