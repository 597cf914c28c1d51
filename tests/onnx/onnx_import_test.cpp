// SPDX-License-Identifier: Apache-2.0
// The shipped models are read and compared with their README.
#include "support/catch.hpp"
#include "support/model_files.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_graph.hpp>
#include <benanza/onnx.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::op_types;
using testing::value_named;
using Dims = std::vector<std::int64_t>;

Graph model(const std::string& name, const ImportOptions& options = {}) {
  return import_onnx(std::filesystem::path(BENANZA_MODELS) / (name + ".onnx"), options);
}

/// Multiply-adds of convolutions and products: each output element sums over its weights.
std::int64_t multiply_adds(const Graph& graph) {
  std::int64_t total = 0;
  for (const auto& node : graph.nodes) {
    if (node.op_type == "Conv") {
      const Dims& w = graph.input(node, 1).dims;
      total += graph.output(node, 0).elements() * (graph.input(node, 1).elements() / w[0]);
    } else if (node.op_type == "Gemm" || node.op_type == "MatMul") {
      total += graph.output(node, 0).elements() * graph.input(node, 0).dims.back();
    }
  }
  return total;
}

// MNIST's first layer has 8 channels; the file has a Reshape to 1 x 256, which its second batch replaces.
TEST_CASE("A file that is read once gives graphs of several batches", "[onnx]") {
  const std::filesystem::path path = std::filesystem::path(BENANZA_MODELS) / "zoo2019" / "MNIST.onnx";
  const OnnxFile file(path);
  for (const std::int64_t batch : {1, 3, 1}) {
    const Graph graph = file.graph({.batch = batch});
    CHECK(graph.name == "MNIST");
    CHECK(graph.file == path.string());
    CHECK(graph.value(graph.inputs.at(0)).dims == Dims{batch, 1, 28, 28});
    CHECK(graph.output(graph.nodes.at(0), 0).dims == Dims{batch, 8, 28, 28});
    CHECK(graph.value(graph.outputs.at(0)).dims == Dims{batch, 10});
    CHECK_THROWS_AS(file.graph({.dims = {{"absent", 2}}}), UsageError);
  }
  CHECK_THROWS_WITH(OnnxFile("absent.onnx"), Catch::StartsWith("absent.onnx: "));
}

