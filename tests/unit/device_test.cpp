// SPDX-License-Identifier: Apache-2.0
// Timing on a device whose time is a counter: an event costs 1 us, a kernel's launch 2 us in a stream and 1 us in a
// graph (support/fake_device.hpp).
#include "measure/sample_cost.hpp"
#include "measure/tuning_session.hpp"
#include "sampling/device_host.hpp"
#include "sampling/device_timer.hpp"
#include "support/catch.hpp"
#include "support/fake_device.hpp"
#include "support/fake_host.hpp"
#include <benanza/error.hpp>
#include <benanza/measure/measure.hpp>

namespace {

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::sampling;
using test::FakeDevice;
using test::FakeDeviceBackend;
using test::FakeDevicePlan;
using test::without_stalls;

Layer relu(std::int64_t elements) { return op::Unary{.fn = ElementwiseFn::relu, .x = {elements}}; }

/// A plan with buffers of 64 elements.
struct Prepared {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  std::vector<float> x = std::vector<float>(64, 1.0F), y = std::vector<float>(64);
  Work work{};

  explicit Prepared(const FakeDevicePlan& plan) {
    work = {.plan = made(plan), .inputs = {x.data()}, .outputs = {y.data()}};
  }
  [[nodiscard]] std::shared_ptr<const Plan> made(const FakeDevicePlan& plan) const {
    const FakeDeviceBackend backend(device, {plan});
    return std::move(std::get<Plans>(backend.plans(relu(64), 1)).front());
  }
  /// The same buffers with another plan.
  [[nodiscard]] Work work_of(const FakeDevicePlan& plan) const {
    Work other = work;
    other.plan = made(plan);
    return other;
  }
};

/// Enough for all groups of rounds, which begin half a second apart, and for the steps that follow.
constexpr Seconds whole{10};

std::vector<Measurement> session(const std::shared_ptr<FakeDevice>& device, const std::vector<FakeDevicePlan>& plans,
                                 Seconds budget = {0.3}, bool activity_check = true) {
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(device, plans)};
  DeviceHost host(*device, without_stalls());
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  return run_tuning_session(host, wanted, backends, {.budget = budget, .activity_check = activity_check}, 1);
}

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

// cudaEventElapsedTime: "a resolution of approximately one half microseconds".
TEST_CASE("events are not taken to tell less than a microsecond apart, whatever they say") {
  FakeDevice device;
  device.event_cost = 0.1e-6;
  const DeviceTimer timer(device);
  CHECK(timer.floors().event.value == Approx(1e-6));
  CHECK(timer.floors().launch.value == Approx(2e-6));  // uses the time between events unchanged: (0.1 + 200) us for 100
}

TEST_CASE("the lower of events and graph is taken, with the launches that are in it") {
  Prepared prepared({.name = "relu", .seconds = 10e-6});
  DeviceTimer timer(*prepared.device);
  const Window window = timer.time(prepared.work, 100);
  // Behind one block each: (1 + 13 * 12) us for an eighth of the calls with events, (1 + 100 * 11) us with the graph.
  CHECK(window.method == "graph");
  CHECK(window.time.value == Approx(11.01e-6));
  CHECK(window.other.value == Approx((1 + 13 * 12) / 13.0 * 1e-6));
  CHECK(window.launch.value == Approx(1e-6));
  CHECK(window.clock_hz == Approx(1.5e9));
}

TEST_CASE("the launches of a call of several kernels are counted") {
  Prepared prepared({.name = "relu", .seconds = 30e-6, .kernels = 3});
  DeviceTimer timer(*prepared.device);
  CHECK(timer.time(prepared.work, 100).launch.value == Approx(3e-6));
}

