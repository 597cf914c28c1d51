// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan; sizes that depend on data; graphs that are broken.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/memory/detail/read_constants.hpp>

#include <algorithm>
#include <cstddef>
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

TEST_CASE("An If whose condition folds is its branch", "[onnx]") {
  // torch.squeeze(x, 0) as PyTorch exports it: squeeze only if the dimension is 1.
  const auto* text = R"(g (float[n, 8] x) => (float[?] y) <int64 zero = {0}, int64 one = {1}, int64[1] at = {0}> {
      s = Shape(x) d = Gather(s, zero) c = Equal(d, one)
      y = If (c) <then_branch = a () => (float[?] p) { p = Squeeze(x, at) }, else_branch = b () => (float[?, ?] q) { r = Relu(x) q = Neg(r) }> })";
  const Graph squeezed = import_text(text, {.batch = 1}), kept = import_text(text, {.batch = 3});
  CHECK(op_types(squeezed) == std::vector<std::string>{"Squeeze"});
  CHECK(squeezed.value(squeezed.outputs[0]).dims == Dims{8});
  CHECK(op_types(kept) == std::vector<std::string>{"Relu", "Neg"});
  CHECK(kept.value(kept.outputs[0]).dims == Dims{3, 8});
}

const std::string loop_body =
    " <body = b (int64 i, bool go, float[4] h) => (bool on, float[4] h2, float[4] each) { on = Identity(go) h2 = "
    "Add(h, w) each = Mul(h2, h2) }> ";

TEST_CASE("A Loop stacks its scan outputs once per iteration", "[onnx]") {
  const Graph graph = import_text(
      "g (float[4] x, float[4] w) => (float[4] y, float[?, 4] all) <int64 n = {5}> { y, all = Loop (n, \"\", x)" +
      loop_body + "}");
  const Node& node = graph.nodes.at(0);
  CHECK(node.trip_count == 5);
  CHECK(value_named(graph, "all").dims == Dims{5, 4});
  CHECK_FALSE(value_named(graph, "all").data_dependent);
  CHECK_FALSE(node.inputs.at(1).has_value());
  CHECK(op_types(node.bodies.at(0).graph) == std::vector<std::string>{"Add", "Mul"});
  CHECK(node.bodies[0].graph.captures.size() == 1);
}

TEST_CASE("A Loop of unknown trip count has no count, and the least sizes", "[onnx]") {
  struct Case {
    std::string why, inputs, condition;
  };
  const auto [why, inputs, condition] = GENERATE(
      values<Case>({{"the count is an input", "n, \"\"", "on = Identity(go)"},
                    {"the condition is an input", "five, c", "on = Identity(go)"},
                    {"the body decides", "five, \"\"",
                     "q = ReduceSum <keepdims = 0> (h) zero = Constant <value_float = 0.0> () on = Less(q, zero)"}}));
  INFO(why);
  const Graph graph = import_text(
      "g (float[4] x, int64 n, bool c) => (float[4] y, float[?, 4] all) <int64 five = {5}> { y, all = Loop (" + inputs +
      ", x) <body = b (int64 i, bool go, float[4] h) => (bool on, float[4] h2, float[4] each) { " + condition +
      " h2 = Neg(h) each = Relu(h2) }> }");
  CHECK_FALSE(graph.nodes.at(0).trip_count.has_value());
  CHECK(value_named(graph, "y").dims == Dims{4});
  CHECK_FALSE(value_named(graph, "y").data_dependent);
  CHECK(value_named(graph, "all").dims == Dims{0, 4});
  CHECK(value_named(graph, "all").data_dependent);
}

TEST_CASE("A Loop may carry a sequence", "[onnx]") {
  // A list that grows by one tensor in each iteration, as PyTorch exports list.append.
  const Graph graph = import_text(
      "g (float[4] x) => (float[?] y) <int64 n = {3}> { e = SequenceEmpty() l = Loop (n, \"\", e) <body = b (int64 i, "
      "bool go, seq(float[4]) s)"
      " => (bool on, seq(float[4]) s2) { on = Identity(go) r = Relu(x) s2 = SequenceInsert(s, r) }> y = "
      "ConcatFromSequence <axis = 0> (l) }");
  CHECK(graph.nodes.at(0).trip_count == 3);
  CHECK(value_named(graph, "y").dims.size() == 1);
  CHECK(value_named(graph, "y").data_dependent);
}

