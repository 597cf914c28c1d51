// SPDX-License-Identifier: Apache-2.0
// Timing on a device whose time is a counter: an event costs 1 us, a kernel's launch 2 us in a stream and 1 us in a
// graph (support/fake_device.hpp).
#include "../../src/measure/device_host.hpp"
#include "../../src/measure/device_timer.hpp"
#include "../../src/measure/tuning_session.hpp"
#include "support/catch.hpp"
#include "support/fake_device.hpp"
#include "support/fake_host.hpp"
#include <benanza/error.hpp>
#include <benanza/measure/measure.hpp>

namespace {

using namespace benanza;
using namespace benanza::bench;
using test::FakeDevice;
using test::FakeDeviceBackend;
using test::FakeDevicePlan;

Layer relu(std::int64_t elements) { return op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}; }

/// A plan with buffers of 64 elements.
struct Prepared {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  Plans plans{};
  std::vector<float> x = std::vector<float>(64, 1.0F), y = std::vector<float>(64);
  Work work{};

  explicit Prepared(const FakeDevicePlan& plan) {
    const FakeDeviceBackend backend(device, {plan});
    plans = std::get<Plans>(backend.plans(relu(64), 1));
    work = {.plan = plans[0].get(), .inputs = {x.data()}, .outputs = {y.data()}};
  }
};

}  // namespace

TEST_CASE("the floors of a device are those of events, launches and launches in a graph") {
  FakeDevice device;
  const DeviceTimer timer(device);
  CHECK(timer.floors().event.value == Approx(1e-6));
  CHECK(timer.floors().launch.value == Approx(2e-6));
  CHECK(timer.floors().graph_launch.value == Approx(1e-6));
  CHECK(timer.floors().queue == DeviceTimer::longest_queue / 2);
  CHECK(device.rescues == 0);  // the first launch of a kernel, which waits, is not behind a block
}

TEST_CASE("the lower of events and graph is taken, with the launches that are in it") {
  Prepared prepared({.name = "relu", .seconds = 10e-6});
  DeviceTimer timer(*prepared.device);
  const Window window = timer.time(prepared.work, 100);
  // 100 calls behind one block: (1 + 100 * 12) us by events, (1 + 100 * 11) us by the graph.
  CHECK(window.method == "graph");
  CHECK(window.time.value == Approx(11.01e-6));
  CHECK(window.other.value == Approx(12.01e-6));
  CHECK(window.launch.value == Approx(1e-6));
  CHECK(window.clock_hz == Approx(1.5e9));
}

TEST_CASE("the launches of a call of several kernels are counted") {
  Prepared prepared({.name = "relu", .seconds = 30e-6, .kernels = 3});
  DeviceTimer timer(*prepared.device);
  CHECK(timer.time(prepared.work, 100).launch.value == Approx(3e-6));
}

TEST_CASE("more calls than the queue takes are timed behind several blocks") {
  Prepared prepared({.name = "relu"});
  DeviceTimer timer(*prepared.device);
  const int before = prepared.device->blocks;
  static_cast<void>(timer.time(prepared.work, 5000));
  // 2048 at a time: 3 blocks for the events; 256 calls a graph: 20 replays, a block each.
  CHECK(prepared.device->blocks - before == 3 + 20);
}

TEST_CASE("calls are recorded once, until other work comes") {
  Prepared prepared({.name = "relu"});
  DeviceTimer timer(*prepared.device);
  const int before = prepared.device->recordings;
  static_cast<void>(timer.time(prepared.work, 10));
  static_cast<void>(timer.time(prepared.work, 10));
  CHECK(prepared.device->recordings == before + 1);
  timer.forget();
  static_cast<void>(timer.time(prepared.work, 10));
  CHECK(prepared.device->recordings == before + 2);
}

