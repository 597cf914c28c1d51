// SPDX-License-Identifier: Apache-2.0
// What caches hold by the latencies of random loads, on synthetic curves and clocks.
#include "../../src/measure/cache_sweep.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::bench;

constexpr double mib = 1 << 20;

/// Caches of 1 and 32 MiB behind each other, 4 and 20 ns, and memory of 100 ns, met by random loads.
double latency_ns(double bytes) {
  const double inner = std::min(1.0, 1 * mib / bytes), outer = std::min(1.0, 32 * mib / bytes);
  return 4 * inner + 20 * (outer - inner) + 100 * (1 - outer);
}

std::vector<LoadLatency> curve_of(double (*ns)(double), double largest) {
  std::vector<LoadLatency> curve;
  for (double bytes = mib / 8; bytes <= largest; bytes *= 2) curve.push_back({{bytes}, {ns(bytes) * 1e-9}});
  return curve;
}

}  // namespace

TEST_CASE("the size of the caches follows from the share of loads that are faster than memory") {
  // At 64 MiB: 1/64 at 4 ns, 31/64 at 20 ns, 32/64 at 100 ns: 59.75 ns. Memory is the last point, 1 GiB: 97.5 ns, the
  // least 4 ns. (97.5 - 59.75) / 93.5 = 0.404: less than half. At 32 MiB: 19.5 ns, 0.834, 26.7 MiB.
  const Bytes found = cached_bytes(curve_of(latency_ns, 1024 * mib));
  CHECK(found.value / mib == Approx(26.7).epsilon(0.01));
}

TEST_CASE("one cache of one latency is found whole") {
  // 16 MiB at 10 ns, then memory: at 32 MiB a half is found, and so is it at 16 MiB all.
  const auto one = [](double bytes) {
    const double found = std::min(1.0, 16 * mib / bytes);
    return 10 * found + 90 * (1 - found);
  };
  // The last point is not of memory alone: at 4 GiB a share of 1/256 is found.
  CHECK(cached_bytes(curve_of(+one, 4096 * mib)).value / mib == Approx(16).epsilon(0.01));
}

TEST_CASE("a curve that does not rise shows no cache") {
  CHECK(cached_bytes(curve_of(
                         +[](double) { return 5.0; }, 64 * mib))
            .value == 0);
  CHECK(cached_bytes({}).value == 0);
}

TEST_CASE("a sweep ends at the largest size and takes the least of its passes") {
  // A clock whose steps become shorter: 4096 ns a window in the first pass, and less in later ones.
  double time = 0, step = 8192e-9;
  const std::vector<LoadLatency> curve = load_latencies({1 << 20}, [&] {
    step *= 0.999;
    return Seconds{time += step};
  });
  REQUIRE(curve.size() >= 2);
  CHECK(curve.back().size.value == 1 << 20);
  CHECK(std::is_sorted(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.size < b.size; }));
  // Three passes of two looks at the clock for each size: the last look of the last size is the shortest step.
  CHECK(curve.back().latency.value == Approx(step / 4096).epsilon(1e-6));
}
