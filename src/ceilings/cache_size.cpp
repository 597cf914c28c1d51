// SPDX-License-Identifier: Apache-2.0
#include "cache_size.hpp"

#include "plan/memory_block.hpp"

#include <algorithm>

namespace benanza::ceilings {

std::uint64_t chase(std::span<const std::uint64_t> words, std::uint64_t place, int loads) {
  // Knuth's MMIX generator; its increment is the loaded value, 1.
  for (int i = 0; i < loads; ++i) place = place * 6364136223846793005U + words[(place >> 24) % words.size()];
  return place;
}

Bytes cache_size(Bytes reported, Bytes least, Bytes most, const std::function<Seconds(Bytes)>& latency) {
  const Seconds fastest = latency(least), memory = latency(most);
  if (memory < fastest * 2) return {};
  Bytes result{};
  for (Bytes size = std::max(least, reported); size < most; size = size * 2) {
    const double found = (memory - latency(size)) / (memory - fastest);
    if (found < 0.5) break;
    result = std::max(result, size * std::min(1.0, found));
  }
  return result;
}

Bytes measured_cache_size(Bytes reported, Bytes available_memory, const std::function<Seconds()>& now) {
  constexpr Bytes least{64.0 * 1024}, wanted{128.0 * (1 << 20)}, most{512.0 * (1 << 20)};
  constexpr int loads = 4096, passes = 3;
  const Bytes largest = std::min(std::clamp(8 * reported, wanted, most), available_memory * 0.25);
  if (largest < 4 * reported) return {};
  detail::MemoryBlock block(static_cast<std::size_t>(largest.value));
  const std::span words(reinterpret_cast<std::uint64_t*>(block.data()), block.size() / sizeof(std::uint64_t));
  std::fill(words.begin(), words.end(), 1);
  std::uint64_t place = 0;
  const auto latency = [&](Bytes size) {
    const auto part = words.first(static_cast<std::size_t>(size.value) / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < part.size(); i += 8) place += part[i];  // brings each line in
    Seconds fastest{1};
    for (int pass = 0; pass < passes; ++pass) {
      const Seconds start = now();
      place = chase(part, place, loads);
      fastest = std::min(fastest, (now() - start) / loads);
    }
    return fastest;
  };
  const Bytes result = cache_size(reported, least, largest, latency);
  words[0] = place;  // keeps the loads from being optimized away
  return result;
}

}  // namespace benanza::ceilings
