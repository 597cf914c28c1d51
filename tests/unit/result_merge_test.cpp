// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/results/result_merge.hpp>

#include <utility>
#include <vector>

namespace {

using namespace benanza;
using namespace results_support;

Run run_at(const std::string& device) {
  Run run = small_run();
  run.machine = machine(device);
  return run;
}

}  // namespace

TEST_CASE("every run stays a file as it was written, and comes once") {
  const Folder folder;
  fs::create_directories(folder / "one");
  fs::create_directories(folder / "two");
  write_run(run_at("A"), folder / "one/run.json");
  write_run(run_at("B"), folder / "two/run.json");
  write_run(run_at("A"), folder / "two/copy.json");
  static_cast<void>(folder.write("two/bad.json", "{\"context\": "));
  const std::vector<fs::path> sources{folder / "one", folder / "two"};
  const ResultMerge first = merge_results(sources, folder / "all");
  CHECK(first.added.size() == 2);
  REQUIRE(first.known.size() == 1);
  CHECK(first.known[0].source == (folder / "two/copy.json").string());
  CHECK(first.known[0].target == (folder / "all/run.json").string());
  REQUIRE(first.refused.size() == 1);
  CHECK_THAT(first.refused[0], Catch::Contains("bad.json: byte "));
  CHECK(contents(folder / "all/run.json") == contents(folder / "one/run.json"));
  CHECK(contents(folder / "all/run-2.json") == contents(folder / "two/run.json"));  // same name, other contents

  const ResultMerge again = merge_results(sources, folder / "all");
  CHECK(again.added.empty());
  CHECK(again.known.size() == 3);
  CHECK(ResultDatabase::open(folder / "all").machines().size() == 2);
  CHECK_THROWS_WITH(merge_results(std::vector<fs::path>{folder / "absent"}, folder / "all"),
                    Catch::Contains("absent: no such file or folder"));
}

// Two GPUs of one kind, whose files have the same names: only the UUID distinguishes them.
TEST_CASE("what was measured on two GPUs of one kind is joined without loss, and stays apart") {
  const Folder folder;
  const auto run_on = [](const std::string& uuid, double seconds) {
    Run run = small_run();
    run.machine = {.device = "GPU", .isa = "sm_90,sms=132", .cores = 1, .affinity = uuid, .driver = "580.1,cuda=13.0"};
    run.machine.state = {{"power_mw", "70000"}};
    run.backends = {{"cudnn", "9.19.0"}};
    run.ceilings = {{CeilingQuantity::peak(DataType::f16), "wgmma.m64n256k16,threads=1", 1, 9.8e14 + seconds, 0}};
    run.rows = {{.backend = "cudnn",
                 .algorithm = "graph:eng0,threads=1",
                 .signature = relu,
                 .samples = 40,
                 .times = MeasuredTimes{{seconds}, {seconds}, {seconds}, {seconds}},
                 .device = DeviceTiming{.method = "graph",
                                        .launch = {1e-6},
                                        .other = OtherMethod{{seconds + 1e-6}, {2e-6}},
                                        .kernels = KernelTime{{seconds}, {1e-6}},
                                        .clock_hz = 1.98e9},
                 .rounds_s = {seconds, seconds}}};
    return run;
  };
  const Run first = run_on("GPU-0a", 10e-6), second = run_on("GPU-0b", 12e-6);
  for (const auto& [lease, run] : {std::pair("one", &first), std::pair("two", &second)}) {
    fs::create_directories(folder / lease);
    write_run(*run, folder / lease / "resnet50.json");
  }
  const ResultMerge merged = merge_results(std::vector<fs::path>{folder / "one", folder / "two"}, folder / "all");
  CHECK(merged.added.size() == 2);
  CHECK(merged.refused.empty());
  const ResultDatabase database = ResultDatabase::open(folder / "all");
  CHECK(database.machines().size() == 2);
  for (const Run* run : {&first, &second}) {
    const ResultDatabase own = database.select(run->machine, run->backends);
    REQUIRE(own.runs().size() == 1);
    check_equal(own.runs().front(), *run);
    const DeviceTiming read = own.runs().front().rows.at(0).device.value(), written = run->rows.at(0).device.value();
    CHECK(read.method == written.method);
    check_near(read.launch, written.launch);
    check_near(read.other.value().time, written.other->time);
    check_near(read.other.value().launch, written.other->launch);
    check_near(read.kernels.value().whole, written.kernels->whole);
    check_near(read.kernels.value().empty, written.kernels->empty);
    CHECK(own.runs().front().machine.state == run->machine.state);
  }
}
