// SPDX-License-Identifier: Apache-2.0
// Inputs: bound values, values that are left open, and names that do not exist.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::import_text;
using testing::message_of;
using testing::op_types;
using testing::value_named;
using Dims = std::vector<std::int64_t>;

constexpr auto two_inputs =
    "g (float[batch, seq, 8] x, float[batch, 8, seq] z) => (float[batch, seq, seq] y) { y = MatMul(x, z) }";

TEST_CASE("Options bind dimensions wherever they stand", "[onnx]") {
  struct Case {
    ImportOptions options;
  };
  const auto options = GENERATE(values<ImportOptions>({{.batch = 2, .dims = {{"seq", 5}}},
                                                       {.dims = {{"batch", 2}, {"seq", 5}}},
                                                       {.inputs = {{"x", {2, 5, 8}}}},
                                                       {.batch = 2, .inputs = {{"z", {2, 8, 5}}}}}));
  const Graph graph = import_text(two_inputs, options);
  CHECK(value_named(graph, "z").dims == Dims{2, 8, 5});
  CHECK(value_named(graph, "y").dims == Dims{2, 5, 5});
  CHECK(graph.batch == 2);
  CHECK(graph.dims == std::map<std::string, std::int64_t>{{"batch", 2}, {"seq", 5}});
}

TEST_CASE("Names that the model does not have are usage errors that list those it has", "[onnx]") {
  struct Case {
    ImportOptions options;
    std::string expected;
  };
  const auto [options, expected] = GENERATE(
      values<Case>({{{.dims = {{"sequence", 5}}}, "no symbolic dimension 'sequence': the model's are 'batch', 'seq'"},
                    {{.inputs = {{"w", {1}}}}, "no input 'w': the model's are 'x', 'z'"},
                    {{.values = {{"w", 1}}}, "no input 'w': the model's are 'x', 'z'"},
                    {{.inputs = {{"x", {2, 5}}}}, "3 dimensions"},
                    {{.batch = 0}, "expected 1 or more"},
                    {{.batch = 2, .dims = {{"batch", 3}}}, "bound to 3"},
                    {{.batch = 2, .dims = {{"seq", -5}}}, "is -5"},
                    {{.batch = 2, .dims = {{"seq", 5}}, .values = {{"x", 3}}}, "scalar"}}));
  CHECK_THAT(message_of<UsageError>([&, &o = options] { (void)import_text(two_inputs, o); }),
             Catch::Contains(expected));
}

TEST_CASE("All that is left open is in one error", "[onnx]") {
  const std::string message = message_of<InputError>(
      [] { (void)import_text("g (float[batch, ?, width] x) => (float[batch, ?, width] y) { y = Relu(x) }"); });
  for (const auto* part : {"'x.1' (--dim x.1=VALUE)", "'width' (--dim width=VALUE)"})
    CHECK_THAT(message, Catch::Contains(part));
}

TEST_CASE("Overflowing dimensions of inputs are errors", "[onnx]") {
  CHECK_THAT(message_of<InputError>(
                 [] { (void)import_text("g (float[2, 9223372036854775807] x) => (float[2, 3] y) { y = Relu(x) }"); }),
             Catch::Contains("input 'x': dimension 1 is 9223372036854775807"));
  CHECK_THAT(message_of<InputError>([] {
               (void)import_text("g (float[281474976710656, 281474976710656] x) => (float[2, 3] y) { y = Relu(x) }");
             }),
             Catch::Contains("input 'x'") && Catch::Contains("overflows"));
}

TEST_CASE("A batch takes the inputs along that share it, and no vector of one element", "[onnx]") {
  const Graph graph = import_text(
      "g (float[1, 8] x, float[1, 8] z, float[8, 8] w, float[1] scale) => (float[1, 8] y) { s = Add(x, z) y = Mul(s, "
      "scale) r = MatMul(w, w) }",
      {.batch = 4});
  CHECK(value_named(graph, "x").dims == Dims{4, 8});
  CHECK(value_named(graph, "z").dims == Dims{4, 8});
  CHECK(value_named(graph, "w").dims == Dims{8, 8});
  CHECK(value_named(graph, "scale").dims == Dims{1});
}

