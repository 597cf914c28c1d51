// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"

#include <utility>

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

}  // namespace

TEST_CASE("a rotary embedding written out in parts is one call") {
  GraphBuilder g;
  const Dims dims{1, 12, 128, 64}, half{1, 12, 128, 32};
  const auto x = g.input(dims), cosines = g.weight({1, 1, 128, 64}), sines = g.weight({1, 1, 128, 64});
  const auto slice = [&](std::int64_t begin, std::int64_t end) {
    return g.node("Slice", {x, g.ints({begin}), g.ints({end}), g.ints({3})}, half);
  };
  const auto times = [&](ValueId a, ValueId b) { return g.node("Mul", {a, b}, dims); };
  const auto concat = [&](ValueId a, ValueId b) {
    return g.node("Concat", {a, b}, dims, {{"axis", std::int64_t{-1}}});
  };
  const std::string rotary = named("Rotary/f32/x=12x128x64/angles=1x128x64");
  SECTION("by slices") {
    const auto straight = times(x, cosines);
    const auto low = slice(0, 32), high = slice(32, 64);
    g.output(g.map("Add", {straight, times(concat(g.map("Neg", {high}), low), sines)}));
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    CHECK(LayerSignature(layers[0].layer).text() == rotary);
    CHECK(layers[0].members.size() == 7);
    REQUIRE(layers[0].pieces.size() == 2);  // the last product with the sum
    CHECK(layers[0].pieces[1].first == 5);
    CHECK(layers[0].pieces[1].count == 2);
    CHECK(LayerSignature(layers[0].pieces[1].layer).text() == named("Binary/f32/fn=mul/a=12x8192/b=1x8192/post=add"));
  }
  SECTION("by a split, all operands the other way round") {
    const auto halves = g.node_of("Split", {x}, {half, half}, {{"axis", std::int64_t{3}}});
    const auto turned = times(sines, concat(g.map("Neg", {halves[1]}), halves[0]));
    CHECK(only_group(g, g.map("Add", {turned, times(cosines, x)})) == rotary);
  }
  SECTION("the halves in their own order are not a rotation") {
    const auto straight = times(x, cosines);
    g.output(g.map("Add", {straight, times(concat(g.map("Neg", {slice(0, 32)}), slice(32, 64)), sines)}));
    CHECK(fused(g).layers.size() == 5);
  }
  SECTION("of another tensor") {
    const auto straight = times(g.input(dims), cosines);
    g.output(g.map("Add", {straight, times(concat(g.map("Neg", {slice(32, 64)}), slice(0, 32)), sines)}));
    CHECK(fused(g).layers.size() == 5);
  }
  SECTION("a half that is an output too is not absorbed") {
    const auto low = slice(0, 32);
    const auto straight = times(x, cosines);
    g.output(low).output(g.map("Add", {straight, times(concat(g.map("Neg", {slice(32, 64)}), low), sines)}));
    CHECK(fused(g).layers.size() == 5);
  }
}

TEST_CASE("a rotary embedding of neighbours, or put together from its pairs, is one call") {
  GraphBuilder g;
  const Dims dims{1, 12, 128, 64}, half{1, 12, 128, 32}, column{1, 12, 128, 32, 1}, columns{1, 12, 128, 32, 2};
  const auto x = g.input(dims);
  const auto by_two = [&](std::int64_t begin) {
    return g.node("Slice", {x, g.ints({begin}), g.ints({64}), g.ints({3}), g.ints({2})}, half);
  };
  const auto interleave = [&](ValueId a, ValueId b) {
    const auto first = g.node("Unsqueeze", {a, g.ints({-1})}, column);
    const auto second = g.node("Unsqueeze", {b, g.ints({-1})}, column);
    const auto both = g.node("Concat", {first, second}, columns, {{"axis", std::int64_t{-1}}});
    return g.node("Reshape", {both, g.ints(dims)}, dims);
  };
  const auto times = [&](ValueId a, ValueId b) { return g.map("Mul", {a, b}); };
  // (a, b) becomes (a cos - b sin, b cos + a sin), as in ONNX RotaryEmbedding.
  const auto pairs = [&](ValueId a, ValueId b) {
    const auto cosines = g.weight({1, 1, 128, 32}), sines = g.weight({1, 1, 128, 32});
    const auto low = g.map("Sub", {times(a, cosines), times(b, sines)});
    return std::pair{low, g.map("Add", {times(b, cosines), times(a, sines)})};
  };
  SECTION("neighbours, by a sum") {
    const auto cosines = g.weight({1, 1, 128, 64}), sines = g.weight({1, 1, 128, 64});
    const auto straight = times(x, cosines);
    const auto even = by_two(0), odd = by_two(1);
    CHECK(only_group(g, g.map("Add", {straight, times(interleave(g.map("Neg", {odd}), even), sines)})) ==
          named("Rotary/f32/x=12x128x64/angles=1x128x64/interleaved=1"));
  }
  SECTION("neighbours, by pairs") {
    const auto even = by_two(0), odd = by_two(1);
    const auto [low, high] = pairs(even, odd);
    CHECK(only_group(g, interleave(low, high)) == named("Rotary/f32/x=12x128x64/angles=1x128x32/interleaved=1"));
  }
  SECTION("halves, by pairs") {
    const auto halves = g.node_of("Split", {x}, {half, half}, {{"axis", std::int64_t{3}}});
    const auto [low, high] = pairs(halves[0], halves[1]);
    const auto y = g.node("Concat", {low, high}, dims, {{"axis", std::int64_t{3}}});
    g.output(y);
    const auto layers = fused(g).layers;
    REQUIRE(layers.size() == 1);
    CHECK(LayerSignature(layers[0].layer).text() == named("Rotary/f32/x=12x128x64/angles=1x128x32"));
    CHECK(layers[0].members.size() == 8);
    REQUIRE(layers[0].pieces.size() == 3);  // each second product with its sum: after Split and the first product
    CHECK(layers[0].pieces[1].first == 2);
    CHECK(layers[0].pieces[2].first == 5);
  }
  SECTION("neighbours put together as halves are another order") {
    const auto even = by_two(0), odd = by_two(1);
    const auto [low, high] = pairs(even, odd);
    g.output(g.node("Concat", {low, high}, dims, {{"axis", std::int64_t{3}}}));
    for (const auto& text : signatures(fused(g))) CHECK_FALSE(text.starts_with("Rotary"));
  }
  SECTION("turned the other way round is not this one") {
    const auto halves = g.node_of("Split", {x}, {half, half}, {{"axis", std::int64_t{3}}});
    const auto [low, high] = pairs(halves[1], halves[0]);
    g.output(g.node("Concat", {low, high}, dims, {{"axis", std::int64_t{3}}}));
    for (const auto& text : signatures(fused(g))) CHECK_FALSE(text.starts_with("Rotary"));
  }
}
