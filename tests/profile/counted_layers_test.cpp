// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/model/counted_layers.hpp>
#include <benanza/results/measuring_time.hpp>

using namespace benanza;

TEST_CASE("A database saves the time of the layers that it knows") {
  const CountedLayers first{{"a", {.count = 3, .time = Seconds{2}}}, {"b", {.count = 1, .time = Seconds{5}}}};
  const CountedLayers second{{"b", {.count = 2, .time = Seconds{5}}}, {"c", {.count = 1}}};
  CountedLayers both = first;
  merge(both, second);
  const KnownLayers made = known_layers("", both, {"a", "c", "other"});
  CHECK(made.layers == 3 + 1 + 2 + 1);
  CHECK(made.unique == 3);
  CHECK(made.known == 2);
  CHECK(made.added() == 1);
  CHECK(made.timed == 2);
  CHECK(made.time.value == 7);
  CHECK(made.known_time.value == 2);
  CHECK(made.added_time().value == 5);
}

TEST_CASE("Measuring a row took its timed calls and its preparation") {
  Measurement row{
      .samples = 4, .calls_per_sample = 10, .times = MeasuredTimes{.median = Seconds{0.5}}, .preparation = Seconds{3}};
  row.rounds_s = {0.5, 0.5};
  CHECK(measuring_time(row).value == 10 * (4 + 2) * 0.5 + 3);
  Measurement failed = row;
  failed.exclude(RowStatus::failed);
  row.signature = failed.signature = "x";
  Run run{.name = "run"};
  run.rows = {row, row, failed};
  ResultDatabase results;
  results.add(run);
  CHECK(measuring_times(results).at("x").value == 2 * 33.0);
}
