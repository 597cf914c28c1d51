// SPDX-License-Identifier: Apache-2.0
// What rows of an accelerator contain in addition to those of a processor, in files and in bounds.
#include "support/graph_builder.hpp"
#include "support/results_support.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>

using namespace benanza;
using benanza::testing::GraphBuilder;

namespace {

Run device_run() {
  Run run{
      .name = "gpu", .started = "2026-11-21T10:54:00Z", .tool = "0.1.0", .machine = results_support::machine("GPU")};
  run.machine.cores = 1;
  run.machine.driver = "580.1,cuda=13.0";
  run.machine.state = {{"power_mw", "70000"}, {"sm_clock_mhz", "1980"}};
  run.backends = {{"cudnn", "9.19.0"}};
  run.ceilings = {{CeilingQuantity::peak(DataType::f32), "fma,threads=1", 1, 1e15, 0},
                  {CeilingQuantity::bandwidth("memory"), "read,threads=1", 1, 1e15, 0}};
  return run;
}

Measurement row(const std::string& signature, double seconds, double launch) {
  return {.backend = "cudnn",
          .algorithm = "softmax:fast,threads=1",
          .signature = LayerSignature::parse(signature).text(),
          .samples = 8,
          .times = MeasuredTimes{.p10 = {seconds}, .median = {seconds}},
          .device = DeviceTiming{.method = "graph", .launch = {launch}, .disagreement = 0.125, .clock_hz = 1.98e9},
          .rounds_s = std::vector<double>(8, seconds)};
}

}  // namespace

TEST_CASE("a file keeps the driver, the device's state and how each row was timed") {
  const results_support::Folder folder;
  Run run = device_run();
  run.rows = {row("Softmax/f32/x=10x100x1", 10e-6, 1e-6)};
  DeviceTiming& timing = *run.rows[0].device;
  timing.throttled = true;
  timing.other = OtherMethod{{12e-6}, {2e-6}};
  timing.kernels = KernelTime{{10e-6}, {1.5e-6}};
  write_run(run, folder / "run.json");
  const Run read = read_run(folder / "run.json");
  CHECK(read.machine == run.machine);
  REQUIRE(read.rows.size() == 1);
  REQUIRE(read.rows[0].device);
  const DeviceTiming& found = *read.rows[0].device;
  CHECK(found.method == "graph");
  CHECK(found.launch.value == Approx(1e-6));
  CHECK(found.disagreement.value() == Approx(0.125));
  CHECK(found.clock_hz.value() == Approx(1.98e9));
  CHECK(found.throttled);
  CHECK(found.other.value().time.value == Approx(12e-6));
  CHECK(found.other.value().launch.value == Approx(2e-6));
  CHECK(found.kernels.value().whole.value == Approx(10e-6));
  CHECK(found.kernels.value().empty.value == Approx(1.5e-6));
}

TEST_CASE("a row is marked of which no two methods of timing agree") {
  // 10 us without launches.
  Measurement timed = row("Softmax/f32/x=10x100x1", 11e-6, 1e-6);
  CHECK_FALSE(no_method_agrees(timed));  // nothing to compare with
  timed.device->other = OtherMethod{{12.4e-6}, {2e-6}};
  CHECK_FALSE(no_method_agrees(timed));  // 10.4 us
  timed.device->other->time = {13e-6};
  CHECK(no_method_agrees(timed));  // 11 us
  timed.device->kernels = KernelTime{{12.2e-6}, {1.5e-6}};
  CHECK_FALSE(no_method_agrees(timed));  // 10.7 us: within 5 % of 11 us
  timed.device->kernels->whole = {10.5e-6};
  CHECK(no_method_agrees(timed));  // 9 us
  timed.exclude(RowStatus::failed, "an error");
  CHECK_FALSE(no_method_agrees(timed));
}

TEST_CASE("a row is marked whose kernels take another time by the device's own records") {
  // 10 us without launches; 9.6 and 10.4 us are within 5 % of that, 9 and 11 us are not.
  Measurement timed = row("Softmax/f32/x=10x100x1", 10.5e-6, 0.5e-6);
  CHECK_FALSE(activity_disagrees(timed));  // no records
  for (const auto& [seconds, disagrees] :
       {std::pair(9e-6, true), std::pair(9.6e-6, false), std::pair(10.4e-6, false), std::pair(11e-6, true)}) {
    timed.device->kernels = KernelTime{{seconds}, {}};
    CHECK(activity_disagrees(timed) == disagrees);
  }
  timed.device->kernels = KernelTime{{11e-6}, {1.2e-6}};  // 9.8 us of work
  CHECK_FALSE(activity_disagrees(timed));
}

