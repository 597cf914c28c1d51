// SPDX-License-Identifier: Apache-2.0
// Expected values: examples/models/training/expected.json, which PyTorch 2.13 counted, and counts by hand.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>
#include <benanza/training/derive_training.hpp>
#include <benanza/training/kept_tensors.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <fstream>
#include <string>

namespace {

using namespace benanza;
using testing::GraphBuilder;
using Category = MemoryCategory;

const std::string models = std::string(BENANZA_MODELS) + "/training/";

nlohmann::json expected() { return nlohmann::json::parse(std::ifstream(models + "expected.json")); }

TrainingGraph iteration(const std::string& name, const TrainingOptions& options = {}) {
  return derive_training(import_onnx(models + name + ".onnx", {.batch = 2, .training = true}), options);
}

double products(const TrainingGraph& iteration) {
  double macs = 0;
  for (const Node& node : iteration.graph.nodes)
    if (const Layer layer = make_layer(node, iteration.graph); is_product(layer))
      macs += static_cast<double>(cost(layer).macs);
  return macs;
}

}  // namespace

TEST_CASE("what eager mode keeps for backward is what PyTorch saves, to the byte") {
  const auto all = expected();
  REQUIRE(all.size() == 6);
  for (const auto& [name, counts] : all.items()) {
    INFO(name);
    const TrainingGraph at = iteration(name);
    const MemoryProfile eager = make_memory_profile(at, {.saved = Saved::eager});
    CHECK(eager.kept_bytes() == counts["saved_bytes_distinct_storages"].get<double>());
    CHECK(eager.of(Category::gradients) == counts["gradients_bytes"].get<double>());
    const MemoryProfile least = make_memory_profile(at);
    // PyTorch's attention computes its weights again: 12 layers of 12 heads, 197 x 197 floats each.
    const double computed_again = name == "vit_b_16" ? 12.0 * 2 * 12 * 197 * 197 * 4 : 0;
    CHECK(least.kept_bytes() <= eager.kept_bytes() + computed_again);
    CHECK(least.peak_bytes() <= eager.peak_bytes() + computed_again);
    CHECK(least.of(Category::weights) == 4.0 * counts["parameters"].get<double>());
  }
}

TEST_CASE("optimizers keep none, one or two numbers for each weight, and mixed precision another one") {
  const double parameters = expected()["vgg16"]["parameters"].get<double>();
  const auto state = [&](const TrainingOptions& options, Saved saved = Saved::least) {
    const MemoryProfile profile =
        make_memory_profile(iteration("vgg16", options), {.saved = saved, .optimizer = options.optimizer});
    return profile.of(Category::optimizer_state);
  };
  CHECK(state({.optimizer = Optimizer::sgd}) == 0);
  CHECK(state({.optimizer = Optimizer::momentum}) == 4 * parameters);
  CHECK(state({.optimizer = Optimizer::adam}) == 8 * parameters);
  // PyTorch's Adam counts its steps in one float for each of the 32 parameters.
  CHECK(state({.optimizer = Optimizer::adamw}, Saved::eager) == 8 * parameters + 4 * 32);
  // ZeRO (Rajbhandari et al. 2020): Adam with 16-bit weights keeps 12 bytes for each; weight and gradient take 2 each.
  const TrainingOptions mixed{.optimizer = Optimizer::adam, .precision = Precision::mixed_bf16};
  CHECK(state(mixed) == 12 * parameters);
  const MemoryProfile profile = make_memory_profile(iteration("vgg16", mixed));
  CHECK(profile.of(Category::weights) == 2 * parameters);
  CHECK(profile.of(Category::gradients) == 2 * parameters);
}

TEST_CASE("recomputation keeps less and computes more, forward at most once again") {
  const TrainingGraph whole = iteration("resnet50");
  const TrainingGraph parts = iteration("resnet50", {.recompute_every = 8});
  CHECK(make_memory_profile(parts).kept_bytes() < 0.5 * make_memory_profile(whole).kept_bytes());
  const double forward = expected()["resnet50"]["forward_flops"].get<double>() / 2;
  CHECK(products(parts) > products(whole) + 0.5 * forward);
  CHECK(products(parts) <= products(whole) + forward);
  CHECK(parts.parameters.size() == whole.parameters.size());
  // All in one segment: nothing is computed again.
  CHECK(products(iteration("resnet50", {.recompute_every = 100000})) == products(whole));
}