TEST_CASE("a graph too short to tell a clock has that of the events") {
  Prepared prepared({.name = "relu", .seconds = 10e-6});
  prepared.device->least_clock_time = 1.15e-3;  // 100 calls take 1.2 ms queued and 1.1 ms as a graph
  DeviceTimer timer(*prepared.device);
  const Window window = timer.time(prepared.work, 100);
  CHECK(window.method == "graph");
  CHECK(window.clock_hz == Approx(1.5e9));
}

TEST_CASE("a graph of calls that walk through a region is one walk; one of too many kernels has no graph") {
  Prepared prepared({.name = "relu", .seconds = 10e-6});
  std::vector<float> weights(std::size_t{64} * 5000, 1.0F);
  std::size_t position = 0;
  prepared.work.inputs = {weights.data()};
  prepared.work.rotation = {.position = &position, .step = 256, .region = 4 * 256, .inputs = {0}};
  DeviceTimer timer(*prepared.device);
  const Window walk = timer.time(prepared.work, 10);
  // Events: (1 + 10 * 12) us for 10 calls. Graph: 3 replays of 4 calls, each (1 + 4 * 11) us.
  CHECK(walk.method == "graph");
  CHECK(walk.time.value == Approx(11.25e-6));
  CHECK(walk.other.value == Approx(12.1e-6));
  CHECK(position == 0);
  CHECK(prepared.work.inputs[0] == weights.data());

  // 1000 kernels in one graph: (1 + 1000 * 11) us.
  prepared.work.rotation.region = 1000 * 256;
  const Window long_walk = timer.time(prepared.work, 10);
  CHECK(long_walk.method == "graph");
  CHECK(long_walk.time.value == Approx(11.001e-6));
  CHECK(long_walk.other.value == Approx(12.1e-6));

  prepared.work.rotation.region = 5000 * 256;
  CHECK(timer.time(prepared.work, 10).method == "events");
  CHECK(prepared.work.inputs[0] == weights.data() + position / sizeof(float));
}

TEST_CASE("a call that waits for the device inside itself has no time") {
  Prepared prepared({.name = "relu", .waits_inside = true});
  DeviceTimer timer(*prepared.device);
  CHECK_THROWS_WITH(timer.time(prepared.work, 10), Catch::Contains("waits for the device inside the call"));
}

TEST_CASE("calls that cannot be recorded and fill the queue are timed in halves") {
  Prepared prepared({.name = "relu", .seconds = 10e-6, .kernels = 8, .refuses_recording = true});
  DeviceTimer timer(*prepared.device);
  prepared.device->queue = 1000;
  const int before = prepared.device->blocks;
  // 200 calls are 1600 kernels, 100 are 800: one block too many, then two of (1 + 100 * (10 + 8 * 2)) us.
  const Window window = timer.time(prepared.work, 200);
  CHECK(prepared.device->blocks - before == 3);
  CHECK(window.method == "events");
  CHECK(window.time.value == Approx(26.01e-6));
}

TEST_CASE("the referee tells what the kernels of one call take, without launches") {
  Prepared prepared({.name = "relu", .seconds = 10e-6, .kernels = 2});
  DeviceHost host(*prepared.device);
  CHECK(host.kernel_time(prepared.work).value().value == Approx(10e-6));
}

TEST_CASE("a row is marked whose clock is lower than the session's highest") {
  const auto device = std::make_shared<FakeDevice>();
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "full", .clock_hz = 1.5e9},
                                          {.name = "nearly", .clock_hz = 1.48e9},
                                          {.name = "throttled", .clock_hz = 1.46e9}})};
  DeviceHost host(*device);
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 3);
  CHECK_FALSE(rows[0].throttled);
  CHECK_FALSE(rows[1].throttled);  // 1.3 % under
  CHECK(rows[2].throttled);        // 2.7 % under
}