TEST_CASE("A Scan has as many iterations as its sequence has elements", "[onnx]") {
  const Graph graph = import_text(
      "g (float[3] h, float[2, 7, 3] x) => (float[3] y, float[3, 7] all) { p = Transpose <perm = [1, 0, 2]> (x) y, all "
      "= Scan <num_scan_inputs = 1, scan_input_axes = [0], scan_output_axes = [1],"
      " body = b (float[3] s, float[2, 3] e) => (float[3] s2, float[3] o) { r = ReduceSum <keepdims = 0> (e, at) s2 = "
      "Add(s, r) o = Relu(s2) }> (h, p) at = Constant <value_ints = [0]> () }");
  const Node& node = graph.nodes.back();
  CHECK(node.op_type == "Scan");
  CHECK(node.trip_count == 7);
  CHECK(value_named(graph, "all").dims == Dims{3, 7});
  CHECK(node.bodies.at(0).graph.value(node.bodies[0].graph.inputs.at(1)).dims == Dims{2, 3});
}

TEST_CASE("Bodies see values of all graphs around them", "[onnx]") {
  const Graph graph = import_text(
      "g (float[4] x, float[4] w, bool c) => (float[4] y) <int64 n = {3}> { y = Loop (n, \"\", x) <body = b (int64 i, "
      "bool go, float[4] h) => (bool on, float[4] h2) { on = Identity(go)"
      " h2 = If (c) <then_branch = t () => (float[4] p) { p = Add(h, w) }, else_branch = e () => (float[4] q) { q = "
      "Mul(h, w) }> }> }");
  const Graph& body = graph.nodes.at(0).bodies.at(0).graph;
  const Graph& branch = body.nodes.at(0).bodies.at(0).graph;
  REQUIRE(branch.captures.size() == 2);
  CHECK(branch.value(branch.captures[0].first).name == "h");
  CHECK(body.value(branch.captures[0].second).name == "h");
  CHECK(body.value(branch.captures[1].second).name == "w");
  CHECK(body.captures.size() == 2);  // the condition and w
}

/// Two nodes of control flow, r1 and r2, and their difference. In `first` and `second` a # is the number of the node.
std::size_t nodes_left(std::string first, std::string second) {
  std::replace(first.begin(), first.end(), '#', '1');
  std::replace(second.begin(), second.end(), '#', '2');
  const Graph graph = import_text(
      "g (float[4] x, float[4] w, float[4] v, float[3, 4] xs, bool c, bool d) => (float[4] "
      "y) <int64 n = {5}, int64 five = {5}, int64 few = {3}> { " +
      first + " " + second + " y = Sub(r1, r2) }");
  return graph.nodes.size();
}

std::string loop_of(const std::string& inputs, const std::string& nodes, const std::string& numbers = "") {
  return "r# = Loop (" + inputs + ") <body = b# (int64 i#, bool go#, float[4] h#) => (bool on#, float[4] o#) " +
         numbers + " { on# = Identity(go#) " + nodes + " }>";
}

std::string if_of(const std::string& condition, const std::string& then_node, const std::string& else_node) {
  return " If (" + condition + ") <then_branch = t# () => (float[4] p#) { p# = " + then_node +
         " }, else_branch = e# () => (float[4] q#) { q# = " + else_node + " }> ";
}

