// SPDX-License-Identifier: Apache-2.0
#include "cache_sweep.hpp"

#include "memory_block.hpp"

#include <algorithm>
#include <numbers>

namespace benanza::bench {

std::uint64_t chase(std::span<const std::uint64_t> words, std::uint64_t place, int loads) {
  // Knuth's MMIX generator; its increment is what was loaded, 1.
  for (int i = 0; i < loads; ++i) place = place * 6364136223846793005U + words[(place >> 24) % words.size()];
  return place;
}

std::vector<LoadLatency> load_latencies(Bytes largest, const std::function<Seconds()>& now) {
  constexpr double smallest = 64.0 * 1024, step = std::numbers::sqrt2;
  constexpr int loads = 4096, passes = 3;
  const auto count = static_cast<std::size_t>(largest.value) / sizeof(std::uint64_t);
  MemoryBlock block(count * sizeof(std::uint64_t));
  auto* const data = reinterpret_cast<std::uint64_t*>(block.data());
  std::fill_n(data, count, 1);
  std::vector<LoadLatency> curve;
  for (double size = smallest; size <= largest.value; size *= step) curve.push_back({.size = {size}});
  if (!curve.empty()) curve.back().size = largest;
  std::uint64_t place = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (auto& point : curve) {
      const std::span words(data, static_cast<std::size_t>(point.size.value) / sizeof(std::uint64_t));
      for (std::size_t i = 0; i < words.size(); i += 8) place += words[i];  // brings each line in
      const Seconds start = now();
      place = chase(words, place, loads);
      const Seconds latency = (now() - start) / loads;
      point.latency = pass == 0 ? latency : std::min(point.latency, latency);
    }
  }
  data[0] = place;  // nothing is optimised away
  return curve;
}

Bytes cached_bytes(std::span<const LoadLatency> curve) {
  if (curve.empty()) return {};
  Seconds least = curve.front().latency;
  for (const auto& point : curve) least = std::min(least, point.latency);
  const Seconds memory = curve.back().latency;
  if (memory < least * 2) return {};
  Bytes result{};
  for (const auto& point : curve) {
    const double found = (memory - point.latency) / (memory - least);
    if (found >= 0.5) result = std::max(result, point.size * found);
  }
  return result;
}

}  // namespace benanza::bench
