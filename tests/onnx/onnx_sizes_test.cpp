// SPDX-License-Identifier: Apache-2.0
// Unbound sizes: which are assumed, which are found by trial, and which are requested from the user. Expected sizes
// follow from the operators' definitions in ONNX.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_graph.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using testing::import_model;
using testing::import_text;
using testing::message_of;
using testing::op_types;
using testing::parse_model;
using testing::value_named;
using Dims = std::vector<std::int64_t>;
using Sizes = std::map<std::string, std::int64_t>;

UnboundError unbound(const std::string& text, const ImportOptions& options = {}) {
  try {
    (void)import_text(text, options);
  } catch (const UnboundError& error) {
    return error;
  }
  FAIL("imported, expected an UnboundError");
  throw InputError("unreachable");
}

Sizes likely(const std::string& text) {
  const auto sizes = unbound(text).likely;
  return {sizes.begin(), sizes.end()};
}

TEST_CASE("A batch that nobody bound has one item", "[onnx]") {
  const auto [text, assumed] = GENERATE(values<std::pair<std::string, Sizes>>(
      {{"g (float[batch, 8] x) => (float[batch, 8] y) { y = Relu(x) }", {{"batch", 1}}},
       {"g (float[unk__7, 8] x) => (float[unk__8, 8] y) { y = Relu(x) }", {{"unk__7", 1}}},
       {"g (float[?, 8] x) => (float[?, 8] y) { y = Relu(x) }", {{"x.0", 1}}},
       {"g (float[3, 8] x, float[8, bs] z) => (float[3, bs] y) { y = MatMul(x, z) }", {{"bs", 1}}},
       {"g (float[n, 8] x, float[m, 8] z) => (float[n, m] y) { t = Transpose(z) y = MatMul(x, t) }",
        {{"m", 1}, {"n", 1}}},
       // The state of a recurrent model.
       {"g (float[?, 8] x, float[2, ?, 8] h) => (float[2, ?, 8] y) { y = Add(x, h) }", {{"h.1", 1}, {"x.0", 1}}}}));
  INFO(text);
  const Graph graph = import_text(text);
  CHECK(graph.assumed == assumed);
  CHECK(graph.dims == assumed);
}

TEST_CASE("A first dimension whose name or other places say something else is asked for", "[onnx]") {
  const auto [text, symbol] = GENERATE(values<std::pair<std::string, std::string>>(
      {{"g (float[sequence_length, 8] x) => (float[?, 8] y) { y = Relu(x) }", "sequence_length"},
       {"g (float[batch, N] x, int64[N] z) => (float[batch, N] y) { w = Cast <to = 1> (z) y = Add(x, w) }", "N"}}));
  const UnboundError error = unbound(text);
  REQUIRE(error.likely.size() == 1);
  CHECK(error.likely[0].first == symbol);
}

TEST_CASE("What is the batch goes with it", "[onnx]") {
  const auto* text = "g (float[?, 8] x, float[2, ?, 8] h) => (float[2, ?, 8] y) { y = Add(x, h) }";
  const auto options = GENERATE(values<ImportOptions>(
      {{.batch = 4}, {.dims = {{"x.0", 4}}}, {.inputs = {{"x", {4, 8}}}}, {.defaults = {{.batch = 4}}}}));
  const Graph graph = import_text(text, options);
  CHECK(value_named(graph, "h").dims == Dims{2, 4, 8});
  CHECK(graph.batch == 4);
  CHECK(graph.assumed.empty());
}

TEST_CASE("Nameless dimensions are unknown, each on its own", "[onnx]") {
  // Nameless dimensions as Paddle writes them: all are called `?`, or have the size -1.
  auto model = parse_model("g (float[1, 3, a, b] x) => (float[1, 3, a, b] y) { y = Relu(x) }");
  auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  const auto nameless = GENERATE(values<std::string>({"?", "", "-1"}));
  for (const int axis : {2, 3}) shape.mutable_dim(axis)->set_dim_param(nameless);
  SECTION("negative") {
    for (const int axis : {0, 2, 3}) shape.mutable_dim(axis)->set_dim_value(-1);
  }
  CHECK(value_named(import_model(model, {.inputs = {{"x", {1, 3, 48, 192}}}}), "y").dims == Dims{1, 3, 48, 192});
  CHECK(value_named(import_model(model, {.batch = 1, .dims = {{"x.2", 32}, {"x.3", 100}}}), "y").dims ==
        Dims{1, 3, 32, 100});
  const std::string message = message_of<UnboundError>([&] { (void)import_model(model); });
  CHECK_THAT(message, Catch::Contains("'x.2' (--dim x.2=VALUE), 'x.3' (--dim x.3=VALUE)"));
}