TEST_CASE("Equal loops are one, whatever they call their values", "[onnx]") {
  const std::string inputs = "n, \"\", x", nodes = "s# = Add(h#, w) o# = LeakyRelu <alpha = 0.5> (s#)";
  const std::string loop = loop_of(inputs, nodes);
  CHECK(nodes_left(loop, loop) == 2);
  CHECK(nodes_left(loop, loop_of("five, \"\", x", nodes)) == 2);  // the same number of passes
  SECTION("with other inputs they are two") {
    CHECK(nodes_left(loop, loop_of("few, \"\", x", nodes)) == 3);
    CHECK(nodes_left(loop, loop_of("n, \"\", w", nodes)) == 3);
  }
  SECTION("with another captured value, operator, attribute or operand they are two") {
    CHECK(nodes_left(loop, loop_of(inputs, "s# = Add(h#, v) o# = LeakyRelu <alpha = 0.5> (s#)")) == 3);
    CHECK(nodes_left(loop, loop_of(inputs, "s# = Sub(h#, w) o# = LeakyRelu <alpha = 0.5> (s#)")) == 3);
    CHECK(nodes_left(loop, loop_of(inputs, "s# = Add(h#, w) o# = LeakyRelu <alpha = 0.25> (s#)")) == 3);
    CHECK(nodes_left(loop, loop_of(inputs, "s# = Add(h#, w) o# = LeakyRelu <alpha = 0.5> (h#)")) == 3);
  }
  SECTION("numbers in them are compared, weights are not equal for holding the same numbers") {
    const auto scaled = [&](const std::string& numbers) { return loop_of(inputs, "o# = Mul(h#, u#)", numbers); };
    CHECK(nodes_left(scaled("<float u# = {2}>"), scaled("<float u# = {2}>")) == 2);
    CHECK(nodes_left(scaled("<float u# = {2}>"), scaled("<float u# = {3}>")) == 3);
    CHECK(nodes_left(scaled("<float[4] u# = {1, 2, 3, 4}>"), scaled("<float[4] u# = {1, 2, 3, 4}>")) == 3);
  }
  SECTION("with random numbers in them, at any depth, they are two") {
    const std::string random = loop_of(inputs, "s# = RandomNormalLike(h#) o# = Add(h#, s#)"),
                      deeper = loop_of(inputs, "o# =" + if_of("c", "RandomNormalLike(h#)", "Neg(h#)"));
    CHECK(nodes_left(random, random) == 3);
    CHECK(nodes_left(deeper, deeper) == 3);
  }
  SECTION("bodies in them are compared too") {
    const auto chosen = [&](const std::string& node) { return loop_of(inputs, "o# =" + node); };
    const std::string one = chosen(if_of("c", "Add(h#, w)", "Neg(h#)"));
    CHECK(nodes_left(one, one) == 2);
    CHECK(nodes_left(one, chosen(if_of("d", "Add(h#, w)", "Neg(h#)"))) == 3);
    CHECK(nodes_left(one, chosen(if_of("c", "Neg(h#)", "Add(h#, w)"))) == 3);
    CHECK(nodes_left(one, chosen(if_of("c", "Add(h#, w)", "Neg(w)"))) == 3);
  }
}

TEST_CASE("Equal Ifs and Scans are one", "[onnx]") {
  const auto chosen = [](const std::string& node) { return "r# =" + node; };
  const std::string one = chosen(if_of("c", "Add(x, w)", "Neg(x)"));
  CHECK(nodes_left(one, one) == 2);
  CHECK(nodes_left(one, chosen(if_of("d", "Add(x, w)", "Neg(x)"))) == 3);
  CHECK(nodes_left(one, chosen(if_of("c", "Neg(x)", "Add(x, w)"))) == 3);
  CHECK(nodes_left(one, chosen(if_of("c", "Add(x, v)", "Neg(x)"))) == 3);
  const auto scan = [](const std::string& direction) {
    return "r# = Scan <num_scan_inputs = 1, scan_input_directions = [" + direction +
           "], body = b# (float[4] h#, float[4] z#) => (float[4] o#) { o# = Add(h#, z#) }> (x, xs)";
  };
  CHECK(nodes_left(scan("0"), scan("0")) == 2);
  CHECK(nodes_left(scan("0"), scan("1")) == 3);
}

TEST_CASE("Sizes that only data says are the least ones, and say so", "[onnx]") {
  const Graph graph = import_text(
      "g (float[4, 6] x) => (float[?] y) <int64[1] flat = {-1}> { n = NonZero(x) t = Transpose(n) g = GatherND(x, t) y "
      "= Relu(g) }");
  CHECK(value_named(graph, "n").dims == Dims{2, 0});
  CHECK(value_named(graph, "n").data_dependent);
  CHECK(value_named(graph, "n").unknown_size);
  CHECK(graph.value(graph.outputs[0]).dims == Dims{0});
  CHECK(graph.value(graph.outputs[0]).data_dependent);
  CHECK_FALSE(graph.value(graph.outputs[0]).unknown_size);  // follows from n
}

