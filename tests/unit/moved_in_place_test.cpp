// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"
#include <benanza/fusion/detail/strided_view.hpp>

#include <algorithm>
#include <string_view>

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

std::int64_t count_of(const LayerGraph& graph, std::string_view kind_name) {
  return std::count_if(graph.layers.begin(), graph.layers.end(),
                       [&](const Occurrence& at) { return kind(at.layer) == kind_name; });
}

}  // namespace

TEST_CASE("strides of inner dimensions follow from where the elements lie") {
  // A matrix of 3 x 8 in rows of 24 elements: the middle third of each row.
  const auto rows = detail::StridedView::rows(3, 8, 24);
  CHECK(rows.strides_of(Dims{3, 8}) == Dims{24, 1});
  CHECK(rows.strides_of(Dims{3, 2, 4}) == Dims{24, 4, 1});
  CHECK(rows.strides_of(Dims{4}) == Dims{1});
  CHECK_FALSE(rows.strides_of(Dims{24}));  // no single stride reaches the next row
  CHECK_FALSE(rows.strides_of(Dims{6, 4}));
  CHECK(rows.run() == 8);
  // One row of it; four columns; one of three matrices whose rows are interleaved.
  const auto one = rows.part(3, 8, 1);
  REQUIRE(one);
  CHECK(one->is_dense());
  CHECK(rows.part(8, 1, 4)->strides_of(Dims{3, 4}) == Dims{24, 1});
  CHECK(detail::StridedView({3, 5, 8}, {8, 24, 1}).part(3, 40, 1)->strides_of(Dims{5, 8}) == Dims{24, 1});
  CHECK_FALSE(rows.is_dense());
  CHECK(detail::StridedView::rows(3, 8, 8).is_dense());
  CHECK(detail::StridedView::rows(1, 8, 24).is_dense());
  CHECK(detail::is_matrix({{8, 3}, {1, 24}}, 8, 3, true));  // transposed
  CHECK_FALSE(detail::is_matrix({{8, 3}, {1, 24}}, 8, 3, false));
}

