// SPDX-License-Identifier: Apache-2.0
#include "memory_probe.hpp"

#include "cache_sweep.hpp"

#include <algorithm>
#include <utility>

namespace benanza::bench {

namespace {

/// Loads of some 100 ns each, and bytes at some 10 GB/s.
constexpr int probe_loads = 512;
constexpr std::size_t walk_bytes = std::size_t{512} * 1024, walk_words = walk_bytes / sizeof(std::uint64_t);

}  // namespace

MemoryProbe::MemoryProbe(Bytes beyond, std::function<Seconds()> now)
    : block_(std::max(4 * walk_bytes, static_cast<std::size_t>(beyond.value))),
      words_(reinterpret_cast<std::uint64_t*>(block_.data()), block_.size() / sizeof(std::uint64_t)),
      now_(std::move(now)) {
  std::fill(words_.begin(), words_.end(), 1);
}

Seconds MemoryProbe::chase() {
  const Seconds start = now_();
  place_ = bench::chase(words_, place_, probe_loads);
  return now_() - start;
}

Seconds MemoryProbe::stream() {
  if (position_ + walk_words > words_.size()) position_ = 0;
  const Seconds start = now_();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < walk_words; ++i) sum += words_[position_ + i];
  sum_ += sum;
  const Seconds took = now_() - start;
  position_ += walk_words;
  return took;
}

MemoryTimes MemoryProbe::read() {
  MemoryTimes times;
  times.chase = chase();
  times.stream = stream();
  return times;
}

}  // namespace benanza::bench
