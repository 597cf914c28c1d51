// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/plan/beat.hpp>

TEST_CASE("signs of life are heard while somebody listens") {
  int heard = 0;
  benanza::beat();
  {
    const benanza::BeatListener listener([&] { ++heard; });
    benanza::beat();
    benanza::beat();
  }
  benanza::beat();
  CHECK(heard == 2);
}
