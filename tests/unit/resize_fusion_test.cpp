// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"

#include <algorithm>

namespace {

using namespace benanza;
using namespace benanza::testing;

ValueId resized(GraphBuilder& g, ValueId x) {
  const auto scales = g.weight({4});
  return g.node("Resize", {x, g.weight({0}), scales}, {1, 8, 32, 32}, {{"mode", std::string("nearest")}});
}

const std::string resize = "Resize/f32/x=1x8x16x16/y=1x8x32x32";

}  // namespace

TEST_CASE("a resize takes the sum and the activation that follow, which are one call too") {
  GraphBuilder g;
  const auto sum = g.map("Add", {resized(g, g.input({1, 8, 16, 16})), g.input({1, 8, 32, 32})});
  const auto graph = fused(g.output(g.map("Relu", {sum})));
  REQUIRE(graph.layers.size() == 1);
  const Occurrence& group = graph.layers[0];
  CHECK(LayerSignature(group.layer).text() == named(resize + "/post=add,relu"));
  const auto has = [&](std::size_t begin, std::size_t count, const std::string& signature) {
    return std::any_of(group.pieces.begin(), group.pieces.end(), [&](const Piece& piece) {
      return piece.first == begin && piece.count == count && LayerSignature(piece.layer).text() == named(signature);
    });
  };
  CHECK(has(0, 3, resize + "/post=add,relu"));
  CHECK(has(0, 2, resize + "/post=add"));
  CHECK(has(1, 2, "Binary/f32/a=8192/b=8192/post=relu"));  // 8 * 32 * 32
}

TEST_CASE("a resize whose result has another use is a call of its own") {
  GraphBuilder g;
  const auto y = resized(g, g.input({1, 8, 16, 16}));
  CHECK(signatures(fused(g.output(g.map("Relu", {y})).output(y))) ==
        Signatures{named(resize), named("Unary/f32/x=8192")});
}

TEST_CASE("only floats are resized with an epilogue") {
  CHECK(is_consistent(op::Resize{.x = {1, 2, 4}, .y = {1, 2, 8}, .post = {ElementwiseFn::relu}}));
  CHECK_FALSE(
      is_consistent(op::Resize{.type = DataType::u8, .x = {1, 2, 4}, .y = {1, 2, 8}, .post = {ElementwiseFn::relu}}));
}
