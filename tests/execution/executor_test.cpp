// SPDX-License-Identifier: Apache-2.0
#include "execution/packed_constants.hpp"
#include "execution/special_nodes.hpp"
#include "support/catch.hpp"
#include "support/fake_device.hpp"
#include "support/onnx_text.hpp"
#include <benanza/execution/executor.hpp>
#include <benanza/execution/random_tensor.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/session/backends.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/stat.h>

using namespace benanza;

namespace {

using Values = std::vector<double>;
using Inputs = std::map<std::string, Tensor>;

constexpr std::uint64_t engines_seed = 2020;  // SEED of benchmarks/engines/compare.py

Tensor floats(Tensor::Dims dims, const Values& values) { return Tensor::of(DataType::f32, std::move(dims), values); }

Values run_text(const std::string& model, const Inputs& inputs, const std::string& output) {
  Executor executor = Executor::load(testing::import_text(model, {.executable = true}));
  return executor.run(inputs).outputs.at(output).values();
}

/// A number of an output, and its position.
struct Expected {
  std::string model{}, output{};
  double largest = 0;
  std::map<std::int64_t, double> numbers{};
};

std::vector<Expected> expected_outputs() {
  std::ifstream file(std::string(BENANZA_TEST_DATA) + "/onnxruntime_outputs.txt");
  std::vector<Expected> result;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Expected one;
    std::string bar, number;
    words >> one.model >> bar >> one.output >> bar >> one.largest;
    while (words >> number) {
      const auto at = number.find('=');
      one.numbers[std::stoll(number)] = std::stod(number.substr(at + 1));
    }
    result.push_back(std::move(one));
  }
  return result;
}

Inputs random_inputs(const Executor& executor) {
  Inputs inputs;
  for (const auto& info : executor.inputs())
    inputs[info.name] = random_input(info.type, info.dims, info.name, engines_seed);
  return inputs;
}

}  // namespace

TEST_CASE("A cubic GridSample clamps each cell to the border, as PyTorch and ONNX Runtime do") {
  // The position is half a cell beyond the last cell, so that Keys' weights are -0.09375, 0.59375, 0.59375, -0.09375.
  // The first is that of the cell with 4. The others are those of the last cell, which has 8.
  const Inputs x{{"x", floats({1, 1, 1, 4}, {1, 2, 4, 8})}, {"g", floats({1, 1, 1, 2}, {1, 0})}};
  const Values y = run_text(
      "m (float[1,1,1,4] x, float[1,1,1,2] g) => (float[1,1,1,1] y) "
      "{ y = GridSample <mode = \"cubic\", padding_mode = \"border\"> (x, g) }",
      x, "y");
  CHECK(y.at(0) == Approx(-0.09375 * 4 + (0.59375 + 0.59375 - 0.09375) * 8));
}

TEST_CASE("The magnitude, the negative and the square of 8-bit integers wrap around") {
  // As NumPy and ONNX Runtime 1.32 compute them: -(-128) and 16 * 16 do not fit into 8 bits.
  const auto size = static_cast<std::size_t>(GENERATE(3, 256));
  const auto run = [&](const std::string& type, const std::string& node, DataType as, Values x) {
    x.resize(size);
    Executor executor =
        Executor::load(testing::import_text("m (" + type + "[" + std::to_string(size) + "] x) => (" + type + "[" +
                                                std::to_string(size) + "] y) { y = " + node + " }",
                                            {.executable = true}),
                       {.backends = usable_backends()});
    Values y = executor.run({{"x", Tensor::of(as, {static_cast<std::int64_t>(size)}, x)}}).outputs.at("y").values();
    y.resize(3);
    return y;
  };
  CHECK(run("int8", "Neg(x)", DataType::i8, {-128, -5, 7}) == Values{-128, 5, -7});
  CHECK(run("int8", "Abs(x)", DataType::i8, {-128, -5, 7}) == Values{-128, 5, 7});
  CHECK(run("int8", "Mul(x, x)", DataType::i8, {-128, -5, 12}) == Values{0, 25, -112});
  CHECK(run("uint8", "Mul(x, x)", DataType::u8, {255, 16, 15}) == Values{1, 0, 225});
}

