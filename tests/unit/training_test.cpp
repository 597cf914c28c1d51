// SPDX-License-Identifier: Apache-2.0
// Expected values: examples/models/training/expected.json and tests/data/training_counts/expected.json, which PyTorch
// counted.
#include "support/catch.hpp"
#include <benanza/memory/make_memory_profile.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/onnx.hpp>
#include <benanza/training/derive_training.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace benanza;
using Catch::Contains;
using Catch::Matchers::WithinRel;

const std::string models = std::string(BENANZA_MODELS) + "/training/";

/// FLOPs of convolutions and products as they are usually quoted: two per multiply-add, including taps in the padding.
double product_flops(const TrainingGraph& iteration, Phase phase) {
  double flops = 0;
  for (std::size_t i = 0; i < iteration.graph.nodes.size(); ++i)
    if (iteration.phases[i] == phase)
      if (const Layer layer = make_layer(iteration.graph.nodes[i], iteration.graph); is_product(layer))
        flops += 2.0 * static_cast<double>(cost(layer).macs);
  return flops;
}

/// FLOPs of the forward pass of attention that PyTorch's counter omits on the processor (it does not list
/// `_scaled_dot_product_flash_attention_for_cpu`). vit_b_16: 12 layers of 12 heads, 197 positions, 64 channels per
/// head, two products.
double uncounted_flops(const std::string& model, double batch) {
  return model == "vit_b_16" ? 12 * 12 * batch * 2 * (2.0 * 197 * 197 * 64) : 0;
}

}  // namespace

TEST_CASE("FLOPs, parameters and gradients of an iteration are those that PyTorch counts") {
  const auto expected = nlohmann::json::parse(std::ifstream(models + "expected.json"));
  REQUIRE(expected.size() == 6);
  for (const auto& [name, counts] : expected.items()) {
    INFO(name);
    const TrainingGraph iteration = derive_training(
        import_onnx(models + name + ".onnx", {.batch = counts["batch"].get<std::int64_t>(), .training = true}));
    const double uncounted = uncounted_flops(name, counts["batch"].get<double>());
    CHECK_THAT(product_flops(iteration, Phase::forward) - uncounted,
               WithinRel(counts["forward_flops"].get<double>(), 1e-3));
    CHECK_THAT(product_flops(iteration, Phase::backward) - 2 * uncounted,
               WithinRel(counts["backward_flops"].get<double>(), 1e-3));
    std::int64_t parameters = 0;
    double bytes = 0;
    for (const Parameter& one : iteration.parameters) {
      parameters += one.elements;
      bytes += one.bytes;
    }
    CHECK(parameters == counts["parameters"].get<std::int64_t>());
    CHECK(bytes == counts["gradients_bytes"].get<double>());
    double buffers = 0;
    for (const ValueId id : iteration.buffers) buffers += iteration.graph.value(id).bytes();
    // PyTorch also counts the batches that a normalisation has seen, 8 bytes per two vectors of statistics.
    CHECK(buffers + 8.0 * static_cast<double>(iteration.buffers.size()) / 2 == counts["buffers_bytes"].get<double>());
  }
}

TEST_CASE("what an exporter writes like a parameter is not one, and gradients pass only where PyTorch's do") {
  const std::string folder = std::string(BENANZA_TEST_DATA) + "/training_counts/";
  const auto expected = nlohmann::json::parse(std::ifstream(folder + "expected.json"));
  // graph: CastLike; decoder: a mask, a table; states: zeros; cell: SequenceAt; groups: norms without parameters
  for (const std::string name : {"graph", "decoder", "states", "cell", "groups", "groups_script"}) {
    INFO(name);
    const auto& counts = expected.at(name.substr(0, name.find('_')));
    const Graph graph = import_onnx(folder + name + ".onnx", {.training = true});
    CHECK(graph.warnings.empty());
    const TrainingGraph iteration = derive_training(graph, {.loss = TrainingLoss::mse});
    std::int64_t parameters = 0;
    for (const Parameter& one : iteration.parameters) parameters += one.elements;
    CHECK(parameters == counts.at("parameters").get<std::int64_t>());
    if (counts.contains("flops"))
      CHECK(product_flops(iteration, Phase::forward) + product_flops(iteration, Phase::backward) ==
            counts.at("flops").get<double>());
    if (counts.contains("saved_bytes"))
      CHECK(make_memory_profile(iteration, {.saved = Saved::eager}).kept_bytes() ==
            counts.at("saved_bytes").get<double>());
  }
}

TEST_CASE("a warning says that an export has folded batch normalisations and merged equal parameters") {
  const std::string folder = std::string(BENANZA_TEST_DATA) + "/training_counts/";
  for (const std::string name : {"folded", "folded_script"}) {
    INFO(name);
    const Graph graph = import_onnx(folder + name + ".onnx", {.training = true});
    REQUIRE(graph.warnings.size() == 2);
    CHECK_THAT(graph.warnings[0], Contains("fold batch normalisations: 2"));
    CHECK_THAT(graph.warnings[1], Contains("merged equal parameters: 2"));
    CHECK(import_onnx(folder + name + ".onnx").warnings.empty());
  }
}

TEST_CASE("a frozen parameter has no gradient and stays as it is") {
  const auto count = [](const TrainingGraph& iteration, std::string_view type) {
    const auto& nodes = iteration.graph.nodes;
    return std::count_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.op_type == type; });
  };
  const Graph graph = import_onnx(models + "vgg16.onnx", {.training = true});
  std::vector<std::string> features;  // all convolutions: the images of the first product need no gradient
  for (const int i : {0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28})
    for (const std::string part : {".weight", ".bias"}) features.push_back("features." + std::to_string(i) + part);
  const TrainingGraph whole = derive_training(graph), head = derive_training(graph, {.frozen = features});
  CHECK(count(whole, "ConvGradWeights") == 13);
  CHECK(count(whole, "ConvGradData") == 12);
  CHECK(count(head, "ConvGradWeights") == 0);
  CHECK(count(head, "ConvGradData") == 0);
  REQUIRE(head.parameters.size() == 6);
  CHECK_THAT(head.parameters.back().name, Contains("classifier.0"));
  CHECK(count(head, "FusedMatMul") == 5);  // three for weights, two for data
  CHECK_THROWS_WITH(derive_training(graph, {.frozen = {"no.such"}}),
                    Contains("--frozen names 'no.such', but no parameter has this name"));
}

TEST_CASE("gradients come in the order in which backward completes them") {
  const TrainingGraph iteration = derive_training(import_onnx(models + "vgg16.onnx"));
  REQUIRE(iteration.parameters.size() == 32);  // 13 convolutions and 3 products, with a weight and a bias each
  CHECK_THAT(iteration.parameters.front().name, Contains("classifier.6"));
  CHECK_THAT(iteration.parameters.back().name, Contains("features.0"));
  for (std::size_t i = 1; i < iteration.parameters.size(); ++i)
    CHECK(iteration.parameters[i - 1].node <= iteration.parameters[i].node);
}

TEST_CASE("a model that cannot be trained is refused by what it lacks") {
  const auto refused = [](const std::string& model) { return derive_training(import_onnx(model)); };
  const std::string hard = std::string(BENANZA_MODELS) + "/hard/";
  CHECK_THROWS_WITH(refused(hard + "bert_base_dynamic_i8.onnx"), Contains("no gradient is known"));
  CHECK_THROWS_WITH(refused(hard + "loop_known_trip_count.onnx"), Contains("no floating-point parameters"));
}
