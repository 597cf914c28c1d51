// SPDX-License-Identifier: Apache-2.0
// The pre-scan's cost depends on a file's structure, not on its weights; it refuses files that are not models.
#include "onnx/scan.hpp"
#include "onnx/wire.hpp"
#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using importer::drop_payloads;
using testing::import_model;
using testing::import_text;
using testing::message_of;
using testing::parse_model;
using testing::TemporaryFile;
using testing::value_named;
using Dims = std::vector<std::int64_t>;

onnx::TensorProto weight(const std::string& name, const Dims& dims) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const auto dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(std::string(static_cast<std::size_t>(element_count(dims)) * 4, 'w'));
  return tensor;
}

TEST_CASE("Payloads are dropped in graphs, bodies, functions and attributes; shapes stay", "[onnx]") {
  auto model = parse_model(
      "g (float[1,64] x, bool c) => (float[1,64] y) { k = Constant <value = float[1] {1}> () s = MatMul(x, w) t = "
      "MatMul(s, k)"
      " y = If (c) <then_branch = a () => (float[1,64] p) { p = MatMul(t, v) }, else_branch = b () => (float[1,64] q) "
      "{ q = Relu(t) }> }");
  *model.mutable_graph()->add_initializer() = weight("w", {64, 64});
  *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t() = weight("", {64, 64});
  for (auto& attribute : *model.mutable_graph()->mutable_node(3)->mutable_attribute())
    if (attribute.name() == "then_branch") *attribute.mutable_g()->add_initializer() = weight("v", {64, 64});
  const std::string file = model.SerializeAsString();
  CHECK(file.size() > 3 * 64 * 64 * 4);
  CHECK(drop_payloads(file).size() < 1000);
  const Graph graph = import_model(model);
  CHECK(value_named(graph, "w").dims == Dims{64, 64});
  CHECK(value_named(graph, "w").constant);
  CHECK(value_named(graph, "k").dims == Dims{64, 64});
  CHECK(value_named(graph.nodes.back().bodies[0].graph, "v").constant);
}

TEST_CASE("A model of more than 2 GiB is read for its structure", "[onnx]") {
  // The weight is a hole in the file: 640 Mi floats that take no space on the disk.
  auto model = parse_model("g (float[1,10240] x) => (float[1,65536] y) { y = MatMul(x, w) }");
  constexpr std::uint64_t bytes = std::uint64_t{10240} * 65536 * 4;
  std::string tensor, head;
  importer::write_number(tensor, 1, 10240);
  importer::write_number(tensor, 1, 65536);
  importer::write_number(tensor, 2, 1);
  importer::write_bytes(tensor, 8, "w");
  importer::write_varint(tensor, 9 << 3 | 2);
  importer::write_varint(tensor, bytes);
  const std::string structure = model.graph().SerializeAsString();
  importer::write_varint(head, 5 << 3 | 2);
  importer::write_varint(head, tensor.size() + bytes);
  std::string front;
  model.clear_graph();
  front = model.SerializeAsString();
  importer::write_varint(front, 7 << 3 | 2);
  importer::write_varint(front, structure.size() + head.size() + tensor.size() + bytes);
  const TemporaryFile file(front + structure + head + tensor);
  std::filesystem::resize_file(file.path(), (front + structure + head + tensor).size() + bytes);
  const Graph graph = import_onnx(file.path());
  CHECK(value_named(graph, "w").dims == Dims{10240, 65536});
  CHECK(value_named(graph, "y").dims == Dims{1, 65536});
}

TEST_CASE("Small integers stay for shape arithmetic, however they are stored", "[onnx]") {
  for (const bool raw : {false, true}) {
    auto model = parse_model("g (float[2,6] x) => (y) { y = Reshape(x, shape) }");
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name("shape");
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(2);
    const std::int64_t numbers[] = {4, 3};
    if (raw) tensor.set_raw_data(numbers, sizeof numbers);
    else
      for (const auto number : numbers) tensor.add_int64_data(number);
    model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::FLOAT);
    const Graph graph = import_model(model);
    CHECK(value_named(graph, "y").dims == Dims{4, 3});
    CHECK(value_named(graph, "shape").literal == Literal{.ints = {4, 3}, .floats = {}});
  }
}

