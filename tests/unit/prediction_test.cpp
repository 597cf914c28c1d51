// SPDX-License-Identifier: Apache-2.0
// Predictions for small models, by hand.
#include "support/graph_builder.hpp"
#include "support/results_support.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>
#include <benanza/predict/detail/spread.hpp>
#include <benanza/predict/make_prediction.hpp>

namespace {

using namespace benanza;
using benanza::testing::GraphBuilder;

/// A GPU with 10 multiprocessors of 64 lanes: 1.28 TFLOP/s at 1 GHz, 100 GB/s of memory unless given otherwise.
DeviceRecord gpu(const std::string& name, double processors = 10, double hz = 1e9, double bytes_per_s = 1e11) {
  DeviceRecord record{.device = name,
                      .processors = Processors{.accelerator = true,
                                               .count = static_cast<std::int64_t>(processors),
                                               .lanes = {{DataType::f32, 64}}},
                      .bandwidth = {.value = bytes_per_s}};
  record.clocks[ClockKind::base] = {.value = hz};
  record.ceilings.peaks[DataType::f32] = {2 * 64 * processors * hz};
  record.ceilings.levels = {{"memory", {}, {bytes_per_s}, ""}};
  return record;
}

/// y = relu-like products of 1 x k: one MatMul, as a model.
ModelLayers product(std::int64_t k) {
  GraphBuilder graph;
  const ValueId x = graph.input({1, k}), w = graph.weight({k, k});
  graph.output(graph.node("MatMul", {x, w}, {1, k}));
  return make_model_layers(graph.graph());
}

std::string signature_of(const ModelLayers& model) {
  return std::string(LayerSignature(model.fused.layers.front().layer).text());
}

ResultDatabase rows_of(const std::vector<std::pair<std::string, double>>& times) {
  Run run{.machine = results_support::machine("GPU A"), .backends = {{"onednn", "1"}}};
  for (const auto& [signature, seconds] : times) {
    Measurement row = results_support::row("onednn", signature, seconds);
    row.times->median = row.times->p90 = row.times->p10;
    row.rounds_s.clear();
    row.visits_s.clear();
    run.rows.push_back(row);
  }
  ResultDatabase results;
  results.add(std::move(run));
  return results;
}

Prediction predicted(const ModelLayers& model, const ResultDatabase& origin, const DeviceRecord& from,
                     PredictionTarget target) {
  target.ratios = ratios_of(fastest_rows(origin, 2), target.rows);
  return predict(analyze(model, origin, {.threads = 2}), from, target);
}

/// With what a Volta multiprocessor can hold.
DeviceRecord with_limits(DeviceRecord record) {
  record.processors->limits =
      SmLimits{.major = 7, .minor = 0, .threads = 2048, .registers = 65536, .shared_bytes = 98304, .blocks = 32};
  return record;
}

}  // namespace

TEST_CASE("a model on the device that it was measured on takes as long as there") {
  const ModelLayers model = product(4096);
  const ResultDatabase rows = rows_of({{signature_of(model), 0.01}});
  const Prediction same = predicted(model, rows, gpu("A"), {.record = gpu("A")});
  CHECK(same.total.time.value == Approx(0.01));
  CHECK(same.origin_time.value == Approx(0.01));
  CHECK(same.count_of(PredictionMethod::large_wave) == 1);
  CHECK(!same.partial());
  CHECK(same.throughput().value() == Approx(100));
  CHECK(!same.throughput_per_cost());
}

TEST_CASE("without rows of the target FLOPs and bytes decide, and an interval says how far off that may be") {
  // 2 x 4096^2 FLOPs over 67,141,632 bytes are half a FLOP per byte; the ridge of B is 1.28e12 / 5e10 = 25.6. g = 1 -
  // 0.49976 / 51.2 = 0.99024. T = 10 ms x 2^g x 1^(1-g) = 10 ms x 1.98651.
  const ModelLayers model = product(4096);
  const ResultDatabase rows = rows_of({{signature_of(model), 0.01}});
  const Prediction on_b = predicted(model, rows, gpu("A"), {.record = gpu("B", 10, 1e9, 5e10), .price = 2.0});
  CHECK(on_b.total.time.value == Approx(0.0198651).epsilon(1e-4));
  CHECK(on_b.total.low < on_b.total.time);
  CHECK(on_b.total.time < on_b.total.high);
  CHECK(on_b.clocks == "base 1000 MHz to base 1000 MHz");
  CHECK(on_b.throughput_per_cost().value() == Approx(3600 / 0.0198651 / 2).epsilon(1e-4));
}

