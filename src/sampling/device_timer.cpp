// SPDX-License-Identifier: Apache-2.0
#include "device_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

namespace benanza::sampling {

namespace {

constexpr int floor_repeats = 20;
constexpr std::int64_t calls_for_each_queued = 8;
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

/// The number of calls that traverse the region once from position 0, after which the buffers are where they were.
std::int64_t walk_of(const Work& work) {
  const Rotation& rotation = work.rotation;
  return rotation.step == 0 ? 1 : static_cast<std::int64_t>(std::max<std::size_t>(1, rotation.region / rotation.step));
}

}  // namespace

template <class Enqueue>
std::optional<DeviceTimer::Blocks> DeviceTimer::blocked(std::int64_t count, std::int64_t& at_once,
                                                        const Enqueue& enqueue) {
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
    } else if (next > 1) {  // calls with more kernels than known may fill the queue
      at_once = next / 2;
    } else if (++failed > retries) {
      at_once = 0;
      return std::nullopt;
    }
  }
  return result;
}

DeviceTimer::DeviceTimer(Device& device) : device_(device) {
  device_.launch_empty(1);  // a kernel is loaded at its first launch, which may wait for all others
  device_.finish();
  floors_.queue = measure_queue();
  const auto least = [&](std::int64_t count, auto&& enqueue) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < floor_repeats; ++i) {
      std::int64_t at_once = count;
      if (const auto once = blocked(count, at_once, enqueue)) best = std::min(best, once->time.value);
    }
    if (!std::isfinite(best)) throw EnvironmentError("no work waits behind a block: nothing can be timed");
    return Seconds{best};
  };
  const Seconds event = least(1, [](std::int64_t) {});
  const std::int64_t kernels = std::min(floor_kernels, floors_.queue);
  const auto each = [&](Seconds whole) { return std::max(Seconds{}, whole - event) / static_cast<double>(kernels); };
  floors_.launch = each(least(kernels, [&](std::int64_t n) { device_.launch_empty(n); }));
  if (const auto graph = device_.record([&] { device_.launch_empty(kernels); }))
    floors_.graph_launch = each(least(1, [&](std::int64_t) { graph->replay(); }));
  floors_.event = std::max(event, least_event);
}

std::int64_t DeviceTimer::measure_queue() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t step = 64;
  device_.block(block_time_out);
  std::int64_t queued = 0;
  const auto limit = std::chrono::duration<double>(block_time_out.value / 8);  // a launch takes microseconds
  while (queued < longest_queue) {
    const auto start = Clock::now();
    device_.launch_empty(step);
    if (Clock::now() - start > limit) break;  // the queue was full: the launch had to wait until the block ended
    queued += step;
  }
  static_cast<void>(device_.release_block());
  device_.finish();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(queued) * queue_share));
}

DeviceTimer::Known& DeviceTimer::known(Work& work) {
  const auto found = known_.find(work.plan);
  if (found != known_.end()) return found->second;
  std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
  work.call();  // loads whatever a library loads at its first call
  device_.finish();
  Known& made = known_[work.plan];
  made.at_once = floors_.queue;
  if (const auto one = device_.record([&] { work.call(); })) {
    made.kernels = std::max<std::int64_t>(1, one->kernels());
    made.at_once = std::max<std::int64_t>(1, floors_.queue / made.kernels);
  }
  return made;
}

