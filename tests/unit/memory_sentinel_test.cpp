// SPDX-License-Identifier: Apache-2.0
// Rows that leave the caches, beside a process that streams through memory; on a host whose time is a counter.
#include "../../src/measure/memory_probe.hpp"
#include "../../src/measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace benanza;
using namespace benanza::bench;
using test::FakeBackend;
using test::FakeHost;

/// 64 KiB read and as much written, where the caches hold 100 kB.
constexpr std::int64_t beyond_caches = 16384, within_caches = 64;

Measurement measured_row(FakeHost& host, std::int64_t elements, Seconds budget = {10}) {
  const auto backend = std::make_shared<FakeBackend>(
      host, std::vector<test::FakePlan>{{.name = "plan", .seconds = 1e-3, .memory_bound = true}});
  const std::vector<Wanted> wanted{{.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}}};
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  return run_tuning_session(host, wanted, backends, {.budget = budget}, 1).front();
}

bool any_slow(const Measurement& row) {
  return std::any_of(row.rounds_s.begin(), row.rounds_s.end(), [](double time) { return time > 1.01e-3; });
}

}  // namespace

TEST_CASE("a sample that leaves the caches does not count while another process streams through memory") {
  FakeHost host;
  // A process that comes for 0.4 s of every second: the registers are as fast as ever, calls take 1.5 times as long.
  host.memory_slowness = [](double now) { return std::fmod(now, 1.0) < 0.4 ? 1.5 : 1.0; };
  SECTION("it is measured again when the memory is quiet") {
    const Measurement row = measured_row(host, beyond_caches);
    CHECK_FALSE(any_slow(row));
    CHECK(std::count_if(row.rounds_s.begin(), row.rounds_s.end(), [](double time) { return std::isfinite(time); }) >=
          8);
    CHECK(row.median.value == Approx(1e-3));
  }
  SECTION("without the sentinel of memory nobody sees it") {
    host.has_memory_probe = false;
    CHECK(any_slow(measured_row(host, beyond_caches)));
  }
  SECTION("of what stays in the caches the memory is not asked") { CHECK(any_slow(measured_row(host, within_caches))); }
}

TEST_CASE("a row that leaves the caches and met no quiet memory is contended") {
  FakeHost host;
  // The first call and the readings behind it are quiet; then the process stays. By registers alone all are.
  host.memory_slowness = [start = host.time](double now) { return now < start + 1.5e-3 ? 1.0 : 1.6; };
  CHECK(measured_row(host, beyond_caches, {1}).contended);
  host.has_memory_probe = false;
  CHECK_FALSE(measured_row(host, beyond_caches, {1}).contended);
}

TEST_CASE("the probe of memory takes each of its times by the clock") {
  // A clock that advances by one at each look: start and end of each.
  double time = 0;
  MemoryProbe probe({1e6}, [&] { return Seconds{time++}; });
  const MemoryTimes times = probe.read();
  CHECK(times.chase.value == 1);
  CHECK(times.stream.value == 1);
  CHECK(time == 4);
}
