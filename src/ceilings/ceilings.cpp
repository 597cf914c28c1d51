// SPDX-License-Identifier: Apache-2.0
#include "ceilings.hpp"

#include "cache_size.hpp"
#include "peak_kernels.hpp"
#include "plan/cpu_set.hpp"
#include "plan/memory_block.hpp"
#include "plan/processor.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/base/detail/running_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace benanza::ceilings {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// One way to traverse memory.
struct Walk {
  Traffic traffic = Traffic::read;
  int streams = 1;
  bool prefetch = false;
  bool non_temporal = false;

  [[nodiscard]] int areas() const { return traffic == Traffic::triad ? 3 : traffic == Traffic::copy ? 2 : 1; }
  [[nodiscard]] std::string name() const {
    constexpr const char* names[] = {"read", "write", "copy", "triad"};
    return names[static_cast<std::size_t>(traffic)] + std::string(",streams=") + std::to_string(streams) +
           (prefetch ? ",prefetch=1" : "") + (non_temporal ? ",non_temporal=1" : "");
  }
};

std::vector<Walk> all_walks(bool memory) {
  std::vector<Walk> walks;
  for (Traffic traffic : {Traffic::read, Traffic::triad, Traffic::copy, Traffic::write})
    for (int streams : {1, 4, 8, 2, 16})
      for (bool non_temporal : {false, true})
        for (bool prefetch : {false, true})
          if (!non_temporal || (memory && traffic != Traffic::read))
            walks.push_back({traffic, streams, prefetch, non_temporal});
  return walks;
}

/// A memory level, as the first threads of the machine see it.
struct Level {
  std::string name{};
  Bytes in_front{};          ///< caches that may hide data from this level, for all processors
  Bytes in_front_of_used{};  ///< the same for the processors that are used
  Bytes capacity{};          ///< the part that these processors reach
};

Bytes total(std::span<const Cache> caches, int first_level, int last_level, std::span<const int> cpus) {
  Bytes sum{};
  for (const auto& cache : caches) {
    const bool reached = std::any_of(cache.cpus.begin(), cache.cpus.end(),
                                     [&](int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); });
    if (cache.level >= first_level && cache.level <= last_level && reached) sum += cache.size;
  }
  return sum;
}

/// `seen`: the measured size of the caches in front of memory.
std::vector<Level> levels_of(std::span<const Cache> caches, std::span<const int> all, std::span<const int> used,
                             Bytes memory, Bytes seen) {
  std::vector<Level> levels;
  int last = 0;
  for (const auto& cache : caches) {
    if (cache.level == last) continue;
    last = cache.level;
    levels.push_back({std::string("L").append(std::to_string(last)), total(caches, 1, last - 1, all),
                      total(caches, 1, last - 1, used), total(caches, last, last, used)});
  }
  levels.push_back(
      {"memory", std::max(seen, total(caches, 1, last, all)), std::max(seen, total(caches, 1, last, used)), memory});
  return levels;
}

/// The best rate of one way to traverse a block, where each thread has its own part. The areas rotate through the part
/// like the hands of a clock, so that a place is touched again only after the whole part, whatever the number of areas.
class Walker {
 public:
  Walker(const ThreadPool& pool, int threads, Bytes footprint)
      : pool_(pool),
        threads_(threads),
        part_(static_cast<std::size_t>(footprint.value) / static_cast<std::size_t>(threads) / granule * granule),
        block_(part_ * static_cast<std::size_t>(threads) + margin),
        hands_(static_cast<std::size_t>(threads)),
        spans_(static_cast<std::size_t>(threads)) {
    pool_.parallel(threads_, [&](int thread) {
      std::memset(start(thread), 0, part_);
    });  // the thread that uses a part touches it first
  }