TEST_CASE("constant operands of a product that lie transposed are exchanged") {
  // (1 2) times the transpose of rows (1 2), (3 4), (5 6): 5, 11, 17; twice that if alpha is 2.
  const std::string model = R"(m (float[1,2] x) => (float[1,3] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { y = )";
  const Inputs inputs{{"x", floats({1, 2}, {1, 2})}};
  CHECK(run_text(model + "Gemm<transB = 1>(x, w) }", inputs, "y") == Values{5, 11, 17});
  CHECK(run_text(model + "Gemm<transB = 1, alpha = 2.0>(x, w) }", inputs, "y") == Values{10, 22, 34});
  CHECK(run_text(model + "Einsum<equation = \"ij,kj->ik\">(x, w) }", inputs, "y") == Values{5, 11, 17});
}

TEST_CASE("models give the outputs that ONNX Runtime gives") {
  const auto all = expected_outputs();
  REQUIRE(all.size() == 3);
  for (const auto& expected : all) {
    CAPTURE(expected.model, expected.output);
    Executor executor = Executor::load(std::string(BENANZA_MODELS) + "/" + expected.model,
                                       {.backends = usable_backends(), .weight_seed = engines_seed});
    const Execution execution = executor.run(random_inputs(executor), {.check = true});
    const Tensor& output = execution.outputs.at(expected.output);
    for (const auto& [place, number] : expected.numbers) {
      CAPTURE(place);
      CHECK(std::fabs(output[place] - number) <= 1e-3 * expected.largest);
    }
    CHECK(execution.checked > 0);
    CHECK(execution.disagreements.empty());
  }
}

TEST_CASE("numbers that decide no speed are the model's") {
  // 2 * (1 * 3 + 2 * 4) + 0.5 * 10 = 27
  CHECK(run_text("m (float[1,2] a, float[2,1] b, float[1,1] c) => (float[1,1] y) { y = Gemm <alpha = 2.0, beta = 0.5> "
                 "(a, b, c) }",
                 {{"a", floats({1, 2}, {1, 2})}, {"b", floats({2, 1}, {3, 4})}, {"c", floats({1, 1}, {10})}},
                 "y") == Values{27});
  // (x - 1) / sqrt(3 + 1) * 2 + 0.5
  CHECK(
      run_text(
          R"(m (float[1,1,2] x) => (float[1,1,2] y) <float[1] s = {2}, float[1] b = {0.5}, float[1] mean = {1}, float[1] var = {3}>
                    { y = BatchNormalization <epsilon = 1.0> (x, s, b, mean, var) })",
          {{"x", floats({1, 1, 2}, {1, 3})}}, "y") == Values{0.5, 2.5});
}

TEST_CASE("a PRelu whose slope is its operand is computed by every backend") {
  Executor executor =
      Executor::load(testing::import_text("m (float[3] x) => (float[3] y) { y = PRelu(x, x) }", {.executable = true}),
                     {.backends = usable_backends()});
  const Execution execution = executor.run({{"x", floats({3}, {2, -3, 0.5})}}, {.check = true});
  CHECK(execution.outputs.at("y").values() == Values{2, 9, 0.5});
  CHECK(execution.disagreements.empty());
}

TEST_CASE("the maximum of infinities is one of them, and so is the logarithm of their exponentials") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const std::string type : {"ReduceMax", "ReduceLogSumExp"})
    for (const std::string axis : {"0", "1"}) {
      CAPTURE(type, axis);
      Executor executor = Executor::load(testing::import_text("m (float[2,2] x) => (float[2] y) <int64[1] a = {" +
                                                                  axis + "}> { y = " + type + "<keepdims = 0>(x, a) }",
                                                              {.executable = true}),
                                         {.backends = usable_backends()});
      const Inputs inputs{{"x", floats({2, 2}, {-infinity, -infinity, 1, infinity})}};
      CHECK(executor.run(inputs).outputs.at("y").values() == Values{axis == "0" ? 1 : -infinity, infinity});
    }
}

TEST_CASE("nearest of opset 10 rounds up where an axis shrinks") {
  // ONNX's own test vector resize_downsample_nearest of opset 10
  const auto model = testing::parse_model(
      "m (float[1,1,2,4] x) => (float[1,1,1,2] y) <float[4] s = {1, 1, 0.6, 0.6}> { y = Resize<mode = \"nearest\">(x, "
      "s) }",
      "<ir_version: 5, opset_import: [\"\" : 10]>");
  Executor executor = Executor::load(testing::import_model(model, {.executable = true}));
  const Tensor x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(executor.run({{"x", x}}).outputs.at("y").values() == Values{1, 3});
}

