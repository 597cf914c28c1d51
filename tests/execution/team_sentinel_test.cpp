// SPDX-License-Identifier: Apache-2.0
#include "execution/team_sentinel.hpp"

#include "support/catch.hpp"

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
  // Readings that differ by a half are usual; a reading that is three times as long is not.
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

TEST_CASE("what is known of the machine tells that a phase lasts as long as the program") {
  double time = 330e-9;
  const auto take_turn = [&](TeamSentinel& sentinel, double reading) {
    time = reading;
    sentinel.begin();
    sentinel.end();
  };
  const auto read = [&] { return Seconds{time}; };
  TeamSentinel knowing(read, {90e-9}), ignorant(read);
  CHECK_FALSE(knowing.near());
  CHECK(ignorant.near());
  for (auto* sentinel : {&knowing, &ignorant}) {
    take_turn(*sentinel, 340e-9);
    take_turn(*sentinel, 320e-9);
  }
  CHECK(knowing.quiet_turns() == 0);
  CHECK(ignorant.quiet_turns() == 2);
  CHECK(knowing.least().value == 320e-9);
  // One near reading is enough, and then it is the only one that counts.
  take_turn(knowing, 100e-9);
  CHECK(knowing.counted() == std::vector{false, false, true});
  time = 100e-9;
  CHECK(knowing.near());
  SECTION("what is known decides nothing where the run's own readings are near it") {
    TeamSentinel usual(read, {58e-9});
    for (int i = 0; i < 3; ++i) take_turn(usual, 100e-9);
    CHECK(usual.counted() == std::vector{true, true, true});
  }
}

TEST_CASE("a percentile leaves out times that do not count") {
  CHECK(p10_of({5, 1, 3}, {true, false, true}).value == Approx(3.2));  // 3 + 0.1 * (5 - 3)
}