TEST_CASE("a higher clock can give a longer prediction") {
  // Half a FLOP per byte, as above. 4 GHz: the ridge is 51.2, 1 - g = 0.499756 / 102.4, T = 10 ms x 4^-(1-g). 8 GHz: 1
  // - g is half of that, T = 10 ms x 8^-(1-g).
  const ModelLayers model = product(4096);
  const ResultDatabase rows = rows_of({{signature_of(model), 0.01}});
  const auto at = [&](double hz) {
    return predicted(model, rows, gpu("A"), {.record = gpu("B", 10, hz)}).total.time.value;
  };
  CHECK(at(4e9) == Approx(0.0099325713).epsilon(1e-6));
  CHECK(at(8e9) == Approx(0.0099493856).epsilon(1e-6));
}

TEST_CASE("the interval of a formula narrows with the batch and the length of calls") {
  const auto width = [](std::int64_t batch, double call) {
    const PredictedTime time =
        with_spread({1}, spread_of(PredictionMethod::large_wave, {.batch = batch, .call = {call}}).of_total);
    return time.high.value / time.low.value;
  };
  CHECK(width(1, 1e-4) > width(8, 1e-4));
  CHECK(width(1, 1e-4) > width(1, 1e-2));
  CHECK(width(8, 1e-3) > width(32, 1e-3));
  CHECK(width(32, 1e-5) == width(8, 1e-5));  // no model at batch 32 had calls as short as this
}

TEST_CASE("the floor of the target bounds a prediction from below") {
  // Measured in 1 us, which memory does not allow: 67,125,248 bytes are read at 100 GB/s in 671.25248 us; 16,384 bytes
  // that are written add 0.16384 us.
  const ModelLayers model = product(4096);
  const Prediction same = predicted(model, rows_of({{signature_of(model), 1e-6}}), gpu("A"), {.record = gpu("B")});
  CHECK(same.total.time.value == Approx(671.41632e-6));
  CHECK(same.raised == 1);
  CHECK(same.layers.front().raised);
  CHECK(same.total.low.value == Approx(671.41632e-6));
}