TEST_CASE("a Split with one part that has elements hands it on, wherever it is") {
  const Inputs inputs{{"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  CHECK(run_text("m (float[2,3] x) => (float[0,3] y, float[2,3] z) <int64[2] n = {0, 2}> { y, z = Split(x, n) }",
                 inputs, "z") == Values{1, 2, 3, 4, 5, 6});
  CHECK(run_text("m (float[2,3] x) => (float[2,3] w) <int64[3] n = {0, 2, 0}> { y, z, e = Split(x, n) w = Neg(z) }",
                 inputs, "w") == Values{-1, -2, -3, -4, -5, -6});
}

TEST_CASE("an axis of one element that is reversed stays as it is") {
  CHECK(run_text("m (float[1,3] x) => (float[1,3] y) <int64[1] b = {-1}, int64[1] e = {-9}, int64[1] a = {0}, "
                 "int64[1] s = {-1}> { y = Slice(x, b, e, a, s) }",
                 {{"x", floats({1, 3}, {1, 2, 3})}}, "y") == Values{1, 2, 3});
}

TEST_CASE("scale and bias of a layer norm broadcast") {
  // (1 3) and (2 6) are -1 and 1 after their norms, but for the epsilon.
  const Inputs inputs{{"x", floats({2, 2}, {1, 3, 2, 6})}, {"s", floats({1}, {5})}, {"b", floats({1}, {7})}};
  const auto values = run_text(
      "m (float[2,2] x, float[1] s, float[1] b) => (float[2,2] y) "
      "{ y = LayerNormalization<epsilon = 1e-12>(x, s, b) }",
      inputs, "y");
  REQUIRE(values.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(values[i] == Approx(i % 2 == 0 ? 2 : 12));
  const auto rows = run_text(
      "m (float[2,2] x, float[2] s) => (float[2,2] y) "
      "{ y = LayerNormalization<axis = 0, epsilon = 1e-12>(x, s) }",
      {{"x", floats({2, 2}, {1, 1, 3, 3})}, {"s", floats({2}, {5, 10})}}, "y");
  CHECK(rows == Values{-5, -10, 5, 10});
}

TEST_CASE("an exponent may be an integer") {
  // 2^3, (-3)^3, 0.5^3
  CHECK(run_text("m (float[3] x) => (float[3] y) <int64 e = {3}> { y = Pow(x, e) }", {{"x", floats({3}, {2, -3, 0.5})}},
                 "y") == Values{8, -27, 0.125});
  CHECK(run_text(
            "m (int32[2] x, int64[2] e) => (int32[2] y) { y = Pow(x, e) }",
            {{"x", Tensor::of(DataType::i32, {2}, Values{2, -3})}, {"e", Tensor::of(DataType::i64, {2}, Values{5, 2})}},
            "y") == Values{32, 9});
}

TEST_CASE("an Einsum of three tensors is computed in pairs") {
  // (1 2) times [[1, 1], [0, 2]] is (1 5), times (3 4) is 23. The last two are constants.
  CHECK(run_text("m (float[1,2] x) => (float[1] y) <float[2,2] b = {1, 1, 0, 2}, float[2] c = {3, 4}> "
                 "{ y = Einsum <equation = \"ij,jk,k->i\"> (x, b, c) }",
                 {{"x", floats({1, 2}, {1, 2})}}, "y") == Values{23});
}

TEST_CASE("gathers, scatters, scans, selections and transforms run by plans, not by the reference") {
  // Results are those of the examples in ONNX's specification of the operators, and of NumPy.
  const auto run = [](const std::string& text, const Values& x, const Inputs& others, Tensor::Dims dims) {
    Inputs inputs = others;
    inputs["x"] = floats(std::move(dims), x);
    Executor executor =
        Executor::load(testing::import_text(text, {.executable = true}), {.backends = usable_backends()});
    const Execution execution = executor.run(inputs);
    for (const auto& node : execution.nodes) CHECK(node.plan != "reference");
    return execution.outputs.at("y").values();
  };
  const auto indices = [](Tensor::Dims dims, const Values& values) {
    return Inputs{{"i", Tensor::of(DataType::i64, std::move(dims), values)}};
  };
  CHECK(run("m (float[2,2] x, int64[2,2] i) => (float[2,2] y) { y = GatherElements<axis = 1>(x, i) }", {1, 2, 3, 4},
            indices({2, 2}, {0, 0, 1, 0}), {2, 2}) == Values{1, 1, 4, 3});
  CHECK(run("m (float[2,2] x, int64[2,2] i) => (float[2] y) { y = GatherND(x, i) }", {0, 1, 2, 3},
            indices({2, 2}, {0, 0, 1, 1}), {2, 2}) == Values{0, 3});
  CHECK(run("m (float[1,5] x, int64[1,2] i) => (float[1,5] y) <float[1,2] u = {7, 8}> "
            "{ y = ScatterElements<axis = 1>(x, i, u) }",
            {1, 2, 3, 4, 5}, indices({1, 2}, {1, 3}), {1, 5}) == Values{1, 7, 3, 8, 5});
  CHECK(run("m (float[8] x, int64[4,1] i) => (float[8] y) <float[4] u = {9, 10, 11, 12}> { y = ScatterND(x, i, u) }",
            {1, 2, 3, 4, 5, 6, 7, 8}, indices({4, 1}, {4, 3, 1, 7}), {8}) == Values{1, 11, 3, 10, 9, 6, 7, 12});
  CHECK(run("m (float[5] x) => (float[5] y) <int64 a = {0}> { y = CumSum(x, a) }", {1, 2, 3, 4, 5}, {}, {5}) ==
        Values{1, 3, 6, 10, 15});
  CHECK(run("m (float[1,4] x) => (float[1,3] y, int64[1,3] at) <int64[1] k = {3}> { y, at = TopK(x, k) }", {0, 1, 2, 3},
            {}, {1, 4}) == Values{3, 2, 1});
  // A batch's own mean and variance: 2 and 1 for the first channel, 5 and 4 for the second.
  const Values normalized =
      run("m (float[2,2,1] x) => (float[2,2,1] y, float[2] mean, float[2] variance) "
          "<float[2] one = {1, 1}, float[2] zero = {0, 0}> "
          "{ y, mean, variance = BatchNormalization<training_mode = 1, epsilon = 0.0>(x, one, zero, zero, one) }",
          {1, 3, 3, 7}, {}, {2, 2, 1});
  CHECK(normalized == Values{-1, -1, 1, 1});
}

TEST_CASE("equal numbers have no variance, however far they are from zero") {
  const auto run = [](const std::string& text, Tensor::Dims dims, double value) {
    Executor executor =
        Executor::load(testing::import_text(text, {.executable = true}), {.backends = usable_backends()});
    const auto count = static_cast<std::size_t>(element_count(dims));
    return executor.run({{"x", floats(std::move(dims), Values(count, value))}}).outputs;
  };
  // The bias is all that is left, and the running variance becomes 0.9 of what it was.
  const auto batch =
      run("m (float[1,1,11] x) => (float[1,1,11] y, float[1] mean, float[1] variance) "
          "<float[1] one = {1}, float[1] half = {0.5}> "
          "{ y, mean, variance = BatchNormalization<training_mode = 1>(x, one, half, half, one) }",
          {1, 1, 11}, 123.4);
  for (const double one : batch.at("y").values()) CHECK(one == Approx(0.5).margin(1e-3));
  CHECK(batch.at("variance").values().at(0) == Approx(0.9).margin(1e-6));
  const auto instance =
      run("m (float[1,2,7] x) => (float[1,2,7] y) <float[2] one = {1, 1}, float[2] half = {0.5, 0.5}> "
          "{ y = InstanceNormalization(x, one, half) }",
          {1, 2, 7}, 1e4);
  for (const double one : instance.at("y").values()) CHECK(one == Approx(0.5).margin(1e-3));
}

TEST_CASE("the largest elements begin with what is not a number, as in NumPy and ONNX Runtime") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto places = [&](bool largest, DataType type) {
    Executor executor = Executor::load(
        testing::import_text(std::string("m (") + (type == DataType::f64 ? "double" : "float") + "[1,40] x) => (" +
                                 (type == DataType::f64 ? "double" : "float") + "[1,3] y, int64[1,3] at) " +
                                 "<int64[1] k = {3}> { y, at = TopK<largest = " + (largest ? "1" : "0") + ">(x, k) }",
                             {.executable = true}),
        {.backends = usable_backends()});
    Values x(40, 5);
    x[0] = x[30] = nan;
    x[7] = 9;
    x[20] = 1;
    return executor.run({{"x", Tensor::of(type, {1, 40}, x)}}).outputs.at("at").values();
  };
  for (const auto type : {DataType::f32, DataType::f64}) {  // f64: by the reference
    CHECK(places(true, type) == Values{0, 30, 7});
    CHECK(places(false, type) == Values{20, 1, 2});
  }
}