TEST_CASE("A triangle is seen in whichever field its numbers are", "[onnx]") {
  constexpr int size = 32;
  struct Case {
    onnx::TensorProto::DataType type;
    int lower;  ///< the number on and below the diagonal, as the field holds it; the others are 0
    double number;
  };
  const auto [type, lower, number] = GENERATE(values<Case>({{onnx::TensorProto::FLOAT, 1, 1},
                                                            {onnx::TensorProto::DOUBLE, 1, 1},
                                                            {onnx::TensorProto::FLOAT16, 0x3c00, 1},
                                                            {onnx::TensorProto::BFLOAT16, 0x3f80, 1},
                                                            {onnx::TensorProto::BOOL, 1, 1},
                                                            {onnx::TensorProto::INT32, -1, -1},
                                                            {onnx::TensorProto::INT64, -1, -1},
                                                            {onnx::TensorProto::UINT32, 7, 7}}));
  auto model = parse_model("g (float[1] x) => (float[1] y) { y = Relu(x) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("t");
  tensor.set_data_type(type);
  tensor.add_dims(size);
  tensor.add_dims(size);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      const int one = j <= i ? lower : 0;
      if (type == onnx::TensorProto::FLOAT) tensor.add_float_data(static_cast<float>(one));
      else if (type == onnx::TensorProto::DOUBLE) tensor.add_double_data(one);
      else if (type == onnx::TensorProto::INT64) tensor.add_int64_data(one);
      else if (type == onnx::TensorProto::UINT32) tensor.add_uint64_data(static_cast<std::uint64_t>(one));
      else tensor.add_int32_data(one);
    }
  auto& output = *model.mutable_graph()->add_output();  // so that the tensor is read
  output = model.graph().output(0);
  output.set_name("t");
  output.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  output.mutable_type()->mutable_tensor_type()->clear_shape();
  const Graph graph = import_model(model);
  const Value& t = value_named(graph, "t");
  CHECK(t.dims == Dims{size, size});
  const bool is_kept = t.literal.has_value();  // integers of this number stay as they are
  CHECK(is_kept ==
        (type == onnx::TensorProto::BOOL || type == onnx::TensorProto::INT32 || type == onnx::TensorProto::INT64));
  if (is_kept) return;
  REQUIRE(t.banded);
  CHECK(t.banded->band.most == 0);
  CHECK(t.banded->inside == number);
  CHECK(t.banded->outside == 0);
}

TEST_CASE("The zeros around a band may be negative, as those of a mask times weights in NumPy", "[onnx]") {
  constexpr int size = 32;
  std::string raw;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      const float weight = static_cast<float>(j - 2 * i) - 0.5F, one = i == j ? weight : 0 * weight;
      raw.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
  auto model = parse_model("g (float[32] x) => (float[32] y) { y = MatMul(w, x) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor = weight("w", {size, size});
  tensor.set_raw_data(raw);
  const Graph graph = import_model(model);
  REQUIRE(value_named(graph, "w").banded);
  CHECK(value_named(graph, "w").banded->band == Band{0, 0});
  CHECK(value_named(graph, "w").banded->differ);
}

TEST_CASE("External data is read like that of the file: a shape, and a triangle", "[onnx]") {
  constexpr int size = 32;
  std::string numbers(2 * sizeof(std::int64_t), '\0');
  const std::int64_t shape[] = {4, 3};
  std::memcpy(numbers.data(), shape, sizeof shape);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      const float one = j <= i ? 1 : 0;
      numbers.append(reinterpret_cast<const char*>(&one), sizeof one);
    }
  const TemporaryFile data(numbers, ".data");
  auto model = parse_model(
      "g (float[2,6] x, float[32] z) => (float[N,M] y, float[K] u) "
      "{ y = Reshape(x, shape) u = MatMul(t, z) }");
  const auto add = [&](const std::string& name, onnx::TensorProto::DataType type, const Dims& dims,
                       std::size_t offset) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const auto dim : dims) tensor.add_dims(dim);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", data.path().filename().string()},
                                     {"offset", std::to_string(offset)}}) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  };
  add("shape", onnx::TensorProto::INT64, {2}, 0);
  add("t", onnx::TensorProto::FLOAT, {size, size}, sizeof shape);
  const Graph graph = import_model(model);
  CHECK(value_named(graph, "y").dims == Dims{4, 3});
  REQUIRE(value_named(graph, "t").banded);
  CHECK(value_named(graph, "t").banded->band.most == 0);
}

