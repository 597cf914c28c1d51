// SPDX-License-Identifier: Apache-2.0
// Expected values: examples/models/training/expected.json, which PyTorch 2.13 counted, and counts by hand.
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>
#include <benanza/training/derive_training.hpp>
#include <benanza/training/kept_tensors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

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

TEST_CASE("without mixed precision, the states of an optimizer have the type of the weights") {
  const auto state = [](DataType type, Precision precision) {
    GraphBuilder build;
    const auto x = build.input({4, 8}, type);
    build.output(build.node("MatMul", {x, build.weight({8, 16}, type)}, {4, 16}, {}, type));
    const TrainingOptions options{.optimizer = Optimizer::adam, .precision = precision, .loss = TrainingLoss::mse};
    return make_memory_profile(derive_training(build.graph(), options), {.optimizer = Optimizer::adam})
        .of(Category::optimizer_state);
  };
  // PyTorch's Adam keeps two tensors like the weight (torch.zeros_like).
  CHECK(state(DataType::f64, Precision::f32) == 2 * 128 * 8);
  CHECK(state(DataType::f64, Precision::mixed_bf16) == 2 * 128 * 8);
  CHECK(state(DataType::f16, Precision::f32) == 2 * 128 * 2);
  CHECK(state(DataType::f16, Precision::mixed_f16) == 3 * 128 * 4);
}

TEST_CASE("the layer of an optimizer in mixed precision writes 16-bit weights and does not read them") {
  GraphBuilder build;
  const auto x = build.input({4, 8});
  const auto a = build.map("Relu", {build.node("MatMul", {x, build.weight({8, 16})}, {4, 16})});
  build.output(build.node("MatMul", {a, build.weight({16, 2})}, {4, 2}));
  const TrainingGraph at = derive_training(
      build.graph(), {.optimizer = Optimizer::adam, .precision = Precision::mixed_bf16, .loss = TrainingLoss::mse});
  const LayerGraph layers = make_layer_graph(at.graph);
  const auto step = std::find_if(layers.layers.begin(), layers.layers.end(), [](const Occurrence& each) {
    return std::holds_alternative<op::OptimizerStep>(*each.layer);
  });
  REQUIRE(step != layers.layers.end());
  const double weights = 8 * 16 + 16 * 2;
  // A gradient of 2 bytes; the weight in f32 and two moments.
  CHECK((step->read_weights + step->read_activations).value == weights * (2 + 3 * 4));
  CHECK(step->written.value == weights * (2 + 3 * 4));
}