TEST_CASE("tensors of a sequence are computed") {
  // The second part of 1 2 3 4 in parts of 2, and 5 behind it
  CHECK(
      run_text("m (float[4] x, float[1] z) => (float[3] y) <int64 n = {2}, int64 i = {1}> { s = SplitToSequence(x, n) "
               "h = SequenceAt(s, i) t = SequenceConstruct(h, z) y = ConcatFromSequence<axis = 0>(t) }",
               {{"x", floats({4}, {1, 2, 3, 4})}, {"z", floats({1}, {5})}}, "y") == Values{3, 4, 5});
}

TEST_CASE("each element of a vector has its own scale") {
  const Inputs inputs{{"x", Tensor::of(DataType::i32, {3}, Values{4, 5, -6})}};
  CHECK(run_text("m (int32[3] x) => (float[3] y) <float[3] s = {1, 2, 0.5}> { y = DequantizeLinear<axis = 0>(x, s) }",
                 inputs, "y") == Values{4, 10, -3});
}

TEST_CASE("random weights fill shapes that the file stores, not those that it computes") {
  const auto sum = [](const std::string& fill) {
    Executor executor =
        Executor::load(testing::import_text("m (float[2,3] x) => (float[2,3] y) <int64[2] stored = {2, 3}> { " + fill +
                                                " y = Add(x, f) }",
                                            {.executable = true}),
                       {.weight_seed = engines_seed});
    return executor.run({{"x", floats({2, 3}, Values(6, 1.0))}}).outputs.at("y").values();
  };
  CHECK(sum("s = Shape(x) f = ConstantOfShape(s)") == Values(6, 1.0));
  CHECK(sum("f = ConstantOfShape(stored)") != Values(6, 1.0));
  // compare.py: 1 + numpy.clip(3 + numpy.rint(20 * random_numbers([2, 3], "q", 2020)), -128, 127)
  CHECK(sum("q = ConstantOfShape<value = int8[1] {3}>(stored) f = Cast<to = 1>(q)") == Values{8, -30, 9, 17, 5, -12});
}