/// An initializer of ones.
std::string ones(const std::string& type, std::size_t count) {
  std::string text = type + " = {1";
  for (std::size_t i = 1; i < count; ++i) text += ", 1";
  return text + "}";
}

TEST_CASE("The batch is the dimension whose name says so", "[onnx]") {
  const auto symbols = GENERATE(values<std::string>({"T, batch", "seq, B", "20, batch_size"}));
  const auto graph = import_text("g (float[" + symbols + ", 8] x) => (float[a, b, 8] y) { y = Relu(x) }",
                                 {.batch = 5, .defaults = {{.dims = {{"T", 20}, {"seq", 20}}}}});
  CHECK(value_named(graph, "x").dims == Dims{20, 5, 8});
  CHECK(graph.batch == 5);
}

TEST_CASE("A leading dimension is not the batch if another one is by its name", "[onnx]") {
  const std::string message = message_of<UnboundError>(
      [] { (void)import_text("g (float[T, batch, 8] x) => (float[T, batch, 8] y) { y = Relu(x) }"); });
  CHECK_THAT(message, Catch::Contains("'T' (--dim T=VALUE)"));
}

TEST_CASE("A recurrent operator says which axis of its inputs is the batch", "[onnx]") {
  // LSTM of ONNX: X is [length, batch, 4] and the states are [directions, batch, 3] in layout 0.
  const std::string weights = " <" + ones("float[1, 12, 4] w", 48) + ", " + ones("float[1, 12, 3] r", 36) + ", " +
                              ones("float[4, 4] v", 16) +
                              ", int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> ";
  struct Case {
    std::string why, inputs, nodes;
    Dims x, h;
  };
  const auto [why, inputs, nodes, x, h] = GENERATE(values<Case>({
      {"itself",
       "float[20, 1, 4] x, float[1, 1, 3] h, float[1, 1, 3] c",
       "y = LSTM<hidden_size = 3>(x, w, r, , , h, c)",
       {20, 5, 4},
       {1, 5, 3}},
      {"behind a linear layer",
       "float[20, 1, 4] x, float[1, 1, 3] h, float[1, 1, 3] c",
       "p = MatMul(x, v) q = Relu(p) y = LSTM<hidden_size = 3>(q, w, r, , , h, c)",
       {20, 5, 4},
       {1, 5, 3}},
      {"behind a transposition",
       "float[1, 20, 4] x, float[1, 1, 3] h, float[1, 1, 3] c",
       "t = Transpose<perm = [1, 0, 2]>(x) y = LSTM<hidden_size = 3>(t, w, r, , , h, c)",
       {5, 20, 4},
       {1, 5, 3}},
      {"with the states of several layers",
       "float[1, 20, 4] x, float[2, 1, 3] h, float[2, 1, 3] c",
       "t = Transpose<perm = [1, 0, 2]>(x) i = Slice(h, zero, one, zero) j = Slice(c, one, two, zero) "
       "y = LSTM<hidden_size = 3>(t, w, r, , , i, j)",
       {5, 20, 4},
       {2, 5, 3}},
      {"with sizes that are open",
       "float[20, ?, 4] x, float[1, ?, 3] h, float[1, ?, 3] c",
       "y = LSTM<hidden_size = 3>(x, w, r, , , h, c)",
       {20, 5, 4},
       {1, 5, 3}},
  }));
  INFO(why);
  const Graph graph =
      import_text("g (" + inputs + ") => (float[20, 1, 1, 3] y)" + weights + "{ " + nodes + " }", {.batch = 5});
  CHECK(value_named(graph, "x").dims == x);
  CHECK(value_named(graph, "h").dims == h);
  CHECK(value_named(graph, "y").dims == Dims{20, 1, 5, 3});
  CHECK(graph.batch == 5);
}

