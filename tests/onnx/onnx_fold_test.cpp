// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic is folded, constants are recognised, equal nodes are merged. Expected numbers are NumPy's.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::import_text;
using testing::op_types;
using testing::value_named;
using Dims = std::vector<std::int64_t>;

TEST_CASE("Operators on small constants give NumPy's numbers", "[onnx]") {
  struct Case {
    std::string nodes;
    Dims dims;
    std::vector<std::int64_t> ints;
  };
  // v = [3, -7, 5], m = [[1, 2, 3], [4, 5, 6]], i0 = [0], i1 = [1], s = 2 (a scalar)
  const auto [nodes, dims, ints] = GENERATE(values<Case>({
      {"y = Add(v, i1)", {3}, {4, -6, 6}},
      {"y = Sub(v, s)", {3}, {1, -9, 3}},
      {"y = Mul(m, v)", {2, 3}, {3, -14, 15, 12, -35, 30}},
      {"y = Div(v, s)", {3}, {1, -3, 2}},  // towards zero
      {"y = Mod(v, s)", {3}, {1, 1, 1}},   // the divisor's sign
      {"y = Mod <fmod = 1> (v, s)", {3}, {1, -1, 1}},
      {"y = Pow(v, s)", {3}, {9, 49, 25}},
      {"y = Neg(v)", {3}, {-3, 7, -5}},
      {"y = Abs(v)", {3}, {3, 7, 5}},
      {"y = Sign(v)", {3}, {1, -1, 1}},
      {"y = Min(v, s)", {3}, {2, -7, 2}},
      {"y = Max(v, s, i1)", {3}, {3, 2, 5}},
      {"c = Greater(v, s) y = Where(c, v, s)", {3}, {3, 2, 5}},
      {"a = Less(v, s) b = Equal(v, s) c = Or(a, b) d = Not(c) y = Cast <to = 7> (d)", {3}, {1, 0, 1}},
      {"a = GreaterOrEqual(v, s) b = LessOrEqual(v, s) c = And(a, b) y = Cast <to = 7> (c)", {3}, {0, 0, 0}},
      {"f = Cast <to = 1> (v) g = Constant <value = float[1] {2}> () h = Div(f, g) q = Floor(h) y = Cast <to = 7> (q)",
       {3},
       {1, -4, 2}},
      {"f = Cast <to = 1> (v) g = Constant <value = float[1] {2}> () h = Div(f, g) q = Ceil(h) y = Cast <to = 7> (q)",
       {3},
       {2, -3, 3}},
      {"f = Cast <to = 1> (m) q = Sqrt(f) y = Cast <to = 7> (q)", {2, 3}, {1, 1, 1, 2, 2, 2}},
      {"y = Gather <axis = 1> (m, i1)", {2, 1}, {2, 5}},
      {"y = GatherElements <axis = 0> (v, i1)", {1}, {-7}},
      {"y = Concat <axis = 0> (v, i0, i1)", {5}, {3, -7, 5, 0, 1}},
      {"y = Unsqueeze(v, i0)", {1, 3}, {3, -7, 5}},
      {"u = Unsqueeze(v, i0) y = Squeeze(u)", {3}, {3, -7, 5}},
      {"t = Constant <value = int64[2] {3, -1}> () y = Reshape(m, t)", {3, 2}, {1, 2, 3, 4, 5, 6}},
      {"y = Flatten <axis = 0> (m)", {1, 6}, {1, 2, 3, 4, 5, 6}},
      {"y = Transpose(m)", {3, 2}, {1, 4, 2, 5, 3, 6}},
      {"e = Constant <value = int64[1] {9}> () y = Slice(v, i1, e)", {2}, {-7, 5}},
      {"b = Constant <value = int64[1] {-1}> () e = Constant <value = int64[1] {-9}> () y = Slice(v, b, e, i0, b)",
       {3},
       {5, -7, 3}},
      {"e = Constant <value = int64[1] {3}> () t = Constant <value = int64[1] {2}> () y = Slice(m, i0, e, i1, t)",
       {2, 2},
       {1, 3, 4, 6}},
      {"t = Constant <value = int64[2] {2, 3}> () y = Expand(v, t)", {2, 3}, {3, -7, 5, 3, -7, 5}},
      {"t = Constant <value = int64[1] {2}> () y = Tile(v, t)", {6}, {3, -7, 5, 3, -7, 5}},
      {"a, y = Split <axis = 1, num_outputs = 2> (m)", {2, 1}, {3, 6}},  // 3 in two: 2 and 1
      {"a = Constant <value_int = 1> () b = Constant <value_int = 8> () c = Constant <value_int = 3> () y = Range(a, "
       "b, c)",
       {3},
       {1, 4, 7}},
      {"t = Constant <value = int64[2] {2, 2}> () y = ConstantOfShape <value = int64[1] {7}> (t)",
       {2, 2},
       {7, 7, 7, 7}},
      {"z = Constant <value_int = 1> () y = CumSum(m, z)", {2, 3}, {1, 3, 6, 4, 9, 15}},
      {"z = Constant <value_int = 1> () y = CumSum <exclusive = 1, reverse = 1> (m, z)", {2, 3}, {5, 3, 0, 11, 6, 0}},
      {"c = Greater(m, s) y = NonZero(c)", {2, 4}, {0, 1, 1, 1, 2, 0, 1, 2}},
      {"y = ArgMax(v)", {1}, {2}},
      {"y = ArgMin <axis = 1, keepdims = 0> (m)", {2}, {0, 0}},
      {"f = Cast <to = 1> (m) y = ArgMax <axis = 0> (f)", {1, 3}, {1, 1, 1}},
      {"e = Equal(v, v) f = Cast <to = 1> (e) y = ArgMax(f)", {1}, {0}},  // the first of equal ones
      {"k = Constant <value = int64[1] {2}> () a, y = TopK(v, k)", {2}, {2, 0}},
      {"y, a = TopK <axis = 0, largest = 0> (m, i1)", {1, 3}, {1, 2, 3}},
      {"k = Constant <value = int64[1] {2}> () y, a = TopK(m, k)", {2, 2}, {3, 2, 6, 5}},
      {"c = Constant <value = bool[3] {1, 0, 1}> () y = Compress(v, c)", {2}, {3, 5}},
      {"c = Constant <value = bool[3] {1, 0, 1}> () y = Compress <axis = 1> (m, c)", {2, 2}, {1, 3, 4, 6}},
      {"c = Constant <value = bool[5] {0, 1, 0, 0, 1}> () y = Compress(m, c)", {2}, {2, 5}},
      {"y = ReduceSum <keepdims = 0> (m, i0)", {3}, {5, 7, 9}},
      {"y = ReduceProd <keepdims = 0> (m)", {}, {720}},
      {"y = ReduceMax(m, i1)", {2, 1}, {3, 6}},
      {"y = ReduceMin <keepdims = 0> (v)", {}, {-7}},
      {"u = Unsqueeze(i1, i0) y = ScatterND(v, u, i0)", {3}, {3, 0, 5}},
      {"y = Clip(v, i_, s)", {3}, {2, -2, 2}},
      {"y = Shape(x)", {4}, {1, 3, 8, 9}},
      {"y = Shape <start = 1, end = -1> (x)", {2}, {3, 8}},
      {"y = Size(x)", {}, {216}},
  }));
  INFO(nodes);
  const Graph graph = import_text(
      "g (float[1, 3, 8, 9] x) => (int64[?] y) <int64[3] v = {3, -7, 5}, int64[2, 3] m = {1, 2, 3, 4, 5, 6}, int64[1] "
      "i0 = {0}, int64[1] i1 = {1},"
      " int64 s = {2}, int64 i_ = {-2}> {" +
      nodes + "}");
  CHECK(graph.nodes.empty());
  const Value& y = graph.value(graph.outputs.at(0));
  CHECK(y.dims == dims);
  CHECK(y.constant);
  REQUIRE(y.literal);
  CHECK(y.literal->ints == ints);
}