TEST_CASE("what constants compute is computed once, and weights may be stored in every way") {
  // y = x + (2 * w), w as raw bytes and as a list of numbers
  const std::string text =
      "m (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float two = {2}> { d = Mul (w, two) y = Add (x, d) }";
  CHECK(run_text(text, {{"x", floats({2}, {10, 20})}}, "y") == Values{12, 24});

  std::ostringstream many;  // more numbers than the import keeps
  for (int i = 0; i < 100; ++i) many << (i == 0 ? "" : ", ") << i;
  onnx::ModelProto model = testing::parse_model("m (float[100] x) => (float[100] y) <float[100] w = {" + many.str() +
                                                "}> { y = Sub (x, w) }");
  const Tensor x = floats({100}, Values(100, 1));
  Values expected;
  for (int i = 0; i < 100; ++i) expected.push_back(1 - i);
  const auto outputs = [&](const std::filesystem::path& file) {
    return Executor::load(file).run({{"x", x}}).outputs.at("y").values();
  };
  {
    const testing::TemporaryFile listed(model.SerializeAsString());
    CHECK(outputs(listed.path()) == expected);
  }

  auto& w = *model.mutable_graph()->mutable_initializer(0);
  std::string raw(400, '\0');
  for (int i = 0; i < 100; ++i) {
    const auto number = static_cast<float>(i);
    std::memcpy(raw.data() + 4 * i, &number, 4);
  }
  w.clear_float_data();
  w.set_raw_data(raw);
  const testing::TemporaryFile inlined(model.SerializeAsString());
  CHECK(outputs(inlined.path()) == expected);

  const testing::TemporaryFile data("0123" + raw, ".data");
  w.clear_raw_data();
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& value) {
    auto& added = *w.add_external_data();
    added.set_key(key);
    added.set_value(value);
  };
  entry("location", data.path().filename().string());
  entry("offset", "4");
  const testing::TemporaryFile external(model.SerializeAsString());
  CHECK(outputs(external.path()) == expected);

  std::filesystem::resize_file(data.path(), 100);
  CHECK(testing::message_of<InputError>([&] { (void)outputs(external.path()); }).find("tensor 'w': external data") !=
        std::string::npos);
}

