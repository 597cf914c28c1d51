// SPDX-License-Identifier: Apache-2.0
#include "memory_probe.hpp"

#include "ceilings/cache_size.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace benanza::sampling {

namespace {

/// Loads of some 100 ns each, and bytes at some 10 GB/s.
constexpr int parts = 4, part_loads = 128;
constexpr std::size_t part_bytes = std::size_t{128} * 1024, part_words = part_bytes / sizeof(std::uint64_t);

}  // namespace

MemoryProbe::MemoryProbe(Bytes beyond, std::function<Seconds()> now)
    : block_(std::max(16 * part_bytes, static_cast<std::size_t>(beyond.value))),
      words_(reinterpret_cast<std::uint64_t*>(block_.data()), block_.size() / sizeof(std::uint64_t)),
      now_(std::move(now)) {
  std::fill(words_.begin(), words_.end(), 1);
}

MemoryTimes MemoryProbe::read() {
  constexpr Seconds longest{std::numeric_limits<double>::infinity()};
  MemoryTimes times{.chase = longest, .stream = longest};
  for (int part = 0; part < parts; ++part) {
    Seconds start = now_();
    place_ = ceilings::chase(words_, place_, part_loads);
    times.chase = std::min(times.chase, now_() - start);
    start = now_();
    walk_part();
    times.stream = std::min(times.stream, now_() - start);
  }
  return times;
}

void MemoryProbe::walk(Bytes bytes) {
  for (double walked = 0; walked < bytes.value; walked += static_cast<double>(part_bytes)) walk_part();
}

void MemoryProbe::walk_part() {
  if (position_ + part_words > words_.size()) position_ = 0;
  for (std::size_t i = 0; i < part_words; ++i) sum_ += words_[position_ + i];
  position_ += part_words;
}

}  // namespace benanza::sampling
