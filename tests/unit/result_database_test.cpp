// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/error.hpp>
#include <benanza/results/results.hpp>

#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace benanza;
using namespace results_support;
namespace fs = std::filesystem;
}  // namespace

TEST_CASE("an absent folder is an empty database, and a broken file costs itself only") {
  const Folder folder;
  CHECK(ResultDatabase::open(folder / "absent").runs().empty());
  ResultDatabase database;
  database.append(small_run(), folder / "new" / "folder");
  const auto bad = folder.write("new/folder/bad.json", "{\"context\": ");
  static_cast<void>(folder.write("new/folder/notes.txt", "no results"));
  fs::create_directory(folder / "new" / "folder" / "folder.json");
  const auto opened = ResultDatabase::open(folder / "new" / "folder");
  CHECK(opened.runs().size() == 1);
  REQUIRE(opened.warnings().size() == 2);
  CHECK_THAT(opened.warnings()[0], Catch::Contains("bad.json: byte "));
  CHECK_THAT(opened.warnings()[1], Catch::Contains("folder.json"));
  CHECK(opened.select(machine(), {}).warnings() == opened.warnings());
  CHECK_THROWS_AS(ResultDatabase::load(std::vector<fs::path>{bad}), InputError);
}

TEST_CASE("a file, a folder and several of both are loaded alike, and what holds no results is named") {
  const Folder folder;
  write_run(small_run(), folder / "a.json");
  fs::create_directory(folder / "more");
  write_run(small_run(), folder / "more" / "b.json");
  static_cast<void>(folder.write("more/notes.txt", "no results"));
  const std::string file = (folder / "a.json").string();
  CHECK(ResultDatabase::load(file).runs().size() == 1);
  CHECK(ResultDatabase::load(file.c_str()).runs().size() == 1);
  CHECK(ResultDatabase::load(folder / "more").runs().size() == 1);
  CHECK(ResultDatabase::load(std::vector<fs::path>{folder / "a.json", folder / "more"}).runs().size() == 2);
  fs::create_directory(folder / "none");
  CHECK_THROWS_WITH(ResultDatabase::load(folder / "none"),
                    Catch::EndsWith("/none: the folder holds no results files (*.json, *.json.gz)"));
  CHECK_THROWS_WITH(ResultDatabase::load("absent.json"), "absent.json: no such file or folder");
  CHECK_THROWS_AS(ResultDatabase::load(folder / "more" / "notes.txt"), InputError);
}

TEST_CASE("names of files are unique, sort by time and never come unchecked from a model") {
  const Folder folder;
  Run run = small_run();
  run.name = "../../a model;\n\"x\"";
  run.rows.clear();
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&] {
      ResultDatabase database;
      for (int j = 0; j < 10; ++j) database.append(run, folder.path);
    });
  for (auto& writer : writers) writer.join();
  const auto database = ResultDatabase::open(folder.path);
  CHECK(database.runs().size() == 40);
  CHECK(database.warnings().empty());
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 40);
  const std::string name = fs::path(database.runs()[0].file).filename().string();
  CHECK_THAT(name,
             Catch::Matchers::Matches("[0-9]{8}T[0-9]{6}\\.[0-9]{3}Z-______a_model___x_-[0-9]+(-[0-9]+)?\\.json"));
}

TEST_CASE("two processes write one folder at once: every run is there, whole") {
  const Folder folder;
  constexpr int processes = 4, runs = 12;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int failures = 0;
      for (int j = 0; j < runs; ++j) {
        try {
          Run run = small_run();
          run.machine = machine("machine " + std::to_string(i));
          ResultDatabase{}.append(std::move(run), folder.path);
        } catch (...) {
          ++failures;
        }
      }
      ::_exit(failures);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const auto database = ResultDatabase::open(folder.path);
  CHECK(database.warnings().empty());
  REQUIRE(database.runs().size() == processes * runs);
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == processes * runs);
  CHECK(database.machines().size() == processes);
  for (const auto& run : database.runs()) CHECK(run.rows.size() == small_run().rows.size());
}

