// SPDX-License-Identifier: Apache-2.0
// Shapes against those that ONNX Runtime computes (tests/data/onnxruntime_shapes.txt, and operators.txt, a sample of
// benchmarks/engines/operators.py), and versions that are newer than the library.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_graph.hpp>
#include <benanza/onnx.hpp>

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::import_model;
using testing::message_of;
using testing::op_types;
using testing::parse_model;
using Dims = std::vector<std::int64_t>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const auto first = part.find_first_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, part.find_last_not_of(' ') - first + 1));
  }
  return parts;
}

Dims dims_of(const std::string& text) {
  Dims dims;
  if (text != "scalar")
    for (const auto& part : split(text, 'x')) dims.push_back(std::stoll(part));
  return dims;
}

/// A line of a file: operator set | inputs | constants | node | shapes of its outputs | multiply-adds, or nothing.
struct Line {
  std::string text{};
  Graph graph{};
  std::vector<Dims> shapes{};
  std::optional<std::int64_t> multiply_adds{};
};

std::vector<Line> lines_of(const std::string& name) {
  std::ifstream file(std::string(BENANZA_TEST_DATA) + "/" + name);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    INFO(text);
    const auto fields = split(text, '|');
    REQUIRE(fields.size() >= 5);
    std::string outputs;
    for (const auto& output : split(fields[3].substr(0, fields[3].find('=')), ','))
      outputs += (outputs.empty() ? "float " : ", float ") + output;
    auto model = parse_model("g (" + fields[1] + ") => (" + outputs + ")" +
                                 (fields[2].empty() ? "" : " <" + fields[2] + ">") + " { " + fields[3] + " }",
                             "<ir_version: 8, opset_import: [\"\" : " + fields[0] + ", \"com.microsoft\" : 1]>");
    for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();  // only a rule gives the shape
    Line& line = lines.emplace_back(Line{.text = text, .graph = import_model(model)});
    for (const auto& shape : split(fields[4], ';')) line.shapes.push_back(dims_of(shape));
    if (fields.size() > 5) line.multiply_adds = std::stoll(fields[5]);
  }
  return lines;
}

TEST_CASE("Operators have the shapes that ONNX Runtime gives them", "[onnx]") {
  const std::string file = GENERATE("onnxruntime_shapes.txt", "operators.txt");
  const auto lines = lines_of(file);
  CHECK(lines.size() > 100);
  for (const auto& [text, graph, shapes, multiply_adds] : lines) {
    INFO(text);
    for (std::size_t i = 0; i < shapes.size(); ++i) CHECK(graph.value(graph.outputs.at(i)).dims == shapes[i]);
  }
}

TEST_CASE("Operators have the multiply-adds of their definition", "[onnx]") {
  for (const auto& [text, graph, shapes, multiply_adds] : lines_of("operators.txt")) {
    INFO(text);
    std::int64_t counted = 0;
    for (const auto& at : make_layer_graph(graph).layers) counted += cost(at.layer).macs * at.repeat;
    CHECK(counted == multiply_adds);
  }
}

TEST_CASE("Versions above the newest that is known are read as that one, with a warning", "[onnx]") {
  auto model = parse_model("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  CHECK(import_model(model).warnings.empty());
  model.mutable_opset_import(0)->set_version(999);
  model.set_ir_version(99);
  const Graph graph = import_model(model);
  REQUIRE(graph.warnings.size() == 2);
  CHECK_THAT(graph.warnings[0],
             Catch::Contains("operator set 999 of domain 'ai.onnx'") && Catch::Contains("read as operator set"));
  CHECK_THAT(graph.warnings[1], Catch::Contains("IR version 99") && Catch::Contains("read as IR version"));
  CHECK(graph.nodes.at(0).opset < 999);
  model.mutable_opset_import(0)->set_version(0);
  CHECK_THAT(message_of<InputError>([&] { (void)import_model(model); }), Catch::Contains("expected 1 or more"));
}

TEST_CASE("Old and new opsets and IR versions read a network alike", "[onnx]") {
  const auto [ir, opset] = GENERATE(values<std::pair<int, int>>({{3, 7}, {3, 8}, {4, 9}, {6, 11}, {8, 17}, {10, 21}}));
  INFO("IR version " << ir << ", operator set " << opset);
  const Graph graph = import_model(
      parse_model(
          "g (float[N,3,32,32] x, float[8,3,3,3] w) => (float[N,128] y) { c = Conv <pads = [1, 1, 1, 1]> (x, w) "
          "r = Relu(c) p = MaxPool <kernel_shape = [8, 8], strides = [8, 8]> (r) y = Flatten(p) }",
          "<ir_version: " + std::to_string(ir) + ", opset_import: [\"\" : " + std::to_string(opset) + "]>"),
      {.batch = 2});
  CHECK(op_types(graph) == std::vector<std::string>{"Conv", "Relu", "MaxPool", "Flatten"});
  CHECK(graph.value(graph.outputs[0]).dims == Dims{2, 8 * 4 * 4});
  CHECK(graph.warnings.empty());
}

// Since operator set 4 its keys and values are tensors: the output has the type of the values.
TEST_CASE("A LabelEncoder whose labels are tensors keeps the shape and takes the type of its values", "[onnx]") {
  auto model = parse_model("g (int64[2,3] x) => (float[2,3] y) { y = ai.onnx.ml.LabelEncoder(x) }",
                           R"(<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 4]>)");
  auto& node = *model.mutable_graph()->mutable_node(0);
  const auto add = [&node](const std::string& name, onnx::TensorProto::DataType type) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(type);
    attribute.mutable_t()->add_dims(2);
    return attribute.mutable_t();
  };
  auto* keys = add("keys_tensor", onnx::TensorProto::INT64);
  auto* values = add("values_tensor", onnx::TensorProto::FLOAT);
  for (const int i : {1, 2}) {
    keys->add_int64_data(i);
    values->add_float_data(static_cast<float>(i));
  }
  const bool declared = GENERATE(true, false);
  if (!declared) {
    model.mutable_graph()->mutable_output(0)->clear_type();
  }
  const Graph graph = import_model(model);
  const Value& y = graph.value(graph.outputs[0]);
  CHECK(y.dims == Dims{2, 3});
  CHECK(y.type == DataType::f32);
}

TEST_CASE("Col2Im takes any batch, but no image of more than 64 dimensions", "[onnx]") {
  const Graph graph = testing::import_text(
      "g (float[100, 4, 9] x) => (y) <int64[2] size = {4, 4}, int64[2] block = {2, 2}>"
      " { y = Col2Im(x, size, block) }");
  CHECK(graph.value(graph.outputs[0]).dims == Dims{100, 1, 4, 4});
  CHECK_THAT(message_of<InputError>([] {
               (void)testing::import_text(
                   "g (float[1, 4, 9] x, int64[65] size, int64[65] block) => (y) { y = Col2Im(x, size, block) }");
             }),
             Catch::Contains("input 1 is a shape of 65 dimensions"));
}

TEST_CASE("An output that the file gives no shape is not a scalar", "[onnx]") {
  auto model = parse_model("g (float[2] x) => (float y) { y = some.where.Unknown(x) }",
                           R"(<ir_version: 10, opset_import: ["" : 20, "some.where" : 1]>)");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_THAT(message_of<InputError>([&] { (void)import_model(model); }),
             Catch::Contains("unknown operator of domain 'some.where'") &&
                 Catch::Contains("add its type and shape to the file's value_info"));
}

}  // namespace