// On an H200 a kernel in a stream takes 1.3 us more than its work, a kernel in a graph 0.5 us more.
TEST_CASE("short kernels are timed no better than half their launches in a graph") {
  Measurement timed = row("Unary/f32/x=50176", 1.9e-6, 0.5e-6);
  timed.device->other = OtherMethod{{2.9e-6}, {1.3e-6}};
  CHECK_FALSE(methods_disagree(timed));  // 1.4 and 1.6 us
  timed.device->other->time = {3e-6};
  CHECK(methods_disagree(timed));  // 1.4 and 1.7 us
}

TEST_CASE("machines of two drivers are two machines, two states of a machine are not") {
  Machine a = device_run().machine, b = a;
  b.state.clear();
  CHECK(a.id() == b.id());
  b.driver = "590.1,cuda=13.1";
  CHECK(a.id() != b.id());
  b.driver = a.driver + ",tf32_override=0";  // a different arithmetic of f32
  CHECK(a.id() != b.id());
}

TEST_CASE("launches of empty kernels are not a resolution of the clock") {
  Run run = device_run();
  run.ceilings.push_back({CeilingQuantity::timer("floor"), "events,threads=1", 1, 2e-6, 0});
  run.ceilings.push_back({CeilingQuantity::timer("graph-launch"), "events,threads=1", 1, 0.5e-6, 0});
  ResultDatabase database;
  database.add(run);
  CHECK(database.ceilings(1).timer_floor.value == Approx(2e-6));
}

TEST_CASE("a bound is of the row without its launches, what to expect of the row as it runs") {
  // 12 us with 1 us of launches against 13 us with 4 us of launches.
  GraphBuilder g;
  g.output(g.map("Softmax", {g.input({10, 100})}));
  Run run = device_run();
  run.rows = {row("Softmax/f32/x=10x100x1", 12e-6, 1e-6), row("Softmax/f32/x=10x100x1", 13e-6, 4e-6)};
  run.rows[1].algorithm = "graph:eng0,threads=1";
  ResultDatabase database;
  database.add(run);
  const Analysis a = analyze(make_model_layers(g.graph()), database);
  CHECK(a[RungName::library].bound->value == Approx(9e-6));
  CHECK(a[RungName::library].median->value == Approx(12e-6));
  for (const auto& layer : a.rows) {
    REQUIRE(layer.chosen);
    CHECK(layer.chosen->algorithm == "softmax:fast,threads=1");
    REQUIRE(layer.bounding);
    CHECK(layer.bounding->algorithm == "graph:eng0,threads=1");
    CHECK(layer.p10.value == Approx(9e-6));
    CHECK(layer.median.value == Approx(12e-6));
  }
  for (const auto& graph : a.graphs) CHECK(graph.layers.at(0).time().value == Approx(12e-6));
}

TEST_CASE("a bound and what to expect each have the partition that is the cheapest for them") {
  // Separately 6 + 3 us with 2 us of launches each, 5 us without launches; as one call 7 us with 1 us, 6 us without.
  GraphBuilder g;
  g.output(g.map("Relu", {g.conv(g.input({1, 8, 16, 16}), 8)}));
  const std::string conv = "Conv/f32/x=1x8x16x16/w=8x8x3x3/pads=1x1x1x1";
  Run run = device_run();
  run.rows = {row(conv, 6e-6, 2e-6), row("Unary/f32/fn=relu/x=2048", 3e-6, 2e-6), row(conv + "/post=relu", 7e-6, 1e-6)};
  ResultDatabase database;
  database.add(run);
  const Analysis a = analyze(make_model_layers(g.graph()), database);
  CHECK(a[RungName::library].bound->value == Approx(5e-6));
  CHECK(a[RungName::library].median->value == Approx(9e-6));
  CHECK(a[RungName::library_fused].bound->value == Approx(5e-6));
  CHECK(a[RungName::library_fused].median->value == Approx(7e-6));
  const auto fused = std::count_if(a.rows.begin(), a.rows.end(), [](const auto& r) { return r.form == Form::fused; });
  CHECK(fused == 1);
  CHECK(a.bound_rows.size() == 2);
}

TEST_CASE("a bound on a device leaves launches out, the expected figure does not; branches overlap") {
  // x -> Relu and x -> Softmax side by side: 10 us and 30 us with launches of 2 us each.
  GraphBuilder g;
  const auto x = g.input({10, 100});
  g.output(g.map("Relu", {x}));
  g.output(g.map("Softmax", {x}));
  Run run = device_run();
  run.rows = {row("Unary/f32/fn=relu/x=1000", 10e-6, 2e-6), row("Softmax/f32/x=10x100x1", 30e-6, 2e-6)};
  ResultDatabase database;
  database.add(run);
  const Analysis a = analyze(make_model_layers(g.graph()), database);
  CHECK(a[RungName::library].bound->value == Approx(8e-6 + 28e-6));
  CHECK(a[RungName::library].median->value == Approx(40e-6));
  CHECK(a[RungName::library_parallel].bound->value == Approx(28e-6));
}
