// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/fusion_support.hpp"
#include "support/model_files.hpp"
#include <benanza/fusion/detail/moved_strides.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/onnx.hpp>

#include <algorithm>
#include <filesystem>

namespace {

using namespace benanza;
using namespace benanza::testing;
using Dims = GraphBuilder::Dims;

/// 1x1 convolution.
ValueId pointwise(GraphBuilder& g, ValueId x, std::int64_t channels, std::int64_t stride = 1) {
  Dims dims = g.graph().value(x).dims;
  const auto w = g.weight({channels, dims[1], 1, 1});
  dims[1] = channels;
  for (const std::size_t axis : {2U, 3U}) dims[axis] = (dims[axis] + stride - 1) / stride;
  return g.node("Conv", {x, w}, dims, {{"strides", Dims{stride, stride}}});
}

Flops flops(const LayerGraph& graph) {
  Flops sum{};
  for (const auto& at : graph.layers) sum += cost(at.layer).flops;
  return sum;
}

}  // namespace

TEST_CASE("a convolution that only strided 1x1 convolutions read has their stride") {
  GraphBuilder g;
  const auto x = g.input({1, 4, 9, 9});
  const auto r = g.map("Relu", {g.conv(x, 8)});
  SECTION("of one reader") {
    const auto graph = fused(g.output(pointwise(g, r, 3, 2)));
    CHECK(signatures(graph) ==
          Signatures{named("Conv/f32/x=1x4x9x9/w=8x4x3x3/pads=1x1x1x1/strides=2x2/w_constant=1/post=relu"),
                     named("Conv/f32/x=1x8x5x5/w=3x8x1x1/w_constant=1")});
    // Rows and columns 0, 2, 4, 6, 8 of 9: windows of 2, 3, 3, 3 and 2 inside. The cost of a group is the work it does.
    CHECK(cost(graph.layers[0].layer).flops.value == 2 * 8 * 4 * 13 * 13 + 8 * 25);
    REQUIRE(graph.layers[0].pieces.size() == 3);  // both nodes alone also have the stride
    CHECK(LayerSignature(graph.layers[0].pieces[1].layer).text() ==
          named("Conv/f32/x=1x4x9x9/w=8x4x3x3/pads=1x1x1x1/strides=2x2/w_constant=1"));
    CHECK(LayerSignature(graph.layers[0].pieces[2].layer).text() == named("Unary/f32/fn=relu/x=200"));
    REQUIRE(graph.layers[1].pieces.size() == 1);
    CHECK(graph.layers[1].pieces[0].layer == graph.layers[1].layer);
    CHECK(graph.layers[0].members == std::vector<std::size_t>{0, 1});
    CHECK(graph.layers[1].members == std::vector<std::size_t>{2});
  }
  SECTION("of two: what divides both") {
    g.output(pointwise(g, r, 3, 2)).output(pointwise(g, r, 3, 4));
    CHECK(signatures(fused(g)) ==
          Signatures{named("Conv/f32/x=1x4x9x9/w=8x4x3x3/pads=1x1x1x1/strides=2x2/w_constant=1/post=relu"),
                     named("Conv/f32/x=1x8x5x5/w=3x8x1x1/w_constant=1"),
                     named("Conv/f32/x=1x8x5x5/w=3x8x1x1/strides=2x2/w_constant=1")});
  }
  SECTION("not what something else reads whole") {
    const Signatures unmoved{named("Conv/f32/x=1x4x9x9/w=8x4x3x3/pads=1x1x1x1/w_constant=1/post=relu"),
                             named("Conv/f32/x=1x8x9x9/w=3x8x1x1/strides=2x2/w_constant=1")};
    const auto strided = pointwise(g, r, 3, 2);
    SECTION("the model's caller") { CHECK(signatures(fused(g.output(strided).output(r))) == unmoved); }
    SECTION("a pooling of 2x2") {
      g.output(strided);
      g.output(g.node("MaxPool", {r}, {1, 8, 4, 4}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}));
      CHECK(signatures(fused(g)).size() == 3);
      CHECK(signatures(fused(g)).front() == unmoved.front());
    }
  }
}

