// SPDX-License-Identifier: Apache-2.0
// Graphs of element-wise layers and reductions over rows are one layer, which reads each operand once and writes each
// result once. Expected bytes and operations are counted by hand.
#include "support/catch.hpp"
#include "support/fusion_support.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/model/layer.hpp>

#include <string>

namespace {

using namespace benanza;
using namespace benanza::testing;

/// Floats that the only layer reads and writes.
struct Moved {
  double read = 0, written = 0;
  bool operator==(const Moved&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Moved& moved) { return out << moved.read << ", " << moved.written; }

Moved moved_by(const Occurrence& at) {
  return {(at.read_activations + at.read_weights).value / 4, at.written.value / 4};
}

/// What the only group of a graph with these results moves. It has to be an expression of all nodes.
Moved moved(GraphBuilder& g, std::initializer_list<ValueId> results) {
  const std::size_t nodes = g.graph().nodes.size();
  for (const auto id : results) g.output(id);
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  REQUIRE(graph.layers.size() == 1);
  CHECK(graph.layers[0].members.size() == nodes);
  CHECK(kind(graph.layers[0].layer) == "Expression");
  CHECK(graph.layers[0].outputs.size() == results.size());
  CHECK(is_consistent(graph.layers[0].layer));
  return moved_by(graph.layers[0]);
}

}  // namespace

TEST_CASE("a softmax that is written out reads its operand once") {
  GraphBuilder g;
  const auto x = g.input({64, 1000}), axis = g.ints({1});
  const auto power = g.map("Exp", {g.map("Sub", {x, g.node("ReduceMax", {x, axis}, {64, 1})})});
  const auto y = g.map("Div", {power, g.node("ReduceSum", {power, axis}, {64, 1})});
  CHECK(moved(g, {y}) == Moved{64000, 64000});
}

TEST_CASE("a row divided by its length is one expression") {
  GraphBuilder g;
  const auto x = g.input({64, 512});
  g.output(g.map("Div", {x, g.node("ReduceL2", {x, g.ints({1})}, {64, 1})}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 1);
  CHECK(signatures(graph)[0] == "Expression/f32/x=64x512/rows=1/in=f32/steps=row_sum_square:0,sqrt:1,div:0:2/out=3");
  // A square and a sum for each element, a root for each row, a quotient for each element.
  CHECK(cost(graph.layers[0].layer).flops.value == 2 * 32768 + 64 + 32768);
  CHECK(moved_by(graph.layers[0]) == Moved{32768, 32768});
}

TEST_CASE("snake, with one number for each channel, reads the signal once") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 500}), a = g.input({1, 8, 1});
  const auto sine = g.map("Sin", {g.map("Mul", {x, a})});
  const auto y = g.map("Add", {x, g.map("Div", {g.map("Mul", {sine, sine}), a})});
  CHECK(moved(g, {y}) == Moved{4008, 4000});
}

TEST_CASE("the gate of WaveNet reads both halves once") {
  GraphBuilder g;
  const auto a = g.input({1, 64, 500}), b = g.input({1, 64, 500});
  CHECK(moved(g, {g.map("Mul", {g.map("Tanh", {a}), g.map("Sigmoid", {b})})}) == Moved{64000, 32000});
}

TEST_CASE("a norm with the scale and shift of adaLN is one expression; what is smaller is computed before") {
  GraphBuilder g;
  const auto x = g.input({2, 64, 128}), scale = g.input({2, 1, 128}), shift = g.input({2, 1, 128});
  const auto norm = g.map("LayerNormalization", {x, g.weight({128}), g.weight({128})}, {{"axis", std::int64_t{-1}}});
  const auto factor = g.map("Add", {scale, g.number(1)});
  g.output(g.map("Add", {g.map("Mul", {norm, factor}), shift}));
  const LayerGraph graph = fused(g);
  REQUIRE(graph.layers.size() == 2);
  CHECK(kind(graph.layers[0].layer) == "Binary");
  CHECK(kind(graph.layers[1].layer) == "Expression");
  CHECK(moved_by(graph.layers[1]) == Moved{16384 + 256 + 256 + 128 + 128, 16384});
}

TEST_CASE("two results of one loop read a shared operand once") {
  GraphBuilder g;
  const auto x = g.input({300, 40}), y = g.input({300, 40});
  const auto sum = g.map("Add", {x, y});
  CHECK(moved(g, {sum, g.map("Mul", {g.map("Relu", {sum}), x})}) == Moved{24000, 24000});
}

