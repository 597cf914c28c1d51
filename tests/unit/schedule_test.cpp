// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/bounds/make_schedule.hpp>

namespace {

using namespace benanza;

/// A layer with one call that takes the same time on one thread with either choice.
TimedLayer layer(double seconds, std::vector<Predecessor> predecessors = {}) {
  const TimedPlan plan{.time = {seconds}};
  return {.calls = {{.fastest = plan, .least_work = plan}}, .predecessors = std::move(predecessors)};
}

TimedGraph graph(std::vector<TimedLayer> layers) { return {.layers = std::move(layers)}; }

/// Checks that no lane does two things at once, and that no call starts before its operands are ready.
void check_valid(const TimedGraph& graph, const Schedule& schedule) {
  std::vector<Seconds> ends(graph.layers.size());
  for (const auto& call : schedule.calls) ends[call.layer] = std::max(ends[call.layer], call.start + call.time);
  for (const auto& call : schedule.calls) {
    for (const auto& p : graph.layers[call.layer].predecessors)
      CHECK(ends[p.from] <= (p.late ? ends[call.layer] : call.start));
    for (const auto& other : schedule.calls) {
      if (&other == &call) continue;
      for (auto lane : call.lanes)
        if (std::find(other.lanes.begin(), other.lanes.end(), lane) != other.lanes.end())
          CHECK((other.start + other.time <= call.start || call.start + call.time <= other.start));
    }
  }
}

}  // namespace

TEST_CASE("a chain takes its sum, in sequence and in parallel") {
  const auto chain = graph({layer(1), layer(2, {{0}}), layer(4, {{1}})});
  CHECK(sequential_schedule(chain).length == Seconds{7});
  const auto parallel = parallel_schedule(chain, 2);
  CHECK(parallel.length == Seconds{7});
  check_valid(chain, parallel);
}

TEST_CASE("branches run side by side where there are threads for them") {
  // 1, then 5 alongside 2, then 1: 7 on two threads, 9 on one.
  const auto diamond = graph({layer(1), layer(5, {{0}}), layer(2, {{0}}), layer(1, {{1}, {2}})});
  const auto two = parallel_schedule(diamond, 2);
  CHECK(two.length == Seconds{7});
  check_valid(diamond, two);
  CHECK(parallel_schedule(diamond, 1).length == Seconds{9});
  CHECK(sequential_schedule(diamond).length == Seconds{9});
}

TEST_CASE("plans of less work are taken where they make the schedule shorter") {
  // Two layers, each 3 s on both threads or 4 s on one: one after the other 6, side by side 4.
  TimedLayer wide = layer(4);
  wide.calls[0].fastest = {.time = {3}, .threads = 2};
  const auto pair = graph({wide, wide});
  const auto found = parallel_schedule(pair, 2);
  CHECK(found.length == Seconds{4});
  CHECK(found.choice == PlanChoice::least_work);
  check_valid(pair, found);
  CHECK(sequential_schedule(pair).length == Seconds{6});
  // Alone it runs with its fastest plan.
  CHECK(parallel_schedule(graph({wide}), 2).length == Seconds{3});
}

TEST_CASE("in a schedule too, a late operand delays only the end") {
  // 2 starts after 0 and ends no earlier than 1: from 6 to 9, alongside 1.
  const auto late = graph({layer(1), layer(9), layer(3, {{0, false}, {1, true}})});
  const auto found = parallel_schedule(late, 2);
  CHECK(found.length == Seconds{9});
  check_valid(late, found);
}

TEST_CASE("calls of a split group follow each other, free layers pass on what they wait for") {
  TimedLayer split = layer(1);
  split.calls.push_back(split.calls[0]);
  const TimedLayer free{.predecessors = {{0}}};
  const auto found = parallel_schedule(graph({split, free, layer(1, {{1}})}), 2);
  CHECK(found.length == Seconds{3});
  REQUIRE(found.calls.size() == 3);
  CHECK(found.calls[1].start == Seconds{1});
  CHECK(found.calls[2].layer == 2);
}

TEST_CASE("passes of a loop overlap as far as nothing carries them, branches not taken do not run") {
  TimedLayer apart = layer(1), carried = layer(1), skipped = layer(100);
  apart.repeat = carried.repeat = carried.serial_repeat = 10;
  skipped.runs = false;
  CHECK(parallel_schedule(graph({apart}), 2).length == Seconds{5});
  CHECK(parallel_schedule(graph({carried}), 2).length == Seconds{10});
  CHECK(sequential_schedule(graph({apart, skipped})).length == Seconds{10});
  CHECK(parallel_schedule(graph({carried, skipped}), 2).length == Seconds{10});
}
