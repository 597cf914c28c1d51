// SPDX-License-Identifier: Apache-2.0
// Profiles that the given bound cannot explain: of another device, cut off, of two models or of another run.
#include "support/gap_support.hpp"

#include <limits>

namespace {

using namespace gap_support;

Gap on(Machine machine, const std::string& device, Activity activity, const std::string& provider = "") {
  Case c = three_layers();
  c.analysis.machine = std::move(machine);
  EngineProfile p = three_records();
  p.device = device;
  for (auto& each : p.records) {
    each.activity = activity;
    each.provider = provider;
  }
  return compare(c.analysis, c.model, p);
}

Machine gpu(const std::string& name) { return {.device = name, .driver = "550.54, CUDA 12.4"}; }

bool says(const std::vector<std::string>& texts, const std::string& part) {
  for (const auto& text : texts)
    if (text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a run on a GPU is not explained by a bound of a CPU, nor one on a CPU by a bound of a GPU") {
  const Gap gap = on({.device = "AMD EPYC"}, "Tesla V100-SXM2-16GB", Activity::kernel);
  CHECK(gap.outside == "another device: the engine ran on Tesla V100-SXM2-16GB, the bound is of AMD EPYC");
  CHECK_FALSE(gap.gap);
  CHECK_FALSE(gap.explained());
  CHECK(gap.parts.empty());
  CHECK(gap.advice.empty());
  CHECK_FALSE(on(gpu("Tesla V100-SXM2-16GB"), "", Activity::layer, "CPUExecutionProvider").outside.empty());
  CHECK_FALSE(on({.device = "AMD EPYC"}, "", Activity::call, "CUDAExecutionProvider").outside.empty());
}

TEST_CASE("GPUs are told apart by their model, not by how their name is written") {
  const auto differ = [](const std::string& engine, const std::string& bound) {
    return !on(gpu(bound), engine, Activity::kernel).outside.empty();
  };
  CHECK_FALSE(differ("NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"));
  CHECK_FALSE(differ("Tesla V100-SXM2-16GB", "NVIDIA V100"));
  CHECK_FALSE(differ("", "NVIDIA H100 80GB HBM3"));
  CHECK_FALSE(differ("TITAN V", "NVIDIA TITAN V"));
  CHECK(differ("Tesla V100-SXM2-16GB", "NVIDIA H100 80GB HBM3"));
  // The device named in a file is not a GPU if nothing shows that the run was on one
  CHECK(on({.device = "AMD EPYC"}, "NVIDIA H100 80GB HBM3", Activity::layer).outside.empty());
}

TEST_CASE("records that name nodes of another model explain nothing") {
  const Case c = three_layers();
  const auto named = [&](const std::string& prefix) {
    EngineProfile p = profile(210, {record(prefix + "Conv_0", 80), record(prefix + "Conv_9", 60),
                                    record(prefix + "Relu_1", 25), record(prefix + "Softmax_2", 30)});
    for (auto& each : p.records) {
      each.op = each.name.substr(prefix.size(), each.name.find('_') - prefix.size());
      each.nodes = {each.name};
    }
    return compare(c.analysis, c.model, p);
  };
  const Gap own = named(""), other = named("other");
  CHECK_FALSE(own.unclaimed);
  CHECK(says(other.deviations, "the model has none of 4 nodes that are named"));
  CHECK(other.unclaimed);
  CHECK_FALSE(other.explained());
  CHECK(other.advice.empty());
}

TEST_CASE("a sum of records that lacks layers is not a latency: what they would take is unexplained") {
  // 140 + 25 against 135: the gap of 30 is 60 more for Conv_0 and Relu_1, minus 30 for Softmax_2, which nobody measured
  const Case c = three_layers();
  const Gap gap = compare(c.analysis, c.model, profile(0, {record("Conv_0", 140), record("Relu_1", 25)}));
  check_sums(gap);
  CHECK(gap.incomplete);
  CHECK(gap.part(Cause::not_in_profile) == nullptr);
  CHECK(part_us(gap, Cause::unexplained) == Approx(-30));
  CHECK(*gap.explained() == Approx(0).margin(1e-9));
  CHECK(says(gap.warnings, "1 layer in no record, and the total is the sum of records"));
}

TEST_CASE("a sum of records that lacks unreadable ones is not a latency, even if every layer has a record") {
  const Case c = three_layers();
  EngineProfile p = profile(0, {record("Conv_0", 140), record("Relu_1", 25), record("Softmax_2", 30)});
  CHECK_FALSE(compare(c.analysis, c.model, p).incomplete);
  p.unreadable = 2;
  const Gap gap = compare(c.analysis, c.model, p);
  check_sums(gap);
  CHECK(gap.incomplete);
  CHECK(gap.unreadable == 2);
  CHECK(says(gap.warnings, "2 records cannot be read, and the total is the sum of records"));
  p.latencies = {Seconds{200e-6}};  // which does not lack them
  CHECK_FALSE(compare(c.analysis, c.model, p).incomplete);
}

TEST_CASE("where no record serves a layer nothing is said about layers, nor of a latency that is their sum") {
  const Case c = three_layers();
  for (const double latency : {0.0, 200.0}) {
    const Gap gap = compare(c.analysis, c.model, profile(latency, {record("a", 140), record("b", 25)}));
    CHECK(gap.total_only == "no record serves a layer of the model: the profile of another model?");
    CHECK(gap.parts.empty());
    CHECK_FALSE(gap.explained());
    CHECK(gap.gap.has_value() == (latency > 0));
    CHECK(gap.incomplete == (latency == 0));
  }
}

TEST_CASE("records that match no layer and take over a quarter of the time are another model's") {
  const Case c = three_layers();
  EngineProfile p = three_records(300);
  p.records.push_back(record("other_conv", 70, "Conv"));
  p = one_after_another(p);
  CHECK(compare(c.analysis, c.model, p).outside.empty());
  p.records.back().times = {Seconds{80 * us}};
  const Gap gap = compare(c.analysis, c.model, p);
  CHECK(gap.outside == "1 record, 0.08 ms, match no layer: another model's?");
  CHECK_FALSE(gap.gap);
  CHECK_FALSE(gap.explained());
  // Conversions and copies belong to the engine
  p.records.back().op = "ReorderInput";
  CHECK(compare(c.analysis, c.model, p).outside.empty());
}

TEST_CASE("where most records are not in every pass there are two models in the file") {
  const Case c = three_layers();
  EngineProfile p = three_records();
  p.latencies.assign(2, Seconds{200 * us});
  for (auto& each : p.records) {
    each.times.resize(2, each.times[0]);
    each.starts_s.assign(2, static_cast<float>(each.start->value));
  }
  const auto remove = [&](std::size_t r) {
    p.records[r].times[1] = {};
    p.records[r].starts_s[1] = std::numeric_limits<float>::quiet_NaN();
  };
  remove(0);
  CHECK(compare(c.analysis, c.model, p).outside.empty());
  remove(1);
  CHECK(compare(c.analysis, c.model, p).outside ==
        "2 of 3 records are not in every pass: two models, or two sizes, in one file?");
}

TEST_CASE("records that take longer than the run tell of another unit or run: nothing is explained or advised") {
  // 193 us of records: 1.29 times 150 us, and 2.4 times 80 us
  const Case c = three_layers();
  const Gap gap = compare(c.analysis, c.model, three_records(150));
  check_sums(gap);
  CHECK(says(gap.deviations, "the records take 0.193 ms of a latency of 0.15 ms"));
  CHECK_FALSE(gap.explained());
  CHECK_FALSE(gap.joint);
  CHECK(gap.advice.empty());
  const Gap absurd = compare(c.analysis, c.model, three_records(80));
  CHECK(absurd.total_only == "the records take 0.193 ms of a latency of 0.08 ms: another unit, or another run");
  CHECK(absurd.parts.empty());
  CHECK(absurd.gap->value == Approx(-55 * us));  // 80 - 135
}

TEST_CASE("parallel lanes are compared with the latency by their union") {
  // 140 and, at the same time, 25 + 28
  const Case c = three_layers();
  EngineProfile p = three_records(142);
  for (std::size_t r = 1; r < 3; ++r) p.records[r].lane = 1;
  p.records[1].start = Seconds{0};
  p.records[2].start = Seconds{25 * us};
  const Gap gap = compare(c.analysis, c.model, p);
  CHECK_FALSE(says(gap.deviations, "of a latency of"));
  CHECK(gap.explained());
}

TEST_CASE("an API log whose convolutions are not layers of the model is of another run") {
  const Case c = three_layers();
  EngineProfile p = three_records();
  const auto call = [](std::string signature) {
    return LibraryCall{.library = "cudnn", .signature = std::move(signature)};
  };
  // The model's own convolution, with its padding added before it and in another type
  p.calls = {call("Conv/f16/x=1x8x12x12/w=8x8x3x3"), call("Conv/f32/x=1x64x56x56/w=64x64x3x3/pads=1x1x1x1")};
  CHECK_FALSE(says(compare(c.analysis, c.model, p).deviations, "API log"));
  p.calls.push_back(call("Conv/f32/x=1x64x56x56/w=256x64x1x1"));
  CHECK(says(compare(c.analysis, c.model, p).deviations,
             "2 of 3 convolutions in the API log are not layers of the model, e.g. Conv/f32/x=1x64x56x56/w=64x64x3x3"));
}