TEST_CASE("A nameless dimension's name is taken by no other one", "[onnx]") {
  auto model = parse_model("g (float[1, ?] x, float[1, k] z) => (float[1, ?] y) { y = Concat <axis = 1> (x, z) }");
  auto& shape = *model.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(1)->set_dim_param("x.1");
  const Graph graph = import_model(model, {.dims = {{"x.1", 3}, {"x.1_", 5}}});
  CHECK(value_named(graph, "y").dims == Dims{1, 8});
  CHECK(value_named(graph, "z").dims == Dims{1, 3});
}

TEST_CASE("A sum of symbols follows from them", "[onnx]") {
  auto model = parse_model(
      "g (float[1, past] p, float[1, seq] s, float[1, total] t) => (float[1, total] y) {"
      " c = Concat <axis = 1> (p, s) y = Add(c, t) }");
  model.mutable_graph()
      ->mutable_input(2)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("past + seq");
  const Graph graph = import_model(model, {.dims = {{"past", 5}, {"seq", 3}}});
  CHECK(value_named(graph, "t").dims == Dims{1, 8});
  const std::string message = message_of<UnboundError>([&] { (void)import_model(model); });
  CHECK_THAT(message, !Catch::Contains("past + seq"));
}

TEST_CASE("A size that alone fits is taken", "[onnx]") {
  // 13 features are multiplied by a weight of 13 x 2.
  const Graph graph = import_text(
      "g (float[n, d] x) => (float[n, 2] y) <float[13, 2] w = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}> "
      "{ y = MatMul(x, w) }");
  CHECK(graph.assumed == Sizes{{"d", 13}, {"n", 1}});
  CHECK(value_named(graph, "x").dims == Dims{1, 13});
}

TEST_CASE("Likely sizes fit the graph", "[onnx]") {
  SECTION("A Reshape to 7 x 7 behind a stride of 32 wants an image of 224 to 255, and its sides may differ") {
    CHECK(likely("g (float[n, 3, h, w] x) => (float[n, 3, 49] y) { p = AveragePool <kernel_shape = [32, 32], strides = "
                 "[32, 32]> (x) t = Constant <value_ints = [0, 3, 49]> () y = Reshape(p, t) }") ==
          Sizes{{"h", 224}, {"w", 224}});
  }
  SECTION("An output of fixed size tells more than a shape that is possible") {
    CHECK(likely("g (float[n, 3, h, w] x) => (float[n, 3, 10, 10] y) { y = AveragePool <kernel_shape = [32, 32], "
                 "strides = [32, 32]> (x) }") == Sizes{{"h", 320}, {"w", 320}});
  }
  SECTION("The table of positions is the longest sequence") {
    CHECK(
        likely("g (int64[batch, seq] x) => (float[batch, seq, 1] y) <float[1, 12, 1] table = "
               "{1,2,3,4,5,6,7,8,9,10,11,12}, float[3, 1] words = {1, 2, 3}, int64[1] zero = {0}, int64[1] one = {1}> "
               "{ e = Gather(words, x) s = Shape <start = 1, end = 2> (x) p = Slice(table, zero, s, one) y = Add(e, p) "
               "}") == Sizes{{"seq", 12}});
  }
  SECTION("Without a limit a sequence has 128 tokens, a second of sound 16000 samples") {
    CHECK(likely("g (int64[batch, seq] x) => (int64[batch, seq] y) { y = Neg(x) }") == Sizes{{"seq", 128}});
    CHECK(likely("g (float[batch, N] x) => (float[batch, N] y) { y = Relu(x) }") == Sizes{{"N", 16000}});
  }
}

