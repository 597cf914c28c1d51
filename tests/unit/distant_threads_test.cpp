// SPDX-License-Identifier: Apache-2.0
// Rows with several threads, in phases in which the threads are far from each other, on a host whose time is a counter.
#include "measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_host.hpp"
#include <benanza/results/round_trips.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace {

using namespace benanza;
using namespace benanza::measure;
using test::FakeBackend;
using test::FakeHost;

/// Measures a plan that takes 1 ms with one thread and 0.5 ms with two. Returns the row with two threads.
Measurement row_of_two(FakeHost& host, MeasureOptions options = {.budget = {10}}) {
  const std::vector<std::shared_ptr<const Backend>> backends{
      std::make_shared<FakeBackend>(host, std::vector<test::FakePlan>{{.name = "plan", .seconds = 1e-3}})};
  const std::vector<Wanted> wanted{{.layer = op::Unary{.fn = ElementwiseFn::relu, .x = {64}}}};
  for (const auto& row : run_tuning_session(host, wanted, backends, options, 2))
    if (row.threads == 2) return row;
  return {};
}

std::ptrdiff_t counted(const Measurement& row) {
  return std::count_if(row.rounds_s.begin(), row.rounds_s.end(), [](double time) { return std::isfinite(time); });
}

MeasureOptions knowing(double round_trip) {
  return {.budget = {10},
          .ceilings = std::vector<CeilingRow>{{.quantity = CeilingQuantity::timer("round_trip"),
                                               .algorithm = "cache_line,threads=2",
                                               .threads = 2,
                                               .value = round_trip}}};
}

}  // namespace

TEST_CASE("samples while threads are far from each other do not count, if there are others") {
  FakeHost host;
  host.thread_distance = [](double now) { return std::fmod(now, 2.0) < 1.2 ? 1.0 : 3.0; };
  const Measurement row = row_of_two(host);
  CHECK_FALSE(row.contended);
  CHECK(counted(row) >= 8);
  CHECK(row.times->p90.value == Approx(0.5e-3));
}

TEST_CASE("a session that lies in such a phase from end to end is found out by what is known of the machine") {
  FakeHost host;
  host.thread_distance = [](double) { return 3.0; };
  SECTION("known") {
    const Measurement row = row_of_two(host, knowing(FakeHost::usual_round_trip));
    CHECK(row.noisy);
    CHECK(counted(row) == static_cast<std::ptrdiff_t>(row.rounds_s.size()));  // because there are no others
    CHECK(row.times->p10.value == Approx(1.5e-3));
  }
  SECTION("not known") { CHECK_FALSE(row_of_two(host).noisy); }
}

TEST_CASE("rounds wait a while for threads to come near each other") {
  // The times at which rounds begin: first if threads are near each other, then if they come near 0.5 s later.
  std::vector<double> begins;
  for (const bool is_near : {true, false}) {
    FakeHost host;
    std::optional<double> first;
    MeasureOptions options = knowing(FakeHost::usual_round_trip);
    options.progress = [&](const Progress& now) {
      if (now.phase == "rounds" && !first) first = host.time;
    };
    if (!is_near)
      host.thread_distance = [near_at = begins.front() + 0.5](double now) { return now < near_at ? 3.0 : 1.0; };
    const Measurement row = row_of_two(host, options);
    CHECK(counted(row) == static_cast<std::ptrdiff_t>(row.rounds_s.size()));
    CHECK(row.times->median.value == Approx(0.5e-3));
    REQUIRE(first);
    begins.push_back(*first);
  }
  CHECK(begins[1] >= begins[0] + 0.5);
}

TEST_CASE("a round trip is distant if it is slow beside the readings, or beside what is known") {
  RoundTrips trips, knowing(Seconds{90e-9});
  CHECK_FALSE(trips.is_distant({1}));  // nothing to compare with
  for (const double reading : {330e-9, 340e-9, 320e-9}) {
    trips.add({reading});
    knowing.add({reading});
  }
  CHECK_FALSE(trips.is_distant({330e-9}));
  CHECK(trips.is_distant({900e-9}));
  CHECK(knowing.is_distant({330e-9}));
  CHECK_FALSE(knowing.is_distant({100e-9}));
  CHECK(knowing.usual().value == 90e-9);
}