TEST_CASE("An unknown operator needs its shapes in value_info", "[onnx]") {
  const std::string header = R"(<ir_version: 10, opset_import: ["" : 20, "my.ops" : 3]>)";
  auto model = testing::parse_model(
      "g (float[batch, 8] x) => (float[batch, 8] y) { t = my.ops.Magic <level = 3> (x) y = Relu(t) }", header);
  const std::string message = message_of<InputError>([&] { (void)testing::import_model(model, {.batch = 2}); });
  for (const auto* part : {"node 't' (Magic)", "unknown operator of domain 'my.ops'", "value_info"})
    CHECK_THAT(message, Catch::Contains(part));
  auto& info = *model.mutable_graph()->add_value_info();
  info = model.graph().input(0);
  info.set_name("t");
  const Graph graph = testing::import_model(model, {.batch = 2});
  CHECK(op_types(graph) == std::vector<std::string>{"Magic", "Relu"});
  CHECK(graph.nodes[0].domain == "my.ops");
  CHECK(graph.nodes[0].opset == 3);
  CHECK(graph.nodes[0].attribute<std::int64_t>("level", 0) == 3);
  CHECK(value_named(graph, "t").dims == Dims{2, 8});
}

TEST_CASE("A broken graph is one line that names the node and what is wrong", "[onnx]") {
  struct Case {
    std::string why, text;
    std::vector<std::string> expected;
  };
  const auto [why, text, expected] = GENERATE(values<Case>({
      {"a cycle",
       "g (float[4] x) => (float[4] y) { [first] a = Add(x, b) [second] b = Relu(a) y = Neg(b) }",
       {"cycle", "node 'second' (Relu)", "node 'first' (Add)"}},
      {"no nodes", "g (float[4] x) => (float[4] x) {}", {"no nodes"}},
      {"a Reshape that does not multiply out",
       "g (float[4, 6] x) => (float[?] y) <int64[2] t = {5, 5}> { [r] y = Reshape(x, t) }",
       {"node 'r' (Reshape)", "[4, 6] (24 elements)", "[5, 5]", "25"}},
      {"a Reshape of a remainder",
       "g (float[4, 6] x) => (float[?] y) <int64[2] t = {-1, 7}> { [r] y = Reshape(x, t) }",
       {"node 'r' (Reshape)", "a multiple"}},
      {"two -1",
       "g (float[4, 6] x) => (float[?] y) <int64[2] t = {-1, -1}> { [r] y = Reshape(x, t) }",
       {"more than one -1"}},
      {"shapes that do not broadcast",
       "g (float[4, 6] x, float[4, 5] z) => (float[?] y) { [r] y = Add(x, z) }",
       {"node 'r' (Add)"}},
      {"inner sizes that differ",
       "g (float[4, 6] x, float[5, 4] z) => (float[?] y) { [r] y = Gemm(x, z) }",
       {"node 'r' (Gemm)", "inner sizes differ"}},
      {"a value that nobody makes", "g (float[4] x) => (float[4] y) { [r] y = Add(x, missing) }", {"missing"}},
      {"an operator that ONNX does not have", "g (float[4] x) => (float[4] y) { [r] y = Reluu(x) }", {"Reluu"}},
      {"a negative size from a window",
       "g (float[1, 1, 2, 2] x) => (float[?] y) <int64[1] t = {1}> { [r] y = MaxPool <kernel_shape = [9, 9]> (x) }",
       {"node 'r' (MaxPool)", "a window of 9 over 2 elements"}},
      {"a stride of 0",
       "g (float[1, 1, 2, 2] x) => (float[?] y) { [r] y = MaxPool <kernel_shape = [1, 1], strides = [0, 1]> (x) }",
       {"node 'r' (MaxPool)", "'strides' holds 0"}},
      {"batch dimensions before the first",
       "g (float[2, 2] x, int64[2, 1] i) => (float[?] y) { [r] y = GatherND <batch_dims = -3> (x, i) }",
       {"node 'r' (GatherND)", "'batch_dims' holds -3, expected 0 to 64"}},
      {"an axis that does not fit 32 bits",
       "g (float[2, 2] x) => (float[?] y) { [r] y = Softmax <axis = 4294967296> (x) }",
       {"node 'r' (Softmax)", "'axis' holds 4294967296"}},
      {"a permutation of fewer axes",
       "g (float[2, 3, 4] x) => (float[?] y) { [r] y = Transpose <perm = [1, 0]> (x) }",
       {"node 'r' (Transpose)", "'perm' does not order the 3 axes"}},
      {"more outputs than parts",
       "g (float[4] x) => (float[?] y) { [r] y, z, u = Split <num_outputs = 2> (x) }",
       {"node 'r' (Split)", "'num_outputs' holds 2, expected 3 to 65536"}},
      {"two billion outputs",
       "g (float[4] x) => (float[?] y) { [r] y = Split <num_outputs = 2147483648> (x) }",
       {"node 'r' (Split)", "'num_outputs' holds 2147483648, expected 1 to 65536"}},
      {"a constant axis out of range",
       "g (float[2, 2] x) => (float[?] y) <int64[1] k = {9223372036854775807}> { [r] y = CumSum(x, k) }",
       {"node 'r' (CumSum)", "input 1 holds 9223372036854775807, expected -2 to 1"}},
      {"a Range that is longer than an integer tells",
       "g (float[4] x) => (int64[?] y) <int64 a = {-9223372036854775808}, int64 b = {9}, int64 c = {1}> "
       "{ [r] y = Range(a, b, c) }",
       {"node 'r' (Range)", "no number of elements"}},
      {"an Einsum of four dots",
       "g (float[2] x) => (float[?] y) { [r] y = Einsum <equation = \"....\"> (x) }",
       {"node 'r' (Einsum)", "'equation' has '.' at place 3"}},
      {"an Einsum of a digit",
       "g (float[2, 2] x) => (float[?] y) { [r] y = Einsum <equation = \"a1->a\"> (x) }",
       {"node 'r' (Einsum)", "'equation' has '1' at place 1"}},
      {"two ellipses in a term of an Einsum",
       "g (float[2, 2] x) => (float[?] y) { [r] y = Einsum <equation = \"...a...->a\"> (x) }",
       {"node 'r' (Einsum)", "'equation' has '.' at place 4"}},
      {"weights of another rank",
       "g (float[1, 1, 2, 2] x, float[1, 1, 2, 2, 2] w) => (float[?] y) { [r] y = ConvTranspose(x, w) }",
       {"node 'r' (ConvTranspose)", "rank 5"}},
      {"a size that overflows",
       "g (float[1] x) => (float[?] y) <int64[2] t = {4611686018427387904, 4}> { [r] y = Expand(x, t) }",
       {"node 'r' (Expand)"}},
      {"weights of an LSTM that are a scalar",
       "g (float[5, 1, 8] x, float w, float[1, 16, 4] u) => (float[?] y) { [r] y = LSTM <hidden_size = 4> (x, w, u) }",
       {"node 'r' (LSTM)", "input 1 has shape", "expected [1, 16, 8]"}},
      {"recurrent weights without columns",
       "g (float[5, 1, 8] x, float[1, 12, 8] w, float[1, 12, 0] u) => (float[?] y) { [r] y = GRU (x, w, u) }",
       {"node 'r' (GRU)", "input 2 has shape [1, 12, 0], expected [1, 12, 4]"}},
      {"weights of another hidden size",
       "g (float[5, 1, 8] x, float[1, 12, 8] w, float[1, 12, 4] u) => (float[?] y) { [r] y = GRU <hidden_size = 1> (x, "
       "w, u) }",
       {"node 'r' (GRU)", "input 1 has shape [1, 12, 8], expected [1, 3, 8]"}},
      {"weights for other features",
       "g (float[5, 1, 9] x, float[1, 4, 8] w, float[1, 4, 4] u) => (float[?] y) { [r] y = RNN <hidden_size = 4> (x, "
       "w, "
       "u) }",
       {"node 'r' (RNN)", "input 1 has shape [1, 4, 8], expected [1, 4, 9]"}},
      {"updates of another shape than their indices",
       "g (float[4] x, int64[3] i, float[2] u) => (float[?] y) { [r] y = ScatterElements (x, i, u) }",
       {"node 'r' (ScatterElements)", "input 2 has shape [2], expected that of input 1, [3]"}},
      {"a scale for four of five channels",
       "g (float[3, 5, 9] x, float[4] s, float[5] b, float[5] m, float[5] v) => (float[?] y) "
       "{ [r] y = BatchNormalization (x, s, b, m, v) }",
       {"node 'r' (BatchNormalization)", "input 1 has shape [4], expected [5]"}},
      {"a scale that cannot be broadcast",
       "g (float[3, 5, 9] x, float[8] s) => (float[?] y) { [r] y = LayerNormalization (x, s) }",
       {"node 'r' (LayerNormalization)", "shape [8], which cannot be broadcast to [3, 5, 9]"}},
      {"a kernel shape that is not that of the filter",
       "g (float[1, 4, 8, 8] x, float[6, 4, 3, 3] w) => (float[?] y) { [r] y = Conv <kernel_shape = [7, 3]> (x, w) }",
       {"node 'r' (Conv)", "'kernel_shape' is [7, 3], its filter has shape [6, 4, 3, 3]"}},
      {"an unknown kind of padding",
       "g (float[1, 4, 8, 8] x, float[6, 4, 3, 3] w) => (float[?] y) { [r] y = Conv <auto_pad = \"SOME\"> (x, w) }",
       {"node 'r' (Conv)", "'auto_pad' is 'SOME'"}},
      {"a choice of two that is 2",
       "g (float[1, 1, 8, 8] x) => (float[?] y) { [r] y = MaxPool <kernel_shape = [2, 2], ceil_mode = 2> (x) }",
       {"node 'r' (MaxPool)", "'ceil_mode' holds 2, expected 0 to 1"}},
      {"a wrong type in an attribute's place",
       "g (float[1] x) => (float[?] y) { [r] y = Softmax <axis = 5> (x) }",
       {"node 'r' (Softmax)"}},
  }));
  INFO(why);
  const std::string message = message_of<InputError>([&, &t = text] { (void)import_text(t); });
  CHECK(message.find('\n') == std::string::npos);
  CHECK_THAT(message, Catch::Contains(".onnx: "));
  for (const auto& part : expected) CHECK_THAT(message, Catch::Contains(part));
}