// Counted in Python on the same files: the nodes that are left after removing those that depend only on initializers,
// Shape, Identity, equal nodes with equal inputs, and nodes that no output needs. In the two models with conversions
// around 8-bit operators, an operator counts together with its conversions: resnet50_qdq_i8 has 53 Conv, 16 Add,
// MaxPool, ReduceMean, Reshape, Gemm, and a conversion at either end; mobilenet_v3_large_qoperator_i8 has 82 quantised
// operators, 15 HardSwish, 8 HardSigmoid and 3 ReduceMean between conversions, 5 HardSwish that a ReduceMean also reads
// in floats (5 nodes each, with conversions), 5 nodes of its head in floats, and a conversion at either end.
TEST_CASE("Every shipped model has the nodes that constants, common subexpressions and dead ends leave", "[onnx]") {
  struct Case {
    std::string name;
    std::size_t nodes;
  };
  const auto [name, nodes] = GENERATE(values<Case>({
      {"hard/bert_base_dynamic_i8", 629},
      {"hard/mnasnet1_0_external_data_absent", 99},
      {"hard/mobilenet_v3_large_qoperator_i8", 140},
      {"hard/resnet50_qdq_i8", 75},
      {"hard/vit_b_16_f16", 476},
      {"modern/bert_base_s128", 364},
      {"modern/convnext_tiny", 222},
      {"modern/deeplabv3_resnet50", 138},
      {"modern/deepspeech_lstm", 18},
      {"modern/efficientnet_b0", 239},
      {"modern/gpt2_s128", 449},
      {"modern/llama_160m_decode_p512", 753},
      {"modern/llama_160m_prefill_s128", 729},
      {"modern/mobilenet_v3_large", 140},
      {"modern/regnet_y_1_6gf", 360},
      {"modern/resnet50", 122},
      {"modern/swin_t", 511},
      {"modern/vit_b_16", 476},
      {"modern/whisper_tiny_encoder", 119},
      {"zoo2019/ArcFace", 361},
      {"zoo2019/BVLC_AlexNet", 24},
      {"zoo2019/BVLC_CaffeNet", 24},
      {"zoo2019/BVLC_GoogleNet", 143},
      {"zoo2019/BVLC_RCNN_ILSVRC13", 23},
      {"zoo2019/DUC", 355},
      {"zoo2019/DenseNet-121", 668},
      {"zoo2019/Emotion-FerPlus", 51},
      {"zoo2019/Inception-v1", 143},
      {"zoo2019/Inception-v2", 371},
      {"zoo2019/MNIST", 11},
      {"zoo2019/MobileNet-v2", 155},
      {"zoo2019/ResNet018-v1", 69},
      {"zoo2019/ResNet018-v2", 69},
      {"zoo2019/ResNet034-v1", 125},
      {"zoo2019/ResNet034-v2", 125},
      {"zoo2019/ResNet050-v1", 175},
      {"zoo2019/ResNet050-v2", 174},
      {"zoo2019/ResNet101-v1", 345},
      {"zoo2019/ResNet101-v2", 344},
      {"zoo2019/ResNet152-v1", 515},
      {"zoo2019/ResNet152-v2", 514},
      {"zoo2019/Shufflenet", 203},
      {"zoo2019/Squeezenet-v1.1", 66},
      {"zoo2019/Tiny_YOLO-v2", 32},
      {"zoo2019/VGG16-BN", 54},
      {"zoo2019/VGG16", 41},
      {"zoo2019/VGG19-BN", 63},
      {"zoo2019/VGG19", 47},
      {"zoo2019/Zfnet512", 22},
  }));
  INFO(name);
  const Graph graph = model(name);
  CHECK(graph.nodes.size() == nodes);
  CHECK(graph.batch == 1);
  CHECK(graph.name == std::filesystem::path(name).filename());
  for (const auto& node : graph.nodes) CHECK(node.op_type != "ConstantOfShape");
  for (const auto& value : graph.values) CHECK_FALSE(value.data_dependent);
}

