// SPDX-License-Identifier: Apache-2.0
#include "device_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace benanza::bench {

namespace {

constexpr int floor_repeats = 20;
constexpr std::int64_t floor_kernels = 100;

std::vector<const void*> buffers_of(const Work& work) {
  std::vector<const void*> result = work.inputs;
  result.insert(result.end(), work.outputs.begin(), work.outputs.end());
  result.push_back(work.workspace);
  const Rotation& rotation = work.rotation;
  if (rotation.step == 0) return result;
  const auto move_back = [&](const void*& buffer) {
    buffer = static_cast<const std::byte*>(buffer) - *rotation.position;
  };
  for (const auto i : rotation.inputs) move_back(result[i]);
  for (const auto i : rotation.outputs) move_back(result[work.inputs.size() + i]);
  if (rotation.workspace) move_back(result.back());
  return result;
}

/// Calls of a walk from position 0, after which the buffers are where they were.
std::int64_t walk_of(const Work& work) {
  const Rotation& rotation = work.rotation;
  return rotation.step == 0 ? 1 : static_cast<std::int64_t>(std::max<std::size_t>(1, rotation.region / rotation.step));
}

}  // namespace

template <class Enqueue>
DeviceTimer::Blocks DeviceTimer::blocked(std::int64_t count, std::int64_t at_once, const Enqueue& enqueue) {
  Blocks result;
  int failed = 0;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t next = std::min(at_once, count - done);
    device_.block(block_time_out);
    device_.start();
    enqueue(next);
    device_.stop();
    const bool held = device_.release_block();
    const Seconds time = device_.elapsed();
    if (held) {
      result.time += time;
      if (const double clock = device_.clock_hz(); clock > 0) result.clock_hz = clock;
      done += next;
      failed = 0;
    } else if (next > 1) {  // calls of more kernels than is known may fill the queue
      at_once = next / 2;
    } else if (++failed > retries) {
      throw EnvironmentError("waits for the device inside the call: its time cannot be told from the processor's");
    }
  }
  return result;
}

DeviceTimer::DeviceTimer(Device& device) : device_(device) {
  device_.launch_empty(1);  // a kernel is loaded at its first launch, which may wait for all others
  device_.finish();
  floors_.queue = measure_queue();
  const auto least = [&](auto&& once) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < floor_repeats; ++i) best = std::min(best, once().value);
    return Seconds{best};
  };
  floors_.event = least([&] { return blocked(1, 1, [](std::int64_t) {}).time; });
  const std::int64_t kernels = std::min(floor_kernels, floors_.queue);
  const auto each = [&](Seconds whole) {
    return std::max(Seconds{}, whole - floors_.event) / static_cast<double>(kernels);
  };
  floors_.launch =
      each(least([&] { return blocked(kernels, kernels, [&](std::int64_t n) { device_.launch_empty(n); }).time; }));
  if (const auto graph = device_.record([&] { device_.launch_empty(kernels); }))
    floors_.graph_launch = each(least([&] { return blocked(1, 1, [&](std::int64_t) { graph->replay(); }).time; }));
}

std::int64_t DeviceTimer::measure_queue() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t step = 64;
  device_.block(block_time_out);
  std::int64_t queued = 0;
  const auto limit = std::chrono::duration<double>(block_time_out.value / 8);  // launches take microseconds
  while (queued < longest_queue) {
    const auto start = Clock::now();
    device_.launch_empty(step);
    if (Clock::now() - start > limit) break;  // the queue was full: the launch had to wait for the block's end
    queued += step;
  }
  static_cast<void>(device_.release_block());
  device_.finish();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(queued) * queue_share));
}

const DeviceTimer::Recorded& DeviceTimer::recorded(Work& work, std::int64_t calls) {
  std::vector<const void*> buffers = buffers_of(work);
  const bool same_plan = recorded_.plan == work.plan;
  if (same_plan && !recorded_.possible) return recorded_;
  if (same_plan && recorded_.calls == calls && recorded_.buffers == buffers) return recorded_;
  if (!same_plan) {  // whatever a library loads at its first call
    work.call();
    device_.finish();
  }
  recorded_ = {.plan = work.plan, .buffers = std::move(buffers), .calls = calls};
  if (work.rotation.step > 0) work.move_to(0);
  recorded_.graph = device_.record([&] {
    for (std::int64_t i = 0; i < calls; ++i) work.call();
  });
  recorded_.possible = recorded_.graph != nullptr;
  if (!recorded_.possible) return recorded_;
  recorded_.kernels = std::max<std::int64_t>(1, recorded_.graph->kernels() / calls);
  if (work.rotation.step == 0) recorded_.graph->replay();  // the first one may load
  device_.finish();
  return recorded_;
}

std::int64_t DeviceTimer::calls_to_record(Work& work, std::int64_t calls, std::int64_t walk) {
  if (walk == 1) return std::min(calls, most_recorded);
  if (walk <= most_recorded) return walk;
  if (recorded_.plan != work.plan) static_cast<void>(recorded(work, 1));
  return walk * recorded_.kernels <= most_kernels ? walk : 1;
}

Window DeviceTimer::time(Work& work, std::int64_t calls) {
  const auto n = static_cast<double>(calls);
  const std::int64_t walk = walk_of(work);
  const std::int64_t in_graph = calls_to_record(work, calls, walk);
  const Recorded& record = recorded(work, in_graph);
  const auto kernels = static_cast<double>(record.kernels);
  const std::int64_t at_once = std::max<std::int64_t>(1, floors_.queue / record.kernels);
  const Blocks events = blocked(calls, at_once, [&](std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) work.call();
  });
  Window queued{
      .time = events.time / n, .method = by_events, .launch = floors_.launch * kernels, .clock_hz = events.clock_hz};
  if (record.graph == nullptr || in_graph < walk) return queued;

  // A graph is one launch: replays whole, rounded up, and counted.
  const std::int64_t replays = (calls + in_graph - 1) / in_graph;
  if (walk > 1) record.graph->replay();  // not timed: what the events left in the caches goes
  const Blocks graph = blocked(replays, 1, [&](std::int64_t) { record.graph->replay(); });
  if (walk > 1) work.move_to(0);  // where the replays ended
  Window replayed{.time = graph.time / static_cast<double>(replays * in_graph),
                  .method = by_graph,
                  .launch = floors_.graph_launch * kernels,
                  .clock_hz = graph.clock_hz > 0 ? graph.clock_hz : events.clock_hz};
  queued.other = replayed.time;
  queued.other_launch = replayed.launch;
  replayed.other = queued.time;
  replayed.other_launch = queued.launch;
  return replayed.time < queued.time ? replayed : queued;
}

}  // namespace benanza::bench
