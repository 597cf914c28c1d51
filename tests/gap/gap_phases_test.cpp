// SPDX-License-Identifier: Apache-2.0
// An iteration of training, phase by phase: by hand, and as PyTorch recorded it. Sums over the trace come from
// `tests/data/profile/pytorch_training.py --sum`.
#include "support/gap_support.hpp"
#include <benanza/onnx.hpp>
#include <benanza/training/derive_training.hpp>
#include <benanza/training/layer_phases.hpp>

#include <array>
#include <filesystem>

namespace {

using namespace gap_support;

ProfileRecord within(ProfileRecord made, std::size_t parent) {
  made.parent = parent;
  return made;
}
ProfileRecord on(ProfileRecord made, std::vector<std::int64_t> dims) {
  made.inputs = {{.dims = std::move(dims)}};
  return made;
}

/// Every layer takes 1 us.
struct Iteration1us {
  ModelLayers model{};
  std::vector<Phase> phases{};
  Analysis analysis{};
};
Iteration1us iteration_of(const TrainingGraph& training) {
  Iteration1us made;
  made.model = make_model_layers(training.graph);
  made.phases = layer_phases(training, made.model.single);
  Run run;
  run.machine = {.device = "fake", .isa = "none", .cores = 1};
  run.backends = {{"lib", "1"}};
  std::set<std::string> done;
  const auto add = [&](const Layer& layer) {
    const std::string text = signature(layer).text();
    if (is_free(layer) || !done.insert(text).second) return;
    run.rows.push_back({.backend = "lib",
                        .algorithm = "a,threads=1",
                        .signature = text,
                        .samples = 10,
                        .times = MeasuredTimes{.p10 = {1 * us}, .median = {1 * us}},
                        .rounds_s = std::vector<double>(8, 1 * us)});
  };
  for (const auto& layer : made.model.single.layers) add(layer.layer);
  for (const auto& layer : made.model.fused.layers)
    for (const auto& piece : layer.pieces) add(piece.layer);
  ResultDatabase results;
  results.add(std::move(run));
  made.analysis = analyze(made.model, results, {.threads = 1, .candidates = true});
  return made;
}

TrainingGraph training_of(const std::string& model) {
  return derive_training(import_onnx(std::string(BENANZA_MODELS) + "/training/" + model + ".onnx", {.training = true}));
}

double us_of(Seconds time) { return time.value / us; }

}  // namespace

TEST_CASE("the phase of a record is that of PyTorch's scopes around it") {
  // Two products of equal shapes, and the gradient of each: names and shapes alone cannot distinguish them.
  benanza::testing::GraphBuilder g;
  const auto first = g.node("MatMul", {g.input({8, 8}), g.weight({8, 8})}, {8, 8});
  g.node("MatMul", {first, g.weight({8, 8})}, {8, 8});
  g.output(g.map("Softmax", {first}));
  const Case c = make_case(g);
  REQUIRE(c.model.single.layers.size() == 3);
  EngineProfile made =
      profile(1000, {record("autograd::engine::evaluate_function: MmBackward0", 100),  // its own: 100 - 60
                     within(on(record("aten::mm", 60), {8, 8}), 0), on(record("aten::mm", 40), {8, 8}),
                     record("Optimizer.step#SGD.step", 30), within(record("aten::add_", 20), 3)});
  GapOptions options{.phases = {Phase::forward, Phase::backward, Phase::update}};
  const Gap gap = compare(c.analysis, c.model, made, options);
  check_sums(gap);
  CHECK(gap.records[1].layers == std::vector<std::size_t>{1});  // the first record, and the backward layer
  CHECK(gap.records[2].layers == std::vector<std::size_t>{0});
  REQUIRE(gap.phases.size() == 3);
  CHECK(gap.phases[0].phase == Phase::forward);
  CHECK(us_of(gap.phases[0].engine) == Approx(40));
  CHECK(us_of(gap.phases[1].engine) == Approx(100));
  CHECK(us_of(gap.phases[2].engine) == Approx(30));
  CHECK(us_of(gap.phases[0].bound) == Approx(20));  // 20 us per layer, softmax 30 us
  CHECK(us_of(gap.phases[1].bound) == Approx(20));
  CHECK(us_of(gap.phases[2].bound) == Approx(30));
  // Without phases the first record is matched with the first layer.
  const Gap without = compare(c.analysis, c.model, made);
  CHECK(without.phases.empty());
  CHECK(without.records[1].layers == std::vector<std::size_t>{0});
}