TEST_CASE("a stride moves through the layers of a residual block, and its shortcut is sliced") {
  GraphBuilder g;
  const auto x = g.map("Relu", {g.input({1, 8, 9, 9})});
  const auto y = g.map("Relu", {g.map("Add", {pointwise(g, g.conv(pointwise(g, x, 4), 4), 8), x})});
  g.output(pointwise(g, y, 6, 2)).output(g.map("Softmax", {pointwise(g, y, 16, 2)}));
  const auto models = make_model_layers(g.graph());
  CHECK(signatures(models.fused) ==
        Signatures{named("Unary/f32/fn=relu/x=648"), named("Conv/f32/x=1x8x9x9/w=4x8x1x1/w_constant=1"),
                   named("Conv/f32/x=1x4x9x9/w=4x4x3x3/pads=1x1x1x1/strides=2x2/w_constant=1"),
                   named("Slice/f32/x=8x9x9/starts=0x0x0/y=8x5x5/steps=1x2x2"),
                   named("Conv/f32/x=1x4x5x5/w=8x4x1x1/w_constant=1/post=add,relu"),
                   named("Conv/f32/x=1x8x5x5/w=6x8x1x1/w_constant=1"),
                   named("Conv/f32/x=1x8x5x5/w=16x8x1x1/w_constant=1"), named("Softmax/f32/x=80x5x1")});
  CHECK(models.fused.layers[3].members.empty());
  CHECK(models.fused.layers[4].members == std::vector<std::size_t>{3, 4, 5});
  CHECK(models.single.layers.size() == 9);
  CHECK(signatures(models.single)[2] == named("Conv/f32/x=1x4x9x9/w=4x4x3x3/pads=1x1x1x1/w_constant=1"));
  CHECK(flops(models.fused) < flops(models.single));
}

TEST_CASE("strides move through axes of their own, and through padding that depends on them") {
  GraphBuilder g;
  const auto x = g.input({1, 4, 8, 8});
  SECTION("one axis") {
    const auto y = g.conv(x, 8);
    g.output(g.node("Conv", {y, g.weight({3, 8, 1, 3})}, {1, 3, 4, 6}, {{"strides", Dims{2, 1}}}));
    CHECK(signatures(fused(g)) ==
          Signatures{named("Conv/f32/x=1x4x8x8/w=8x4x3x3/pads=1x1x1x1/strides=2x1/w_constant=1"),
                     named("Conv/f32/x=1x8x4x8/w=3x8x1x3/w_constant=1")});
  }
  SECTION("SAME_UPPER") {  // stride 1 pads 1 and 1; stride 2 would pad 0 and 1
    const auto y = g.node("Conv", {x, g.weight({8, 4, 3, 3})}, {1, 8, 8, 8}, {{"auto_pad", std::string("SAME_UPPER")}});
    g.output(pointwise(g, y, 3, 2));
    CHECK(signatures(fused(g)).front() == named("Conv/f32/x=1x4x8x8/w=8x4x3x3/pads=1x1x1x1/strides=2x2/w_constant=1"));
  }
  SECTION("a bias of each place stops them, one of each channel does not") {
    const auto y = g.conv(x, 8);
    const auto b = GENERATE(Dims{8, 1, 1}, Dims{8, 8});
    g.output(pointwise(g, g.map("Add", {y, g.weight(b)}), 3, 2));
    const bool is_moved = b.size() == 3;
    CHECK(signatures(fused(g)).back() == named(is_moved ? "Conv/f32/x=1x8x4x4/w=3x8x1x1/w_constant=1"
                                                        : "Conv/f32/x=1x8x8x8/w=3x8x1x1/strides=2x2/w_constant=1"));
  }
}

TEST_CASE("slices of one tensor with different steps have names of their own") {
  GraphBuilder g;
  const auto x = g.map("Relu", {g.input({1, 4, 9, 9})});
  for (const std::int64_t stride : {2, 4}) g.output(pointwise(g, g.map("Add", {g.conv(x, 4), x}), 3, stride));
  const auto moved = move_strides(g.graph());
  REQUIRE(moved);
  CHECK(moved->slices.size() == 2);
  const auto models = make_model_layers(g.graph());
  std::vector<std::size_t> members;
  for (const auto& at : models.fused.layers) members.insert(members.end(), at.members.begin(), at.members.end());
  std::sort(members.begin(), members.end());
  CHECK(members == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a batch norm with a scale for each place stops strides") {
  GraphBuilder g("model", 7);
  const auto y = g.conv(g.input({1, 4, 9, 9}), 8);
  const auto scale = g.weight({8, 9, 9});
  const auto n = g.map("BatchNormalization", {y, scale, scale, scale, scale}, {{"spatial", std::int64_t{0}}});
  g.output(pointwise(g, n, 3, 2));
  CHECK_FALSE(move_strides(g.graph()));
}

TEST_CASE("strides move in four of the 44 models: ResNets whose 1x1 convolutions have them") {
  std::vector<std::string> moved;
  for (const auto& file : model_files())
    if (move_strides(import_onnx(file.string()))) moved.push_back(file.stem().string());
  CHECK(moved == std::vector<std::string>{"DUC", "ResNet050-v1", "ResNet101-v1", "ResNet152-v1"});
}