TEST_CASE("a tensor lives from the node that makes it to the last one that reads it") {
  GraphBuilder build;  // 1 x 8 floats: 32 bytes per tensor
  const auto x = build.input({1, 8});
  const auto a = build.node("MatMul", {x, build.weight({8, 8})}, {1, 8});
  const auto b = build.map("Softmax", {a});
  const auto c = build.node("MatMul", {b, build.weight({8, 16})}, {1, 16});
  const auto d = build.node("Add", {c, c}, {1, 16});
  build.output(d);
  const MemoryProfile profile = make_memory_profile(build.graph());
  const auto at = [&](std::size_t step, Category category) {
    return profile.steps.at(step).bytes[static_cast<std::size_t>(category)];
  };
  CHECK(profile.of(Category::weights) == 4 * (8 * 8 + 8 * 16));
  CHECK(at(0, Category::temporaries) == 32);       // a
  CHECK(at(1, Category::temporaries) == 64);       // a and b
  CHECK(at(2, Category::temporaries) == 32 + 64);  // b and c
  CHECK(at(3, Category::temporaries) == 0);        // d overwrites c
  CHECK(at(3, Category::inputs_outputs) == 32 + 64);
  CHECK(profile.peak == 2);
}

TEST_CASE("without nodes, the inputs are in memory") {
  GraphBuilder build;
  build.output(build.input({1, 8}));
  const MemoryProfile profile = make_memory_profile(build.graph());
  CHECK(profile.steps.empty());
  CHECK(profile.of(Category::inputs_outputs) == 4 * 8);
  CHECK(profile.peak_bytes() == 4 * 8);
}

TEST_CASE("a tensor of more bits than an integer counts is refused") {
  GraphBuilder build;
  build.output(build.map("Relu", {build.input({std::int64_t{1} << 40, std::int64_t{1} << 20})}));
  CHECK_THROWS_AS(make_memory_profile(build.graph()), InputError);
}

TEST_CASE("Relu keeps a sign, max-pooling a place, and Add nothing") {
  GraphBuilder build;
  const auto x = build.input({1, 3, 8, 8});
  const auto a = build.conv(x, 4);                         // 1 x 4 x 8 x 8
  const auto b = build.map("Relu", {a});                   // 256 signs
  const auto c = build.node("Add", {b, b}, {1, 4, 8, 8});  // nothing
  const auto d = build.node("MaxPool", {c}, {1, 4, 4, 4},  // 64 positions of 2 bits
                            {{"kernel_shape", GraphBuilder::Dims{2, 2}}, {"strides", GraphBuilder::Dims{2, 2}}});
  const auto e = build.node("Reshape", {d, build.ints({1, 64})}, {1, 64});
  build.output(build.node("MatMul", {e, build.weight({64, 10})}, {1, 10}));
  const TrainingGraph at = derive_training(build.graph(), {.loss = TrainingLoss::mse});
  double signs = 0, places = 0, image = 0, pooled = 0, difference = 0, rest = 0;
  for (const KeptTensor& one : least_kept(at)) {
    if (one.name == at.graph.value(b).name) signs += one.bytes;
    else if (one.name.find(":1") != std::string::npos) places += one.bytes;
    else if (one.name == at.graph.value(x).name) image += one.bytes;
    else if (one.name == at.graph.value(d).name) pooled += one.bytes;
    else if (one.name.find("Sub") != std::string::npos) difference += one.bytes;
    else rest += one.bytes;
  }
  CHECK(signs == 256.0 / 8);
  CHECK(places == 64 * 2.0 / 8);
  CHECK(image == 4 * 3 * 64);  // the convolution's operand
  CHECK(pooled == 4 * 64);     // the product's
  CHECK(difference == 4 * 10);
  CHECK(rest == 0);
}