std::optional<std::int64_t> DeviceTimer::kernels(Work& work) {
  const std::int64_t count = known(work).kernels;
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::int64_t DeviceTimer::calls_to_record(const Known& known, std::int64_t calls, std::int64_t walk) {
  if (known.kernels == 0) return 0;
  const std::int64_t room = known.at_once > 0 ? most_kernels : most_kept;  // most_kept: events cannot time the calls
  const std::int64_t most = std::max<std::int64_t>(1, room / known.kernels);
  if (walk == 1) return std::min({calls, most_recorded, most});
  return walk <= most ? walk : 0;
}

Recording* DeviceTimer::kept(const Key& plan, std::size_t step, std::span<const void* const> buffers,
                             std::int64_t calls) {
  const auto is_of = [&](const Recorded& each) {
    return !each.plan.owner_before(plan) && !plan.owner_before(each.plan) && each.step == step;
  };
  const auto is_asked_for = [&](const Recorded& each) {
    return each.graph != nullptr && is_of(each) && each.calls == calls &&
           std::equal(buffers.begin(), buffers.end(), each.buffers.begin(), each.buffers.end());
  };
  if (is_asked_for(passing_)) return passing_.graph.get();
  for (const auto& each : kept_)
    if (is_asked_for(each)) return each.graph.get();
  std::erase_if(kept_, [&](const Recorded& each) { return each.plan.expired() || is_of(each); });
  return nullptr;
}

Recording* DeviceTimer::recorded(Work& work, std::int64_t calls) {
  std::vector<const void*> buffers = buffers_of(work);
  const std::size_t step = work.rotation.step;
  if (Recording* const graph = kept(work.plan, step, buffers, calls)) return graph;
  passing_ = {};
  if (step > 0) work.move_to(0);
  auto graph = device_.record([&] {
    for (std::int64_t i = 0; i < calls; ++i) work.call();
  });
  if (graph == nullptr) return nullptr;  // not enough memory for so many, for example: one call was recorded before
  if (step == 0) graph->replay();        // the first replay may load code
  device_.finish();
  std::int64_t kernels = graph->kernels();
  for (const auto& each : kept_) kernels += each.graph->kernels();
  // A kept graph stays until its plan is destroyed. Rounds visit all plans in turn, so the least recently used graph is
  // the one that is needed next.
  Recorded& place = kernels <= most_kept ? kept_.emplace_back() : passing_;
  place = {.plan = work.plan, .step = step, .buffers = std::move(buffers), .calls = calls, .graph = std::move(graph)};
  return place.graph.get();
}

bool DeviceTimer::is_overlapping(Seconds in_stream, Seconds in_graph, double kernels) const {
  const Seconds half = (floors_.launch - floors_.graph_launch) * (kernels / 2);
  return in_stream < in_graph + half && in_graph < in_stream + half;
}

Window DeviceTimer::time(Work& work, std::int64_t calls) {
  const std::int64_t walk = walk_of(work);
  Known& plan = known(work);
  const auto kernels = static_cast<double>(std::max<std::int64_t>(1, plan.kernels));
  std::optional<Blocks> events, replays;
  std::int64_t in_graph = calls_to_record(plan, calls, walk);
  Recording* graph = in_graph > 0 ? recorded(work, in_graph) : nullptr;
  // A library's call may take the processor ten times as long as the device, so if a graph contains all calls, events
  // time only some of them.
  const std::int64_t queued_calls =
      graph != nullptr ? (calls + calls_for_each_queued - 1) / calls_for_each_queued : calls;
  if (plan.at_once > 0)
    events = blocked(queued_calls, plan.at_once, [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) work.call();
    });
  if (plan.at_once == 0 && graph == nullptr) {  // events cannot time the calls, so a longer graph is worth its cost
    in_graph = calls_to_record(plan, calls, walk);
    if (in_graph > 0) graph = recorded(work, in_graph);
  }
  std::int64_t replayed = 0;
  if (graph != nullptr) {
    replayed = (calls + in_graph - 1) / in_graph;  // a graph is one launch: the number of whole replays, rounded up
    if (walk > 1) graph->replay();                 // not timed: evicts what the events left in the caches
    std::int64_t at_once = 1;
    replays = blocked(replayed, at_once, [&](std::int64_t) { graph->replay(); });
    if (walk > 1) work.move_to(0);  // where the replays ended
  }
  const auto window = [](Seconds time, std::string_view method, Seconds launch, double clock_hz) {
    return Window{.time = time, .method = method, .launch = launch, .clock_hz = clock_hz};
  };
  std::optional<Window> queued, whole;
  if (replays)
    whole = window(replays->time / static_cast<double>(replayed * in_graph), by_graph, floors_.graph_launch * kernels,
                   replays->clock_hz);
  if (events) {
    const Seconds time = events->time / static_cast<double>(queued_calls);
    if (whole)
      plan.overlapped +=
          is_overlapping(time - floors_.event / static_cast<double>(queued_calls), whole->time, kernels) ? 1 : -1;
    queued = window(time, by_events, (plan.overlapped > 0 ? floors_.graph_launch : floors_.launch) * kernels,
                    events->clock_hz);
  }
  if (!queued && !whole)
    throw EnvironmentError(plan.kernels > 0
                               ? "more kernels in a call than the queue holds, and in a walk than a graph does"
                               : "waits for the device inside the call: its time cannot be told from the processor's");
  if (!queued || !whole) return queued ? *queued : *whole;
  if (!(whole->clock_hz > 0)) whole->clock_hz = queued->clock_hz;
  if (!(queued->clock_hz > 0)) queued->clock_hz = whole->clock_hz;
  Window &less = whole->time < queued->time ? *whole : *queued, &more = &less == &*whole ? *queued : *whole;
  less.other = more.time;
  less.other_launch = more.launch;
  return less;
}

}  // namespace benanza::sampling
