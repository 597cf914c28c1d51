// SPDX-License-Identifier: Apache-2.0
// ThisHost: the machine that the program runs on. During its lifetime, the calling thread is bound; afterwards, its
// former affinity is restored.
#pragma once

#include "host.hpp"
#include "memory_probe.hpp"
#include "plan/thread_pool.hpp"
#include <benanza/base/detail/running_clock.hpp>
#include <benanza/plan/openmp_team.hpp>

#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <vector>

namespace benanza::sampling {

class ThisHost final : public Host {
 public:
  /// `threads`: the most; 0 means one per physical core.
  explicit ThisHost(int threads);
  ~ThisHost() override;
  ThisHost(const ThisHost&) = delete;
  ThisHost& operator=(const ThisHost&) = delete;

  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }
  [[nodiscard]] const ThreadPool& pool() const { return pool_; }

  [[nodiscard]] Seconds now() const override;
  [[nodiscard]] Seconds running() const override { return clock_.now(); }
  [[nodiscard]] Seconds timer_floor() const override { return timer_floor_; }
  [[nodiscard]] Seconds probe(int threads) override;
  [[nodiscard]] std::optional<Seconds> probe_at(FlopsPerSecond each) const override;
  [[nodiscard]] std::optional<MemoryTimes> probe_memory(Bytes cached) override;
  void settle_memory(Bytes cached) override;
  [[nodiscard]] Seconds round_trip(int threads) override;
  void watch() override;
  [[nodiscard]] bool disturbed(Seconds window) override;
  [[nodiscard]] Lost lost() const override { return lost_; }
  void occupy(Runtime runtime, int threads) override;
  void dismiss() override;
  void pause(Seconds time) override;
  [[nodiscard]] std::vector<int> group_counts() const override;
  [[nodiscard]] Bytes cached() const override;
  [[nodiscard]] Bytes available_memory() const override;

 private:
  void stay();
  /// Null if there is too little memory for a probe.
  [[nodiscard]] MemoryProbe* memory_probe(Bytes cached);
  /// Whether no thread but the calling one can be at work.
  [[nodiscard]] bool alone() const { return staying_ && !own_pool_ran_; }

  detail::RunningClock clock_{};  ///< made before the calling thread is bound
  cpu_set_t allowed_before_{};
  std::vector<int> cpus_;
  ThreadPool pool_;
  std::vector<Seconds> probed_;
  std::optional<MemoryProbe> memory_probe_{};
  OpenmpTeam team_{};
  Seconds timer_floor_{};
  Seconds own_time_{};                       ///< processor time of the calling thread when the watch began
  std::map<std::string, Seconds> waited_{};  ///< how long each thread had waited for processors when the watch began
  Lost lost_{};                              ///< in the last window
  bool staying_ = false;                     ///< the calling thread is bound to the first processor
  bool own_pool_ran_ = false;                ///< threads of a pool may still be polling
};

}  // namespace benanza::sampling