TEST_CASE("the newest row is that of the run that was started last, whatever the files are called") {
  const Folder folder;
  Run first = small_run(), last = small_run();
  last.started = "2026-11-22T01:00:00Z";
  MeasuredTimes& times = *last.rows[0].times;
  times.p10 = times.min = times.median = times.p90 = {2.5e-3};
  last.rows[0].rounds_s.assign(3, 2.5e-3);
  write_run(first, folder / "z.json");
  write_run(last, folder / "a.json");
  const auto newest = [](const ResultDatabase& database) {
    return database.newest_rows().at(conv).front().times->p10.value;
  };
  constexpr double expected = 2.5e-3;
  const auto opened = ResultDatabase::open(folder.path);
  CHECK(newest(opened) == expected);
  CHECK(opened.runs().back().started == last.started);
  CHECK(newest(ResultDatabase::load(std::vector<fs::path>{folder / "a.json", folder / "z.json"})) == expected);
  ResultDatabase joined;  // joined like two folders
  joined.add(ResultDatabase::load(std::vector<fs::path>{folder / "a.json"}));
  joined.add(ResultDatabase::load(std::vector<fs::path>{folder / "z.json"}));
  CHECK(newest(joined) == expected);
  CHECK(newest(joined.select(machine(), first.backends)) == expected);
}

TEST_CASE("a run by itself has the times of others only where it timed nothing") {
  ResultDatabase database;
  Run other = small_run(), own = small_run();
  other.file = "other.json";
  own.file = "own.json";
  other.rows[0].times->p10 = {1e-3};  // faster than the 1.25 ms of the own run
  own.rows.resize(1);                 // no time for the second layer, no reason for the third row
  database.add(other);
  database.add(own);
  const auto rows = database.of_run("own.json").newest_rows();
  REQUIRE(rows.at(conv).size() == 2);
  CHECK(rows.at(conv)[0].times->p10.value == 1.25e-3);
  CHECK_FALSE(rows.at(conv)[1].measured());
  REQUIRE(rows.at(relu).size() == 1);
  CHECK(database.of_run("own.json").ceilings(2).peaks == database.ceilings(2).peaks);
  CHECK(database.of_run("absent.json").newest_rows().at(relu).size() == 1);
}

TEST_CASE("the newest version of each backend is that of the latest run") {
  ResultDatabase database;
  Run old_run = small_run(), new_run = small_run(), other = small_run();
  old_run.started = "2025-01-01T00:00:00Z";
  new_run.backends = {{"onednn", "3.10.0"}};  // newer, although lower as text
  other.machine = machine("another CPU");
  other.started = "2026-01-01T00:00:00Z";
  other.backends = {{"onednn", "4"}};
  for (const auto& run : {new_run, old_run, other}) database.add(run);
  CHECK(database.newest_versions(machine()) ==
        std::vector<BackendVersion>{{"native", "1 (g++ 12.2.0)"}, {"onednn", "3.10.0"}});
}

TEST_CASE("results of another machine or another version of a backend never mix") {
  ResultDatabase database;
  database.add(small_run());
  Run other_machine = small_run();
  other_machine.machine = machine("another CPU");
  database.add(other_machine);
  Run upgraded = small_run();
  upgraded.backends[1].version = "3.3.0";
  upgraded.rows[0].times->p10 = {1e-3};
  database.add(upgraded);
  Run peaks_differ = small_run();  // measured peaks are rows and not a part of the identity
  peaks_differ.ceilings[0].value *= 2;
  peaks_differ.rows.clear();
  database.add(peaks_differ);

  const auto rows = [](const ResultDatabase& selected, const std::string& backend) {
    std::vector<double> times;
    for (const auto& run : selected.runs())
      for (const auto& row : run.rows)
        if (row.backend == backend && row.measured()) times.push_back(row.times->p10.value);
    return times;
  };
  const auto old_onednn =
      database.select(machine(), std::vector<BackendVersion>{{"native", "1 (g++ 12.2.0)"}, {"onednn", "3.2.0"}});
  CHECK(rows(old_onednn, "onednn") == std::vector<double>{1.25e-3});
  CHECK(rows(old_onednn, "native").size() == 2);
  const auto new_onednn =
      database.select(machine(), std::vector<BackendVersion>{{"native", "1 (g++ 12.2.0)"}, {"onednn", "3.3.0"}});
  CHECK(rows(new_onednn, "onednn") == std::vector<double>{1e-3});
  CHECK(rows(new_onednn, "native").size() == 2);  // an upgrade of one backend keeps the rows of the others
  const auto native_only = database.select(machine(), std::vector<BackendVersion>{{"native", "1 (g++ 12.2.0)"}});
  CHECK(rows(native_only, "onednn").empty());
  CHECK(database.select(machine("a third CPU"), small_run().backends).runs().empty());
  CHECK(database.machines() == std::vector<Machine>{machine(), machine("another CPU")});
}