TEST_CASE("weights of two types are updated by one call for each type") {
  GraphBuilder build;
  const auto x = build.input({4, 8}, DataType::f16);
  const auto a = build.node("MatMul", {x, build.weight({8, 16}, DataType::f16)}, {4, 16}, {}, DataType::f16);
  const auto wide = build.node("Cast", {a}, {4, 16}, {{"to", std::int64_t{1}}});
  build.output(build.node("Mul", {wide, build.weight({16})}, {4, 16}));
  for (const Precision precision : {Precision::f32, Precision::mixed_bf16}) {
    const TrainingGraph at = derive_training(
        build.graph(), {.optimizer = Optimizer::adam, .precision = precision, .loss = TrainingLoss::mse});
    double written = 0;
    for (const Occurrence& each : make_layer_graph(at.graph).layers)
      if (std::holds_alternative<op::OptimizerStep>(*each.layer)) written += each.written.value;
      else CHECK_FALSE(std::holds_alternative<op::Opaque>(*each.layer));
    // Adam writes a weight and two moments. Mixed precision turns f32 into bf16 and keeps 12 bytes beside each weight.
    CHECK(written == (precision == Precision::f32 ? 128 * 3 * 2 + 16 * 3 * 4 : (128 + 16) * (2 + 12)));
  }
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

TEST_CASE("constants that a body reads are weights, and what it frees is a temporary of its node") {
  GraphBuilder build;  // both branches: x W, 16 x 64, times a weight of their own, 64 x 16
  const auto c = build.input({1}, DataType::boolean);
  const auto x = build.input({16, 16});
  const auto shared = build.weight({16, 64});
  const auto y = build.node("If", {c}, {16, 16});
  for (const char* label : {"then_branch", "else_branch"}) {
    GraphBuilder branch;
    const auto t =
        branch.node("MatMul", {branch.capture(build.graph(), x), branch.capture(build.graph(), shared)}, {16, 64});
    branch.output(branch.node("MatMul", {t, branch.weight({64, 16})}, {16, 16}));
    build.last().bodies.push_back({label, branch.graph()});
  }
  build.output(y);
  const MemoryProfile profile = make_memory_profile(build.graph());
  CHECK(profile.of(Category::weights) == 4 * (16 * 64 + 2 * 64 * 16));
  CHECK(profile.of(Category::temporaries) == 4 * 16 * 64);
  CHECK(profile.peak_bytes() == 4 * (3 * 16 * 64 + 16 * 64 + 2 * 16 * 16) + 1);
}

TEST_CASE("a tensor that only a body reads lives until then") {
  GraphBuilder build;
  const auto c = build.input({1}, DataType::boolean);
  const auto x = build.input({1, 8});
  const auto a = build.node("MatMul", {x, build.weight({8, 64})}, {1, 64});  // 256 bytes
  const auto b = build.node("MatMul", {x, build.weight({8, 8})}, {1, 8});
  const auto y = build.node("If", {c}, {1, 64});
  for (const char* label : {"then_branch", "else_branch"}) {
    GraphBuilder branch;
    branch.output(branch.node("Add", {branch.capture(build.graph(), a), branch.capture(build.graph(), a)}, {1, 64}));
    build.last().bodies.push_back({label, branch.graph()});
  }
  build.output(y);
  build.output(b);
  const MemoryProfile profile = make_memory_profile(build.graph());
  for (const std::size_t step : {0, 1, 2})
    CHECK(profile.steps.at(step).bytes[static_cast<std::size_t>(Category::temporaries)] == 256);
}

TEST_CASE("a result that only moves elements has memory of its own, and so has a constant that is a result") {
  const auto of = [](GraphBuilder& build) { return make_memory_profile(build.graph()); };
  SECTION("an expansion of an input") {
    GraphBuilder build;
    const auto x = build.input({1, 16});
    build.output(build.node("Expand", {x, build.ints({64, 16})}, {64, 16}));
    CHECK(of(build).of(Category::inputs_outputs) == 4 * (16 + 64 * 16));
  }
  SECTION("a transposition of an input") {
    GraphBuilder build;
    build.output(build.node("Transpose", {build.input({8, 16})}, {16, 8}, {{"perm", GraphBuilder::Dims{1, 0}}}));
    CHECK(of(build).of(Category::inputs_outputs) == 2 * 4 * 8 * 16);
  }
  SECTION("a view of a transposition: the heads of attention, joined") {
    GraphBuilder build;
    const auto a = build.map("Softmax", {build.input({1, 8, 16, 4})});
    const auto t = build.node("Transpose", {a}, {1, 16, 8, 4}, {{"perm", GraphBuilder::Dims{0, 2, 1, 3}}});
    build.output(build.node("Reshape", {t, build.ints({1, 16, 32})}, {1, 16, 32}));
    const MemoryProfile profile = of(build);
    CHECK(profile.of(Category::inputs_outputs) == 2 * 4 * 512);
    CHECK(profile.peak_bytes() == 3 * 4 * 512);
  }
  SECTION("a view of a tensor is that tensor") {
    GraphBuilder build;
    const auto a = build.map("Relu", {build.input({8, 16})});
    build.output(build.node("Reshape", {a, build.ints({128})}, {128}));
    CHECK(of(build).of(Category::inputs_outputs) == 2 * 4 * 8 * 16);
  }
  SECTION("a constant") {
    GraphBuilder build;
    build.output(build.map("Relu", {build.input({8, 16})}));
    build.output(build.weight({32}));
    CHECK(of(build).of(Category::weights) == 4 * 32);
  }
}

TEST_CASE("a constant that is read whole and transposed is in memory once") {
  GraphBuilder build;  // the embedding of a token, and its scores by the same weights
  const auto ids = build.input({1, 4}, DataType::i64);
  const auto words = build.weight({100, 8});
  const auto h = build.node("Gather", {words, ids}, {1, 4, 8});
  const auto moved = build.node("Transpose", {words}, {8, 100}, {{"perm", GraphBuilder::Dims{1, 0}}});
  Graph& graph = build.graph();  // as the import leaves what it computes from constants
  graph.constant_nodes.push_back(graph.nodes.back());
  graph.nodes.pop_back();
  graph.values[moved].constant = true;
  build.output(build.node("MatMul", {h, moved}, {1, 4, 100}));
  CHECK(make_memory_profile(build.graph()).of(Category::weights) == 4 * 100 * 8);
}

TEST_CASE("of a constant from which a part is cut, the part is in memory") {
  GraphBuilder build;
  const auto x = build.input({1, 4, 8});
  const auto positions = build.weight({100, 8});
  const auto part = build.node("Slice", {positions, build.ints({0}), build.ints({4})}, {4, 8});
  Graph& graph = build.graph();
  graph.constant_nodes.push_back(graph.nodes.back());
  graph.nodes.pop_back();
  graph.values[part].constant = true;
  build.output(build.map("Add", {x, part}));
  CHECK(make_memory_profile(build.graph()).of(Category::weights) == 4 * 4 * 8);
}

TEST_CASE("the causal mask of Attention takes no memory, and eager mode keeps what PyTorch's attention saves") {
  GraphBuilder build("model", 23);
  const std::vector<std::int64_t> dims{1, 2, 256, 8};  // 2 heads of 256 tokens
  const auto x = build.input(dims);
  const auto product = [&] { return build.node("MatMul", {x, build.weight({8, 8})}, dims); };
  const auto q = product(), k = product(), v = product();
  const auto y = build.node("Attention", {q, k, v}, dims, {{"is_causal", std::int64_t{1}}});
  build.output(build.node("MatMul", {y, build.weight({8, 4})}, {1, 2, 256, 4}));
  const TrainingGraph at = derive_training(build.graph(), {.loss = TrainingLoss::mse});
  CHECK(make_memory_profile(at).of(Category::buffers) <= 64);
  // Queries, keys, values, the result and the logarithm of each row's sum; x for the three weights; the difference of
  // the loss, which PyTorch keeps as scores and target.
  const double tokens = 2 * 256;
  CHECK(make_memory_profile(at, {.saved = Saved::eager}).kept_bytes() ==
        4 * tokens * (4 * 8 + 1) + 4 * tokens * 8 + 2 * 4 * tokens * 4);
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