TEST_CASE("Nodes out of order are sorted when they can be", "[onnx]") {
  const Graph graph = import_text("g (float[4] x) => (float[4] y) { y = Neg(b) b = Relu(a) a = Abs(x) }");
  CHECK(op_types(graph) == std::vector<std::string>{"Abs", "Relu", "Neg"});
}

TEST_CASE("Functions that call themselves or grow without bound are refused", "[onnx]") {
  const std::string header = R"(<ir_version: 9, opset_import: ["" : 20, "f" : 1]>)";
  const std::string main_graph = "g (float[4] x) => (float[4] y) { y = f.f0(x) }\n";
  const auto function = [](const std::string& name, const std::string& nodes) {
    return "<domain: \"f\", opset_import: [\"\" : 20, \"f\" : 1]>\n" + name + " (a) => (b) { " + nodes + " }\n";
  };
  const auto recursive = testing::parse_model(
      main_graph + function("f0", "c = f.f1(a) b = Relu(c)") + function("f1", "b = f.f0(a)"), header);
  CHECK_THAT(message_of<InputError>([&] { (void)testing::import_model(recursive); }), Catch::Contains("calls itself"));
  std::string growing = main_graph;
  const auto numbered = [](int i) { return std::string("f").append(std::to_string(i)); };
  for (int i = 0; i < 30; ++i)
    growing += function(
        numbered(i),
        std::string("c = f.").append(numbered(i + 1)).append("(a) b = f.").append(numbered(i + 1)).append("(c)"));
  growing += function("f30", "b = Relu(a)");
  CHECK_THAT(message_of<InputError>([&] { (void)testing::import_model(testing::parse_model(growing, header)); }),
             Catch::Contains("its functions grow to more than"));
}