TEST_CASE("a Concat whose operands are written where they belong is not a call") {
  GraphBuilder g;
  const auto x = g.input({1, 8, 16, 16});
  const auto concat = [&](std::vector<ValueId> parts) {
    Dims dims = g.graph().value(parts[0]).dims;
    dims[1] = 0;
    for (const auto part : parts) dims[1] += g.graph().value(part).dims[1];
    return g.node("Concat", parts, dims, {{"axis", std::int64_t{1}}});
  };
  const auto concats = [&](ValueId end) { return count_of(fused(g.output(end)), "Concat"); };
  SECTION("convolutions, channel by channel") {
    const auto joined = concat({g.map("Relu", {g.conv(x, 8)}), g.batch_norm(g.conv(x, 16))});
    const auto graph = fused(g.output(g.conv(joined, 8)));
    REQUIRE(graph.layers.size() == 4);
    CHECK(LayerSignature(graph.layers[2].layer).text() == named("View/f32/rule=no_op/x=6144"));
    CHECK(graph.layers[3].predecessors == std::vector<Predecessor>{{2, false}});
    const LayerSet measured = measurable_layers(make_model_layers(g.graph()));
    const auto& user = measured.layers().at(LayerSignature::parse("Concat/f32/sizes=8x16/inner=256")).users.front();
    CHECK(user.count == 1);
    CHECK(user.fused == 0);
  }
  SECTION("one in another, as dense networks have it") {
    const auto first = g.conv(x, 8), second = g.conv(first, 8);
    const auto two = concat({first, second});
    const auto three = concat({two, g.conv(two, 8)});
    CHECK(concats(g.conv(concat({three, g.conv(three, 8)}), 8)) == 0);
  }
  SECTION("a view is the memory of what it shows") {
    const auto flat = g.node("Reshape", {g.conv(x, 8), g.ints({1, 8, 256})}, {1, 8, 256});
    const auto other = g.node("Reshape", {g.conv(x, 8), g.ints({1, 8, 256})}, {1, 8, 256});
    CHECK(concats(concat({flat, other})) == 0);
  }
  SECTION("an input of the model is copied") { CHECK(concats(concat({x, g.conv(x, 8)})) == 1); }
  SECTION("so is a constant") { CHECK(concats(concat({g.weight({1, 8, 16, 16}), g.conv(x, 8)})) == 1); }
  SECTION("so is an output of the model") {
    const auto y = g.conv(x, 8);
    g.output(y);
    CHECK(concats(concat({g.conv(y, 8), y})) == 1);
  }
  SECTION("no tensor lies in two places") {
    const auto y = g.conv(x, 8);
    const auto flat = g.node("Identity", {y}, {1, 8, 16, 16});
    CHECK(concats(concat({y, flat})) == 1);
  }
  SECTION("nor in two Concats: one of them copies") {
    const auto y = g.conv(x, 8);
    const auto one = concat({y, g.conv(y, 8)});
    const auto other = concat({g.conv(y, 16), y});
    CHECK(concats(g.map("Add", {g.conv(one, 8), g.conv(other, 8)})) == 1);
  }
  SECTION("convolutions write no gaps between images") {
    GraphBuilder two;
    const auto images = two.input({2, 8, 16, 16});
    two.output(
        two.node("Concat", {two.conv(images, 8), two.conv(images, 16)}, {2, 24, 16, 16}, {{"axis", std::int64_t{1}}}));
    CHECK(count_of(fused(two), "Concat") == 1);
  }
  SECTION("a norm writes its rows in another order") {
    GraphBuilder p;
    const auto windows =
        p.node("LayerNormalization", {p.input({2, 7, 2, 7, 32}), p.weight({32}), p.weight({32})}, {2, 7, 2, 7, 32});
    const auto turned = p.node("Transpose", {windows}, {2, 2, 7, 7, 32}, {{"perm", Dims{0, 2, 1, 3, 4}}});
    p.output(p.node("CumSum", {turned, p.ints({0})}, {2, 2, 7, 7, 32}));
    CHECK(count_of(fused(p), "Transpose") == 0);
  }
  SECTION("but no product writes its result transposed") {
    GraphBuilder p;
    const auto product = p.node("MatMul", {p.input({16, 64}), p.weight({64, 32})}, {16, 32});
    p.output(p.node("Transpose", {product}, {32, 16}, {{"perm", Dims{1, 0}}}));
    CHECK(count_of(fused(p), "Transpose") == 1);
  }
  SECTION("products write rows with a stride, if nothing else reads them") {
    const bool is_read = GENERATE(false, true);
    GraphBuilder p;
    const auto a = p.input({16, 64}), b = p.input({16, 64});
    const auto left = p.node("MatMul", {a, p.weight({64, 32})}, {16, 32}),
               right = p.node("MatMul", {b, p.weight({64, 32})}, {16, 32});
    p.output(p.node("Concat", {left, right}, {16, 64}, {{"axis", std::int64_t{1}}}));
    if (is_read) p.output(p.map("Softmax", {left}));
    CHECK(count_of(fused(p), "Concat") == (is_read ? 1 : 0));
  }
}

