// SPDX-License-Identifier: Apache-2.0
// ThreadPool: bound threads for Benanza's own kernels. A parallel region of two threads costs about a microsecond:
// workers poll while a region is in flight and for some tens of microseconds after it, then they sleep, so that nothing
// polls inside the timed region of another library. The caller splits work statically: equal kernels split it equally
// in every call.
#pragma once

#include <benanza/plan/openmp_team.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace benanza {

/// A half-open range of work items.
struct Range {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// Share `thread` of `count` items among `threads`, with borders at multiples of `grain`; shares differ by at most one
/// grain.
[[nodiscard]] inline Range share(std::int64_t count, int threads, int thread, std::int64_t grain = 1) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const auto border = [&](std::int64_t i) {
    const std::int64_t at = (grains * i / threads) * grain;
    return at < count ? at : count;
  };
  return {border(thread), border(thread + 1)};
}

class ThreadPool {
 public:
  /// After a region, workers poll for this long before they sleep.
  static constexpr std::chrono::microseconds linger{40};

  /// The calling thread is number 0 of every region and is not touched (bind it with `bind_this_thread(cpus[0])`);
  /// worker i is bound to `cpus[i]`.
  explicit ThreadPool(std::span<const int> cpus);
  /// A pool without workers of its own: its regions run on OpenMP's team, which other libraries of the process use too,
  /// so that their calls and these do not switch threads. There must be a runtime.
  ThreadPool(const OpenmpTeam& team, int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The most threads of a region, including the caller.
  [[nodiscard]] int size() const { return size_; }

  /// Calls `body(thread)` for thread = 0 ... threads - 1, each on its own thread, and returns when all have returned.
  /// `threads` is at most size(). The body must not throw and must not start a region of the same pool. Regions of
  /// concurrent callers run one after another.
  template <class Body>
  void parallel(int threads, const Body& body) const {
    if (threads <= 1) return body(0);
    run(
        threads, [](const void* context, int thread) { (*static_cast<const Body*>(context))(thread); }, &body);
  }

  /// Splits `count` items among the threads and calls `body(begin, end)` for each share that is not empty.
  template <class Body>
  void split(std::int64_t count, int threads, std::int64_t grain, const Body& body) const {
    parallel(threads, [&](int thread) {
      const Range mine = share(count, threads, thread, grain);
      if (mine.begin < mine.end) body(mine.begin, mine.end);
    });
  }

 private:
  using Function = void (*)(const void* context, int thread);
  struct Worker;
  void run(int threads, Function function, const void* context) const;
  void work(Worker& worker, int thread, int cpu);

  std::optional<OpenmpTeam> team_{};  ///< if set, there are no workers
  int size_;
  std::unique_ptr<Worker[]> workers_{};
  mutable std::mutex region_;
};

}  // namespace benanza