TEST_CASE("external data is read beneath the model's folder only, through links that stay there") {
  const testing::TemporaryFile unused("");
  const std::filesystem::path root = unused.path().string() + ".folder", inside = root / "models" / "one";
  std::filesystem::create_directories(inside / "data");
  std::filesystem::create_directories(root / "blobs");
  const struct Remove {
    std::filesystem::path path;
    ~Remove() { std::filesystem::remove_all(path); }
  } remove{root};
  const auto write = [](const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  };
  std::string raw(400, '\0');
  for (int i = 0; i < 100; ++i) {
    const auto number = static_cast<float>(i);
    std::memcpy(raw.data() + 4 * i, &number, 4);
  }
  auto model = testing::parse_model("m (float[100] x) => (float[100] y) { y = Add (x, w) }");
  auto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(100);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  const std::filesystem::path file = inside / "m.onnx", data = inside / "w.bin";
  write(file, model.SerializeAsString());
  const auto last = [](const std::filesystem::path& onnx) {
    Executor executor = Executor::load(import_onnx(onnx, {.executable = true}));
    return executor.run({{"x", Tensor::of(DataType::f32, {100}, Values(100, 1))}}).outputs.at("y").values().back();
  };
  const auto refused = [&](const std::string& why) {
    const std::string message = testing::message_of<InputError>([&] { (void)last(file); });
    CAPTURE(message);
    CHECK(message.find("tensor 'w': external data in ") != std::string::npos);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  };

  SECTION("a link to a file of the same folder") {
    write(inside / "data" / "real.bin", raw);
    const bool absolute = GENERATE(true, false);
    std::filesystem::create_symlink(absolute ? inside / "data" / "real.bin" : "data/real.bin", data);
    CHECK(last(file) == 100);
  }
  SECTION("a model and its data that are links into one other folder, as in a cache of Hugging Face") {
    std::filesystem::rename(file, root / "blobs" / "0a");
    write(root / "blobs" / "0b", raw);
    std::filesystem::create_symlink("../../blobs/0a", file);
    std::filesystem::create_symlink("../../blobs/0b", data);
    CHECK(last(file) == 100);
  }
  SECTION("a link out of the folder") {
    write(root / "secret", raw);
    std::filesystem::create_symlink("../../secret", data);
    refused("outside of its folder");
  }
  SECTION("a folder of the path that is a link out of the folder") {
    write(root / "blobs" / "w.bin", raw);
    std::filesystem::remove(inside / "data");
    std::filesystem::create_directory_symlink("../../blobs", inside / "data");
    entry.set_value("data/w.bin");
    write(file, model.SerializeAsString());
    refused("outside of its folder");
  }
  SECTION("a pipe, which nobody writes to") {
    REQUIRE(::mkfifo(data.c_str(), 0600) == 0);
    refused("not a regular file");
    CHECK(testing::message_of<InputError>([&] { (void)import_onnx(data); }).find("not a regular file") !=
          std::string::npos);
  }
}

// numpy.float16(0.1) is 0.0999755859375.
TEST_CASE("a model in another floating-point type has the weights of its file, rounded") {
  std::ostringstream many;  // more numbers than the import keeps
  for (int i = 0; i < 100; ++i) many << (i == 0 ? "" : ", ") << "0.1";
  const testing::TemporaryFile file(testing::parse_model("m (float[100] x) => (float[100] y) <float[100] w = {" +
                                                         many.str() + "}> { y = Sub (x, w) }")
                                        .SerializeAsString());
  Executor executor = Executor::load(retype(import_onnx(file.path(), {.executable = true}), DataType::f16));
  const Tensor x = Tensor::of(DataType::f16, {100}, Values(100, 0));
  CHECK(executor.run({{"x", x}}).outputs.at("y").values() == Values(100, -0.0999755859375));
}

TEST_CASE("an input that is no tensor is refused by its name") {
  const auto model = testing::parse_model("m (optional(float[4]) o) => (float[4] y) { y = OptionalGetElement(o) }");
  CHECK_THROWS_WITH(Executor::load(testing::import_model(model, {.executable = true})),
                    Catch::Contains("input 'o' is a sequence, a map or an optional"));
  CHECK_THROWS_WITH(Executor::load(testing::import_text("m (string[2] x) => (string[2] y) { y = Identity(x) }",
                                                        {.executable = true})),
                    Catch::Contains("input 'x' is text"));
}

TEST_CASE("an operator that is not computed is refused by its name") {
  const auto message = testing::message_of<NotExecutable>([] {
    (void)Executor::load(
        testing::import_text("m (float[2] x) => (float[2] y) { y = RandomNormalLike (x) }", {.executable = true}));
  });
  CHECK(message.find("(RandomNormalLike): cannot be executed: random numbers") != std::string::npos);
}

TEST_CASE("an operator that takes text is refused for it") {
  const auto message = testing::message_of<NotExecutable>([] {
    (void)Executor::load(testing::import_text(
        "m (string[2, 3] x, int64[1] i) => (string[1, 3] y) { y = Gather (x, i) }", {.executable = true}));
  });
  CHECK(message.find("(Gather): cannot be executed: text") != std::string::npos);
}