TEST_CASE("what is taken out of a tensor is read where it lies") {
  GraphBuilder g;
  const auto split = [&](ValueId x, const Dims& part, int parts, std::int64_t axis) {
    return g.node_of("Split", {x}, std::vector<Dims>(static_cast<std::size_t>(parts), part), {{"axis", axis}});
  };
  SECTION("one behind the other: by any reader") {
    const auto parts = split(g.input({4, 8, 16}), {2, 8, 16}, 2, 0);
    for (const auto part : parts) g.output(g.node("ReduceSum", {part, g.ints({1})}, {2, 1, 16}));
    CHECK(count_of(fused(g), "Split") == 0);
  }
  SECTION("rows with a stride: by softmax, not by a cumulative sum") {
    const bool is_softmax = GENERATE(true, false);
    for (const auto part : split(g.input({16, 96}), {16, 48}, 2, 1))
      g.output(is_softmax ? g.map("Softmax", {part}) : g.map("CumSum", {part, g.ints({1})}));
    CHECK(count_of(fused(g), "Split") == (is_softmax ? 0 : 1));
  }
  SECTION("runs shorter than a cache line are gathered first") {
    const std::int64_t columns = GENERATE(8, 16);
    for (const auto part : split(g.input({16, 2 * columns}), {16, columns}, 2, 1)) g.output(g.map("Tanh", {part}));
    CHECK(count_of(fused(g), "Split") == (columns == 16 ? 0 : 1));
  }
  SECTION("not what leaves the graph") {
    for (const auto part : split(g.input({16, 96}), {16, 48}, 2, 1)) g.output(part);
    CHECK(count_of(fused(g), "Split") == 1);
  }
  SECTION("an operand of a product, transposed") {
    const auto turned = g.node("Transpose", {g.input({4, 32, 64})}, {4, 64, 32}, {{"perm", Dims{0, 2, 1}}});
    g.output(g.node("MatMul", {g.input({4, 16, 64}), turned}, {4, 16, 32}));
    CHECK(count_of(fused(g), "Transpose") == 0);
  }
  SECTION("the rows of heads that attention takes out of one product: queries, keys and values in one tensor") {
    const std::int64_t tokens = 197, depth = 64, heads = 12;
    const auto all = g.node("MatMul", {g.input({tokens, 768}), g.weight({768, 3 * 768})}, {tokens, 3 * 768});
    const auto stacked = g.node("Reshape", {all, g.ints({tokens, 3, 768})}, {tokens, 3, 768});
    const auto turned = g.node("Transpose", {stacked}, {3, tokens, 768}, {{"perm", Dims{1, 0, 2}}});
    const auto head_first = [&](std::int64_t which) {
      const auto one = g.node("Gather", {turned, g.number(static_cast<double>(which))}, {tokens, 768});
      const auto rows = g.node("Reshape", {one, g.ints({tokens, heads, depth})}, {tokens, heads, depth});
      return g.node("Transpose", {rows}, {heads, tokens, depth}, {{"perm", Dims{1, 0, 2}}});
    };
    const auto q = head_first(0), k = head_first(1), v = head_first(2);
    const auto keys = g.node("Transpose", {k}, {heads, depth, tokens}, {{"perm", Dims{0, 2, 1}}});
    const auto scores = g.node("MatMul", {q, keys}, {heads, tokens, tokens});
    const auto mixed = g.node("MatMul", {g.map("Softmax", {scores}), v}, {heads, tokens, depth});
    g.output(g.map("Relu", {mixed}));
    const auto graph = fused(g);
    CHECK(count_of(graph, "Attention") == 1);
    CHECK(count_of(graph, "Gather") == 0);
    CHECK(count_of(graph, "Transpose") == 0);
  }
  SECTION("by an index that is computed it is gathered") {
    const auto index = g.input({1}, DataType::i64);
    g.output(g.map("Softmax", {g.node("Gather", {g.input({3, 16, 64}), index}, {1, 16, 64})}));
    CHECK(count_of(fused(g), "Gather") == 1);
  }
  SECTION("what updates its operand has a copy of it") {
    const auto part = g.node("Slice", {g.input({4, 8, 16}), g.ints({2}), g.ints({4}), g.ints({0})}, {2, 8, 16});
    const auto updated = g.map("ScatterND", {part, g.input({1, 1}, DataType::i64), g.input({1, 8, 16})});
    g.output(updated);
    CHECK(count_of(fused(g), "Slice") == 1);
  }
}