TEST_CASE("the selected part has ceilings that none of its rows beats") {
  // 112 windows of 7 taps in steps of 2 over 224 pixels with a padding of 3 have 7 * 112 - 3 - 1 - 2 = 778 taps inside.
  // The first row, 2 * 64 * 3 * 778^2 = 232.4 MFLOPs and up to two for each of its 802,816 results in 1.25 ms, reaches
  // 185.9 to 187.2 GFLOP/s: up to 2.9 % above 182, far above 100, and more than ten times as much as 10.
  Run run = small_run();
  run.file = "run.json";
  run.ceilings[0].value = 182e9;
  ResultDatabase database;
  database.add(run);
  const auto selected = database.select(machine(), run.backends);
  CHECK(selected.ceilings(2).peaks.at(DataType::f32).value > 185e9);
  CHECK(selected.ceilings(2).reached_by.at(DataType::f32) == run.rows[0].name());
  CHECK(selected.runs()[0].faults.empty());
  CHECK(selected.runs()[0].contradictions.empty());
  CHECK(database.ceilings(2).peaks.at(DataType::f32).value == 182e9);

  Run beaten = small_run();
  beaten.ceilings[0].value = 100e9;
  ResultDatabase contradicted;
  contradicted.add(beaten);
  const auto named = contradicted.select(machine(), beaten.backends);
  CHECK(named.ceilings(2).peaks.at(DataType::f32).value == 100e9);
  CHECK(named.runs()[0].rows[0].measured());
  REQUIRE(named.runs()[0].contradictions.size() == 1);
  CHECK_THAT(named.runs()[0].contradictions[0], Catch::StartsWith(run.rows[0].name() + " reaches 1.8"));

  Run low = small_run();
  low.ceilings[0].value = 10e9;
  ResultDatabase damaged;
  damaged.add(low);
  const auto without = damaged.select(machine(), low.backends);
  CHECK(without.ceilings(2).peaks.at(DataType::f32).value == 10e9);
  CHECK_THAT(without.runs()[0].rows[0].reason, Catch::Contains("not a time of this layer"));
  REQUIRE(without.runs()[0].faults.size() == 1);
  CHECK_THAT(without.runs()[0].faults[0], Catch::StartsWith(run.rows[0].name()));
}

