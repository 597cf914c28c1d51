// SPDX-License-Identifier: Apache-2.0
// Schedule: when each call of a model would run. The sequential one is the sequential rung, call by call. The parallel
// one is found by list scheduling on the threads that the bound may use. It is a way to run the model that takes at
// least as long as the parallel rung, max(critical path, least work / threads), and shows how close one can get to it.
#pragma once

#include <benanza/bounds/schedule.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace benanza {

namespace detail {

/// A call that is to be scheduled.
struct Task {
  std::size_t layer = 0, call = 0;
  TimedPlan plan{};                  ///< covers all its passes
  std::vector<std::size_t> after{};  ///< tasks that end before it starts
  std::vector<std::size_t> late{};   ///< tasks that end before it ends
  Seconds chain{};                   ///< from its start to the end of the longest chain after it
};

inline TimedPlan chosen(const TimedLayer& layer, const TimedCall& call, PlanChoice choice) {
  const bool fast = choice == PlanChoice::fastest || (choice == PlanChoice::fastest_if_critical && layer.critical);
  return fast ? call.fastest : call.least_work;
}

/// The calls of all layers that run. Loop passes that may overlap become as many tasks as there are threads.
inline std::vector<Task> make_tasks(const TimedGraph& graph, int threads, PlanChoice choice) {
  std::vector<Task> tasks;
  std::vector<std::vector<std::size_t>> ends(graph.layers.size());  // tasks that a layer's consumers wait for
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const TimedLayer& layer = graph.layers[i];
    if (!layer.runs || layer.repeat == 0) continue;
    std::vector<std::size_t> after, late;
    for (const auto& p : layer.predecessors)
      (p.late ? late : after).insert((p.late ? late : after).end(), ends[p.from].begin(), ends[p.from].end());
    if (layer.calls.empty()) {  // free: its consumers wait for what it waits for
      ends[i] = after;
      ends[i].insert(ends[i].end(), late.begin(), late.end());
      continue;
    }
    const std::int64_t copies = std::clamp<std::int64_t>(layer.repeat / layer.serial_repeat, 1, threads);
    const double passes = static_cast<double>(layer.repeat) / static_cast<double>(copies);
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      for (std::size_t c = 0; c < layer.calls.size(); ++c) {
        Task task{.layer = i, .call = c, .plan = chosen(layer, layer.calls[c], choice)};
        task.plan.time = task.plan.time * passes;
        task.plan.threads = std::min(task.plan.threads, threads);
        task.after = c == 0 ? after : std::vector{tasks.size() - 1};
        if (c + 1 == layer.calls.size()) task.late = late;
        tasks.push_back(std::move(task));
      }
      ends[i].push_back(tasks.size() - 1);
    }
  }
  for (std::size_t i = tasks.size(); i-- > 0;) {
    tasks[i].chain += tasks[i].plan.time;
    for (auto before : tasks[i].after) tasks[before].chain = std::max(tasks[before].chain, tasks[i].chain);
  }
  return tasks;
}

class ListScheduler {
 public:
  ListScheduler(std::vector<Task> tasks, int threads)
      : tasks_(std::move(tasks)), end_(tasks_.size()), idle_from_(static_cast<std::size_t>(threads)) {}

  [[nodiscard]] Schedule run() {
    std::vector<std::size_t> open(tasks_.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    while (!open.empty()) {
      auto best = open.end();
      Seconds best_start{};
      for (auto at = open.begin(); at != open.end(); ++at) {
        const auto start = earliest(tasks_[*at]);
        if (!start) continue;
        const bool better = best == open.end() || *start < best_start ||
                            (*start <= best_start && tasks_[*at].chain > tasks_[*best].chain);
        if (better) {
          best = at;
          best_start = *start;
        }
        if (at - open.begin() > most_looked_at) break;
      }
      place(*best, best_start);
      open.erase(best);
    }
    std::stable_sort(result_.calls.begin(), result_.calls.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    return std::move(result_);
  }

 private:
  static constexpr std::ptrdiff_t most_looked_at = 512;  // tasks are in topological order: the first open one can run

  /// Empty while a task that it waits for is not scheduled yet.
  [[nodiscard]] std::optional<Seconds> earliest(const Task& task) const {
    Seconds start{};
    for (auto before : task.after) {
      if (!end_[before]) return std::nullopt;
      start = std::max(start, *end_[before]);
    }
    for (auto before : task.late) {
      if (!end_[before]) return std::nullopt;
      start = std::max(start, *end_[before] - task.plan.time);
    }
    std::vector<Seconds> idle = idle_from_;
    std::sort(idle.begin(), idle.end());
    return std::max(start, idle[static_cast<std::size_t>(task.plan.threads) - 1]);
  }

  /// Takes the lanes that were busy longest, so that no lane that another call could use stays idle.
  void place(std::size_t index, Seconds start) {
    const Task& task = tasks_[index];
    std::vector<std::size_t> lanes;
    for (std::size_t lane = 0; lane < idle_from_.size(); ++lane)
      if (idle_from_[lane] <= start) lanes.push_back(lane);
    std::stable_sort(lanes.begin(), lanes.end(), [&](auto a, auto b) { return idle_from_[a] > idle_from_[b]; });
    lanes.resize(static_cast<std::size_t>(task.plan.threads));
    std::sort(lanes.begin(), lanes.end());
    const Seconds end = start + task.plan.time;
    for (auto lane : lanes) idle_from_[lane] = end;
    end_[index] = end;
    result_.length = std::max(result_.length, end);
    result_.calls.push_back({task.layer, task.call, start, task.plan.time, std::move(lanes)});
  }

  std::vector<Task> tasks_;
  std::vector<std::optional<Seconds>> end_;
  std::vector<Seconds> idle_from_;
  Schedule result_{};
};

}  // namespace detail

/// One call after the other on one lane, each with its fastest plan.
[[nodiscard]] inline Schedule sequential_schedule(const TimedGraph& graph) {
  Schedule result;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const TimedLayer& layer = graph.layers[i];
    if (!layer.runs) continue;
    for (std::size_t c = 0; c < layer.calls.size(); ++c) {
      const Seconds time = layer.calls[c].fastest.time * static_cast<double>(layer.repeat);
      result.calls.push_back({i, c, result.length, time, {0}});
      result.length += time;
    }
  }
  return result;
}

/// The shortest schedule that list scheduling finds: among the calls that may start next it takes the earliest, and
/// among equals the one with the longest chain after it.
[[nodiscard]] inline Schedule parallel_schedule(const TimedGraph& graph, int threads) {
  Schedule best;
  for (std::size_t choice = 0; choice < enum_names(PlanChoice{}).size(); ++choice) {
    const auto by = static_cast<PlanChoice>(choice);
    Schedule next = detail::ListScheduler(detail::make_tasks(graph, threads, by), threads).run();
    next.choice = by;
    if (choice == 0 || next.length < best.length) best = std::move(next);
  }
  return best;
}

}  // namespace benanza
