// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"

#include <algorithm>

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

ValueId product_of(GraphBuilder& g, ValueId x, std::int64_t columns) {
  const Dims dims = g.graph().value(x).dims;
  return g.node("MatMul", {x, g.weight({dims.back(), columns})}, {dims[0], columns});
}

const std::string three_products = "MatMul/f32/a=16x64/b=64x160/b_constant=1";

}  // namespace

TEST_CASE("products of one input are one product with their weights side by side") {
  GraphBuilder g;
  const auto x = g.input({16, 64});
  const auto with_bias = [&](ValueId y) { return g.map("Add", {y, g.weight({g.graph().value(y).dims.back()})}); };
  const auto read = [&](ValueId y) { g.output(g.map("Softmax", {y})); };
  SECTION("queries, keys and values") {
    const auto q = with_bias(product_of(g, x, 64)), k = with_bias(product_of(g, x, 64)),
               v = with_bias(product_of(g, x, 32));
    read(q), read(k), read(v);
    const auto graph = fused(g);
    REQUIRE(graph.layers.size() == 4);
    const Occurrence& all = graph.layers[0];
    CHECK(LayerSignature(all.layer).text() == named(three_products + "/post=bias"));
    CHECK(all.outputs.size() == 3);
    CHECK(all.read_activations.value == 16 * 64 * 4);  // read once
    CHECK(all.read_weights.value == (64 * 160 + 160) * 4);
    CHECK(all.written.value == 16 * 160 * 4);
    REQUIRE(all.pieces.size() == 4);  // also each one alone: the cheapest partition is chosen
    CHECK(all.pieces[0].count == 6);
    CHECK(all.pieces[2].first == 2);
    CHECK(all.pieces[2].count == 2);
    CHECK(LayerSignature(all.pieces[3].layer).text() == named("MatMul/f32/a=16x64/b=64x32/b_constant=1/post=bias"));
  }
  SECTION("a bias that one lacks is zeros, a number that follows goes into the weights") {
    const auto q = g.map("Mul", {with_bias(product_of(g, x, 64)), g.number(0.125)});
    const auto k = product_of(g, x, 64), v = with_bias(product_of(g, x, 32));
    read(q), read(k), read(v);
    CHECK(signatures(fused(g)).front() == named(three_products + "/post=bias"));
  }
  SECTION("what reads the first comes before the last") {
    const auto q = product_of(g, x, 64);
    read(q);
    const auto k = product_of(g, x, 96);
    read(k);
    const auto graph = fused(g);
    REQUIRE(graph.layers.size() == 3);
    CHECK(LayerSignature(graph.layers[0].layer).text() == named(three_products));
    for (std::size_t i : {1U, 2U}) CHECK(graph.layers[i].predecessors == std::vector<Predecessor>{{0, false}});
  }
  SECTION("a residual that is added to one keeps it apart") {
    read(g.map("Add", {product_of(g, x, 64), g.input({16, 64})}));
    read(product_of(g, x, 64));
    CHECK(fused(g).layers.size() == 4);
  }
  SECTION("so does another activation") {
    read(g.map("Relu", {product_of(g, x, 64)}));
    read(product_of(g, x, 64));
    CHECK(fused(g).layers.size() == 4);
  }
  SECTION("one result leaves the graph, where it is dense") {
    g.output(product_of(g, x, 64));
    read(product_of(g, x, 64));
    CHECK(fused(g).layers.size() == 3);
  }
  SECTION("one is read by what takes no strides") {
    g.output(g.node("ReduceSum", {product_of(g, x, 64), g.ints({0})}, {1, 64}));
    read(product_of(g, x, 64));
    CHECK(fused(g).layers.size() == 4);
  }
  SECTION("results of one row have no strides") {
    const auto row = g.input({1, 64});
    g.output(g.node("CumSum", {product_of(g, row, 64), g.ints({1})}, {1, 64}));
    g.output(g.node("CumSum", {product_of(g, row, 64), g.ints({1})}, {1, 64}));
    CHECK(signatures(fused(g)).front() == named("MatMul/f32/a=1x64/b=64x128/b_constant=1"));
  }
}

TEST_CASE(
    "values that attention reads as a projection leaves them are a part of one product beside keys that it does not") {
  GraphBuilder g;
  const auto x = g.input({16, 64});
  // Four heads of queries, two of values, with 16 columns each; two of keys come from elsewhere, heads before tokens.
  const auto heads = [&](std::int64_t count) {
    const auto split =
        g.node("Reshape", {product_of(g, x, count * 16), g.ints({1, 16, count, 16})}, {1, 16, count, 16});
    return g.node("Transpose", {split}, {1, count, 16, 16}, {{"perm", Dims{0, 2, 1, 3}}});
  };
  const auto repeated = [&](ValueId of) {
    const auto apart = g.node("Unsqueeze", {of, g.ints({2})}, {1, 2, 1, 16, 16});
    const auto more = g.node("Expand", {apart, g.ints({1, 2, 2, 16, 16})}, {1, 2, 2, 16, 16});
    return g.node("Reshape", {more, g.ints({1, 4, 16, 16})}, {1, 4, 16, 16});
  };
  const auto q = heads(4), v = repeated(heads(2)), k = repeated(g.input({1, 2, 16, 16}));
  const auto turned = g.node("Transpose", {k}, {1, 4, 16, 16}, {{"perm", Dims{0, 1, 3, 2}}});
  const auto weights = g.map("Softmax", {g.node("MatMul", {q, turned}, {1, 4, 16, 16})}, {{"axis", std::int64_t{-1}}});
  g.output(g.node("MatMul", {weights, v}, {1, 4, 16, 16}));
  const auto found = signatures(fused(g));
  CHECK(found.front() == named("MatMul/f32/a=16x64/b=64x96/b_constant=1"));
  CHECK(found.back() == named("Attention/f32/q=1x4x16x16/k=1x2x16x16/v=1x2x16x16/q_tokens_first=1/v_tokens_first=1"));
}