TEST_CASE("A tensor of no elements needs no file of external data", "[onnx]") {
  auto model = parse_model("g (float[2,6] x) => (float[N,M] y) { y = ReduceSum <noop_with_empty_axes = 1> (x, axes) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("axes");
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(0);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("absent.data");
  const Graph graph = import_model(model);
  CHECK(graph.value(graph.outputs.at(0)).dims == Dims{2, 6});
}

TEST_CASE("A shape in external data that is not there is named", "[onnx]") {
  auto model = parse_model("g (float[2,6] x) => (float[N,M] y) { y = Reshape(x, shape) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("shape");
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("absent.data");
  CHECK_THAT(message_of<InputError>([&] { (void)import_model(model); }),
             Catch::Contains("the constant 'shape', whose numbers cannot be read (external data"));
}

TEST_CASE("An initializer is a constant, whether or not it is also an input", "[onnx]") {
  const std::string also = GENERATE("", ", float[64,64] w");  // IR version 3 demands the input; real files leave it out
  auto model = parse_model("g (float[1,64] x" + also + ") => (float[1,64] y) { y = MatMul(x, w) }",
                           R"(<ir_version: 3, opset_import: ["" : 9]>)");
  *model.mutable_graph()->add_initializer() = weight("w", {64, 64});
  const Graph graph = import_model(model);
  CHECK(graph.inputs.size() == 1);
  CHECK(value_named(graph, "w").constant);
}

TEST_CASE("A sparse initializer is a constant of its dense shape", "[onnx]") {
  auto model = parse_model("g (float[1,64] x) => (float[1,32] y) { y = MatMul(x, w) }");
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = weight("w", {3});
  sparse.add_dims(64);
  sparse.add_dims(32);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(3);
  for (const int index : {1, 5, 9}) sparse.mutable_indices()->add_int64_data(index);
  CHECK(value_named(import_model(model), "w").dims == Dims{64, 32});
}

TEST_CASE("External data outside of the model's folder is refused, absent data inside is fine", "[onnx]") {
  struct Case {
    std::string location;
    bool fine;
  };
  const auto [location, fine] = GENERATE(values<Case>({{"weights.bin", true},
                                                       {"data/weights.bin", true},
                                                       {"/etc/passwd", false},
                                                       {"../weights.bin", false},
                                                       {"data/../../weights.bin", false},
                                                       {"..\\weights.bin", false},
                                                       {"C:\\weights.bin", false}}));
  INFO(location);
  auto model = parse_model("g (float[1,64] x) => (float[1,64] y) { y = MatMul(x, w) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor = weight("w", {64, 64});
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value(location);
  const std::string message = message_of<InputError>([&] {
    const Graph graph = import_model(model);
    CHECK(value_named(graph, "w").dims == Dims{64, 64});
  });
  CHECK(message.empty() == fine);
  if (!fine)
    CHECK_THAT(message, Catch::Contains("tensor 'w'") && Catch::Contains(location) && Catch::Contains("folder"));
}

TEST_CASE("External data that says two things is refused: readers would differ in which they take", "[onnx]") {
  const auto wire = [](std::uint32_t number, const std::string& bytes) {
    std::string out;
    importer::write_bytes(out, number, bytes);
    return out;
  };
  // One entry with two values, with two keys; a list with two locations.
  const std::string more = GENERATE_COPY(
      wire(13, wire(1, "location") + wire(2, "w.bin") + wire(2, "/etc/passwd")),
      wire(13, wire(2, "w.bin") + wire(1, "location") + wire(1, "offset")),
      wire(13, wire(2, "/etc/passwd") + wire(1, "location") + wire(2, "w.bin")),
      wire(13, wire(1, "location") + wire(2, "w.bin")) + wire(13, wire(1, "location") + wire(2, "v.bin")));
  auto model = parse_model("g (float[1,64] x) => (float[1,64] y) { y = MatMul(x, w) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor = weight("w", {64, 64});
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  // protobuf's own writer repeats no field, so the bytes are added by hand.
  const auto grown = [](const std::string& message, std::uint32_t field, const std::string& end) {
    std::string out;
    importer::write_bytes(out, field, message + end);
    return out;
  };
  tensor.clear_external_data();
  const std::string tensor_bytes = tensor.SerializeAsString();
  model.mutable_graph()->mutable_initializer()->RemoveLast();
  const std::string graph = model.graph().SerializeAsString();
  model.clear_graph();
  const TemporaryFile file(model.SerializeAsString() + grown(graph, 7, grown(tensor_bytes, 5, more)), ".onnx");
  CHECK_THAT(message_of<InputError>([&] { (void)import_onnx(file.path()); }),
             Catch::Contains("tensor 'w'") && Catch::Contains("has two of"));
}

TEST_CASE("External data has the shape that the model says, wherever it lies in its file, also where that is cut off",
          "[onnx]") {
  // The file is a hole of more than 4 GiB that takes no space on the disk; the second tensor begins behind it.
  constexpr std::uint64_t offset = std::uint64_t{5} << 30, bytes = std::uint64_t{64} * 64 * 4;
  const auto end = GENERATE_COPY(offset + bytes, offset + bytes / 2, std::uint64_t{0});
  const TemporaryFile data({}, ".data");
  std::filesystem::resize_file(data.path(), end);
  auto model = parse_model("g (float[1,64] x) => (float[1,64] y) { h = MatMul(x, v) y = MatMul(h, w) }");
  for (const std::string name : {"v", "w"}) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor = weight(name, {64, 64});
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&tensor](const std::string& key, const std::string& value) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add("location", data.path().filename().string());
    add("offset", std::to_string(name == "v" ? 0 : offset));
    add("length", std::to_string(bytes));
  }
  const Graph graph = import_model(model);
  for (const std::string name : {"v", "w"}) {
    CHECK(value_named(graph, name).dims == Dims{64, 64});
    CHECK(value_named(graph, name).constant);
  }
}

TEST_CASE("What is not a model is an error of one line that says where", "[onnx]") {
  const std::string good = parse_model("g (float[1,64] x) => (float[1,64] y) { y = Relu(x) }").SerializeAsString();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const TemporaryFile file(std::string_view(good).substr(0, size));
    const std::string message = message_of<Error>([&] { (void)import_onnx(file.path()); });
    // A cut between two fields may leave a smaller model.
    if (message.empty()) continue;
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.starts_with(file.path().string() + ": "));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 512, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    const TemporaryFile file(bytes);
    const std::string message = message_of<InputError>([&] { (void)import_onnx(file.path()); });
    CHECK_FALSE(message.empty());
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("A missing file, a folder and an empty file are errors that say so", "[onnx]") {
  CHECK_THAT(message_of<InputError>([] { (void)import_onnx("no/such/model.onnx"); }),
             Catch::Contains("no/such/model.onnx: cannot be opened"));
  CHECK_THAT(message_of<InputError>([] { (void)import_onnx(std::filesystem::temp_directory_path()); }),
             Catch::Contains("Is a directory"));
  const TemporaryFile file;
  CHECK_THAT(message_of<InputError>([&] { (void)import_onnx(file.path()); }), Catch::Contains("the file is empty"));
}

TEST_CASE("Sizes that a file declares are checked before they are believed", "[onnx]") {
  struct Case {
    Dims dims;
    std::string expected;
  };
  const auto [dims, expected] =
      GENERATE(values<Case>({{{-1, 64}, "dimension -1, expected 0 or more"},
                             {{std::int64_t{1} << 40, std::int64_t{1} << 40}, "overflows 64 bits"}}));
  auto model = parse_model("g (float[1,64] x) => (float[1,64] y) { y = MatMul(x, w) }");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor = weight("w", {1});
  tensor.clear_dims();
  for (const auto dim : dims) tensor.add_dims(dim);
  CHECK_THAT(message_of<InputError>([&] { (void)import_model(model); }),
             Catch::Contains("tensor 'w'") && Catch::Contains(expected));
}

TEST_CASE("A Split keeps a size for each of its results, however many", "[onnx]") {
  constexpr int results = 10'000;  // more than the numbers of other integers that are kept
  auto model = parse_model("g (float[10002,2] x) => (float[3,2] y) { y = Split<axis = 0>(x, sizes) }");
  auto& split = *model.mutable_graph()->mutable_node(0);
  auto& sizes = *model.mutable_graph()->add_initializer();
  sizes.set_name("sizes");
  sizes.set_data_type(onnx::TensorProto::INT64);
  sizes.add_dims(results);
  sizes.add_int64_data(3);
  for (int i = 1; i < results; ++i) {
    split.add_output("y" + std::to_string(i));
    sizes.add_int64_data(1);
  }
  const Graph graph = import_model(model);
  REQUIRE(graph.nodes.size() == 1);
  REQUIRE(graph.nodes[0].outputs.size() == results);
  CHECK(graph.output(graph.nodes[0], 0).dims == Dims{3, 2});
  CHECK(graph.output(graph.nodes[0], 1).dims == Dims{1, 2});
  CHECK(graph.output(graph.nodes[0], results - 1).dims == Dims{1, 2});
}

TEST_CASE("Bodies nested without end are refused", "[onnx]") {
  auto model = parse_model("g (float[1] x, bool c) => (float[1] y) { y = Relu(x) }");
  onnx::GraphProto inner = model.graph();
  for (int depth = 0; depth < 40; ++depth) {
    onnx::GraphProto outer = model.graph();
    auto& attribute = *outer.mutable_node(0)->add_attribute();
    attribute.set_name("body");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = inner;
    inner = outer;
  }
  *model.mutable_graph() = inner;
  CHECK_THAT(message_of<InputError>([&] { (void)import_model(model); }), Catch::Contains("nested"));
}

}  // namespace