TEST_CASE("VGG16 has 15,470,264,320 multiply-adds and ResNet-50 has 4,089,184,256", "[onnx]") {
  // The published counts: 15.47 and 4.09 G in torchvision's table.
  CHECK(multiply_adds(model("zoo2019/VGG16")) == 15'470'264'320);
  CHECK(multiply_adds(model("modern/resnet50")) == 4'089'184'256);
}

TEST_CASE("A batch reaches every layer of the models, also where the exporter froze it", "[onnx]") {
  // Reshape targets with a leading 1, 0 or 1 * windows; a class token; rows of 197 * batch; the initial state of an
  // LSTM; the sizes of a Resize.
  for (const auto& file : testing::model_files()) {
    INFO(file.string());
    const Graph one = import_onnx(file), four = import_onnx(file, {.batch = 4});
    CHECK(four.batch == 4);
    CHECK(multiply_adds(four) == 4 * multiply_adds(one));
    REQUIRE(four.nodes.size() == one.nodes.size());
    for (std::size_t i = 0; i < one.nodes.size(); ++i) {
      INFO(one.nodes[i].name);
      CHECK(four.output(four.nodes[i], 0).elements() == 4 * one.output(one.nodes[i], 0).elements());
    }
  }
}

TEST_CASE("Symbolic dimensions, once bound, give exactly the layers of the bound sizes", "[onnx]") {
  const Graph bound = model("hard/bert_base_batch_seq_symbolic", {.batch = 1, .dims = {{"seq", 128}}}),
              fixed = model("modern/bert_base_s128");
  REQUIRE(op_types(bound).size() == op_types(fixed).size());
  std::multiset<std::string> left, right;
  for (const auto* graph : {&bound, &fixed})
    for (const auto& node : graph->nodes) {
      std::string text = node.op_type;
      for (const auto dim : graph->output(node, 0).dims) text.append(" ").append(std::to_string(dim));
      (graph == &bound ? left : right).insert(text);
    }
  CHECK(left == right);
  CHECK(bound.dims == std::map<std::string, std::int64_t>{{"batch", 1}, {"seq", 128}});
  CHECK(op_types(model("hard/resnet50_batch_symbolic", {.batch = 1})) == op_types(model("modern/resnet50")));
  CHECK(multiply_adds(model("hard/resnet50_batch_symbolic", {.dims = {{"batch", 3}}})) == 3 * 4'089'184'256);
}

TEST_CASE("An unbound symbolic dimension is an error that names it, its option and the longest sequence", "[onnx]") {
  try {
    (void)model("hard/bert_base_batch_seq_symbolic");
    FAIL("imported");
  } catch (const UnboundError& error) {
    CHECK_THAT(error.what(),
               Catch::Contains("bert_base_batch_seq_symbolic.onnx: ") && Catch::Contains("'seq' (--dim seq=VALUE)"));
    CHECK(error.likely ==
          std::vector<std::pair<std::string, std::int64_t>>{{"seq", 512}});  // BERT's table of positions
  }
}

TEST_CASE("8-bit operators outside of ONNX get the shapes that ONNX Runtime gives them", "[onnx]") {
  const Graph graph = model("hard/mobilenet_v3_large_qoperator_i8");
  // As a run in ONNX Runtime shows: signed bytes, ten residual sums, 1000 classes.
  std::size_t sums = 0;
  for (const auto& node : graph.nodes) {
    if (node.op_type == "QLinearAdd") {
      ++sums;
      CHECK(node.domain == "com.microsoft");
      CHECK(graph.output(node, 0).dims == graph.input(node, 0).dims);
      CHECK(graph.output(node, 0).type == DataType::i8);
    }
  }
  CHECK(sums == 10);
  CHECK(graph.value(graph.outputs[0]).dims == Dims{1, 1000});
}

TEST_CASE("Weights in a data file that is absent are constants of known shape", "[onnx]") {
  const Graph graph = model("hard/mnasnet1_0_external_data_absent");
  CHECK(graph.inputs.size() == 1);
  for (const auto& node : graph.nodes)
    if (node.op_type == "Conv") CHECK(graph.input(node, 1).constant);
}

TEST_CASE("A model-local function is inlined", "[onnx]") {
  const Graph graph = model("hard/function_inlined");
  CHECK(op_types(graph) == std::vector<std::string>{"MatMul", "Gelu", "MatMul"});
  CHECK(graph.value(graph.outputs[0]).dims == Dims{64, 768});
}

TEST_CASE("A loop has its body, its captures and its trip count when that is known", "[onnx]") {
  const Graph known = model("hard/loop_known_trip_count"), unknown = model("hard/loop_unknown_trip_count"),
              bound = model("hard/loop_unknown_trip_count", {.values = {{"steps", 12}}});
  CHECK(known.nodes.at(0).trip_count == 12);
  CHECK(bound.nodes.at(0).trip_count == 12);
  CHECK(bound.inputs.size() == 2);
  CHECK_FALSE(unknown.nodes.at(0).trip_count.has_value());
  const Graph& body = known.nodes.at(0).bodies.at(0).graph;
  CHECK(op_types(body) == std::vector<std::string>{"MatMul", "Tanh"});
  REQUIRE(body.captures.size() == 1);
  CHECK(body.value(body.captures[0].first).dims == Dims{512, 512});
  CHECK(known.value(body.captures[0].second).name == "w");
  CHECK(known.value(known.outputs[0]).dims == Dims{1, 512});
}

TEST_CASE("Both branches of an If on an input are there, and the result has the least shape", "[onnx]") {
  const Graph graph = model("hard/if_two_branches");
  const Node& node = graph.nodes.at(0);
  REQUIRE(node.bodies.size() == 2);
  CHECK(node.bodies[0].label == "then_branch");
  CHECK(op_types(node.bodies[0].graph) == std::vector<std::string>{"MatMul"});
  CHECK(op_types(node.bodies[1].graph) == std::vector<std::string>{"MatMul", "Relu"});
  CHECK(graph.value(graph.outputs[0]).dims == Dims{8, 256});  // 256 and 1024 are possible
  CHECK(graph.value(graph.outputs[0]).data_dependent);
  CHECK(make_layer_graph(graph).unknown.size() == 1);  // its size depends on data
  CHECK(graph.batch == 8);
  CHECK(op_types(model("hard/if_two_branches", {.values = {{"early", 0}}})) ==
        std::vector<std::string>{"MatMul", "Relu"});
}

}  // namespace