TEST_CASE("ceilings are running maxima at one thread count, the timer's floor the least seen") {
  ResultDatabase database;
  Run run = small_run();
  run.ceilings = {{CeilingQuantity::peak(DataType::f32), "a", 1, 5e10, 0},
                  {CeilingQuantity::peak(DataType::f32), "b", 2, 1e11, 0},
                  {CeilingQuantity::peak(DataType::bf16), "c", 1, 2e11, 0},
                  {CeilingQuantity::bandwidth("memory"), "d", 1, 1.1e10, 4e7},
                  {CeilingQuantity::bandwidth("L2"), "e", 1, 5e10, 9e4},
                  {CeilingQuantity::timer("floor"), "f", 1, 3e-8, 0}};
  database.add(run);
  run.ceilings = {{CeilingQuantity::peak(DataType::f32), "onednn/a,threads=1/hot/MatMul/f32", 1, 5.1e10, 0},
                  {CeilingQuantity::bandwidth("memory"), "g", 1, 1.0e10, 5e7},
                  {CeilingQuantity::timer("floor"), "f", 1, 2e-8, 0},
                  {{CeilingQuantity::Kind::peak, "f1024"}, "z", 1, 1, 0}};
  database.add(run);
  const auto one = database.ceilings(1);
  CHECK(one.peaks == std::map<DataType, FlopsPerSecond>{{DataType::f32, {5.1e10}}, {DataType::bf16, {2e11}}});
  CHECK(one.reached_by ==
        std::map<DataType, std::string>{{DataType::f32, "onednn/a,threads=1/hot/MatMul/f32"}, {DataType::bf16, "c"}});
  REQUIRE(one.levels.size() == 2);
  CHECK(one.levels[0].name == "L2");
  CHECK(one.levels[1].name == "memory");
  CHECK(one.levels[1].bandwidth.value == 1.1e10);
  CHECK(one.levels[1].reached_by == "d");
  CHECK(one.levels[1].in_front.value == 5e7);
  CHECK(one.timer_floor.value == 2e-8);
  CHECK(database.ceilings(2).peaks.at(DataType::f32).value == 1e11);
  CHECK(database.ceilings(3).peaks.empty());
}

TEST_CASE("the usual round trip is the 25th percentile at one thread count") {
  ResultDatabase database;
  Run run = small_run();
  const auto trip = [](int threads, double seconds) {
    return CeilingRow{CeilingQuantity::timer("round_trip"), "cache_line,threads=" + std::to_string(threads), threads,
                      seconds, 0};
  };
  // Two of five readings are from a phase with distant threads, one is from threads on one core.
  run.ceilings = {trip(2, 9e-8), trip(2, 3.8e-7), trip(2, 3.9e-7), trip(2, 3e-8), trip(2, 8e-8), trip(4, 2e-7)};
  database.add(run);
  CHECK(database.ceilings(2).round_trip.value == Approx(8e-8));
  CHECK(database.ceilings(4).round_trip.value == Approx(2e-7));
  CHECK(database.ceilings(1).round_trip.value == 0);
}

TEST_CASE("the size of the memory is a condition, not a part of a machine's identity") {
  Machine machine = small_run().machine, later = machine;
  machine.memory = {15.4e9};
  later.memory = {18.9e9};  // the next day, on the same virtual machine
  CHECK(machine.id() == later.id());
  CHECK(machine.differences(later).empty());
}

namespace {

/// A run on a processor of this model and stepping; without one, as Benanza wrote it before it recorded them.
Run run_on(const std::string& model, const std::string& stepping, const std::string& microcode = "0x1") {
  Run run = small_run();
  run.file = "model" + model + "." + stepping + "." + microcode + ".json";
  if (model.empty()) return run;
  run.machine.family = "25";
  run.machine.model = model;
  run.machine.stepping = stepping;
  run.machine.microcode = microcode;
  run.machine.hypervisor = "KVM";
  return run;
}

ResultDatabase database_of(const std::vector<Run>& runs) {
  ResultDatabase database;
  for (const auto& run : runs) database.add(run);
  return database;
}

std::size_t runs_of(const ResultDatabase& database, const Run& run, const std::vector<std::string>& accept = {}) {
  return database.select(run.machine, run.backends, accept).runs().size();
}

}  // namespace

TEST_CASE("processors of one name that differ in model, stepping, microcode or hypervisor are different machines") {
  const Run milan = run_on("1", "1");
  CHECK(milan.machine.differences(run_on("17", "1").machine) == std::vector<std::string>{"model"});
  CHECK(milan.machine.differences(run_on("1", "2").machine) == std::vector<std::string>{"stepping"});
  CHECK(milan.machine.differences(run_on("1", "1", "0x2").machine) == std::vector<std::string>{"microcode"});
  Machine bare = milan.machine;
  bare.hypervisor = "none";
  CHECK(milan.machine.differences(bare) == std::vector<std::string>{"hypervisor"});
  Machine set = milan.machine;
  set.settings = "OPENBLAS_CORETYPE=Nehalem";
  CHECK(milan.machine.differences(set) == std::vector<std::string>{"settings"});
  const auto database = database_of({milan, run_on("17", "1")});
  CHECK(database.machines().size() == 2);
  CHECK(runs_of(database, milan) == 1);
}

