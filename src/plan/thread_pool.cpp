// SPDX-License-Identifier: Apache-2.0
#include "thread_pool.hpp"

#include "cpu_set.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace benanza {

namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

/// A mailbox on cache lines of its own. `posted` counts the regions that were passed to the worker, `done` those that
/// it has finished.
struct alignas(128) ThreadPool::Worker {
  std::atomic<std::uint32_t> posted{0};
  std::atomic<bool> asleep{false};
  Function function = nullptr;  // published by posted
  const void* context = nullptr;
  alignas(128) std::atomic<std::uint32_t> done{0};
  std::thread thread{};
};

ThreadPool::ThreadPool(std::span<const int> cpus)
    : size_(static_cast<int>(std::max<std::size_t>(1, cpus.size()))),
      workers_(std::make_unique<Worker[]>(static_cast<std::size_t>(size_ - 1))) {
  for (int i = 1; i < size_; ++i) {
    Worker& worker = workers_[static_cast<std::size_t>(i - 1)];
    worker.thread = std::thread([this, &worker, i, cpu = cpus[static_cast<std::size_t>(i)]] { work(worker, i, cpu); });
  }
}

ThreadPool::ThreadPool(const OpenmpTeam& team, int size) : team_(team), size_(size) {}

ThreadPool::~ThreadPool() {
  if (team_) return;
  run(size_, nullptr, nullptr);  // a null function ends the worker
  for (int i = 1; i < size_; ++i) workers_[static_cast<std::size_t>(i - 1)].thread.join();
}

void ThreadPool::run(int threads, Function function, const void* context) const {
  const std::lock_guard lock(region_);
  if (team_) return team_->run(threads, function, context);
  for (int i = 1; i < threads; ++i) {
    Worker& worker = workers_[static_cast<std::size_t>(i - 1)];
    worker.function = function;
    worker.context = context;
    worker.posted.fetch_add(1);  // sequentially consistent, as is `asleep`: one of the two sides sees the other's write
    if (worker.asleep.load()) worker.posted.notify_one();
  }
  if (function == nullptr) return;
  function(context, 0);
  for (int i = 1; i < threads; ++i) {
    Worker& worker = workers_[static_cast<std::size_t>(i - 1)];
    const std::uint32_t target = worker.posted.load(std::memory_order_relaxed);
    // Polls while the region is in flight. Yielding gives a chance to a worker that lost its processor.
    for (std::uint32_t polls = 0; worker.done.load(std::memory_order_acquire) != target; ++polls) {
      if (polls > 20000) std::this_thread::yield();
      else pause();
    }
  }
}

void ThreadPool::work(Worker& worker, int thread, int cpu) {
  bind_this_thread(cpu);
  for (std::uint32_t seen = 0;; ++seen) {
    const auto end = std::chrono::steady_clock::now() + linger;
    while (worker.posted.load(std::memory_order_acquire) == seen) {
      for (int polls = 0; polls < 64 && worker.posted.load(std::memory_order_acquire) == seen; ++polls) pause();
      if (std::chrono::steady_clock::now() < end) continue;
      worker.asleep.store(true);
      worker.posted.wait(seen);
      worker.asleep.store(false);
    }
    if (worker.function == nullptr) return;
    worker.function(worker.context, thread);
    worker.done.store(seen + 1, std::memory_order_release);
  }
}

}  // namespace benanza
