// SPDX-License-Identifier: Apache-2.0
#include "../../src/execution/team_sentinel.hpp"

#include "support/catch.hpp"
#include <benanza/plan/cpu_set.hpp>
#include <benanza/plan/openmp_team.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace benanza;
using namespace benanza::execution;

TEST_CASE("executions while the team's threads are far from each other do not count") {
  double time = 100e-9;
  TeamSentinel sentinel([&] { return Seconds{time}; });
  const auto turn = [&](double before, double after) {
    time = before;
    sentinel.begin();
    time = after;
    sentinel.end();
  };
  // Readings that differ by a half are usual; three times as long is not.
  turn(100e-9, 130e-9);
  turn(150e-9, 110e-9);
  turn(320e-9, 330e-9);
  turn(320e-9, 110e-9);
  turn(120e-9, 310e-9);
  CHECK(sentinel.counted() == std::vector{true, true, false, true, true});
  CHECK(sentinel.quiet_turns() == 4);
  SECTION("a few readings of threads on one core make the others no less usual") {
    turn(58e-9, 58e-9);
    turn(125e-9, 125e-9);
    CHECK(sentinel.counted().back());
  }
  SECTION("where no turn would count, all do") {
    sentinel.restart();
    turn(320e-9, 330e-9);
    CHECK(sentinel.quiet_turns() == 0);
    CHECK(sentinel.counted() == std::vector{true});
  }
}

TEST_CASE("a percentile leaves out times that do not count") {
  CHECK(p10_of({5, 1, 3}, {true, false, true}).value == Approx(3.2));  // 3 + 0.1 * (5 - 3)
}

TEST_CASE("a round trip within a team takes some time, and one thread has none") {
  CHECK(round_trip(1).value == 0);
  if (OpenmpTeam().exists() && cpus().size() >= 2) CHECK(round_trip(2).value > 0);
}