TEST_CASE("Arithmetic wraps as it does at run time and a division by zero is left alone", "[onnx]") {
  const Graph graph = import_text(
      "g (float[1] x) => (int64[1] a, int64[1] b, uint8[1] c) <int64[1] big = {9223372036854775807}, int64[1] one = "
      "{1}, int64[1] zero = {0}> {"
      " a = Add(big, one) b = Div(one, zero) n = Neg(one) c = Cast <to = 2> (n) }");
  CHECK(graph.value(graph.outputs[0]).literal->ints == Dims{INT64_MIN});
  CHECK_FALSE(graph.value(graph.outputs[1]).literal.has_value());
  CHECK(graph.value(graph.outputs[2]).literal->ints == Dims{255});
}

TEST_CASE("What an exporter writes around a Reshape leaves nothing but the Reshape", "[onnx]") {
  // view(x.shape[0], -1, heads, x.shape[2] // heads) of PyTorch
  const Graph graph = import_text(
      R"(g (float[2, 5, 8] x) => (float[?, ?, ?, ?] y) <int64 zero = {0}, int64 two = {2}, int64[1] heads = {4}, int64[1] rest = {-1}, int64[1] at = {0}> {
      s = Shape(x) b = Gather(s, zero) bu = Unsqueeze(b, at) w = Gather(s, two) wu = Unsqueeze(w, at) h = Div(wu, heads)
      t = Concat <axis = 0> (bu, rest, heads, h) y = Reshape(x, t) })");
  CHECK(op_types(graph) == std::vector<std::string>{"Reshape"});
  CHECK(graph.value(graph.outputs[0]).dims == Dims{2, 5, 4, 2});
}