  /// Whether the part is long enough for this way.
  [[nodiscard]] bool can(const Walk& walk) const { return part_ / chunk_of(walk) >= 6; }
  /// Bytes per second over at least `window`.
  double rate(const Walk& walk, double window) {
    const std::size_t chunk = chunk_of(walk);
    pool_.parallel(threads_, [&](int thread) { run(thread, walk, chunk, window); });
    double bytes = 0, first = spans_[0].begin, last = spans_[0].end;
    for (const auto& span : spans_) {
      bytes += span.bytes;
      first = std::min(first, span.begin);
      last = std::max(last, span.end);
    }
    return bytes / (last - first);
  }

 private:
  static constexpr std::size_t granule = 4096, margin = 4096;
  struct alignas(128) Span {
    double begin = 0, end = 0, bytes = 0;
  };
  struct alignas(128) Hand {
    std::size_t at = 0;
  };

  [[nodiscard]] std::byte* start(int thread) const { return block_.data() + static_cast<std::size_t>(thread) * part_; }

  /// A chunk is a small share of the part. Each stream in it has an odd number of steps, because otherwise all streams
  /// would map to the same cache sets.
  [[nodiscard]] std::size_t chunk_of(const Walk& walk) const {
    constexpr std::size_t step = 256, most = std::size_t{4} << 20;
    const auto streams = static_cast<std::size_t>(walk.streams);
    const std::size_t steps = std::min(part_ / 12, most) / streams / step;
    return streams * step * (steps > 1 ? (steps - 1) | 1U : 1);
  }

  void run(int thread, const Walk& walk, std::size_t chunk, double window) {
    auto& hand = hands_[static_cast<std::size_t>(thread)].at;
    auto& span = spans_[static_cast<std::size_t>(thread)];
    const std::size_t places = part_ / chunk;
    std::byte* const base = start(thread);
    const auto place = [&](std::size_t share) { return base + (hand + places * share / 3) % places * chunk; };
    const auto half = [&] { return base + (hand + places / 2) % places * chunk; };
    const PeakKernels& kernels = peak_kernels();
    const double each = static_cast<double>(chunk) * walk.areas();
    span.bytes = 0;
    span.begin = now();
    do {
      std::byte* const result = walk.traffic == Traffic::write  ? place(0)
                                : walk.traffic == Traffic::copy ? half()
                                                                : place(2);
      static_cast<void>(kernels.walk(walk.traffic, walk.streams, walk.prefetch, walk.non_temporal, place(0), place(1),
                                     result, chunk));
      hand = (hand + 1) % places;
      span.bytes += each;
      span.end = now();
    } while (span.end - span.begin < window);
  }

  const ThreadPool& pool_;
  int threads_;
  std::size_t part_;
  detail::MemoryBlock block_;
  std::vector<Hand> hands_;
  std::vector<Span> spans_;
};

/// Tries all ways once, then repeats the best few until the time is up.
CeilingRow best_bandwidth(const ThreadPool& pool, int threads, const Level& level, Bytes bytes, double budget,
                          const detail::RunningClock& clock) {
  const Seconds end = clock.now() + Seconds{budget};
  const bool memory = level.name == "memory";
  const double window = memory ? 4e-3 : 4e-4;
  Walker walker(pool, threads, bytes);
  std::vector<std::pair<double, Walk>> seen;
  for (const auto& walk : all_walks(memory)) {
    if (!walker.can(walk)) continue;
    if (clock.now() > end && !seen.empty()) break;
    seen.emplace_back(walker.rate(walk, window), walk);
  }
  const auto faster = [](const auto& a, const auto& b) { return a.first > b.first; };
  do {
    std::stable_sort(seen.begin(), seen.end(), faster);
    for (std::size_t i = 0; i < std::min<std::size_t>(seen.size(), 6); ++i)
      seen[i].first = std::max(seen[i].first, walker.rate(seen[i].second, window));
  } while (clock.now() < end);
  const auto& best = *std::min_element(seen.begin(), seen.end(), faster);
  return {.quantity = CeilingQuantity::bandwidth(level.name),
          .algorithm = best.second.name() + ",threads=" + std::to_string(threads),
          .threads = threads,
          .value = best.first,
          .in_front_bytes = level.in_front.value};
}