TEST_CASE("What the exporter says of its images, and the file's name, come first", "[onnx]") {
  auto model = parse_model("g (float[n, 3, h, w] x) => (float[n, 3, h, w] y) { y = Relu(x) }");
  const auto first = [&](const std::string& suffix) {
    const testing::TemporaryFile file(model.SerializeAsString(), suffix);
    try {
      (void)import_onnx(file.path());
    } catch (const UnboundError& error) {
      return error.likely.at(0).second;
    }
    return std::int64_t{0};
  };
  CHECK(first(".onnx") == 640);
  CHECK(first("_416.onnx") == 416);
  auto& entry = *model.add_metadata_props();
  entry.set_key("imgsz");
  entry.set_value("[960, 960]");
  CHECK(first("_416.onnx") == 960);
}

TEST_CASE("Where no size fits, the error says what was tried", "[onnx]") {
  const UnboundError error = unbound(
      "g (float[n, d] x) => (float[n] y) { t = Constant <value_ints = [3, -1]> () r = Concat <axis = 0> (x, x, x, x) "
      "s = com.microsoft.Magic(r) y = Reshape(s, t) }");
  CHECK(error.likely.empty());
  CHECK_THAT(error.what(), Catch::Contains("'d'") && Catch::Contains("Magic"));
}

TEST_CASE("Defaults stand where nothing else says a size, and may name what is not there", "[onnx]") {
  const auto* text = "g (float[batch, seq, 8] x) => (float[batch, seq, 8] y) { y = Relu(x) }";
  const ImportOptions all{.batch = 2, .dims = {{"height", 320}, {"seq", 7}}, .inputs = {{"image", {1}}}};
  CHECK(value_named(import_text(text, {.defaults = {all}}), "y").dims == Dims{2, 7, 8});
  CHECK(value_named(import_text(text, {.batch = 3, .defaults = {all}}), "y").dims == Dims{3, 7, 8});
  CHECK(value_named(import_text(text, {.defaults = {{.dims = {{"seq", 5}}}, all}}), "y").dims == Dims{2, 5, 8});
  CHECK(
      value_named(import_text(text, {.dims = {{"seq", 4}}, .defaults = {{.inputs = {{"x", {6, 9, 8}}}}}}), "y").dims ==
      Dims{6, 4, 8});
}

TEST_CASE("A shape without a name is that of the only input", "[onnx]") {
  CHECK(
      value_named(import_text("g (float[n, k] x) => (float[n, k] y) { y = Relu(x) }", {.inputs = {{"", {2, 5}}}}), "y")
          .dims == Dims{2, 5});
  CHECK_THAT(
      message_of<UsageError>([] {
        (void)import_text("g (float[n] x, float[n] z) => (float[n] y) { y = Add(x, z) }", {.inputs = {{"", {2}}}});
      }),
      Catch::Contains("without the name of its input: the model's are 'x', 'z'"));
}

TEST_CASE("Shapes of a profile's nodes bind the inputs that they read", "[onnx]") {
  auto model = parse_model("g (float[n, 3, h, w] x) => (float[n, 3, h, w] y) { y = Relu(x) }");
  model.mutable_graph()->mutable_node(0)->set_name("first");
  CHECK(value_named(import_model(model, {.node_inputs = {{"first", {{2, 3, 40, 50}}}}}), "y").dims ==
        Dims{2, 3, 40, 50});
  CHECK(
      value_named(import_model(model, {.dims = {{"h", 8}}, .node_inputs = {{"first", {{2, 3, 40, 50}}}}}), "y").dims ==
      Dims{2, 3, 8, 50});
  // ONNX Runtime names a node that it computes in a blocked layout after its value.
  CHECK(value_named(import_model(model, {.node_inputs = {{"y", {{2, 3, 40, 50}}}}}), "x").dims == Dims{2, 3, 40, 50});
  // Blocked layouts have a different number of channels: such a shape is not that of the input.
  CHECK_THROWS_AS(import_model(model, {.node_inputs = {{"first", {{2, 8, 40, 50}}}}}), UnboundError);
}