TEST_CASE("What is computed from constants alone is a constant without numbers", "[onnx]") {
  const Graph graph =
      import_text(R"(g (float[1, 512] x) => (float[1, 256] y) <int64[2] shape = {256, 512}, float[1] half = {0.5}> {
      w = ConstantOfShape <value = float[1] {0.01}> (shape) t = Transpose(w) h = Cast <to = 10> (t) f = Cast <to = 1> (h) m = Mul(f, half) y = MatMul(x, m) })");
  CHECK(op_types(graph) == std::vector<std::string>{"MatMul"});
  CHECK(value_named(graph, "m").constant);
  CHECK(value_named(graph, "m").dims == Dims{512, 256});
  CHECK_FALSE(value_named(graph, "m").literal.has_value());
}

TEST_CASE("Equal nodes are one, weights are not equal for holding the same numbers", "[onnx]") {
  const Graph graph = import_text(
      R"(g (float[1, 64] x) => (float[1, 64] y) <int64[2] shape = {64, 64}, int64[1] at = {0}, int64[1] too = {0}> {
      v = ConstantOfShape <value = float[1] {0.01}> (shape) w = ConstantOfShape <value = float[1] {0.01}> (shape)
      a = MatMul(x, v) b = MatMul(x, w) c = Relu(x) d = Relu(x) e = Unsqueeze(c, at) f = Unsqueeze(d, too) g = Mul(e, f) h = Add(a, b) i = Add(g, h) y = Squeeze(i, at) })");
  CHECK(op_types(graph) ==
        std::vector<std::string>{"MatMul", "MatMul", "Relu", "Unsqueeze", "Mul", "Add", "Add", "Squeeze"});
}

TEST_CASE("Attributes, random operators and left-out outputs keep nodes apart", "[onnx]") {
  const Graph graph = import_text(R"(g (float[2, 8] x) => (float[2, 8] y) {
      a = Softmax <axis = 0> (x) b = Softmax <axis = 1> (x) c = RandomNormalLike (x) d = RandomNormalLike (x) y = Sum(a, b, c, d) })");
  CHECK(op_types(graph) ==
        std::vector<std::string>{"Softmax", "Softmax", "RandomNormalLike", "RandomNormalLike", "Sum"});
}

TEST_CASE("Dead nodes go, optional outputs that nobody reads are left out, nodes have names", "[onnx]") {
  const Graph graph = import_text(R"(g (float[1, 4, 8, 8] x) => (float[1, 4, 4, 4] y) {
      dead = Relu(x) p, indices = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) i = Identity(p) y = Dropout(i) })");
  CHECK(op_types(graph) == std::vector<std::string>{"MaxPool", "Dropout"});
  CHECK(graph.nodes[0].outputs.size() == 1);
  CHECK(graph.nodes[0].name == "MaxPool_p");
  CHECK(graph.nodes[1].name == "Dropout_y");
  CHECK(graph.nodes[0].opset == 20);
}