TEST_CASE("facts of a machine are written and read") {
  const Folder folder;
  Run run = run_on("17", "1", "0x1000065");
  run.machine.settings = "LD_PRELOAD=/usr/lib/libjemalloc.so";
  write_run(run, folder / "run.json");
  CHECK(read_run(folder / "run.json").machine == run.machine);
}

TEST_CASE("rows of an older Benanza, which state less of the processor, count as rows of this machine") {
  const Run old_run = run_on("", ""), new_run = run_on("17", "1");
  const auto database = database_of({old_run, new_run});
  CHECK(database.machines() == std::vector<Machine>{new_run.machine});
  CHECK(database.machine() == new_run.machine);
  CHECK(runs_of(database, new_run) == 2);
  CHECK(database.not_counted(new_run.machine).empty());
}

TEST_CASE("rows of an older Benanza count for none of two machines of which they may be, and a line says so") {
  const Run old_run = run_on("", ""), new_run = run_on("17", "1"), other = run_on("26", "2");
  const auto database = database_of({old_run, new_run, other});
  CHECK(runs_of(database, new_run) == 1);
  CHECK(runs_of(database, other) == 1);
  const auto lines = database.not_counted(new_run.machine);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::StartsWith("not counted: 1 run that may be of "));
  const std::vector<std::string> accept{"family", "model", "stepping", "microcode", "hypervisor"};
  CHECK(runs_of(database, new_run, accept) == 3);
}

TEST_CASE("one line names another instruction set, which cannot be accepted") {
  Run mine = run_on("17", "1"), other = mine;
  other.machine.isa = "other";
  other.started = "2026-01-01T00:00:00Z";
  const auto lines = database_of({mine, other}).not_counted(mine.machine);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::EndsWith("differs in isa alone, other instead of " + mine.machine.isa));
}

TEST_CASE("rows of two machines are never added up: an error lists the machines, and a choice takes one of them") {
  Run other = small_run();
  other.machine = machine("another CPU");
  other.file = "other.json";
  const auto database = database_of({small_run(), other});
  CHECK_THROWS_WITH(database.machine(), Catch::Contains("2 machines, which never share a total") &&
                                            Catch::Contains("another CPU") && Catch::Contains("other.json"));
  CHECK_THROWS_AS(database.newest_rows(), InputError);
  CHECK_THROWS_AS(database.ceilings(2), InputError);
  CHECK(database.machine({.of = "another"}) == other.machine);
  CHECK_THROWS_WITH(database.machine({.of = "CPU"}), Catch::Contains("2 machines match 'CPU'"));
  CHECK_THROWS_WITH(database.machine({.of = "GPU"}), Catch::Contains("0 machines match 'GPU'"));
  CHECK(ResultDatabase().machine() == Machine{});
}

TEST_CASE("one line names the fact in which a machine differs, and accepting the fact counts its rows") {
  Run mine = run_on("17", "1"), updated = run_on("17", "1", "0x2"), third = run_on("1", "0", "0x3");
  mine.started = "2026-01-01T00:00:00Z";
  const auto database = database_of({mine, updated, third});
  const auto lines = database.not_counted(mine.machine);
  REQUIRE(lines.size() == 1);
  CHECK(
      lines[0] ==
      "not counted: 1 run of a machine that differs in microcode alone, 0x2 instead of 0x1; --accept microcode counts "
      "its rows");
  const std::vector<std::string> accept{"microcode"};
  CHECK(database.not_counted(mine.machine, accept).empty());
  CHECK(runs_of(database, mine) == 1);
  CHECK(runs_of(database, mine, accept) == 2);
  CHECK(database.select(mine.machine, mine.backends, accept).machine() == mine.machine);
  CHECK_THROWS_AS(database.machine({.accept = accept}), InputError);  // the third differs in more
  CHECK_THROWS_WITH(database_of({mine, updated}).machine(), Catch::Contains("--accept microcode"));
  CHECK(database_of({mine, updated}).machine({.accept = accept}) == mine.machine);  // the latest
}