TEST_CASE("With layout 1, the batch is the first axis of all inputs of a recurrent operator", "[onnx]") {
  const Graph graph = import_text("g (float[1, 20, 4] x, float[1, 1, 3] h) => (float[1, 20, 1, 3] y) <" +
                                      ones("float[1, 9, 4] w", 36) + ", " + ones("float[1, 9, 3] r", 27) +
                                      "> { y = GRU<hidden_size = 3, layout = 1>(x, w, r, , , h) }",
                                  {.batch = 5});
  CHECK(value_named(graph, "x").dims == Dims{5, 20, 4});
  CHECK(value_named(graph, "h").dims == Dims{5, 1, 3});
}

TEST_CASE("If attention combines what lies along the first axis, the batch is the second one", "[onnx]") {
  // PyTorch's MultiheadAttention without batch_first: 6 tokens, 2 heads of depth 2.
  const Graph graph = import_text(
      "g (float[6, 1, 4] x) => (float[2, 6, 6] y) <int64[3] t = {6, 2, 2}> "
      "{ r = Reshape(x, t) q = Transpose<perm = [1, 0, 2]>(r) k = Transpose<perm = [1, 2, 0]>(r) y = MatMul(q, k) }",
      {.batch = 5});
  CHECK(value_named(graph, "x").dims == Dims{6, 5, 4});
  CHECK(value_named(graph, "y").dims == Dims{10, 6, 6});
  REQUIRE(graph.warnings.size() == 1);
  CHECK_THAT(graph.warnings[0], Catch::Contains("axis 1"));
}

TEST_CASE("The batch axis does not depend on the batch that is requested", "[onnx]") {
  // The same attention; the length and the batch of the file are among the requests.
  const std::int64_t batch = GENERATE(1, 2, 6, 7);
  const std::string text =
      "g (float[6, 1, 4] x, float[6, 6] mask) => (float[2, 6, 6] y) <int64[3] t = {6, 2, 2}> "
      "{ r = Reshape(x, t) q = Transpose<perm = [1, 0, 2]>(r) k = Transpose<perm = [1, 2, 0]>(r) s = MatMul(q, k) "
      "y = Add(s, mask) }";
  const Graph graph = import_text(text, {.batch = batch});
  CHECK(value_named(graph, "x").dims == Dims{6, batch, 4});
  CHECK(value_named(graph, "mask").dims == Dims{6, 6});
  CHECK(value_named(graph, "y").dims == Dims{2 * batch, 6, 6});
  CHECK(graph.batch == batch);
  CHECK(import_text(text, {.defaults = {{.batch = batch}}}).batch == batch);
  CHECK(import_text(text).batch == 1);
}

TEST_CASE("If sequences of a recurrent operator would become longer, the batch is another axis", "[onnx]") {
  const std::int64_t batch = GENERATE(1, 5, 20);
  const std::string weights = " <" + ones("float[1, 12, 4] w", 48) + ", " + ones("float[1, 12, 3] r", 36) + ", " +
                              ones("float[4, 4] v", 16) + ", " + ones("float[4] b", 4) +
                              ", int64[3] same = {0, 0, -1}> ";
  // Before the LSTM: sizes that are copied, and a linear layer as PyTorch's older exporter writes it.
  const auto before = GENERATE(values<std::string>({"q = Reshape(x, same)", "p = MatMul(x, v) q = Add(b, p)"}));
  const Graph graph = import_text("g (float[20, 1, 4] x) => (float[20, 1, 1, 3] y)" + weights + "{ " + before +
                                      " y = LSTM<hidden_size = 3>(q, w, r) }",
                                  {.batch = batch});
  CHECK(value_named(graph, "x").dims == Dims{20, batch, 4});
  CHECK(value_named(graph, "y").dims == Dims{20, 1, batch, 3});
}

TEST_CASE("A batch that is not requested is not looked for in given shapes", "[onnx]") {
  // Attention over 6 nodes of one graph, read at 12 nodes.
  const Graph graph = import_text("g (float[6, 16] x) => (float[6, 6] y) { k = Transpose(x) y = MatMul(x, k) }",
                                  {.inputs = {{"x", {12, 16}}}});
  CHECK(value_named(graph, "y").dims == Dims{12, 12});
  CHECK(graph.warnings.empty());
}