TEST_CASE("more calls than the queue takes are timed after several blocks") {
  Prepared prepared({.name = "relu"});
  DeviceTimer timer(*prepared.device);
  const int before = prepared.device->blocks;
  static_cast<void>(timer.time(prepared.work, 40'000));
  // 5000 calls with events, 2048 at a time: 3 blocks; 256 calls per graph: 157 replays, with a block each.
  CHECK(prepared.device->blocks - before == 3 + 157);
}

TEST_CASE("a plan's calls are recorded once, whatever is timed in between") {
  Prepared prepared({.name = "relu"});
  Work other = prepared.work_of({.name = "other"});
  DeviceTimer timer(*prepared.device);
  const int before = prepared.device->recordings;
  static_cast<void>(timer.time(prepared.work, 10));
  static_cast<void>(timer.time(other, 10));
  CHECK(prepared.device->recordings == before + 4);  // two per plan: one call, which shows its kernels, and ten
  static_cast<void>(timer.time(prepared.work, 10));
  static_cast<void>(timer.time(other, 10));
  CHECK(prepared.device->recordings == before + 4);
  static_cast<void>(timer.time(other, 20));
  CHECK(prepared.device->recordings == before + 5);
}

TEST_CASE("graphs are kept up to a number of kernels, those that came first; what goes leaves room") {
  // 4 calls of 1000 kernels: 16 graphs of 4000 kernels are 64,000 of at most 65,536.
  Prepared prepared({.name = "first", .kernels = 1000});
  DeviceTimer timer(*prepared.device);
  const auto time = [&](Work& work) {
    const int before = prepared.device->recordings;
    static_cast<void>(timer.time(work, 4));
    return prepared.device->recordings - before;
  };
  std::vector<Work> works;
  for (int i = 0; i < 18; ++i) works.push_back(prepared.work_of({.name = "relu", .kernels = 1000}));
  for (auto& work : works) CHECK(time(work) == 2);
  for (int i = 0; i < 16; ++i) CHECK(time(works[static_cast<std::size_t>(i)]) == 0);
  CHECK(time(works[16]) == 1);  // no space: only the last one of these is kept
  CHECK(time(works[16]) == 0);
  CHECK(time(works[17]) == 1);
  works[0].plan.reset();
  CHECK(time(works[16]) == 1);
  CHECK(time(works[17]) == 1);
  CHECK(time(works[16]) == 0);
}

TEST_CASE("a call of more kernels than the queue holds is timed by its graph alone, and not queued again") {
  Prepared prepared({.name = "relu", .seconds = 30e-6, .kernels = 3});
  DeviceTimer timer(*prepared.device);
  prepared.device->queue = 2;
  const Window window = timer.time(prepared.work, 100);
  // 100 calls of three kernels: (1 + 100 * (30 + 3)) us; 3 us of each call are launches.
  CHECK(window.method == "graph");
  CHECK(window.time.value == Approx(33.01e-6));
  CHECK(window.launch.value == Approx(3e-6));
  CHECK(window.other.value == 0);
  const int rescues = prepared.device->rescues;
  CHECK(rescues > 0);
  static_cast<void>(timer.time(prepared.work, 100));
  CHECK(prepared.device->rescues == rescues);
}

TEST_CASE("a walk that events cannot time may be longer than others") {
  // 8 calls of 1000 kernels: more than the 4096 kernels of a graph that events could replace.
  Prepared prepared({.name = "relu", .seconds = 1e-3, .kernels = 1000});
  std::vector<float> weights(std::size_t{64} * 8, 1.0F);
  std::size_t position = 0;
  prepared.work.inputs = {weights.data()};
  prepared.work.rotation = {.position = &position, .step = 256, .region = 8 * 256, .inputs = {0}};
  DeviceTimer timer(*prepared.device);
  CHECK(timer.time(prepared.work, 10).method == "events");
  prepared.device->queue = 500;
  Work other = prepared.work_of({.name = "relu", .seconds = 1e-3, .kernels = 1000});
  CHECK(timer.time(other, 10).method == "graph");
}

TEST_CASE("a graph too short to tell a clock has that of the events") {
  Prepared prepared({.name = "relu", .seconds = 1.1e-3});
  prepared.device->least_clock_time = 1.1015e-3;  // a call takes 1.102 ms queued and 1.101 ms as a graph
  DeviceTimer timer(*prepared.device);
  const Window window = timer.time(prepared.work, 1);
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
  // Events: (1 + 2 * 12) us for 2 calls. Graph: 3 replays of 4 calls, (1 + 4 * 11) us each.
  CHECK(walk.method == "graph");
  CHECK(walk.time.value == Approx(11.25e-6));
  CHECK(walk.other.value == Approx(12.5e-6));
  CHECK(position == 0);
  CHECK(prepared.work.inputs[0] == weights.data());

  // 1000 kernels in one graph: (1 + 1000 * 11) us.
  prepared.work.rotation.region = 1000 * 256;
  const Window long_walk = timer.time(prepared.work, 10);
  CHECK(long_walk.method == "graph");
  CHECK(long_walk.time.value == Approx(11.001e-6));
  CHECK(long_walk.other.value == Approx(12.5e-6));

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
  // 200 calls are 1600 kernels, 100 are 800: one block with too many, then two of (1 + 100 * (10 + 8 * 2)) us.
  const Window window = timer.time(prepared.work, 200);
  CHECK(prepared.device->blocks - before == 3);
  CHECK(window.method == "events");
  CHECK(window.time.value == Approx(26.01e-6));
  // From then on 100 at a time, and no more attempts to record them.
  const int blocks = prepared.device->blocks, recordings = prepared.device->recordings;
  static_cast<void>(timer.time(prepared.work, 200));
  CHECK(prepared.device->blocks - blocks == 2);
  CHECK(prepared.device->recordings == recordings);
}

TEST_CASE("the activity record tells what the kernels of one call take, and what empty ones would by its records") {
  Prepared prepared({.name = "relu", .seconds = 10e-6, .kernels = 2});
  DeviceHost host(*prepared.device);
  const auto time = host.kernel_time(prepared.work);
  REQUIRE(time);
  CHECK(time->whole.value == Approx(10e-6 + 2 * FakeDevice::record_cost));
  CHECK(time->empty.value == Approx(2 * FakeDevice::record_cost));
}

TEST_CASE("the kernels of chosen plans are kept where metrics ask for them, after everything was timed") {
  const auto measured = [](const std::shared_ptr<FakeDevice>& device, std::vector<KernelMetric> metrics) {
    const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(
        device, std::vector<FakeDevicePlan>{{.name = "relu", .seconds = 10e-6, .kernels = 2},
                                            {.name = "slow", .seconds = 1e-3}})};
    const std::vector<Wanted> wanted{{.layer = relu(64)}};
    return measure::measure(wanted, backends,
                            {.budget = {0.3}, .ceilings = std::vector<CeilingRow>{}, .metrics = std::move(metrics)});
  };
  const auto device = std::make_shared<FakeDevice>();
  CHECK(measured(device, {}).rows.front().kernel_launches.empty());
  CHECK(device->kernel_requests == 0);

  const Run run = measured(device, {KernelMetric::dram});
  CHECK(run.warnings.empty());
  REQUIRE(run.rows.size() == 2);
  for (const auto& row : run.rows) {
    if (row.algorithm.starts_with("slow")) {
      CHECK(row.kernel_launches.empty());  // it was not chosen
      continue;
    }
    REQUIRE(row.kernel_launches.size() == 2);
    CHECK(row.kernel_launches[0].time.value == Approx(5e-6));
    CHECK(row.kernel_launches[0].dram_read == Bytes{256});
  }

  device->counters_missing = "not permitted";
  const Run uncounted = measured(device, {KernelMetric::dram});
  CHECK(uncounted.warnings == std::vector<std::string>{"no counters of kernels: not permitted"});
  CHECK(std::count_if(uncounted.rows.begin(), uncounted.rows.end(),
                      [](const Measurement& row) { return !row.kernel_launches.empty(); }) == 1);
  device->has_records = false;
  CHECK(measured(device, {KernelMetric::kernels}).warnings ==
        std::vector<std::string>{"no kernels are kept: no records"});
}

TEST_CASE("a device that was idle for long works again before it is timed") {
  Prepared prepared({.name = "relu"});
  Seconds now{100};
  DeviceHost host(*prepared.device, [&] { return now; });
  CHECK(prepared.device->warm_ups == 1);
  const auto after = [&](double idle) {
    now += Seconds{idle};
    const int before = prepared.device->warm_ups;
    static_cast<void>(host.window(prepared.work, 10));
    return prepared.device->warm_ups - before;
  };
  CHECK(after(0.049) == 0);
  CHECK(after(0.051) == 1);
  CHECK(after(0.2) == 1);
  CHECK(prepared.device->last_warm_up.value == Approx(0.02));  // a tenth
  CHECK(after(0.049) == 0);
  now += Seconds{1};
  const int before = prepared.device->warm_ups;
  static_cast<void>(host.probe(1));  // the sentinel between two samples is also work
  CHECK(prepared.device->warm_ups == before + 1);
  CHECK(prepared.device->last_warm_up.value == 0.05);  // at most
  CHECK(after(0.01) == 0);
}

TEST_CASE("the windows of a device are 2 ms, long enough to tell a clock") {
  // 2 ms in calls of 11 us with the graph: at least 182.
  const auto rows = session(std::make_shared<FakeDevice>(), {{.name = "relu", .seconds = 10e-6}});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].calls_per_sample >= 182);
  CHECK(rows[0].calls_per_sample < 400);
}