TEST_CASE("the products of a gate and of what it gates are one product, or the gate is an epilogue") {
  GraphBuilder g;
  const std::int64_t columns = GENERATE(128, 8);  // 8 numbers in a row are less than a cache line
  const bool has_bias = GENERATE(false, true), is_one_input = GENERATE(true, false);
  const auto x = g.input({16, 64}), other = is_one_input ? x : g.input({16, 64});
  const auto with_bias = [&](ValueId y) { return has_bias ? g.map("Add", {y, g.weight({columns})}) : y; };
  const auto gate = with_bias(product_of(g, x, columns));
  const auto silu = g.map("Mul", {gate, g.map("Sigmoid", {gate})});
  g.output(g.map("Mul", {silu, product_of(g, other, columns)}));
  const auto graph = fused(g);
  const std::string n = std::to_string(columns), one = "MatMul/f32/a=16x64/b=64x" + n + "/b_constant=1";
  const std::string with_gate = one + (has_bias ? "/post=bias,swish:1,mul" : "/post=swish:1,mul");
  if (!is_one_input || columns == 8) {
    CHECK(signatures(graph) == Signatures{named(one), named(with_gate)});
    return;
  }
  REQUIRE(graph.layers.size() == 1);
  const Occurrence& group = graph.layers[0];
  // The gated product, the product of the gate, its bias, the two nodes of SiLU, and the multiplication.
  const std::size_t first = has_bias ? 3 : 2;
  CHECK(group.members ==
        (has_bias ? std::vector<std::size_t>{4, 0, 1, 2, 3, 5} : std::vector<std::size_t>{3, 0, 1, 2, 4}));
  CHECK(group.outputs.size() == 1);
  CHECK(group.read_activations.value == 16 * 64 * 4);
  CHECK(group.read_weights.value == (64 * 256 + (has_bias ? 128 : 0)) * 4);
  CHECK(group.written.value == 16 * 128 * 4);
  const auto has = [&](std::size_t begin, std::size_t count, const std::string& signature) {
    return std::any_of(group.pieces.begin(), group.pieces.end(), [&](const Piece& piece) {
      return piece.first == begin && piece.count == count && LayerSignature(piece.layer).text() == named(signature);
    });
  };
  const std::string both = "MatMul/f32/a=16x64/b=64x256/b_constant=1";
  CHECK(LayerSignature(group.layer).text() == named(both + (has_bias ? "/post=bias" : "")));
  CHECK(LayerSignature(group.pieces[0].layer).text() == LayerSignature(group.layer).text());
  CHECK(has(0, first, both + (has_bias ? "/post=bias" : "")));
  CHECK(has(first, 3, "Unary/f32/fn=swish/x=2048/alpha=1/post=mul"));
  CHECK(has(1, group.members.size() - 1, with_gate));
}

TEST_CASE("what else reads a gated product keeps it apart") {
  GraphBuilder g;
  const auto x = g.input({16, 64});
  const auto gate = g.map("Gelu", {product_of(g, x, 64)}), gated = product_of(g, x, 64);
  g.output(g.map("Mul", {gate, gated})).output(g.map("Softmax", {gated}));
  CHECK(fused(g).layers.size() == 3);
}

TEST_CASE("convolutions of one input with one window are one") {
  GraphBuilder g;
  const std::int64_t images = GENERATE(1, 2);
  const auto x = g.input({images, 8, 16, 16});
  const auto pool = [&](ValueId y) {
    g.output(g.node("GlobalAveragePool", {y}, {images, g.graph().value(y).dims[1], 1, 1}));
  };
  pool(g.map("Relu", {g.conv(x, 8, true)}));
  pool(g.map("Relu", {g.conv(x, 24, true)}));
  pool(g.map("Relu", {g.node("Conv", {x, g.weight({8, 8, 1, 1}), g.weight({8})}, {images, 8, 16, 16})}));
  const auto found = signatures(fused(g));
  CHECK(found.size() == (images == 1 ? 5 : 6));  // a pool allows no gap between two images
  if (images == 1) CHECK(found.front() == named("Conv/f32/x=1x8x16x16/w=32x8x3x3/pads=1x1x1x1/post=bias,relu"));
}

TEST_CASE("what a Concat takes has its place there, and stays a product of its own") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 16, 16});
  const auto joined = g.node("Concat", {g.conv(x, 8), g.conv(x, 8)}, {1, 16, 16, 16}, {{"axis", std::int64_t{1}}});
  g.output(g.conv(joined, 8));
  CHECK(fused(g).layers.size() == 4);
}