TEST_CASE("A batch that is requested is that of all inputs with a leading dimension of their own name", "[onnx]") {
  const Graph graph = import_text(
      "g (float[unk__12, 8] x, float[unk__13, 8] z) => (float[a, 8] y) { r = Add(x, z) y = Relu(r) }", {.batch = 3});
  CHECK(value_named(graph, "x").dims == Dims{3, 8});
  CHECK(value_named(graph, "z").dims == Dims{3, 8});
}

TEST_CASE("A single number is not what the batch is read from", "[onnx]") {
  const Graph graph =
      import_text("g (float[1] step, float[2, 8] x) => (float[2, 8] y) { y = Mul(x, step) }", {.batch = 4});
  CHECK(value_named(graph, "step").dims == Dims{1});
  CHECK(value_named(graph, "x").dims == Dims{4, 8});
  CHECK(graph.batch == 4);
}

TEST_CASE("Similarities of all pairs that take less than a hundredth of the products do not refuse a batch", "[onnx]") {
  // Two towers of two products of 64 x 64 each. At batch 3, all pairs take 9 * 64 of 3 * 4 * 64 * 64 + 9 * 64.
  const std::string w = ones("float[64, 64] w", 4096);
  const Graph graph = import_text(
      "g (float[1, 64] x, float[1, 64] z) => (float[1, 1] y) <" + w +
          "> { a = MatMul(x, w) b = MatMul(a, w) c = MatMul(z, w) d = MatMul(c, w) t = Transpose(d) y = MatMul(b, t) }",
      {.batch = 3});
  CHECK(value_named(graph, "y").dims == Dims{3, 3});
}

TEST_CASE("A convolution of other channels than its filter's is an error", "[onnx]") {
  CHECK_THAT(message_of<InputError>([] {
               (void)import_text("g (float[2, 8, 8, 8] x, float[16, 3, 3, 3] w) => (float[a] y) { y = Conv(x, w) }");
             }),
             Catch::Contains("8 channels"));
}

TEST_CASE("A file whose sizes are fixed has no other batch if a product combines its items", "[onnx]") {
  struct Case {
    std::string inputs, nodes, node;
  };
  const auto [inputs, nodes, node] = GENERATE(values<Case>(
      {{"float[1, 6, 4] x", "r = Reshape(x, rows) k = Transpose(r) s = MatMul(r, k) p = Softmax(s) y = MatMul(p, r)",
        "'MatMul_s' (MatMul)"},
       {"float[1, 3, 8, 8] x, float[1, 3, 2, 2] z", "y = Conv(x, z)", "'Conv_y' (Conv)"},
       {"float[1, 6, 4] x", "r = Reshape(x, rows) y = Einsum<equation = \"id,jd->ij\">(r, r)", "'Einsum_y' (Einsum)"},
       {"float[1, 6, 4] x", "r = Reshape(x, rows) y = Gemm<transB = 1>(r, r)", "'Gemm_y' (Gemm)"}}));
  const std::string text = "g (" + inputs + ") => (float[a] y) <int64[2] rows = {6, 4}> { " + nodes + " }";
  CHECK_THAT(message_of<InputError>([&, &t = text] { (void)import_text(t, {.batch = 3}); }),
             Catch::Contains(node) && Catch::Contains("combines the items of a batch"));
  CHECK(import_text(text, {.batch = 1}).batch == 1);
}

TEST_CASE("If sizes are open, a product that combines items is only reported", "[onnx]") {
  const Graph graph = import_text(
      "g (float[batch, 6, 4] x) => (float[a, b] y) <int64[2] rows = {-1, 4}> "
      "{ r = Reshape(x, rows) k = Transpose(r) y = MatMul(r, k) }",
      {.batch = 3});
  CHECK(value_named(graph, "y").dims == Dims{18, 18});
  REQUIRE(graph.warnings.size() == 1);
  CHECK_THAT(graph.warnings[0], Catch::Contains("combines the items of a batch"));
}

