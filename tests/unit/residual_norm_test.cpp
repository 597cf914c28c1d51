// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

}  // namespace

TEST_CASE("a residual sum and the norm of it are one call, with the sum as an output where it has another use") {
  GraphBuilder g;
  const Dims dims{1, 16, 64};
  const auto sum = g.map("Add", {g.input(dims), g.input(dims)});
  const auto norm = [&](ValueId x) { return g.map("LayerNormalization", {x, g.weight({64}), g.weight({64})}); };
  const double whole = 16 * 64 * 4, vectors = 2 * 64 * 4;
  SECTION("the norm alone reads it") {
    g.output(norm(sum));
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    CHECK(LayerSignature(layers[0].layer).text() == named("LayerNorm/f32/x=16x64/bias=1/residual=added"));
    CHECK(layers[0].read_activations.value == 2 * whole);
    CHECK(layers[0].read_weights.value == vectors);
    CHECK(layers[0].written.value == whole);
  }
  SECTION("the next residual reads it too") {
    const auto y = g.map("Softmax", {norm(sum)}, {{"axis", std::int64_t{1}}});
    g.output(g.map("Mul", {y, sum}));
    const auto graph = fused(g);
    REQUIRE(graph.layers.size() == 3);
    const auto& both = graph.layers[0];
    CHECK(LayerSignature(both.layer).text() == named("LayerNorm/f32/x=16x64/bias=1/residual=kept"));
    CHECK(both.outputs.size() == 2);
    CHECK(both.written.value == 2 * whole);
    CHECK(graph.layers[2].predecessors == std::vector<Predecessor>{{1, false}, {0, false}});
  }
  SECTION("it leaves the graph") {
    g.output(sum).output(norm(sum));
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    CHECK(LayerSignature(layers[0].layer).text() == named("LayerNorm/f32/x=16x64/bias=1/residual=kept"));
  }
  SECTION("RMS norm written out in parts") {
    const auto mean = g.node("ReduceMean", {g.map("Mul", {sum, sum}), g.ints({-1})}, {1, 16, 1});
    const auto root = g.map("Sqrt", {g.map("Add", {mean, g.number(1e-6)})});
    CHECK(only_group(g, g.map("Mul", {g.map("Div", {sum, root}), g.weight({64})})) ==
          named("LayerNorm/f32/x=16x64/rms=1/residual=added"));
  }
  SECTION("what reads the sum before the norm comes after both") {
    const auto early = g.map("Softmax", {sum});
    g.output(norm(sum)).output(early);
    const auto graph = fused(g);
    REQUIRE(graph.layers.size() == 2);
    CHECK(LayerSignature(graph.layers[0].layer).text() == named("LayerNorm/f32/x=16x64/bias=1/residual=kept"));
    CHECK(graph.layers[1].predecessors == std::vector<Predecessor>{{0, false}});
  }
  SECTION("what the norm waits for may need the sum") {
    const auto scale = g.node("ReduceMax", {g.map("Softmax", {sum}, {{"axis", std::int64_t{1}}}), g.ints({0, 1})}, {64},
                              {{"keepdims", std::int64_t{0}}});
    g.output(g.map("LayerNormalization", {sum, scale, g.weight({64})}));
    CHECK(fused(g).layers.size() == 4);
  }
  SECTION("a sum that broadcasts is not a residual") {
    g.output(norm(g.map("Add", {g.input(dims), g.input({1, 1, 64})})));
    CHECK(kind(fused(g).layers.back().layer) == "Expression");
  }
  SECTION("a product's epilogue has the sum before the norm does") {
    GraphBuilder p;
    const auto product = p.node("MatMul", {p.input({16, 32}), p.weight({32, 64})}, {16, 64});
    const auto with_residual = p.map("Add", {product, p.input({16, 64})});
    p.output(p.map("LayerNormalization", {with_residual, p.weight({64}), p.weight({64})}));
    CHECK(signatures(fused(p)) ==
          Signatures{named("MatMul/f32/a=16x32/b=32x64/b_constant=1/post=add"), named("LayerNorm/f32/x=16x64/bias=1")});
  }
}