TEST_CASE("Operators of com.microsoft have the shapes of their contracts", "[onnx]") {
  struct Case {
    std::string node;
    Dims dims;
    DataType type;
  };
  const auto [node, dims, type] = GENERATE(values<Case>({
      {"com.microsoft.QLinearAdd(q, s, z, r, s, z, s, z)", {2, 4, 6, 6}, DataType::u8},
      {"com.microsoft.QLinearMul(q, s, z, r, s, z, s, z)", {2, 4, 6, 6}, DataType::u8},
      {"com.microsoft.QLinearGlobalAveragePool(q, s, z, s, z)", {2, 4, 1, 1}, DataType::u8},
      {"com.microsoft.QLinearAveragePool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (q, s, z, s, z)",
       {2, 4, 3, 3},
       DataType::u8},  // (6 - 3) / 2 rounded up, + 1
      {"com.microsoft.QLinearConcat <axis = 1> (s, z, q, s, z, q, s, z)", {2, 8, 6, 6}, DataType::u8},
      {"com.microsoft.QLinearSigmoid(q, s, z, s, z)", {2, 4, 6, 6}, DataType::u8},
      {"com.microsoft.QLinearLeakyRelu(q, s, z, s, z)", {2, 4, 6, 6}, DataType::u8},
      {"com.microsoft.QLinearSoftmax(q, s, z, s, z)", {2, 4, 6, 6}, DataType::u8},
      {"com.microsoft.QGemm <transB = 1> (a, s, z, b, s, z, none, s, z)", {3, 7}, DataType::u8},
      {"com.microsoft.QGemm <transB = 1> (a, s, z, b, s, z)", {3, 7}, DataType::f32},
      {"com.microsoft.QGemm <transB = 1> (a, s, z, b, s, z, none, s)", {3, 7}, DataType::f32},  // not rounded
      {"com.microsoft.FusedMatMul <transB = 1> (f, f)", {3, 3}, DataType::f32},
      {"com.microsoft.SkipLayerNormalization(f, f, g)", {3, 5}, DataType::f32},
      {"com.microsoft.FastGelu(f)", {3, 5}, DataType::f32},
      {"com.microsoft.MatMulNBits <K = 5, N = 9, bits = 4, block_size = 32> (f, w, g)", {3, 9}, DataType::f32},
  }));
  INFO(node);
  std::string text = node;
  if (const auto none = text.find("none"); none != std::string::npos) text.replace(none, 4, "\"\"");
  const Graph graph = import_text(
      "g (uint8[2, 4, 6, 6] q, uint8[4, 1, 1] r, uint8[3, 5] a, float[3, 5] f, float[5] g) => (float[1] y) <float s = "
      "{0.5}, uint8 z = {128}, uint8[7, 5] b = {"
      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}, uint8[1] w = {1}> { y = " +
      text + " }");
  const Value& y = graph.value(graph.outputs.at(0));
  CHECK(y.dims == dims);
  CHECK(y.type == type);
  CHECK(graph.nodes.at(0).domain == "com.microsoft");
}

TEST_CASE("The rules that the library lacks are Benanza's", "[onnx]") {
  const auto model = testing::parse_model(
      "g (float[2, 8, 4] x) => (float[1] y) <float[8] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[4] z = {1, 1, 1, 1}> { n = "
      "GroupNormalization <num_groups = 2> (x, w, w) m = MeanVarianceNormalization <axes = [0, 2]> (n) y = "
      "LessOrEqual(m, z) }",
      R"(<ir_version: 10, opset_import: ["" : 21]>)");
  const Graph graph = testing::import_model(model);
  CHECK(op_types(graph) == std::vector<std::string>{"GroupNormalization", "MeanVarianceNormalization", "LessOrEqual"});
  CHECK(value_named(graph, "y").dims == Dims{2, 8, 4});
  CHECK(value_named(graph, "y").type == DataType::boolean);
}

}  // namespace
