// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/results/result_check.hpp>

#include <cmath>

namespace {

using namespace benanza;
using namespace results_support;

Run sound_run(double factor = 1) {
  Run run = small_run();
  for (auto& row : run.rows) row.rounds_s.clear();
  run.rows[0].times->p10.value *= factor;
  run.rows[0].times->min.value *= factor;
  run.rows[0].times->median.value *= factor;
  run.rows[0].times->p90.value *= factor;
  return run;
}

std::vector<std::string> faults(const Run& run) {
  std::vector<std::string> texts;
  for (const auto& finding : check(run)) texts.push_back(finding.what);
  return texts;
}

}  // namespace

TEST_CASE("what a session writes is sound") { CHECK(faults(sound_run()).empty()); }

TEST_CASE("what no session writes is found, each in a line that names the row") {
  const auto with = [](auto change) {
    Run run = sound_run();
    change(run);
    const auto found = faults(run);
    REQUIRE(found.size() == 1);
    return found[0];
  };
  CHECK_THAT(with([](Run& run) { run.rows.push_back(run.rows[0]); }), Catch::Contains("is there twice"));
  CHECK_THAT(with([](Run& run) { run.backends.pop_back(); }),
             Catch::Contains("backend 'onednn' has rows, but the context names no version"));
  CHECK_THAT(with([](Run& run) { run.rows[0].times->median = run.rows[0].times->p90 * 2; }),
             Catch::Contains(small_run().rows[0].name() + " has quantiles out of order"));
  CHECK_THAT(with([](Run& run) { run.rows[0].samples = 0; }), Catch::Contains("no sample that counts"));
  CHECK_THAT(with([](Run& run) { run.rows[0].times->cv = not_a_number; }), Catch::Contains("cv that is not a number"));
  CHECK_THAT(with([](Run& run) { run.rows[0].device = DeviceTiming{.launch = {not_a_number}}; }),
             Catch::Contains("has a launch"));
  CHECK_THAT(with([](Run& run) { run.rows[0].device = DeviceTiming{.launch = run.rows[0].times->p10}; }),
             Catch::Contains("has a launch"));
  CHECK_THAT(with([](Run& run) { run.faults.emplace_back("a row: samples is not a count"); }),
             Catch::Contains("a row: samples is not a count"));
  CHECK_THAT(with([](Run& run) { run.rows[2].exclude_for(""); }), Catch::Contains("excluded without a reason"));
  CHECK_THAT(with([](Run& run) {
               run.rows[0].rounds_s = {1, 2, 3};
               run.rows[1].rounds_s = {1, 2};
             }),
             Catch::Contains("has 2 rounds, others of the run have 3"));
  CHECK_THAT(with([](Run& run) { run.ceilings[0].value = infinity; }),
             Catch::Contains("Peak/f32 is not a positive number"));
}

TEST_CASE("two runs that disagree beyond their noise are a conflict, both are named") {
  // The row's spread: (1.2 - 1) / 2 / 1.01 = 9.9 %; of two such rows 19.8 %. A factor of 1.1 is within, 1.3 beyond.
  ResultDatabase database;
  database.add(sound_run());
  database.add(sound_run(1.1));
  CHECK(conflicts(database).empty());
  Run slow = sound_run(1.3);
  slow.file = "slow.json";
  database.add(slow);
  const auto found = conflicts(database);
  REQUIRE(found.size() == 1);
  CHECK(found[0].row == small_run().rows[0].name());
  CHECK(found[0].backend == "onednn 3.2.0");
  CHECK(found[0].second_file == "slow.json");
  CHECK(found[0].comparison.change.value() == Approx(0.3));
  CHECK(found[0].comparison.noise == Approx(std::sqrt(2.0) * 0.1 / 1.01));  // in quadrature
}

TEST_CASE("what another machine, version or cache state says is not a conflict") {
  ResultDatabase database;
  database.add(sound_run());
  Run elsewhere = sound_run(2), upgraded = sound_run(2), cold = sound_run(2);
  elsewhere.machine = machine("another CPU");
  upgraded.backends[1].version = "3.3.0";
  cold.rows[0].cache = CacheState::cold;
  for (const auto& run : {elsewhere, upgraded, cold}) database.add(run);
  CHECK(conflicts(database).empty());
}

TEST_CASE("a row that one run timed and another refused is a conflict") {
  ResultDatabase database;
  database.add(sound_run());
  Run refusing = sound_run();
  refusing.rows[0].exclude(RowStatus::wrong, "differs by 1");
  database.add(refusing);
  const auto found = conflicts(database);
  REQUIRE(found.size() == 1);
  CHECK(found[0].comparison.reason == "wrong result: differs by 1");
}

TEST_CASE("a row that a session had no time for, or whose worker was killed, is not a conflict") {
  for (const std::string reason :
       {"not tried: the budget gave this layer no more time", "killed, as the system does when memory runs out"}) {
    ResultDatabase database;
    database.add(sound_run());
    Run brief = sound_run();
    brief.rows[0].exclude_for(reason);
    database.add(brief);
    CHECK(conflicts(database).empty());
  }
}

TEST_CASE("a row that beats its machine's ceilings more than ten times is found, whichever file holds them") {
  // The 236,027,904 operations of the convolution's taps alone in 1 us: over 1,000 times 173 GFLOP/s.
  ResultDatabase database;
  Run ceilings = sound_run(), rows = sound_run(0.8e-3), elsewhere = sound_run(0.8e-3);
  ceilings.rows.clear();
  rows.file = "rows.json";
  rows.ceilings.clear();
  elsewhere.ceilings.clear();
  elsewhere.machine = machine("another CPU");
  for (const auto& run : {ceilings, rows, elsewhere}) database.add(run);
  const auto found = damaged_rows(database);
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == "rows.json");
  CHECK_THAT(found[0].what, Catch::Contains(small_run().rows[0].name() + ": beats the machine's ceilings"));
}

TEST_CASE("a row that beats a ceiling by more than it may raise it is found") {
  ResultDatabase database;
  database.add(sound_run());  // at least 232,429,056 FLOPs in 1.25 ms: 1.07 times 173 GFLOP/s
  const auto found = damaged_rows(database);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].what, Catch::StartsWith(small_run().rows[0].name() + " reaches 1.0") &&
                                Catch::Contains("FLOPs are counted too high"));
}

TEST_CASE("temporary files of killed writers are found") {
  const Folder folder;
  static_cast<void>(folder.write(".run.json.tmp", "{"));
  static_cast<void>(folder.write("run.json", "{"));
  const auto found = leftovers(folder.path);
  REQUIRE(found.size() == 1);
  CHECK(found[0].file == (folder / ".run.json.tmp").string());
  CHECK(leftovers(folder / "absent").empty());
}