TEST_CASE("what taking a window takes beside its calls is planned with") {
  FakeDevice device;
  DeviceHost host(device);
  Sampler sampler(host, host.cached());
  Prepared prepared({.name = "relu", .seconds = 9e-6});
  sampler.switch_to(prepared.work);
  Sample sample = sampler.sample(100, {});
  sample.time = sample.window.time = {10e-6};
  sample.window.other = {};
  Candidate candidate{.row = {.calls_per_sample = 100}, .samples = {sample}};
  // 1 ms of calls, 2.5 windows with those that are discarded, 0.2 ms of readings; twice the windows with two methods.
  candidate.samples[0].window.effort = 1;
  CHECK(sample_cost(candidate, sampler).value == Approx(2.7e-3));
  candidate.samples[0].window.effort = 2;
  CHECK(sample_cost(candidate, sampler).value == Approx(5.2e-3));
}

TEST_CASE("a row is marked whose clock is lower than the session's highest") {
  const auto device = std::make_shared<FakeDevice>();
  const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "full", .clock_hz = 1.5e9},
                                          {.name = "nearly", .clock_hz = 1.48e9},
                                          {.name = "throttled", .clock_hz = 1.46e9}})};
  DeviceHost host(*device, without_stalls());
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 3);
  CHECK_FALSE(rows[0].device->throttled);
  CHECK_FALSE(rows[1].device->throttled);  // 1.3 % lower
  CHECK(rows[2].device->throttled);        // 2.7 % lower
}

