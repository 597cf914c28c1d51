// SPDX-License-Identifier: Apache-2.0
#include "bench/finished_layers.hpp"

#include "support/results_support.hpp"

using namespace benanza;
using benanza::bench::add_finished;
using benanza::bench::FinishedLayers;
using results_support::conv;
using results_support::relu;

namespace {

/// A run of onednn with a row for one layer.
Run run_of(const std::string& signature, double seconds) {
  Run run{.started = "2025-11-21T10:54:00Z",
          .machine = results_support::machine(),
          .backends = {{"onednn", "3.2.0"}},
          .rows = {results_support::row("onednn", signature, seconds)}};
  return run;
}

}  // namespace

TEST_CASE("a finished layer keeps its row in the file that is written anew, without rounds of another pass") {
  Run run = run_of(relu, 1e-6);
  add_finished(run, run_of(conv, 2e-3), {conv});
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].rounds_s.size() == 3);
  CHECK(run.rows[1].signature == conv);
  CHECK(run.rows[1].times->p10.value == 2e-3);
  CHECK(run.rows[1].rounds_s.empty());
}

TEST_CASE("layers that are not finished, or that the run has measured, take no earlier row") {
  Run run = run_of(relu, 1e-6);
  add_finished(run, run_of(conv, 2e-3), {relu});
  add_finished(run, run_of(relu, 2e-6), {relu});
  REQUIRE(run.rows.size() == 1);
  CHECK(run.rows[0].times->p10.value == 1e-6);
}

TEST_CASE("no row of another machine or another version is taken over") {
  Run run = run_of(relu, 1e-6), other = run_of(conv, 2e-3), newer = other;
  other.machine.device = "another";
  newer.backends = {{"onednn", "3.3.0"}};
  add_finished(run, other, {conv});
  add_finished(run, newer, {conv});
  CHECK(run.rows.size() == 1);
}

TEST_CASE("a list of finished layers is that of one machine and one version") {
  const results_support::Folder folder;
  const std::string file = folder / "done";
  const Run here = run_of(relu, 1e-6);
  Machine there = here.machine;
  there.device = "another";
  FinishedLayers(file, here.machine, here.backends).add(here);
  CHECK(FinishedLayers(file, here.machine, here.backends).signatures() == std::set{relu});
  CHECK(FinishedLayers(file, there, here.backends).signatures().empty());
  CHECK(FinishedLayers(file, here.machine, std::vector<BackendVersion>{{"onednn", "3.3.0"}}).signatures().empty());

  FinishedLayers other(file, there, here.backends);
  other.add(run_of(conv, 1e-3));
  CHECK(other.signatures() == std::set{conv});
  CHECK(FinishedLayers(file, here.machine, here.backends).signatures() == std::set{relu});
}

TEST_CASE("a plain list of finished layers holds on every machine") {
  const results_support::Folder folder;
  const Run run = run_of(relu, 1e-6);
  const FinishedLayers list(folder.write("done", conv + "\n"), run.machine, run.backends);
  CHECK(list.signatures() == std::set{conv});
}

TEST_CASE("a list that was cut within a line loses neither that line nor the machine of what is added") {
  const results_support::Folder folder;
  const Run run = run_of(relu, 1e-6);
  const std::string file = folder.write("done", conv);  // no line end: written by hand, or cut by a full disk
  FinishedLayers(file, run.machine, run.backends).add(run);
  Run other = run;
  other.machine.device = "another";
  CHECK(FinishedLayers(file, run.machine, run.backends).signatures() == std::set{conv, relu});
  CHECK(FinishedLayers(file, other.machine, run.backends).signatures() == std::set{conv});
}

TEST_CASE("a layer is finished with rounds, or when nothing runs it") {
  const results_support::Folder folder;
  Run run = run_of(relu, 1e-6);
  run.rows[0].rounds_s.clear();  // cut off before its rounds
  auto& none = run.rows.emplace_back(
      Measurement{.backend = "onednn", .algorithm = "none", .has_plan = false, .signature = conv});
  none.exclude_for("no Conv in backend onednn");
  FinishedLayers list(folder / "done", run.machine, run.backends);
  list.add(run);
  CHECK(list.signatures() == std::set{conv});
}

TEST_CASE("a session that was cut is taken up on its machine and refused on another") {
  const results_support::Folder folder;
  const std::string file = folder / "session.json";
  const Run run = run_of(relu, 1e-6);
  CHECK(benanza::bench::read_earlier(file, run.machine) == nullptr);
  write_run(run, file);
  REQUIRE(benanza::bench::read_earlier(file, run.machine) != nullptr);
  Machine there = run.machine;
  there.device = "another";
  CHECK_THROWS_AS(benanza::bench::read_earlier(file, there), InputError);
  CHECK(read_run(file).rows.size() == 1);
}
