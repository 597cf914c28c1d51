// SPDX-License-Identifier: Apache-2.0
// The size of caches from the latencies of random loads, on synthetic caches and clocks.
#include "ceilings/cache_size.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <functional>

namespace {

using namespace benanza;
using namespace benanza::ceilings;

constexpr double cache_mib = 1 << 20;

/// A cache of `bytes` with 10 ns, and memory with 90 ns, accessed by random loads.
std::function<Seconds(Bytes)> one_cache(double bytes) {
  return [bytes](Bytes size) {
    const double found = std::min(1.0, bytes / size.value);
    return Seconds{(10 * found + 90 * (1 - found)) * 1e-9};
  };
}

double found_mib(double reported, double real, double most = 512) {
  return cache_size({reported * cache_mib}, {64.0 * 1024}, {most * cache_mib}, one_cache(real * cache_mib)).value /
         cache_mib;
}

}  // namespace

TEST_CASE("the size of the caches follows from the share of loads that are faster than memory", "[caches]") {
  // At 512 MiB 1/32 of the loads hit a cache of 16 MiB, so that it appears smaller by less than a tenth.
  CHECK(found_mib(16, 16) == Approx(16).epsilon(0.1));
  // A virtual machine that reports a half, a quarter or a sixteenth of the cache.
  CHECK(found_mib(16, 32) == Approx(32).epsilon(0.1));
  CHECK(found_mib(8, 32) == Approx(32).epsilon(0.1));
  CHECK(found_mib(2, 32) == Approx(32).epsilon(0.1));
  // If more is reported than there is, the share gives a smaller size, or none.
  CHECK(found_mib(64, 16) <= 16);
}

TEST_CASE("a load that takes as long everywhere shows no cache", "[caches]") {
  CHECK(cache_size({1 << 20}, {1 << 16}, {1 << 26}, [](Bytes) { return Seconds{5e-9}; }).value == 0);
}

TEST_CASE("few sizes are asked for: the outermost, then doubled until memory is met", "[caches]") {
  int asked = 0;
  const auto latency = one_cache(32 * cache_mib);
  const Bytes found = cache_size({32 * cache_mib}, {64.0 * 1024}, {512 * cache_mib}, [&](Bytes size) {
    ++asked;
    return latency(size);
  });
  CHECK(found.value / cache_mib == Approx(32).epsilon(0.1));
  CHECK(asked <= 5);
}

TEST_CASE("latencies of the machine are taken by the clock, the least of three", "[caches]") {
  // Each reading of the clock is 1 us after the previous one: every size takes equally long, so no cache is visible.
  double time = 0;
  int looks = 0;
  const Bytes found = measured_cache_size({1 << 16}, {1e9}, [&] {
    ++looks;
    return Seconds{time += 1e-6};
  });
  CHECK(found.value == 0);
  CHECK(looks == 2 * 2 * 3);
}