TEST_CASE("A frozen batch is rewritten in Reshape, Expand, Concat and Slice", "[onnx]") {
  struct Case {
    std::string why, nodes;
    Dims y;
  };
  // x is float[1, 6, 4], made for batch 1 and read at batch 3; v is a constant float[1, 2, 4].
  const auto [why, nodes, y] = GENERATE(values<Case>({
      {"a leading 1", "t = Constant <value = int64[2] {1, 24}> () y = Reshape(x, t)", {3, 24}},
      {"a leading 0", "t = Constant <value = int64[2] {0, 24}> () y = Reshape(x, t)", {3, 24}},
      {"a leading 1 before -1", "t = Constant <value = int64[3] {1, -1, 2}> () y = Reshape(x, t)", {3, 12, 2}},
      {"rows joined", "t = Constant <value = int64[2] {6, 4}> () y = Reshape(x, t)", {18, 4}},
      {"rows joined and -1", "t = Constant <value = int64[2] {-1, 4}> () y = Reshape(x, t)", {18, 4}},
      {"an own axis behind",
       "p = Transpose <perm = [1, 0, 2]> (x) t = Constant <value = int64[4] {6, 1, 2, 2}> () y = Reshape(p, t)",
       {6, 3, 2, 2}},
      {"an axis that is copied, before -1",
       "p = Transpose <perm = [1, 0, 2]> (x) t = Constant <value = int64[4] {0, 0, 2, -1}> () y = Reshape(p, t)",
       {6, 3, 2, 2}},
      {"an axis that is copied, and all behind it joined by -1",
       "p = Transpose <perm = [1, 0, 2]> (x) r = Unsqueeze(p, a) s = Transpose <perm = [0, 2, 1, 3]> (r)"
       " t = Constant <value = int64[3] {0, 0, -1}> () y = Reshape(s, t)",
       {6, 3, 4}},
      {"joined to what is split",
       "p = Transpose <perm = [1, 0, 2]> (x) t = Constant <value = int64[3] {6, 2, 2}> () y = Reshape(p, t)",
       {6, 6, 2}},
      {"rows joined, and parted again",
       "p = Transpose <perm = [1, 0, 2]> (x) t = Constant <value = int64[2] {6, 4}> () r = Reshape(p, t)"
       " s = Relu(r) u = Constant <value = int64[3] {6, 1, 4}> () y = Reshape(s, u)",
       {6, 3, 4}},
      {"a shape of Expand",
       "u = Unsqueeze(x, a) t = Constant <value = int64[4] {1, 5, 6, 4}> () y = Expand(u, t)",
       {3, 5, 6, 4}},
      {"a class token", "y = Concat <axis = 1> (v, x)", {3, 8, 4}},
      {"a slice of all",
       "s = Constant <value = int64[1] {0}> () e = Constant <value = int64[1] {1}> () y = Slice(x, s, e, s)",
       {3, 6, 4}},
  }));
  INFO(why);
  const std::string text =
      "g (float[1, 6, 4] x) => (float[1] y) <float[1, 2, 4] v = {1,2,3,4,5,6,7,8}, int64[1] a = {1}> {" + nodes + "}";
  CHECK(value_named(import_text(text, {.batch = 3}), "y").dims == y);
}

TEST_CASE("A mask that is drawn for each image of a frozen batch follows another batch", "[onnx]") {
  const std::int64_t batch = GENERATE(1, 2, 5);
  // The mask of stochastic depth, as torchvision draws it: one number for each of two images.
  const Graph graph = import_text(
      "g (float[2, 6, 4] x) => (float[2, 6, 4] y) <float[2, 1, 1] like = {0, 0}, float half = {0.5}> "
      "{ r = RandomUniformLike(like) l = Less(r, half) m = Cast <to = 1> (l) y = Mul(x, m) }",
      {.batch = batch});
  CHECK(value_named(graph, "m").dims == Dims{batch, 1, 1});
  CHECK(value_named(graph, "y").dims == Dims{batch, 6, 4});
}

TEST_CASE("Weights that are drawn do not follow the batch, whatever their first size is", "[onnx]") {
  const Graph graph = import_text(
      "g (float[4, 4] x) => (float[4, 3] y) <float[4, 3] like = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> "
      "{ w = RandomNormalLike(like) y = MatMul(x, w) }",
      {.batch = 2});
  CHECK(value_named(graph, "w").dims == Dims{4, 3});
  CHECK(value_named(graph, "y").dims == Dims{2, 3});
}