TEST_CASE("two functions of one tensor are one loop") {
  GraphBuilder g;
  const auto x = g.input({300, 40});
  CHECK(moved(g, {g.map("Sin", {x}), g.map("Cos", {x})}) == Moved{12000, 24000});
}

TEST_CASE("a chain that ends in a reduction over everything writes one number") {
  GraphBuilder g;
  const auto difference = g.map("Sub", {g.input({32, 100}), g.input({32, 100})});
  const auto y = g.node("ReduceMean", {g.map("Mul", {difference, difference})}, {}, {{"keepdims", std::int64_t{0}}});
  CHECK(moved(g, {y}) == Moved{6400, 1});
}

TEST_CASE("the gradient of a softmax is one expression") {
  GraphBuilder g;
  const auto y = g.input({16, 8, 64}), dy = g.input({16, 8, 64});
  const auto sum = g.node("ReduceSum", {g.map("Mul", {y, dy}), g.ints({-1})}, {16, 8, 1});
  CHECK(moved(g, {g.map("Mul", {y, g.map("Sub", {dy, sum})})}) == Moved{16384, 8192});
}

TEST_CASE("comparisons, choices and casts are steps of expressions") {
  GraphBuilder g;
  const auto x = g.input({4, 96});
  const auto positive = g.node("Greater", {x, g.number(0)}, {4, 96}, {}, DataType::boolean);
  const auto chosen = g.map("Where", {positive, g.map("Exp", {x}), g.map("Sin", {x})});
  g.graph().values[chosen].type = DataType::f32;
  const auto half = g.node("Cast", {chosen}, {4, 96}, {{"to", std::int64_t{10}}}, DataType::f16);
  g.output(half);
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  REQUIRE(graph.layers.size() == 1);
  CHECK(operands(graph.layers[0].layer).outputs[0].type == DataType::f16);
  CHECK(moved_by(graph.layers[0]) == Moved{384 + 1, 192});
}

TEST_CASE("a norm of groups between two reshapes is one expression with the scale behind it") {
  GraphBuilder g;
  const auto x = g.input({2, 8, 30});
  const auto rows = g.node("Reshape", {x, g.ints({2, 4, 60})}, {2, 4, 60});
  const auto centered = g.map("Sub", {rows, g.node("ReduceMean", {rows, g.ints({2})}, {2, 4, 1})});
  const auto back = g.node("Reshape", {centered, g.ints({2, 8, 30})}, {2, 8, 30});
  g.output(g.map("Div", {back, g.input({8, 1})}));
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  const Occurrence& last = graph.layers.back();
  CHECK(signatures(graph).back() ==
        "Expression/f32/x=2x4x2x30/rows=2/in=f32,f32:1x4x2x1/steps=row_mean:0,sub:0:2,div:3:1/out=4");
  CHECK(moved_by(last) == Moved{488, 480});
}

TEST_CASE("a group norm and the activation behind it are one expression") {
  GraphBuilder g;
  const auto x = g.input({2, 8, 6, 5});
  const auto norm = g.map("GroupNormalization", {x, g.weight({8}), g.weight({8})}, {{"num_groups", std::int64_t{4}}});
  const auto y = g.map("Mul", {norm, g.map("Tanh", {norm})});
  g.output(y);
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  REQUIRE(graph.layers.size() == 1);
  CHECK(kind(graph.layers[0].layer) == "Expression");
  CHECK(operands(graph.layers[0].layer).inputs.size() == 4);  // with epsilon
  CHECK(moved_by(graph.layers[0]) == Moved{480 + 8 + 8, 480});
}

TEST_CASE("a batch normalisation whose result is read twice is a part of an expression") {
  GraphBuilder g;
  const auto norm = g.batch_norm(g.input({1, 8, 10, 10}));
  CHECK(moved(g, {g.map("Mul", {g.map("Sin", {norm}), g.map("Cos", {norm})})}) == Moved{800 + 4 * 8, 800});
}

TEST_CASE("a tensor that is read through a view as well is one operand") {
  GraphBuilder g;
  const auto x = g.input({64, 64});
  const auto view = g.node("Unsqueeze", {x, g.ints({0})}, {1, 64, 64});
  g.output(g.node("Mul", {g.map("Sin", {x}), g.map("Tanh", {view})}, {1, 64, 64}));
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  CHECK(operands(graph.layers.back().layer).inputs.size() == 1);
  CHECK(moved_by(graph.layers.back()) == Moved{4096, 4096});
}