/// FLOPs per cycle times the highest clock, over all threads at once. An integer chain right before the multiply-adds
/// measures the clock.
CeilingRow peak(const ThreadPool& pool, int threads, const MultiplyAdd& multiply_add, double budget) {
  struct alignas(128) Seen {
    std::vector<double> flops_per_cycle{};
    double clock = 0;
  };
  std::vector<Seen> seen(static_cast<std::size_t>(threads));
  const double end = now() + budget;
  pool.parallel(threads, [&](int thread) {
    auto& mine = seen[static_cast<std::size_t>(thread)];
    do {
      const double start = now();
      const double cycles = count_cycles(1000);  // some 20 us
      const double middle = now();
      const double flops = multiply_add.run(20000);  // some 40 us
      const double clock = cycles / (middle - start), rate = flops / (now() - middle);
      mine.clock = std::max(mine.clock, clock);
      mine.flops_per_cycle.push_back(rate / clock);
    } while (now() < end);
  });
  double clock = 0, flops_per_cycle = 0;
  for (const auto& mine : seen) {
    clock = std::max(clock, mine.clock);
    flops_per_cycle = std::max(flops_per_cycle, detail::quantile(mine.flops_per_cycle, 0.5));
  }
  return {.quantity = CeilingQuantity::peak(multiply_add.type),
          .algorithm = multiply_add.name + ",threads=" + std::to_string(threads),
          .threads = threads,
          .value = threads * flops_per_cycle * clock};
}

}  // namespace

std::optional<Bytes> footprint(Bytes in_front, Bytes capacity) {
  const Bytes least = 4 * in_front, most = 0.5 * capacity;
  if (least > most) return std::nullopt;
  if (in_front.value == 0) return most;
  constexpr Bytes small{16e6};  // the most that is added to `least`
  return least + std::min(small, 0.25 * (most - least));
}

std::vector<CeilingRow> measure_ceilings(const ThreadPool& pool, std::span<const int> thread_counts,
                                         Bytes available_memory, Seconds budget, const std::stop_token& stop,
                                         const std::function<void(std::size_t, std::size_t)>& report) {
  const std::span<const int> cpus = benanza::cpus();
  const std::vector<Cache> caches = caches_of(cpus);
  const std::vector<MultiplyAdd> multiply_adds = ceilings::multiply_adds(processor_isa());
  const Bytes seen = measured_cache_size(total(caches, 1, std::numeric_limits<int>::max(), cpus), available_memory,
                                         [] { return Seconds{now()}; });
  const detail::RunningClock clock;
  std::vector<CeilingRow> rows;
  std::size_t done = 0;
  for (const int threads : thread_counts) {
    const auto levels = levels_of(caches, cpus, cpus.first(static_cast<std::size_t>(threads)), available_memory, seen);
    const std::size_t total = thread_counts.size() * (levels.size() + 1);
    const double slot = budget.value / static_cast<double>(total + thread_counts.size());  // memory takes two slots
    const auto stopped = [&] {
      if (report) report(done++, total);
      return stop.stop_requested();
    };
    if (stopped()) return rows;
    for (const auto& each : multiply_adds) {
      CeilingRow row = peak(pool, threads, each, std::min(slot, 0.3) / static_cast<double>(multiply_adds.size()));
      if (row.value > 0) rows.push_back(std::move(row));
    }
    std::optional<CeilingRow> inner;
    for (const auto& level : levels) {
      if (stopped()) return rows;
      CeilingRow row;
      if (const auto bytes = footprint(level.in_front_of_used, level.capacity)) {
        row = best_bandwidth(pool, threads, level, *bytes, level.name == "memory" ? 2 * slot : slot, clock);
      } else if (inner) {
        row = *inner;
        row.quantity = CeilingQuantity::bandwidth(level.name);
        row.in_front_bytes = level.in_front.value;
      } else {
        continue;
      }
      inner = row;
      if (level.in_front.value > 0) rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace benanza::ceilings