TEST_CASE("Positions and lengths of a frozen batch are repeated for another batch", "[onnx]") {
  const Graph rows = import_text(
      "g (float[1, 6, 4] x) => (float[1, 4] y) <int64[1, 1] i = {2}> { y = GatherND <batch_dims = 1> (x, i) }",
      {.batch = 3});
  CHECK(value_named(rows, "y").dims == Dims{3, 4});
  const Graph elements = import_text(
      "g (float[1, 6, 2] x) => (float[1, 1, 2] y) <int64[1, 1, 2] i = {5, 3}> { y = GatherElements <axis = 1> (x, i) }",
      {.batch = 2});
  CHECK(value_named(elements, "y").dims == Dims{2, 1, 2});
  const Value& places = elements.value(*elements.nodes.back().inputs[1]);
  CHECK(places.literal->ints == std::vector<std::int64_t>{5, 3, 5, 3});
  const Graph lengths = import_text(
      "g (float[1, 5, 8] x) => (float[5, 1, 1, 8] y) <int32[1] l = {5}, int64[3] s = {1, 32, 8}> "
      "{ w = ConstantOfShape (s) t = Transpose <perm = [1, 0, 2]> (x) y = LSTM <hidden_size = 8> (t, w, w, , l) }",
      {.batch = 4});
  CHECK(value_named(lengths, "y").dims == Dims{5, 1, 4, 8});
  const auto lstm =
      std::find_if(lengths.nodes.begin(), lengths.nodes.end(), [](const Node& node) { return node.op_type == "LSTM"; });
  REQUIRE(lstm != lengths.nodes.end());
  CHECK(lengths.value(*lstm->inputs[4]).literal->ints == std::vector<std::int64_t>{5, 5, 5, 5});
}

TEST_CASE("A constant of a body keeps its shape at another batch, whatever a value around it is called", "[onnx]") {
  const auto branch = [](const std::string& y) {
    return y + "_body () => (float[2, 2, 3] " + y +
           ") <float[2, 6] x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, int64[3] " + y + "_shape = {2, 2, 3}> { " + y +
           " = Reshape(x, " + y + "_shape) }";
  };
  const Graph graph = import_text(
      "g (float[N, 6] x, bool c) => (float[2, 2, 3] q, float[N, 6] z) { y = If (c) <then_branch = " + branch("a") +
          ", else_branch = " + branch("b") + "> q = Relu(y) z = Relu(x) }",
      {.batch = 3});
  CHECK(value_named(graph, "q").dims == Dims{2, 2, 3});
  CHECK(value_named(graph, "z").dims == Dims{3, 6});
}

TEST_CASE("The product that follows decides between two shapes that a frozen Reshape may have", "[onnx]") {
  // 6 rows of (batch, 2 heads, 2) become rows of 4 for a product with 4 x 5: 6 * batch rows, never 4 * batch columns.
  const Graph graph = import_text(
      "g (float[1, 6, 4] x) => (float[1] y) <float[4, 5] w = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}> {"
      " p = Transpose <perm = [1, 0, 2]> (x) t = Constant <value = int64[2] {6, 4}> () r = Reshape(p, t) y = MatMul(r, "
      "w) }",
      {.batch = 3});
  CHECK(value_named(graph, "y").dims == Dims{18, 5});
}

TEST_CASE("A value makes a scalar input a constant", "[onnx]") {
  const auto* text =
      "g (int64 n, float[4, 8] x) => (float[?, ?] y) { zero = Constant <value = int64[1] {0}> () e = Unsqueeze(n, "
      "zero) y = Slice(x, zero, e) }";
  CHECK(value_named(import_text(text, {.values = {{"n", 3}}}), "y").dims == Dims{3, 8});
  CHECK_THAT(message_of<InputError>([&] { (void)import_text(text); }),
             Catch::Contains("'y'") && Catch::Contains("--value"));
}

}  // namespace