TEST_CASE("An attribute that functions hand on twice is not inlined without bound", "[onnx]") {
  // f0 has a body of 1000 nodes, which is an attribute. Function i calls i - 1 twice: 2^14 times.
  onnx::ModelProto model = testing::parse_model("g (float[4] x) => (float[4] y) { y = f.f14(x) }\n",
                                                R"(<ir_version: 9, opset_import: ["" : 20, "f" : 1]>)");
  const auto refer = [](onnx::NodeProto& node, const std::string& name) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.set_ref_attr_name("body");
  };
  const auto add_node = [](auto& to, const std::string& type, const std::string& input, const std::string& output) {
    auto& node = *to.add_node();
    node.set_op_type(type);
    if (type[0] == 'f') node.set_domain("f");
    node.add_input(input);
    node.add_output(output);
    return &node;
  };
  for (int i = 0; i < 15; ++i) {
    auto& function = *model.add_functions();
    function.set_domain("f");
    function.set_name("f" + std::to_string(i));
    function.add_input("a");
    function.add_output("b");
    function.add_attribute("body");
    auto& imported = *function.add_opset_import();
    imported.set_domain(i == 0 ? "" : "f");
    imported.set_version(i == 0 ? 20 : 1);
    if (i == 0) {
      auto* node = add_node(function, "If", "a", "b");
      refer(*node, "then_branch");
      refer(*node, "else_branch");
    } else {
      refer(*add_node(function, "f" + std::to_string(i - 1), "a", "c"), "body");
      refer(*add_node(function, "f" + std::to_string(i - 1), "c", "b"), "body");
    }
  }
  auto& body = *model.mutable_graph()->mutable_node(0)->add_attribute();
  body.set_name("body");
  body.set_type(onnx::AttributeProto::GRAPH);
  body.mutable_g()->set_name("body");
  for (int i = 0; i < 1000; ++i)
    add_node(*body.mutable_g(), "Relu", i == 0 ? "x" : "r" + std::to_string(i - 1), "r" + std::to_string(i));
  body.mutable_g()->add_output()->set_name("r999");
  body.mutable_g()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  CHECK_THAT(message_of<InputError>([&] { (void)testing::import_model(model); }),
             Catch::Contains("its functions grow to more than"));
}