TEST_CASE("inputs have to be the model's") {
  Executor executor =
      Executor::load(testing::import_text("m (float[2] x) => (float[2] y) { y = Abs (x) }", {.executable = true}));
  const auto message = [&](const Inputs& inputs, bool check = false) {
    return testing::message_of<InputError>([&] { (void)executor.run(inputs, {.check = check}); });
  };
  CHECK(message({}) == "input 'x' is not given, expected f32 2");
  CHECK(message({{"x", floats({3}, {1, 2, 3})}}) == "input 'x': f32 3 given, expected f32 2");
  CHECK(message({{"x", Tensor::of(DataType::i64, {2}, Values{1, 2})}}) == "input 'x': i64 2 given, expected f32 2");
  CHECK(message({{"x", floats({2}, {1, 2})}, {"z", floats({2}, {1, 2})}}).find("has no input 'z'") !=
        std::string::npos);
  const Tensor nan = floats({2}, {1, std::nan("")});
  CHECK(message({{"x", nan}}).empty());
  CHECK(message({{"x", nan}}, true).find("'x': element 1 is not a finite number") != std::string::npos);
}

TEST_CASE("random numbers are those of the scheme that engines are given") {
  // compare.py: random_numbers([3], "x", 2020), random_bits(6, "x", 2020) & 1
  const Tensor x = random_input(DataType::f64, {3}, "x", engines_seed);
  CHECK(x[0] == Approx(-0.5457323780134543).epsilon(1e-12));
  CHECK(x[2] == Approx(1.4725709060077317).epsilon(1e-12));
  CHECK(random_input(DataType::i64, {6}, "x", engines_seed).values() == Values{1, 1, 1, 0, 0, 0});
  CHECK(random_input(DataType::boolean, {2}, "x", engines_seed).values() == Values{1, 1});
}

TEST_CASE("keys that GroupQueryAttention leaves out are refused") {
  const auto model = [](const std::string& rows, const std::string& total) {
    return "m (float[1,1,16] q, float[1,1,16] k, float[1,1,16] v, float[1,1,3,16] pk, float[1,1,3,16] pv, int32[1] "
           "last" +
           total + ") => (float[1,1,16] y, float[1,1," + rows + ",16] rk, float[1,1," + rows +
           R"(,16] rv) { y, rk, rv = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, k, v, pk, pv,
           last, total) })";
  };
  const auto run = [&](const std::string& text, double last) {
    Inputs inputs{{"last", Tensor::of(DataType::i32, {1}, Values{last})},
                  {"total", Tensor::of(DataType::i32, {}, Values{last + 1})}};
    for (const auto* name : {"q", "k", "v"}) inputs[name] = floats({1, 1, 16}, Values(16, name[0] == 'v' ? 2.0 : 1.0));
    for (const auto* name : {"pk", "pv"}) inputs[name] = floats({1, 1, 3, 16}, Values(48, 1.0));
    return run_text(text, inputs, "y");
  };
  // Equal scores of three values of 1 and a value of 2.
  const std::string grows = model("4", ", int32 total");
  CHECK(run(grows, 3).back() == Approx(1.25));
  CHECK(testing::message_of<NotExecutable>([&] { run(grows, 2); }).find("not full") != std::string::npos);
  const std::string shared = model("3", ", int32 total");
  CHECK(testing::message_of<NotExecutable>([&] { run(shared, 2); }).find("not full") != std::string::npos);
}

TEST_CASE("an index that points beyond a tensor is refused before a plan reads there") {
  Executor executor = Executor::load(
      testing::import_text("m (float[3,2] x, int64[2] i) => (float[2,2] y) { y = Gather(x, i) }", {.executable = true}),
      {.backends = usable_backends()});
  const auto index = [](double first, double second) {
    return Tensor::of(DataType::i64, {2}, std::vector<double>{first, second});
  };
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(executor.run({{"x", x}, {"i", index(2, -3)}}).outputs.at("y").values() == Values{5, 6, 1, 2});
  for (const double beyond : {3.0, -4.0})
    CHECK(testing::message_of<InputError>([&] {
            (void)executor.run({{"x", x}, {"i", index(0, beyond)}});
          }).find("and less than 3") != std::string::npos);
}

TEST_CASE("a backend that works in a device's memory is refused before it is handed the processor's") {
  const auto device = std::make_shared<const test::FakeDeviceBackend>(std::make_shared<test::FakeDevice>(),
                                                                      std::vector<test::FakeDevicePlan>(1));
  const auto message = testing::message_of<UsageError>([&] {
    (void)Executor::load(testing::import_text("m (float[2] x) => (float[2] y) { y = Relu(x) }", {.executable = true}),
                         {.backends = {device}});
  });
  CHECK(message.find("backend 'fake' works in a device's memory") != std::string::npos);
}

