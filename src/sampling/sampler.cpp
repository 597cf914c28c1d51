// SPDX-License-Identifier: Apache-2.0
#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace benanza::sampling {

namespace {

constexpr int most_discarded = 8;
/// Calls are stable if they are not faster than the ones before by more than this.
constexpr double stable_share = 0.97;
/// One window of at least this length is discarded: what is not warm after it never will be.
constexpr Seconds long_window{5e-3};
/// The longest time, roughly, for which another process keeps a processor.
constexpr Seconds scheduler_slice{50e-3};
/// A processor that waits for the memory may lower its clock, to 0.6 of the best on a Zen 3. The clock recovers after
/// about 2 ms of arithmetic.
constexpr Seconds clock_recovery{4e-3};

}  // namespace

void Sampler::switch_to(Work& work) {
  host_.dismiss();
  work_ = &work;
  warm_ = false;
  last_memory_.reset();
  if (!work.row.empty()) watch_memory();
}

void Sampler::watch_memory() {
  const Seconds start = host_.now();
  if (next_watch_ && start < *next_watch_) return;
  const bool first = !next_watch_;  // the probe's memory is allocated
  host_.settle_memory(cached_);
  for (std::size_t i = 0; i < (first ? MemorySentinel::least_readings : 1); ++i)
    if (const auto times = host_.probe_memory(cached_)) memory_.watch(*times);
  const Seconds end = host_.now();
  next_watch_ = end + (first ? memory_interval : std::max(memory_interval, memory_rest * (end - start)));
}

Seconds Sampler::window(std::int64_t calls) { return host_.window(*work_, calls).time * static_cast<double>(calls); }

void Sampler::warm_up(std::int64_t calls, Seconds expected) {
  const int threads = work_->plan->threads();
  host_.occupy(work_->runtime, threads);
  if (expected >= long_call) return;
  const Seconds start = host_.now();
  Seconds before = window(calls);
  for (int i = 1; i < most_discarded && host_.is_shared(); ++i) {
    const bool gathered = threads == 1 || host_.now() - start >= gathering;
    if (gathered && before >= long_window) break;
    const Seconds time = window(calls);
    if (gathered && time >= before * stable_share) break;
    before = time;
  }
}

Sentinel::Reading Sampler::read(const std::string& kind, int threads, bool recovers) {
  const Sentinel::Kind kind_at{kind, threads};
  const Seconds start = host_.now();
  Seconds time = host_.probe(threads);
  while (recovers && !sentinel_.quiet(kind_at, time) && host_.now() - start < clock_recovery)
    time = host_.probe(threads);
  last_at_ = host_.now();
  last_ = sentinel_.read(kind_at, time, last_at_);
  last_trip_ = read_trip(threads);
  return *last_;
}

Seconds Sampler::read_trip(int threads) {
  const Seconds trip = threads > 1 ? host_.round_trip(threads) : Seconds{};
  if (trip.value > 0) trips_[threads].add(trip);
  return trip;
}

bool Sampler::distant_now(int threads) {
  host_.dismiss();
  warm_ = false;
  last_.reset();
  const Seconds trip = read_trip(threads);
  const auto trips = trips_.find(threads);
  return trips != trips_.end() && trips->second.is_distant(trip);
}

Sentinel::Reading Sampler::reading_before() {
  const int threads = work_->plan->threads();
  const bool holds = last_ && last_->kind->second == threads && host_.now() - last_at_ <= reading_holds;
  if (!holds) host_.dismiss();
  const Sentinel::Reading reading = holds ? *last_ : read("other", threads, false);
  last_.reset();
  return reading;
}

Sentinel::Reading Sampler::reading_after() {
  const int threads = work_->plan->threads();
  if (threads > 1) host_.dismiss();
  warm_ = threads == 1;
  return read(work_->kind, threads, host_.is_shared() && !work_->row.empty());
}

std::optional<MemorySentinel::Reading> Sampler::read_memory(bool after) {
  if (work_->row.empty()) return std::nullopt;
  auto last = std::exchange(last_memory_, {});
  if (!after && last && host_.now() - last_memory_at_ <= reading_holds) return last;
  const auto times = host_.probe_memory(cached_);
  if (!times) return std::nullopt;
  warm_ = false;
  last = memory_.read((after ? "after " : "before ") + work_->row, *times);
  if (after) {
    last_memory_ = last;
    last_memory_at_ = host_.now();
  }
  return last;
}

void Sampler::take(Sample& sample, std::int64_t calls) {
  host_.watch();
  sample.lost = {};
  sample.window = host_.window(*work_, calls);
  sample.time = sample.window.time;
  // A call that waits for other processes may yield its processor to them.
  const Seconds all = sample.time * static_cast<double>(calls);
  sample.disturbed = !work_->accompanied() && host_.disturbed(all);
  if (!sample.disturbed) return;
  const Lost lost = host_.lost();
  sample.lost = {.longest = std::min(lost.longest, all) / static_cast<double>(calls),
                 .all = std::min(lost.all, all * work_->plan->threads()) / static_cast<double>(calls)};
}

std::pair<Sample, std::int64_t> Sampler::first_sample(Seconds expected, bool just_called) {
  Sample result;
  result.before = reading_before();
  result.trip_before = last_trip_;
  result.memory_before = read_memory(false);
  const bool is_medium = expected >= medium_call;
  warm_up(1, just_called && is_medium ? long_call : expected);
  const Seconds wanted = std::max(host_.least_window(), floors_per_window * host_.timer_floor());
  // A window that another process interrupted looks long enough with too few calls. Therefore, two must be long enough,
  // unless they are longer than a scheduler's time slice, or an earlier call took as long.
  const int windows = host_.is_shared() && !is_medium ? 2 : 1;
  std::int64_t calls = 1;
  for (int enough = 0; enough < windows;) {
    take(result, calls);
    const Seconds time = result.time * static_cast<double>(calls);
    enough = time >= scheduler_slice ? windows : time >= wanted ? enough + 1 : 0;
    if (enough > 0) continue;
    const double growth = time.value > 0 ? 1.2 * (wanted / time) : 100;
    calls = static_cast<std::int64_t>(std::ceil(static_cast<double>(calls) * std::clamp(growth, 1.1, 100.0)));
  }
  result.after = reading_after();
  result.trip_after = last_trip_;
  result.memory_after = read_memory(true);
  return {result, calls};
}

Sample Sampler::sample(std::int64_t calls, Seconds expected) {
  Sample result;
  result.before = reading_before();
  result.trip_before = last_trip_;
  result.memory_before = read_memory(false);
  if (!warm_) warm_up(calls, expected);
  take(result, calls);
  result.after = reading_after();
  result.trip_after = last_trip_;
  result.memory_after = read_memory(true);
  return result;
}

}  // namespace benanza::sampling