TEST_CASE("a constant of the file that both branches convert is one constant", "[onnx]") {
  const auto branch = [](const std::string& name) {
    return name + " () => (float[2, 8] " + name + "y) { " + name + "w = Transpose(w) " + name + "y = MatMul(x, " +
           name + "w) }";
  };
  std::string numbers = "0";
  for (int i = 1; i < 128; ++i) numbers += ", " + std::to_string(i * i % 19);
  const Graph graph =
      import_text("g (float[2, 16] x, bool c) => (float[2, 8] y) <float[8, 16] w = {" + numbers +
                  "}> { y = If (c) <then_branch = " + branch("a") + ", else_branch = " + branch("b") + "> }");
  std::vector<std::string> names;
  for (const auto& one : detail::read_constants(graph)) names.push_back(one.value->name);
  CHECK(names == std::vector<std::string>{"w"});
}

TEST_CASE("Nested loops are not analysed without bound", "[onnx]") {
  // The innermost loop has `count` nodes and appends to what it carries. Each level is visited at least twice.
  const auto nested = [](int depth, int count) {
    std::string nodes;
    for (int i = 0; i < count; ++i) nodes += "t" + std::to_string(i) + " = Neg(s0) ";
    nodes += "so0 = Concat <axis = 0> (s0, one)";
    for (int i = 0; i < depth; ++i) {
      const std::string in = std::to_string(i), out = std::to_string(i + 1);
      nodes = "so" + out + " = Loop(four, \"\", s" + out + ") <body = b (int64 i" + in + ", bool c" + in +
              ", float[N] s" + in + ") => (bool co" + in + ", float[N] so" + in + ") { co" + in + " = Identity(c" + in +
              ") " + nodes + " }>";
    }
    const std::string last = std::to_string(depth);
    return "g (float[4] s" + last + ") => (float[N] so" + last + ") <int64 four = {4}, float[1] one = {1.0}> { " +
           nodes + " }";
  };
  CHECK(import_text(nested(3, 1)).values.size() > 0);
  CHECK_THAT(message_of<InputError>([&] { (void)import_text(nested(9, 1)); }),
             Catch::Contains("loops are nested more than 8 deep"));
  CHECK_THAT(message_of<InputError>([&] { (void)import_text(nested(8, 500)); }),
             Catch::Contains("its loops grow to more than"));
}

}  // namespace
