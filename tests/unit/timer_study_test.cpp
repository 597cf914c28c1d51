// SPDX-License-Identifier: Apache-2.0
// The study of a device's timer, on a device whose time is a counter (support/fake_device.hpp).
#include "../../benchmarks/timer_study.hpp"

#include "support/catch.hpp"
#include "support/fake_device.hpp"
#include <benanza/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace {

using namespace benanza;
using namespace benanza::benchmarks;
using namespace benanza::sampling;
using test::FakeDevice;
using test::FakeDeviceBackend;
using test::FakeDevicePlan;
using Caches = StudyRow::Caches;

const std::vector<StudiedLayer> relu{{"relu", op::Unary{.fn = ElementwiseFn::relu, .x = {4096}}}};

struct Studied {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  std::vector<StudyRow> rows{};
  LaunchFloors floors{};
  double paused = 0;

  void run(const FakeDevicePlan& plan, const std::vector<StudiedLayer>& layers = relu) {
    const std::vector<std::shared_ptr<const Backend>> backends{
        std::make_shared<FakeDeviceBackend>(device, std::vector<FakeDevicePlan>{plan})};
    TimerStudy study(*device, backends, {.idle = {2}, .pause = [this](Seconds time) { paused += time.value; }});
    floors = study.floors();
    study.run(layers, rows);
  }
};

}  // namespace

TEST_CASE("a study times a plan by each method, in each state of the caches, with and without idling") {
  Studied study;
  study.run({.name = "plain", .seconds = 100e-6, .kernels = 2});
  REQUIRE(study.rows.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    const StudyRow& row = study.rows[i];
    CHECK(row.failure.empty());
    CHECK(row.plan == "fake plain,threads=1");
    CHECK(row.caches == static_cast<Caches>(i / 2));
    CHECK(row.idle.value == (i % 2 == 0 ? 0 : 2));
    REQUIRE((row.events && row.graph && row.records));
    // An event's microsecond is 0.05 % of a window of 2 ms.
    CHECK(row.events->value == Approx(100e-6).epsilon(0.01));
    CHECK(row.graph->value == Approx(100e-6).epsilon(0.01));
    CHECK(row.records->value == Approx(100e-6));
    CHECK_FALSE(row.is_marked());
    CHECK(row.clock_hz == (row.caches == Caches::flushed ? 0 : 1.5e9));
  }
  CHECK(study.paused == 2 * 3 * 2);  // seconds; before the events and graphs of three rows, and before their records
}

TEST_CASE("a row of a study is marked where a method tells 5 % more than another") {
  Studied study;
  study.device->record_error = 1.06;
  study.run({.name = "plain", .seconds = 100e-6});
  for (const auto& row : study.rows) CHECK(row.is_marked());
  StudyRow row{.events = Seconds{10e-6}};
  CHECK_FALSE(row.spread());
  row.graph = Seconds{10.4e-6};
  CHECK(row.spread().value() == Approx(0.04));
  CHECK_FALSE(row.is_marked());
  row.records = Seconds{9.8e-6};  // 6 % below the graph
  CHECK(row.is_marked());
}

TEST_CASE("a study does without records, without graphs, and names layers that nothing runs") {
  Studied study;
  study.device->has_records = false;
  study.run({.name = "plain", .seconds = 100e-6, .refuses_recording = true},
            {relu[0], {"softmax", op::Softmax{.x = {10, 100, 1}}}});
  REQUIRE(study.rows.size() == 7);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(study.rows[i].events);
    CHECK_FALSE(study.rows[i].graph);
    CHECK_FALSE(study.rows[i].records);
  }
  CHECK(study.rows[6].layer == "softmax");
  CHECK(study.rows[6].failure == "no Softmax here");
}

TEST_CASE("a study whose device goes keeps the rows that it has") {
  Studied study;
  CHECK_THROWS_AS(study.run({.name = "plain", .loses_device = true}), DeviceLost);
}

TEST_CASE("a study's table fits 80 columns, and its file has every figure") {
  Studied study;
  study.device->record_error = 1.2;
  study.run({.name = "plain", .seconds = 100e-6}, {relu[0], {"softmax", op::Softmax{.x = {10, 100, 1}}}});
  std::ostringstream table, file;
  write_table(table, study.device->machine(), study.floors, study.rows);
  std::istringstream lines(table.str());
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  CHECK(longest <= 80);
  CHECK_THAT(table.str(), Catch::Contains("an event 1.00 us; a launch 2.00 us, in a graph 1.00 us"));
  CHECK_THAT(table.str(), Catch::Contains("! 6 of 6 rows: the methods disagree by more than 5 %"));
  CHECK_THAT(table.str(), Catch::Contains("no Softmax here"));

  write_json(file, study.device->machine(), study.floors, study.rows);
  const auto document = nlohmann::json::parse(file.str());
  CHECK(document["floors"]["launch_us"].get<double>() == Approx(2));
  REQUIRE(document["rows"].size() == 7);
  const auto& cold = document["rows"][3];
  CHECK(cold["caches"] == "cold");
  CHECK(cold["idle_s"] == 2.0);
  CHECK(cold["records_us"].get<double>() == Approx(120));
  CHECK(cold["methods_disagree"] == true);
  CHECK(document["rows"][6]["failure"] == "no Softmax here");
}

TEST_CASE("a study has eight layers, from a tiny one to a large product") {
  const auto layers = studied_layers();
  REQUIRE(layers.size() == 8);
  for (const auto& layer : layers) CHECK(layer.name.size() <= 22);
  CHECK(cost(layers.front().layer).flops.value < 1e3);
  // 2 * 512 * 4096 * 11008 FLOP.
  CHECK(cost(layers.back().layer).flops.value == Approx(46.2e9).epsilon(0.01));
}