TEST_CASE("rows that keep their kernels scale by waves") {
  // One kernel with 100 blocks of 256 threads and 32 registers: 8 blocks per multiprocessor, limited by 2,048 threads.
  // A has 10 multiprocessors: a wave is 80 blocks, 100 blocks take two waves. B has 20: a wave is 160, one is enough.
  const ModelLayers model = product(4096);
  Run run = rows_of({{signature_of(model), 0.01}}).runs().front();
  run.rows.front().kernel_launches = {
      {.name = "gemm", .grid = {100, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 32, .time = {0.01}}};
  ResultDatabase rows;
  rows.add(std::move(run));
  const DeviceRecord b = with_limits(gpu("B", 20, 1e9, 5e10));
  const Prediction on_b = predicted(model, rows, with_limits(gpu("A")), {.record = b});
  CHECK(on_b.layers.front().method == PredictionMethod::wave);
  // The ridge of B is 2.56e12 / 5e10 = 51.2: g = 1 - 0.49976 / 102.4 = 0.99512; 1/2 x 4^0.99512 = 1.98652.
  CHECK(on_b.total.time.value == Approx(0.0198652).epsilon(1e-4));
  const Prediction without = predicted(model, rows, gpu("A"), {.record = b});
  CHECK(without.layers.front().method == PredictionMethod::large_wave);
}

TEST_CASE("of a row's kernels, one that does not fit uses large wave and the others waves") {
  const ModelLayers model = product(4096);
  Run run = rows_of({{signature_of(model), 0.01}}).runs().front();
  run.rows.front().kernel_launches = {
      {.name = "gemm", .grid = {400, 1, 1}, .block = {256, 1, 1}, .registers_per_thread = 32, .time = {0.005}},
      {.name = "sum",
       .grid = {400, 1, 1},
       .block = {256, 1, 1},
       .registers_per_thread = 32,
       .static_shared_bytes = 100'000,
       .time = {0.005}}};
  ResultDatabase rows;
  rows.add(std::move(run));
  const Prediction on_b =
      predicted(model, rows, with_limits(gpu("A")), {.record = with_limits(gpu("B", 20, 1e9, 5e10))});
  CHECK(on_b.layers.front().method == PredictionMethod::wave);
  // g = 0.99512, as above. 400 blocks: five waves of 80 on A, three of 160 on B: 3/5 x 4^g = 2.38382. Large wave, with
  // half of the bandwidth and twice the multiprocessors: 2^g x 2^(g - 1) = 1.98652.
  CHECK(on_b.total.time.value == Approx(0.005 * (2.38382 + 1.98652)).epsilon(1e-4));
}

TEST_CASE("a row of the target is taken as it is, and is not called predicted") {
  const ModelLayers model = product(4096);
  const ResultDatabase rows = rows_of({{signature_of(model), 0.01}});
  const ResultDatabase there = rows_of({{signature_of(model), 0.003}});
  const Prediction on_b = predicted(model, rows, gpu("A"), {.record = gpu("B"), .rows = fastest_rows(there, 2)});
  CHECK(on_b.total.time.value == Approx(0.003));
  CHECK(on_b.layers.front().method == PredictionMethod::measured);
  CHECK(on_b.count_of(PredictionMethod::measured) == 1);
  CHECK(on_b.clocks.empty());
}

TEST_CASE("rows of other layers of the target give ratios") {
  // Products of 1,000 to 2,000 on both devices, three times as slow on B; the model's product lies between them.
  std::vector<std::pair<std::string, double>> here, there;
  for (std::int64_t k = 1000; k <= 2000; k += 100) {
    const std::string signature = signature_of(product(k));
    const double seconds = static_cast<double>(k * k) * 1e-9;
    here.emplace_back(signature, seconds);
    there.emplace_back(signature, 3 * seconds);
  }
  const ModelLayers model = product(1536);
  here.emplace_back(signature_of(model), 1536.0 * 1536 * 1e-9);
  const Prediction on_b =
      predicted(model, rows_of(here), gpu("A"), {.record = gpu("B"), .rows = fastest_rows(rows_of(there), 2)});
  CHECK(on_b.layers.front().method == PredictionMethod::database_ratio);
  CHECK(on_b.total.time.value == Approx(3 * 1536.0 * 1536 * 1e-9));
  const ModelLayers larger = product(8192);
  here.emplace_back(signature_of(larger), 8192.0 * 8192 * 1e-9);
  const Prediction outside =
      predicted(larger, rows_of(here), gpu("A"), {.record = gpu("B"), .rows = fastest_rows(rows_of(there), 2)});
  CHECK(outside.layers.front().method == PredictionMethod::large_wave);
  CHECK_THAT(outside.layers.front().reason, Catch::Contains("outside of what was measured of kind MatMul/f32"));
}

TEST_CASE("layers of one kind do the same in the same type") {
  CHECK(kind_of("Conv/f32/x=1x3x8x8/w=4x3x3x3") == "Conv/f32");
  CHECK(kind_of("ConvGradient/f32/of=weights/x=1x3x8x8/w=4x3x3x3") == "ConvGradient/f32/of=weights");
  CHECK(kind_of("Opaque/f32/op=benanza.MaxPoolGrad/read_bytes=12") == "Opaque/f32/op=benanza.MaxPoolGrad");
  CHECK(kind_of("Unary/f32") == "Unary/f32");
  CHECK(kind_of("Unary") == "Unary");
}

TEST_CASE("an epilogue is its functions without their sizes") {
  CHECK(epilogue_of("Conv/f32/x=1x3x8x8/w=4x3x3x3").empty());
  CHECK(epilogue_of("Conv/f32/x=1x3x8x8/w=4x3x3x3/post=bias,add(1x4x8x8),relu") == "bias,add,relu");
  CHECK(epilogue_of("MatMul/f32/a=1x8/b=8x4/post=swish:1/b_constant=1") == "swish:1");
}

TEST_CASE("where nothing leads to the target the total is partial") {
  const ModelLayers model = product(4096);
  DeviceRecord cpu = gpu("a CPU");
  cpu.processors->accelerator = false;
  const Prediction none = predicted(model, rows_of({{signature_of(model), 0.01}}), gpu("A"), {.record = cpu});
  CHECK(none.partial());
  CHECK(!none.throughput());
  CHECK(none.total.time.value == 0);
  CHECK_THAT(none.layers.front().reason, Catch::Contains("no formula leads from a CPU to an accelerator or back"));
  DeviceRecord empty = gpu("B");
  empty.processors.reset();
  const Prediction no_processors =
      predicted(model, rows_of({{signature_of(model), 0.01}}), gpu("A"), {.record = empty});
  CHECK_THAT(no_processors.layers.front().reason, Catch::Contains("the record of B has no processors"));
  DeviceRecord unknown = gpu("B");
  unknown.clocks.clear();
  const Prediction no_clock = predicted(model, rows_of({{signature_of(model), 0.01}}), gpu("A"), {.record = unknown});
  CHECK_THAT(no_clock.layers.front().reason, Catch::Contains("the record of B has no clock"));
}