TEST_CASE("an iteration that PyTorch recorded is divided into its phases, and its calls into those of the model") {
  // resnet50 at batch 2, eager, on two threads of an AMD EPYC (torch 2.15.0). Only the last of its three passes counts,
  // so that sums are sums and not medians.
  const EngineProfile recorded = read_profile(
      std::array{std::filesystem::path(BENANZA_TEST_DATA) / "profile" / "pytorch_training.json.gz"}, {.warm_ups = 2});
  REQUIRE(recorded.latencies.size() == 1);
  CHECK(us_of(recorded.latencies[0]) == Approx(444193.708));
  const Iteration1us iteration = iteration_of(training_of("resnet50"));
  const Gap gap = compare(iteration.analysis, iteration.model, recorded, {.phases = iteration.phases});
  check_sums(gap);
  REQUIRE(gap.phases.size() == 3);
  CHECK(us_of(gap.phases[0].engine) == Approx(132317.111));
  CHECK(us_of(gap.phases[1].engine) == Approx(294043.770));
  CHECK(us_of(gap.phases[2].engine) == Approx(7880.639));
  CHECK(part_us(gap, Cause::between_layers) == Approx(9952.188).epsilon(1e-4));
  Seconds bound{};
  for (const auto& phase : gap.phases) {
    bound += phase.bound;
    Seconds causes{};
    for (const auto& [cause, time] : phase.causes) causes += time;
    CHECK(causes.value == Approx((phase.engine - phase.bound).value));
  }
  for (const auto& graph : iteration.analysis.graphs)
    if (graph.form == Form::fused) {
      Seconds all{};
      for (const auto& layer : graph.layers) all += layer.time();
      CHECK(bound.value == Approx(all.value));
    }
  // The records of the convolutions and of their gradients: one record of PyTorch covers up to two of our layers.
  const auto& layers = iteration.model.single.layers;
  const auto time_for = [&](std::string_view wanted, std::size_t& served) {
    Seconds time{};
    std::set<std::size_t> found;
    for (const auto& record : gap.records) {
      bool any = false;
      for (const auto layer : record.layers)
        if (kind(layers[layer].layer) == wanted) any = found.insert(layer).second || true;
      if (any) time += record.time;
    }
    served = found.size();
    return us_of(time);
  };
  std::size_t served = 0;
  CHECK(time_for("Conv", served) == Approx(97445.957));
  CHECK(served == 53);
  CHECK(time_for("ConvGradient", served) == Approx(255162.860));
  CHECK(served == 53 + 52);  // the image has no gradient
  CHECK(time_for("OptimizerStep", served) == Approx(7548.507));
  CHECK(served == 1);
  // PyTorch divides and expands: no record is named as a pool's gradient.
  CHECK(gap.not_found == std::vector<std::string>{"/avgpool/GlobalAveragePool/GlobalAveragePoolGrad"});
  CHECK(*gap.explained() > 0.9);
}

TEST_CASE("a kernel of torch.compile is for what is around the products in its name") {
  benanza::testing::GraphBuilder g;
  const auto x = g.conv(g.input({1, 8, 10, 10}), 8, false);
  g.output(g.map("Relu", {x}));
  const Case c = make_case(g);
  const Gap gap =
      compare(c.analysis, c.model,
              profile(1000, {record("graph_0_cpp_fused_convolution_relu_3", 30), record("aten::convolution", 200)}));
  check_sums(gap);
  CHECK(gap.records[0].layers == std::vector<std::size_t>{1});
  CHECK(gap.records[1].layers == std::vector<std::size_t>{0});
}
