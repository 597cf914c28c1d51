// SPDX-License-Identifier: Apache-2.0
// Sampler: takes one sample: N calls in a timed window, between two readings of the sentinel.
//
// Threads of two runtimes would disturb each other: GNU OpenMP's workers poll for milliseconds after a region, which
// lets them start the next one within a microsecond. Making them passive (OMP_WAIT_POLICY, read when the library is
// loaded, so only by restarting the program) would time something that no engine runs. Therefore, the team may poll
// while its own calls follow one another, and is ended (omp_pause_resource_all) before anything else runs, including
// the sentinel; the discarded calls before a window bring it back. The own pools sleep within microseconds of their
// last region, and the sampler waits for that.
#pragma once

#include "host.hpp"
#include "memory_sentinel.hpp"
#include "sentinel.hpp"
#include "work.hpp"
#include <benanza/results/round_trips.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::sampling {

struct Sample {
  Seconds time{};   ///< time of one call
  Window window{};  ///< how it was taken
  Sentinel::Reading before{}, after{};
  Seconds trip_before{}, trip_after{};  ///< round trips between its threads; 0 if it has one thread, or a device's
  std::optional<MemorySentinel::Reading> memory_before{}, memory_after{};  ///< if its data exceed the caches
  bool disturbed = false;  ///< threads lost their processors to others in the meantime, which the sentinel may miss
  Lost lost{};             ///< then: what one call lost
};

class Sampler {
 public:
  /// A window is at least this many timer floors (docs/measuring.md, "Samples"): 100 would suffice, the rest is margin
  /// for calls that become faster.
  static constexpr double floors_per_window = 500;
  /// The reading after one sample also serves as the one before the next, unless it is older than this.
  static constexpr Seconds reading_holds{1e-3};
  /// If threads have to gather, the discarded calls before a window last at least this long: own pools poll for 40 us
  /// after a region.
  static constexpr Seconds gathering{100e-6};

  /// Calls this long need no discarded ones, since filling every cache takes a few milliseconds.
  static constexpr Seconds long_call{100e-3};
  /// Calls this long need no discarded ones right after a call of the same work: what remains is to wake the threads.
  /// Nor does it matter much whether their weights are in the caches.
  static constexpr Seconds medium_call{20e-3};

  /// `cached`: the size of the caches.
  Sampler(Host& host, Bytes cached) : host_(host), cached_(cached) {}

  /// While rows exceed the caches, the memory is read throughout the session, at intervals of at least this length and
  /// of at least `memory_rest` times what a reading takes: settling 32 MB of caches takes some 3 ms.
  static constexpr Seconds memory_interval{0.5};
  static constexpr double memory_rest = 50;

  /// To be called before samples of other work. `work` must outlive them.
  void switch_to(Work& work);
  /// The first sample of the current work, which determines N. `expected`: the time of an earlier call. `just_called`:
  /// that call was the last thing that ran. Throws what the plan throws.
  [[nodiscard]] std::pair<Sample, std::int64_t> first_sample(Seconds expected, bool just_called);
  /// One sample of the current work. After a switch, calls are discarded until they are stable, unless one is expected
  /// to take so long that the first one is as good. Throws what the plan throws.
  [[nodiscard]] Sample sample(std::int64_t calls, Seconds expected);
  /// By the present knowledge: later readings may change the answer.
  [[nodiscard]] bool quiet(const Sample& sample) const {
    return !sample.disturbed && sentinel_.quiet(sample.before) && sentinel_.quiet(sample.after) &&
           memory_.quiet(sample.memory_before, sample.memory_after) && (accepts_distant_ || !distant(sample));
  }
  /// By how much a slow processor or memory lengthened it at most: the greatest ratio of a reading to the usual one.
  [[nodiscard]] double slowdown(const Sample& sample) const {
    return std::max({sentinel_.slowdown(sample.before), sentinel_.slowdown(sample.after),
                     memory_.slowdown(sample.memory_before, sample.memory_after)});
  }
  /// Whether its threads were far from each other, both before and after it. Such phases last seconds or minutes.
  [[nodiscard]] bool distant(const Sample& sample) const {
    const auto trips = trips_.find(sample.before.kind->second);
    return trips != trips_.end() && trips->second.is_distant(sample.trip_before) &&
           trips->second.is_distant(sample.trip_after);
  }
  /// Whether repeating the sample at once would not improve it: it is quiet, or belongs to a phase that lasts.
  [[nodiscard]] bool is_final(const Sample& sample) const { return quiet(sample) || distant(sample); }
  /// From now on, samples count as quiet even if their threads were far from each other.
  void accept_distant() { accepts_distant_ = true; }
  [[nodiscard]] bool accepts_distant() const { return accepts_distant_; }
  /// Whether threads are far from each other, by a reading taken now.
  [[nodiscard]] bool distant_now(int threads);

  /// See Sentinel::know.
  void know(int threads, Seconds best) { sentinel_.know(threads, best); }
  /// Sets the usual time of a round trip between this many threads.
  void know_round_trip(int threads, Seconds usual) { trips_.try_emplace(threads, usual); }
  /// The usual times of readings of the memory: sets those of earlier sessions, returns those of this one
  /// (MemorySentinel).
  void know_memory(MemoryTimes usual) { memory_.know(usual); }
  [[nodiscard]] MemoryTimes usual_memory() const { return memory_.usual(); }
  /// Relative variation of the processor's speed so far.
  [[nodiscard]] double wander() const { return sentinel_.wander(); }

 private:
  [[nodiscard]] Seconds window(std::int64_t calls);
  /// Takes a window under watch.
  void take(Sample& sample, std::int64_t calls);
  void warm_up(std::int64_t calls, Seconds expected);
  [[nodiscard]] Sentinel::Reading reading_before();
  [[nodiscard]] Sentinel::Reading reading_after();
  /// `recovers`: the work before it may have lowered the clock, so a slow reading is repeated for some ms.
  [[nodiscard]] Sentinel::Reading read(const std::string& kind, int threads, bool recovers);
  [[nodiscard]] Seconds read_trip(int threads);
  /// A reading after the current work or before it, that is, after the work that precedes it in each round.
  [[nodiscard]] std::optional<MemorySentinel::Reading> read_memory(bool after);
  /// Takes a reading for the whole session, if one is due; the first time, as many as are needed to judge.
  void watch_memory();

  Host& host_;
  Bytes cached_;
  Sentinel sentinel_{};
  MemorySentinel memory_{};
  std::map<int, RoundTrips> trips_{};  ///< by thread count
  bool accepts_distant_ = false;
  Work* work_ = nullptr;
  bool warm_ = false;                                     ///< calls of the current work are stable
  std::optional<Sentinel::Reading> last_{};               ///< after the previous sample
  Seconds last_trip_{};                                   ///< the same
  std::optional<MemorySentinel::Reading> last_memory_{};  ///< the same
  Seconds last_at_{}, last_memory_at_{};
  std::optional<Seconds> next_watch_{};  ///< time of the next reading of the memory
};

}  // namespace benanza::sampling
