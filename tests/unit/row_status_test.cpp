// SPDX-License-Identifier: Apache-2.0
#include "support/results_support.hpp"

#include <fstream>
#include <string>
#include <tuple>
#include <vector>

using namespace benanza;

namespace {

/// Error messages of stored files, in rows with these algorithms.
const std::vector<std::tuple<std::string, std::string, RowStatus>> stored{
    {"none,threads=1", "no Conv in backend openblas", RowStatus::unsupported},
    {"none,threads=1", "failed: crashed: Segmentation fault", RowStatus::ended},
    {"jit,threads=1", "not offered: CUDNN_STATUS_NOT_SUPPORTED", RowStatus::unsupported},
    {"jit,threads=1", "failed: out of memory", RowStatus::failed},
    {"jit,threads=1", "crashed: Segmentation fault", RowStatus::ended},
    {"jit,threads=1", "hung: no sign of life for 30 s", RowStatus::ended},
    {"jit,threads=1", "killed, as the system does when memory runs out", RowStatus::ended},
    {"jit,threads=1", "out of memory: the process grew beyond 0.2 GiB", RowStatus::ended},
    {"jit,threads=1", "lost the device: an illegal address", RowStatus::ended},
    {"jit,threads=1", "cannot be checked against the reference: failed: no", RowStatus::failed},
    {"jit,threads=1", "real_time is 0, expected a positive number", RowStatus::failed},
    {"jit,threads=1", "a message of Google Benchmark's user", RowStatus::failed},
    {"jit,threads=1", "wrong result: differs by 0.5 from the reference, at most 1e-05 expected", RowStatus::wrong},
    {"jit,threads=1", "clearly slower after one call: 9.1 ms, the best takes 1.2 ms", RowStatus::slower},
    {"jit,threads=1", "not tried: clearly slower with 4 threads", RowStatus::not_tried},
    {"jit,threads=1", "not tried: a last resort by its name, and the budget gave this layer no more time",
     RowStatus::not_tried},
    {"jit,threads=1", "not tried: the budget gave this layer no more time", RowStatus::out_of_time}};

}  // namespace

TEST_CASE("the error message of a stored row states its status, and is written as it was read") {
  const results_support::Folder folder;
  Run run = results_support::small_run();
  run.rows.clear();
  for (const auto& [algorithm, message, status] : stored) {
    auto& row = run.rows.emplace_back(Measurement{.backend = "onednn",
                                                  .algorithm = algorithm,
                                                  .has_plan = algorithm != "none,threads=1",
                                                  .signature = "Unary/f32/x=" + std::to_string(run.rows.size() + 1)});
    row.exclude_for(message);
    CHECK(row.status == status);
  }
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  REQUIRE(read.rows.size() == stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    INFO(std::get<1>(stored[i]));
    CHECK(results_support::contents(folder / "run.json").find("\"error_message\":\"" + std::get<1>(stored[i]) + "\"") !=
          std::string::npos);
    CHECK(read.rows[i].status == std::get<2>(stored[i]));
    CHECK(read.rows[i].reason == std::get<1>(stored[i]));
  }
}

TEST_CASE("a stored row has the status that its file names, whatever the words of its message") {
  const results_support::Folder folder;
  Run run = results_support::small_run();
  run.rows.clear();
  const auto add = [&](RowStatus status) {
    run.rows.push_back({.backend = "onednn",
                        .algorithm = "jit,threads=1",
                        .signature = "Unary/f32/x=" + std::to_string(run.rows.size() + 1),
                        .status = status,
                        .reason = "failed: in other words"});
  };
  const std::vector<RowStatus> excluded{RowStatus::unsupported, RowStatus::failed, RowStatus::ended,
                                        RowStatus::wrong,       RowStatus::slower, RowStatus::not_tried,
                                        RowStatus::out_of_time, RowStatus::damaged};
  for (const auto status : excluded) add(status);
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  REQUIRE(read.rows.size() == excluded.size());
  for (std::size_t i = 0; i < excluded.size(); ++i) {
    CHECK(read.rows[i].status == excluded[i]);
    CHECK(read.rows[i].reason == "failed: in other words");
  }

  // Older files name no status, and newer ones may name one that is not known here: the words of the message count.
  std::string text = results_support::contents(folder / "run.json");
  for (const std::string status : {"\"status\":\"ended\",", "\"status\":\"slower\","}) {
    const auto at = text.find(status);
    REQUIRE(at != std::string::npos);
    text.replace(at, status.size(), status.find("ended") == std::string::npos ? "" : "\"status\":\"tired\",");
  }
  std::ofstream(folder / "other.json") << text;
  const Run other = read_run(folder / "other.json");
  REQUIRE(other.rows.size() == excluded.size());
  CHECK(other.rows[2].status == RowStatus::failed);
  CHECK(other.rows[4].status == RowStatus::failed);
}

TEST_CASE("a row that is excluded with a status states it in a file") {
  for (const std::string algorithm : {"none,threads=1", "jit,threads=1"})
    for (const auto status : {RowStatus::unsupported, RowStatus::failed}) {
      Measurement row{.algorithm = algorithm, .has_plan = algorithm != "none,threads=1"}, read = row;
      row.exclude(status, "no memory");
      read.exclude_for(row.reason);
      CHECK(read.status == status);
    }
  for (const auto status : {RowStatus::wrong, RowStatus::slower, RowStatus::not_tried}) {
    Measurement row{.algorithm = "jit,threads=1"}, read = row;
    row.exclude(status, "by 3 ms");
    CHECK_THAT(row.reason, Catch::EndsWith(": by 3 ms"));
    read.exclude_for(row.reason);
    CHECK(read.status == status);
    row.exclude(status, row.reason);  // already complete
    CHECK(row.reason == read.reason);
  }
  Measurement row{.algorithm = "jit,threads=1"};
  CHECK(row.measured());
  row.exclude(RowStatus::out_of_time);
  CHECK(row.reason == "not tried: the budget gave this layer no more time");
  CHECK_FALSE(was_tried(row.status));
}
