// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/model/critical_path.hpp>

namespace {

using namespace benanza;

CriticalPath path(const std::vector<double>& seconds, const std::vector<std::vector<Predecessor>>& predecessors) {
  std::vector<Seconds> times;
  for (double s : seconds) times.push_back({s});
  return critical_path(times, predecessors);
}

}  // namespace

TEST_CASE("nothing has a critical path of length zero") {
  const auto nothing = path({}, {});
  CHECK(nothing.length == Seconds{0});
  CHECK(nothing.on_path.empty());
}

TEST_CASE("a chain's critical path is its sum, side by side counts the longest") {
  CHECK(path({1, 2, 4}, {{}, {{0}}, {{1}}}).length == Seconds{7});
  const auto parallel = path({1, 2, 4}, {{}, {}, {}});
  CHECK(parallel.length == Seconds{4});
  CHECK(parallel.on_path == std::vector<bool>{false, false, true});
}

TEST_CASE("a diamond takes its longer side") {
  // 0 -> 1 -> 3 takes 1 + 5 + 1, 0 -> 2 -> 3 takes 1 + 2 + 1.
  const auto diamond = path({1, 5, 2, 1}, {{}, {{0}}, {{0}}, {{1}, {2}}});
  CHECK(diamond.length == Seconds{7});
  CHECK(diamond.on_path == std::vector<bool>{true, true, false, true});
}

TEST_CASE("a late operand delays only the end") {
  // Layer 2 needs layer 0 (1 s) at its beginning and layer 1 at its end, and takes 3 s. With layer 1 at 2 s it ends
  // after 1 + 3, with layer 1 at 9 s it cannot end before 9. An ordinary operand would make it 2 + 3 and 9 + 3.
  const std::vector<std::vector<Predecessor>> late{{}, {}, {{0, false}, {1, true}}};
  CHECK(path({1, 2, 3}, late).length == Seconds{4});
  CHECK(path({1, 9, 3}, late).length == Seconds{9});
  CHECK(path({1, 2, 3}, {{}, {}, {{0, false}, {1, false}}}).length == Seconds{5});
}

TEST_CASE("a layer that waited for its late operand is not on the critical path") {
  // 0 takes 9; 1 ends at the same time and adds nothing; 2 follows 1.
  const auto found = path({9, 3, 1}, {{}, {{0, true}}, {{1, false}}});
  CHECK(found.length == Seconds{10});
  CHECK(found.on_path == std::vector<bool>{true, false, true});
}