const std::string branches =
    "g (float[1, 6] x, bool c) => (float[?, ?] y) <int64[2] t = {2, 3}, int64[2] u = {4, 5}, int64[2] v = {6, 1}> { y "
    "= "
    "If (c) <then_branch = a () => (float[?, ?] p) { p = Reshape(x, T) }, else_branch = b () => (float[?, ?] q) { q = "
    "Reshape(x, E) }> }";

std::string with_targets(char then_target, char else_target) {
  std::string text = branches;
  text[text.find('T', text.find("Reshape(x"))] = then_target;
  text[text.find('E', text.rfind("Reshape(x") + 4)] = else_target;
  return text;
}

TEST_CASE("Where a scalar input decides a shape, the error has a value that fits", "[onnx]") {
  const std::string text =
      "g (int64 start, int64[1] count, float[2] x, int64 unused) => (float[?] y) <int64 one = {1}> { n = "
      "Squeeze(count) "
      "r = Range(start, n, one) y = Cast <to = 1> (r) }";
  try {
    (void)import_text(text);
    FAIL("a length that only data says");
  } catch (const UnboundError& error) {
    CHECK(error.values == std::vector<std::pair<std::string, std::int64_t>>{{"start", 0}, {"count", 16}});
    CHECK(error.likely.empty());
    CHECK_THAT(
        error.what(),
        Catch::Contains("it depends on data; the value of an input decides: 'start' (--value start=VALUE), 'count' "
                        "(--value count=VALUE)"));
  }
  const Graph graph = import_text(text, {.values = {{"start", 4}, {"count", 10}}});
  CHECK(graph.value(graph.outputs[0]).dims == Dims{6});
  // A vector of data has no value that fits.
  CHECK_THROWS_AS(import_text("g (int64[3] shape) => (float[?, ?, ?] y) { y = ConstantOfShape(shape) }"), InputError);
}

TEST_CASE("A branch whose shapes do not fit is left out", "[onnx]") {
  const auto [then_target, else_target, label, dims] = GENERATE(values<std::tuple<char, char, std::string, Dims>>(
      {{'t', 'u', "else_branch", {2, 3}}, {'u', 'v', "then_branch", {6, 1}}}));
  const Graph graph = import_text(with_targets(then_target, else_target));
  CHECK(op_types(graph) == std::vector<std::string>{"Reshape"});
  CHECK(graph.value(graph.outputs[0]).dims == dims);
  REQUIRE(graph.warnings.size() == 1);
  CHECK_THAT(graph.warnings[0], Catch::Contains("the " + label + " of 'y' (If) is left out") &&
                                    Catch::Contains("cannot reshape [1, 6] (6 elements) to [4, 5]"));
  const Graph both = import_text(with_targets('t', 'v'));
  CHECK(op_types(both) == std::vector<std::string>{"If"});
  CHECK(both.warnings.empty());
  CHECK_THAT(message_of<InputError>([] { (void)import_text(with_targets('u', 'u')); }),
             Catch::Contains("cannot reshape"));
}

TEST_CASE("A branch that is broken, and not only of the wrong shape, is an error", "[onnx]") {
  CHECK_THAT(
      message_of<InputError>([] {
        (void)import_text(
            "g (float[1, 6] x, bool c) => (float[?, ?] y) { y = If (c) <then_branch = a () => (float[?, ?] p) { p "
            "= Relu(x) }, else_branch = b () => (float[?, ?] q) { q = com.microsoft.Magic(x) }> }");
      }),
      Catch::Contains("Magic"));
}

TEST_CASE("Weights that branches capture or hold are weights of the model, and no run is said to read all", "[onnx]") {
  const Graph graph = import_text(
      "g (float[1, 2] x, bool c) => (float[1, 3] y) <float[2, 3] w = {1, 2, 3, 4, 5, 6}> { y = If (c) <then_branch = a "
      "() "
      "=> (float[1, 3] p) { p = MatMul(x, w) }, else_branch = b () => (float[1, 3] q) <float[2, 3] own = {1, 2, 3, 4, "
      "5, "
      "6}> { q = MatMul(x, own) }> }");
  const LayerGraph layers = make_layer_graph(graph);
  CHECK(layers.weights == Bytes{2 * 6 * 4.0});
  CHECK(layers.model_reads < layers.weights);
}

}  // namespace