TEST_CASE("a session on a device uploads inputs, checks downloaded outputs and says how it timed") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "fast"}, {.name = "waits", .waits_inside = true}});
  DeviceHost host(*device);
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 2);
  CHECK_FALSE(rows[0].excluded);
  CHECK(rows[0].method == "graph");
  CHECK(rows[0].launch.value == Approx(1e-6));
  CHECK(rows[0].clock_hz == Approx(1.5e9));
  CHECK(rows[0].disagreement == Approx(12.0 / 11 - 1).epsilon(0.05));
  REQUIRE(rows[1].excluded);
  CHECK_THAT(*rows[1].excluded, Catch::Contains("waits for the device inside the call"));
}

// At most 128 elements of 4 bytes are compared; a whole output has 4096.
TEST_CASE("an operand is packed once for all plans of a layout, and a check brings back the elements it compares") {
  const auto device = std::make_shared<FakeDevice>();
  std::vector<FakeDevicePlan> plans;
  for (const char* name : {"a", "b", "c", "d", "e"}) plans.push_back({.name = name, .reversed = true});
  const auto backend = std::make_shared<FakeDeviceBackend>(device, plans);
  DeviceHost host(*device);
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(4096)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 5);
  for (const auto& row : rows) CHECK_FALSE(row.excluded);
  CHECK(backend->relayouts().packed == 1);
  CHECK(backend->relayouts().unpacked == 0);
  CHECK(device->downloaded > 5 * 100 * 4);
  CHECK(device->downloaded <= 5 * 128 * 4);
}

TEST_CASE("an output whose plan does not say where elements lie is unpacked as a whole") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "silent", .reversed = true, .tells_positions = false}});
  DeviceHost host(*device);
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(4096)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].excluded);
  CHECK(backend->relayouts().unpacked == 1);
  CHECK(device->downloaded == 4096 * 4);
}

TEST_CASE("plans are ranked as a bound counts them: without the launches of empty kernels") {
  // By graph: 12 us in one kernel, 1 us of it launch; 13.5 us in four, 4 us of it launches.
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "one", .seconds = 11e-6},
                                          {.name = "four", .seconds = 9.5e-6, .kernels = 4}});
  DeviceHost host(*device);
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].rounds_s.empty());
  CHECK_FALSE(rows[1].rounds_s.empty());
  CHECK(rows[1].launch.value == Approx(4e-6));
  CHECK(without_launch(rows[1], rows[1].p10).value == Approx(9.5e-6).epsilon(0.02));
}

TEST_CASE("a lost device ends the session and is no row's reason") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "crashes", .loses_device = true}});
  DeviceHost host(*device);
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  CHECK_THROWS_AS(run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1), DeviceLost);
}

TEST_CASE("a library's error that took the device along is no row's reason either; one that did not is") {
  const auto session = [](bool loses_device) {
    const auto device = std::make_shared<FakeDevice>();
    const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(
        device,
        std::vector<FakeDevicePlan>{{.name = "fails", .loses_device = loses_device, .fails = true}, {.name = "good"}})};
    DeviceHost host(*device);
    const std::vector<Wanted> wanted{{.layer = relu(64)}};
    return run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  };
  CHECK_THROWS_WITH(session(true), "failed: an internal error; an illegal address");
  const auto rows = session(false);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].excluded == "failed: an internal error");
  CHECK_FALSE(rows[1].excluded);
}

TEST_CASE("one session measures one device") {
  test::FakeHost processor;
  const std::vector<std::shared_ptr<const Backend>> backends{
      std::make_shared<test::FakeBackend>(processor, std::vector<test::FakePlan>{{.name = "cpu"}}, "cpu"),
      std::make_shared<FakeDeviceBackend>(std::make_shared<FakeDevice>(), std::vector<FakeDevicePlan>{}, "gpu")};
  CHECK_THROWS_AS(machine_of(backends), UsageError);
  CHECK(machine_of(std::span(backends).last(1)).is_device());
  CHECK(machine_of(std::span(backends).last(1)).id().ends_with("|driver=1.0"));
}
