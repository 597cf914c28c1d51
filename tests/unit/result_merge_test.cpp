// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"
#include <benanza/results/result_merge.hpp>

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
