// SPDX-License-Identifier: Apache-2.0
// Nodes that take a tensor from a sequence whose tensors are known read that tensor directly.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/onnx.hpp>

#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::import_text;
using testing::op_types;
using Dims = std::vector<std::int64_t>;

TEST_CASE("A tensor at a known place of a sequence is that tensor", "[onnx]") {
  const std::string place = GENERATE("-1", "1");
  const Graph graph = import_text("g (float[2,8] a, float[5,8] b, float[8,4] w) => (float[5,4] y) <int64 i = {" +
                                  place + "}> { s = SequenceConstruct(a, b) h = SequenceAt(s, i) y = MatMul(h, w) }");
  CHECK(op_types(graph) == std::vector<std::string>{"MatMul"});
  CHECK(graph.nodes[0].inputs[0] == graph.inputs.at(1));
  CHECK_FALSE(graph.value(graph.outputs.at(0)).data_dependent);
}

TEST_CASE("A place beyond a sequence is refused", "[onnx]") {
  CHECK_THAT(testing::message_of<InputError>([] {
               (void)import_text(
                   "g (float[2] a) => (float[2] y) <int64 i = {1}> "
                   "{ s = SequenceConstruct(a) y = SequenceAt(s, i) }");
             }),
             Catch::Contains("place 1 is outside of a sequence of length 1"));
}

TEST_CASE("Tensors are inserted into sequences and erased from them", "[onnx]") {
  // (), (a), (b, a), (b): the length is 1, and the first tensor is b.
  const Graph graph =
      import_text(R"(g (float[2] a, float[3] b) => (float[3] y, int64 n) <int64 i = {0}, int64 last = {-1}>
      { e = SequenceEmpty() f = SequenceInsert(e, a) s = SequenceInsert(f, b, i) t = SequenceErase(s, last)
        y = SequenceAt(t, i) n = SequenceLength(t) })");
  CHECK(graph.nodes.empty());
  CHECK(graph.outputs.at(0) == graph.inputs.at(1));
  REQUIRE(graph.value(graph.outputs.at(1)).literal);
  CHECK(graph.value(graph.outputs.at(1)).literal->ints == Dims{1});
}

TEST_CASE("A split into a sequence is a Split", "[onnx]") {
  // 10 rows in parts of 4, 4 and 2.
  const Graph parts = import_text(R"(g (float[10,3] x) => (float[2,3] y) <int64 n = {4}, int64 i = {2}>
      { s = SplitToSequence(x, n) h = SequenceAt(s, i) y = Relu(h) })");
  CHECK(op_types(parts) == std::vector<std::string>{"Split", "Relu"});
  CHECK(parts.value(parts.outputs.at(0)).dims == Dims{2, 3});

  const Graph given = import_text(R"(g (float[3,10] x) => (float[3,7] y) <int64[2] n = {3, 7}, int64 i = {1}>
      { s = SplitToSequence <axis = -1> (x, n) h = SequenceAt(s, i) y = Relu(h) })");
  CHECK(given.value(given.outputs.at(0)).dims == Dims{3, 7});

  const Graph rows = import_text(R"(g (float[5,3] x) => (float[3] y) <int64 i = {-1}>
      { s = SplitToSequence <keepdims = 0> (x) h = SequenceAt(s, i) y = Relu(h) })");
  CHECK(rows.value(rows.outputs.at(0)).dims == Dims{3});
}

TEST_CASE("Tensors of a sequence are concatenated", "[onnx]") {
  const Graph along = import_text(R"(g (float[2,8] a, float[5,8] b) => (float[7,8] y)
      { s = SequenceConstruct(a, b) y = ConcatFromSequence <axis = 0> (s) })");
  CHECK(op_types(along) == std::vector<std::string>{"Concat"});
  CHECK(along.value(along.outputs.at(0)).dims == Dims{7, 8});

  const Graph stacked = import_text(R"(g (float[5,8] a, float[5,8] b, float[5,8] c) => (float[5,8,3] y)
      { s = SequenceConstruct(a, b, c) y = ConcatFromSequence <axis = -1, new_axis = 1> (s) })");
  CHECK(stacked.value(stacked.outputs.at(0)).dims == Dims{5, 8, 3});
}

TEST_CASE("A body reads tensors of a sequence around it", "[onnx]") {
  const Graph graph = import_text(R"(g (float[2] a, float[2] b, bool c) => (float[2] y) <int64 i = {1}>
      { s = SequenceConstruct(a, b)
        y = If <then_branch: graph = t () => (float[2] r) { q = SequenceAt(s, i) r = Exp(q) },
                else_branch: graph = e () => (float[2] r) { r = Neg(a) }> (c) })");
  REQUIRE(op_types(graph) == std::vector<std::string>{"If"});
  CHECK(op_types(graph.nodes[0].bodies.at(0).graph) == std::vector<std::string>{"Exp"});
  CHECK_FALSE(graph.value(graph.outputs.at(0)).data_dependent);
}

}  // namespace
