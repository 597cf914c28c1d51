// SPDX-License-Identifier: Apache-2.0
// DeviceTimer: how long calls take on a device, independent of the processor that queues them. Two methods:
//
// events: the stream is blocked, a start event, the calls and a stop event are queued, the block is released. As many
//         calls at a time as the queue takes without waiting; an eighth of them if a graph times all. A call that
//         waits for the device inside itself, or that launches more kernels than the queue takes, is released by
//         the block's time-out and has no time by events.
// graph:  the calls, recorded once and replayed as one graph, after the same block. For calls that traverse a
//         region (work.hpp), the graph is one whole traversal, so that in each replay the data is not in the caches.
//         A traversal of more kernels than a graph holds has no graph.
//
// Both include the cost of launching on the device's side; a chain of as many empty kernels shows how much that is.
//
// The findings about a plan (whether it can be recorded, how many of its calls the queue takes) and its graphs are kept
// as long as the plan exists, because a session visits each plan many times.
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

namespace benanza::sampling {

/// The time of an empty kernel in a chain, and the device's queue.
struct LaunchFloors {
  Seconds event{};         ///< between two events without work in between; at least `DeviceTimer::least_event`
  Seconds launch{};        ///< one kernel in a stream
  Seconds graph_launch{};  ///< one kernel in a graph
  std::int64_t queue = 0;  ///< kernels that can be queued after a block without waiting
};

class DeviceTimer {
 public:
  /// The calls of an ordinary plan are queued in far less time.
  static constexpr Seconds block_time_out{0.25};
  /// If a block around one item timed out because another process had the processor, it is tried again this many times;
  /// if it was around several items, half of them are tried.
  static constexpr int retries = 2;
  /// Queues are filled up to this share of their observed capacity, which is probed up to this length.
  static constexpr double queue_share = 0.5;
  static constexpr std::int64_t longest_queue = 4096;
  /// Events are not trusted to resolve less than this (cudaEventElapsedTime: "a resolution of around 0.5
  /// microseconds").
  static constexpr Seconds least_event{1e-6};
  /// Graphs of more calls cost more to make than they are worth, except that a traversal is recorded either whole or
  /// not at all.
  static constexpr std::int64_t most_recorded = 256;
  /// Making a graph takes microseconds and a few kB per kernel. Limits on the kernels of one graph, and of all kept
  /// graphs.
  static constexpr std::int64_t most_kernels = 4096, most_kept = 16 * most_kernels;

  /// Measures the floors.
  explicit DeviceTimer(Device& device);

  [[nodiscard]] const LaunchFloors& floors() const { return floors_; }
  /// By both methods, or by the only one that can time these calls. Throws EnvironmentError if neither can, and
  /// whatever the calls throw.
  [[nodiscard]] Window time(Work& work, std::int64_t calls);
  /// Kernels of one call; empty if it cannot be recorded.
  [[nodiscard]] std::optional<std::int64_t> kernels(Work& work);

 private:
  /// Whether calls take as long in the stream as in a graph. In that case, launches overlap the work before them in
  /// both (programmatic dependent launch), and launches account for no more of the time than in a graph.
  [[nodiscard]] bool is_overlapping(Seconds in_stream, Seconds in_graph, double kernels) const;
  using Key = std::weak_ptr<const Plan>;
  /// What is known of a plan's calls.
  struct Known {
    std::int64_t kernels = 0;  ///< number in one call; 0: it cannot be recorded
    std::int64_t at_once = 0;  ///< calls that the queue takes behind one block; 0: not even one
    int overlapped = 0;        ///< windows in which `is_overlapping` was true, minus those in which it was not
  };
  /// Recorded calls. A plan has one such entry per step of a rotation, that is, per cache state.
  struct Recorded {
    Key plan{};
    std::size_t step = 0;
    std::vector<const void*> buffers{};  ///< buffers that move as they are at position 0
    std::int64_t calls = 0;
    std::unique_ptr<Recording> graph{};
  };
  struct Blocks {
    Seconds time{};
    double clock_hz = 0;
  };

  [[nodiscard]] std::int64_t measure_queue();
  /// Calls `enqueue(n)` for `count` items, at most `at_once` behind one block. Lowers `at_once` if that is too many for
  /// the queue, to 0 if even one item is; in that case, the result is empty.
  template <class Enqueue>
  [[nodiscard]] std::optional<Blocks> blocked(std::int64_t count, std::int64_t& at_once, const Enqueue& enqueue);
  [[nodiscard]] Known& known(Work& work);
  /// How many calls to record; 0 if none can be recorded.
  [[nodiscard]] static std::int64_t calls_to_record(const Known& known, std::int64_t calls, std::int64_t walk);
  /// The graph of so many calls; null if it cannot be made.
  [[nodiscard]] Recording* recorded(Work& work, std::int64_t calls);
  /// The kept graph of these calls. Drops graphs that were recorded for other buffers or number of calls, or for plans
  /// that no longer exist.
  [[nodiscard]] Recording* kept(const Key& plan, std::size_t step, std::span<const void* const> buffers,
                                std::int64_t calls);

  Device& device_;
  LaunchFloors floors_{};
  std::map<Key, Known, std::owner_less<Key>> known_{};
  std::vector<Recorded> kept_{};
  Recorded passing_{};  ///< the latest graph that did not fit into the limit of kept ones
};

}  // namespace benanza::sampling