TEST_CASE("what the executor computes by itself counts as the reference's work, sizes do not") {
  const auto plans = [](const std::string& model, const Inputs& inputs) {
    Executor executor = Executor::load(testing::import_text(model, {.executable = true}));
    std::vector<std::string> result;
    const Execution execution = executor.run(inputs);
    for (const auto& run : execution.nodes) result.push_back(run.op_type + ": " + run.plan);
    return result;
  };
  using Plans = std::vector<std::string>;
  const Tensor x = floats({4}, {0, 2, 0, 5});
  CHECK(plans("m (float[4] x) => (int64[1,k] y) { y = NonZero(x) }", {{"x", x}}) == Plans{"NonZero: reference"});
  CHECK(plans("m (float[4] x) => (bool[4] y) { y = IsInf<detect_negative = 0>(x) }", {{"x", x}}) ==
        Plans{"IsInf: reference"});
  CHECK(plans("m (float[4] x, bool[4] c) => (int64[1] n) { k = Compress(x, c) n = Shape(k) }",
              {{"x", x}, {"c", Tensor::of(DataType::boolean, {4}, Values{1, 0, 1, 1})}}) ==
        Plans{"Compress: reference"});
}

TEST_CASE("a fill repeats elements of less than a byte") {
  Node node;
  node.op_type = "ConstantOfShape";
  node.attributes["value"] = Literal{.ints = {3}, .floats = {}};
  const execution::NodeTensors sizes{Tensor::of(DataType::i64, {1}, Values{5})};
  CHECK(execution::filled(node, sizes, DataType::i4).values() == Values(5, 3.0));
  CHECK(execution::filled(node, sizes, DataType::u2).values() == Values(5, 3.0));
  CHECK(execution::filled(node, sizes, DataType::i16).values() == Values(5, 3.0));
}

TEST_CASE("a selection takes elements of less than a byte one by one") {
  const auto computed = [](const std::string& op_type, const execution::NodeTensors& inputs,
                           const std::map<std::string, Attribute, std::less<>>& attributes = {}) {
    Node node;
    node.op_type = op_type;
    node.attributes = attributes;
    return (*execution::find_special(node))(node, inputs);
  };
  const auto chosen = [](const Values& each) {
    return Tensor::of(DataType::boolean, {static_cast<std::int64_t>(each.size())}, each);
  };
  SECTION("Compress of five numbers in three bytes: from the middle of bytes and from their begin") {
    const Tensor x = Tensor::of(DataType::i4, {5}, Values{-8, 7, 3, -1, 2});
    const Tensor y = computed("Compress", {x, chosen({0, 1, 1, 0, 1})}).at(0);
    CHECK(y.type() == DataType::i4);
    CHECK(y.dims() == Tensor::Dims{3});
    CHECK(y.values() == Values{7, 3, 2});
  }
  SECTION("Compress of columns: the first and the last of three") {
    const Tensor x = Tensor::of(DataType::u4, {2, 3}, Values{1, 2, 3, 13, 14, 15});
    const Tensor y = computed("Compress", {x, chosen({1, 0, 1})}, {{"axis", std::int64_t{1}}}).at(0);
    CHECK(y.dims() == Tensor::Dims{2, 2});
    CHECK(y.values() == Values{1, 3, 13, 15});
  }
  SECTION("Unique of five numbers: sorted, with where each is first, which each is and how often it is there") {
    const auto y = computed("Unique", {Tensor::of(DataType::u4, {5}, Values{9, 4, 15, 4, 9})});
    CHECK(y.at(0).type() == DataType::u4);
    CHECK(y.at(0).values() == Values{4, 9, 15});
    CHECK(y.at(1).values() == Values{1, 0, 2});
    CHECK(y.at(2).values() == Values{1, 0, 2, 0, 1});
    CHECK(y.at(3).values() == Values{2, 2, 1});
  }
}

TEST_CASE("constants that begin at one address and end at others are kept apart") {
  const Tensor whole = floats({3}, {1, 2, 3});
  const Tensor part(DataType::f32, {1}, nullptr, whole.data());
  execution::PackedConstants packed;
  const void* const first = packed.row_major(part);
  const void* const second = packed.row_major(whole);
  REQUIRE(first != second);
  CHECK(load(second, DataType::f32, 2) == 3);
  CHECK(packed.row_major(part) == first);
  CHECK(packed.row_major(whole) == second);
}