TEST_CASE("nodes whose dimensions fit no others leave the group, not the whole group") {
  GraphBuilder g;  // 6 x 35 and 14 x 15 have no common factors
  const auto chain = g.map("Cos", {g.map("Mul", {g.map("Sin", {g.input({6, 35})}), g.input({35})})});
  const auto turned = g.node("Reshape", {chain, g.ints({14, 15})}, {14, 15});
  g.output(g.map("Exp", {g.map("Add", {turned, g.input({15})})}));
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  CHECK(graph.layers.size() < 5);
}

TEST_CASE("an expression counts operations on the type that has the most") {
  // 64 conversions of f16, and 3 * 64 operations on bf16.
  const Layer layer = parse_layer("Expression/bf16/x=64/in=f16/steps=cast:0:bf16,sin:1,cos:2,cast:3:f16/out=4");
  CHECK(cost(layer).flops.value == 192);
  CHECK_THROWS_AS(parse_layer("Expression/f16/x=64/in=f16/steps=cast:0:bf16,sin:1,cos:2,cast:3:f16/out=4"), InputError);
}

TEST_CASE("an expression has no dimension that none of its operands has") {
  CHECK_THROWS_AS(parse_layer("Expression/f32/x=1000000/in=f32:1/steps=sin:0/out=1"), InputError);
}

TEST_CASE("steps of what broadcasts count for its own elements") {
  // A sum and a root of 8 numbers, then a quotient of 8 x 50.
  const Layer layer = parse_layer("Expression/f32/x=8x50/in=f32:8x1,f32:1x1,f32/steps=add:0:1,sqrt:3,div:2:4/out=5");
  CHECK(cost(layer).flops.value == 8 + 8 + 400);
}

TEST_CASE("the order of sums and of nodes does not change an expression") {
  const auto signature = [](bool swapped) {
    GraphBuilder g;
    const auto x = g.input({8, 50}), b = g.input({50});
    const auto sine = swapped ? g.map("Sin", {x}) : x;
    const auto cosine = g.map("Cos", {g.map("Mul", {x, b})});
    const auto other = swapped ? sine : g.map("Sin", {x});
    g.output(swapped ? g.map("Add", {other, cosine}) : g.map("Add", {cosine, other}));
    return signatures(fused(g));
  };
  REQUIRE(signature(false).size() == 1);
  CHECK(signature(false) == signature(true));
}

TEST_CASE("a result that is needed before the others cannot be computed there stays outside") {
  GraphBuilder g;  // `late` needs the sum of rows of a product with `early`
  const auto x = g.input({64, 64});
  const auto early = g.map("Sin", {x});
  const auto product = g.node("MatMul", {early, g.input({64, 64})}, {64, 64});
  g.output(g.map("Mul", {g.map("Cos", {product}), g.map("Exp", {early})}));
  const LayerGraph graph = fused(g);
  CAPTURE(signatures(graph));
  for (const auto& at : graph.layers) {
    const bool has_both = std::find(at.nodes.begin(), at.nodes.end(), "Sin_0") != at.nodes.end() &&
                          std::find(at.nodes.begin(), at.nodes.end(), "Cos_2") != at.nodes.end();
    CHECK_FALSE(has_both);
  }
}

TEST_CASE("signatures of expressions are read back, and broken ones are refused") {
  const std::string good =
      "Expression/f16/x=2x64x100/rows=2/in=f16,bool:1x64x100,f16:2x1x1/"
      "steps=clip:0:-1:6,row_max:3,sub:3:4,where:1:5:2,cast:6:f32/out=7";
  CHECK(LayerSignature::parse(good).text() == good);
  for (const auto& [from, to] :
       {std::pair("sub:3:4", "sub:3:9"), std::pair("sub:3:4", "sub:3"), std::pair("row_max:3", "row_max:2"),
        std::pair("rows=2", "rows=4"), std::pair("bool:1x64x100", "f16:1x64x100"), std::pair("out=7", "out=0"),
        std::pair("out=7", "out=6"), std::pair("f16:2x1x1", "f16:3x1x1"), std::pair("/f16/x", "/f32/x"),
        std::pair("row_max", "row_arg_max")}) {
    std::string bad = good;
    bad.replace(bad.find(from), std::string(from).size(), to);
    INFO(bad);
    CHECK_THROWS_AS(LayerSignature::parse(bad), InputError);
  }
}