TEST_CASE("a session on a device uploads inputs, checks downloaded outputs and says how it timed") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "fast"}, {.name = "waits", .waits_inside = true}});
  DeviceHost host(*device, without_stalls());
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].measured());
  CHECK(rows[0].device->method == "graph");
  CHECK(rows[0].device->launch.value == Approx(1e-6));
  CHECK(rows[0].device->clock_hz.value() == Approx(1.5e9));
  CHECK(rows[0].device->disagreement.value() == Approx(12.0 / 11 - 1).epsilon(0.05));
  CHECK_FALSE(methods_disagree(rows[0]));  // 10 us of work with both, plus launches
  REQUIRE_FALSE(rows[1].measured());
  CHECK_THAT(rows[1].reason, Catch::Contains("waits for the device inside the call"));
}

// At most 128 elements of 4 bytes are compared; a whole output has 4096.
TEST_CASE("an operand is packed once for all plans of a layout, and a check brings back the elements it compares") {
  const auto device = std::make_shared<FakeDevice>();
  std::vector<FakeDevicePlan> plans;
  for (const char* name : {"a", "b", "c", "d", "e"}) plans.push_back({.name = name, .seconds = 1e-3, .reversed = true});
  const auto backend = std::make_shared<FakeDeviceBackend>(device, plans);
  DeviceHost host(*device, without_stalls());
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(4096)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 5);
  for (const auto& row : rows) CHECK(row.measured());
  CHECK(backend->relayouts().packed == 1);
  CHECK(backend->relayouts().unpacked == 0);
  CHECK(device->downloaded > 5 * 100 * 4);
  CHECK(device->downloaded <= 5 * 128 * 4);
}

TEST_CASE("an output whose plan does not say where elements lie is unpacked as a whole") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device,
      std::vector<FakeDevicePlan>{{.name = "silent", .seconds = 1e-3, .reversed = true, .tells_positions = false}});
  DeviceHost host(*device, without_stalls());
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(4096)}};
  const auto rows = run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].measured());
  CHECK(backend->relayouts().unpacked == 1);
  CHECK(device->downloaded == 4096 * 4);
}

TEST_CASE("rows keep the times by each method") {
  const auto rows = session(std::make_shared<FakeDevice>(), {{.name = "relu", .seconds = 10e-6, .kernels = 2}}, whole);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].device->method == "graph");
  CHECK(rows[0].times->median.value == Approx(12e-6).epsilon(0.01));
  CHECK(rows[0].device->launch.value == Approx(2e-6));
  CHECK(rows[0].device->other.value().time.value == Approx(14e-6).epsilon(0.01));
  CHECK(rows[0].device->other.value().launch.value == Approx(4e-6));
  CHECK(recorded_work(rows[0]).value().value == Approx(10e-6));
  CHECK_FALSE(no_method_agrees(rows[0]));
}

TEST_CASE("records are asked for where a session is the last of its process") {
  const std::vector<FakeDevicePlan> plans{{.name = "relu"}};
  CHECK(session(std::make_shared<FakeDevice>(), plans, whole).at(0).device->kernels.value().whole.value > 0);
  CHECK_FALSE(session(std::make_shared<FakeDevice>(), plans, whole, false).at(0).device->kernels);
}

TEST_CASE("a ceiling that could not be measured is named, and ends no session") {
  const auto device = std::make_shared<FakeDevice>();
  device->peaks = {.rows = {{CeilingQuantity::peak(DataType::f32), "fma,threads=1", 1, 1e12, 0}},
                   .absent = {"Peak/f16: too many registers"}};
  const std::vector<std::shared_ptr<const Backend>> backends{
      std::make_shared<FakeDeviceBackend>(device, std::vector<FakeDevicePlan>{{.name = "relu"}})};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  const Run run = measure::measure(wanted, backends, {.budget = {0.5}});
  CHECK(run.warnings == std::vector<std::string>{"no ceiling Peak/f16: too many registers"});
  REQUIRE(run.rows.size() == 1);
  CHECK(run.rows[0].measured());
}

TEST_CASE("two plans win: the one that a bound counts the least of, and the one that takes the least as it runs") {
  // With graphs: 6 us in one kernel, of which 1 us is launch; 8.2 us in four, of which 4 us are launches; 9 us in one.
  const auto rows = session(std::make_shared<FakeDevice>(), {{.name = "fused", .seconds = 5e-6},
                                                             {.name = "parts", .seconds = 4.2e-6, .kernels = 4},
                                                             {.name = "slower", .seconds = 8e-6}});
  REQUIRE(rows.size() == 3);
  CHECK_FALSE(rows[0].rounds_s.empty());
  CHECK_FALSE(rows[1].rounds_s.empty());
  CHECK(rows[2].rounds_s.empty());
}

TEST_CASE("plans are ranked as a bound counts them: without the launches of empty kernels") {
  // With graphs: 12 us in one kernel, of which 1 us is launch; 13.5 us in four, 4 us of launches; 14 us in two, 2 us.
  const auto rows = session(std::make_shared<FakeDevice>(), {{.name = "two", .seconds = 12e-6, .kernels = 2},
                                                             {.name = "four", .seconds = 9.5e-6, .kernels = 4},
                                                             {.name = "one", .seconds = 11e-6}});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].rounds_s.empty());
  CHECK_FALSE(rows[1].rounds_s.empty());
  CHECK(rows[1].device->launch.value == Approx(4e-6));
  CHECK(without_launch(rows[1], rows[1].times->p10).value == Approx(9.5e-6).epsilon(0.02));
}

TEST_CASE("a lost device ends the session and is not the reason of a row") {
  const auto device = std::make_shared<FakeDevice>();
  const auto backend = std::make_shared<FakeDeviceBackend>(
      device, std::vector<FakeDevicePlan>{{.name = "crashes", .loses_device = true}});
  DeviceHost host(*device, without_stalls());
  const std::vector<std::shared_ptr<const Backend>> backends{backend};
  const std::vector<Wanted> wanted{{.layer = relu(64)}};
  CHECK_THROWS_AS(run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1), DeviceLost);
}

TEST_CASE("a library's error that took the device along is not the reason of a row either; one that did not is") {
  const auto session = [](bool loses_device) {
    const auto device = std::make_shared<FakeDevice>();
    const std::vector<std::shared_ptr<const Backend>> backends{std::make_shared<FakeDeviceBackend>(
        device,
        std::vector<FakeDevicePlan>{{.name = "fails", .loses_device = loses_device, .fails = true}, {.name = "good"}})};
    DeviceHost host(*device, without_stalls());
    const std::vector<Wanted> wanted{{.layer = relu(64)}};
    return run_tuning_session(host, wanted, backends, {.budget = {0.3}}, 1);
  };
  CHECK_THROWS_WITH(session(true), "failed: an internal error; an illegal address");
  const auto rows = session(false);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].reason == "failed: an internal error");
  CHECK(rows[1].measured());
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

// Programmatic dependent launch: a kernel begins before the previous one has ended.
TEST_CASE("launches that overlap in the stream are subtracted as those of a graph, for walks without a graph too") {
  Prepared prepared({.name = "relu", .seconds = 10e-6});
  DeviceTimer timer(*prepared.device);
  prepared.device->stream_launch = 1.2e-6;  // after its floors were measured: 2 us in the stream, 1 us in a graph
  const Window window = timer.time(prepared.work, 100);
  CHECK(window.method == "graph");
  CHECK(window.launch.value == Approx(1e-6));
  CHECK(window.other_launch.value == Approx(1e-6));

  std::vector<float> weights(std::size_t{64} * 5000, 1.0F);
  std::size_t position = 0;
  prepared.work.inputs = {weights.data()};
  prepared.work.rotation = {.position = &position, .step = 256, .region = 5000 * 256, .inputs = {0}};
  const Window walk = timer.time(prepared.work, 10);
  CHECK(walk.method == "events");
  CHECK(walk.launch.value == Approx(1e-6));
}
