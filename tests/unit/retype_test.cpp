// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/retype.hpp>

using namespace benanza;
using testing::GraphBuilder;

namespace {

using Signatures = std::vector<std::string>;

Signatures layers(const Graph& graph, Form form = Form::single) {
  const LayerGraph single = make_layer_graph(graph);
  Signatures result;
  for (const auto& at : (form == Form::single ? single : fuse(single, default_patterns())).layers)
    result.push_back(signature(at.layer).text());
  return result;
}

/// Convolution with bias, ReLU, softmax, and a gather of rows by i64.
Graph typed_model() {
  GraphBuilder build;
  const ValueId y = build.map("Relu", {build.conv(build.input({1, 16, 8, 8}), 32, true)});
  build.output(build.map("Softmax", {y}));
  build.output(build.node("Gather", {build.weight({100, 64}), build.input({3}, DataType::i64)}, {3, 64}));
  return build.graph();
}

}  // namespace

TEST_CASE("a floating-point type replaces f32 everywhere and leaves integers alone") {
  CHECK(layers(retype(typed_model(), DataType::bf16)) ==
        Signatures{"Conv/bf16/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/post=bias", "Unary/bf16/x=2048",
                   "Softmax/bf16/x=256x8x1", "Gather/bf16/x=1x100x64/indices=3/constant=1"});
  CHECK(layers(retype(typed_model(), DataType::f32)) == layers(typed_model()));
}

TEST_CASE("tf32 is a type of products alone") {
  const Graph graph = retype(typed_model(), DataType::tf32);
  CHECK(layers(graph) == Signatures{"Conv/tf32/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/post=bias", "Unary/f32/x=2048",
                                    "Softmax/f32/x=256x8x1", "Gather/f32/x=1x100x64/indices=3/constant=1"});
  CHECK(layers(graph, Form::fused)[0] == "Conv/tf32/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/post=bias,relu");
  // 32 bits in memory: as many bytes as f32.
  CHECK(cost(parse_layer("MatMul/tf32/a=4x8/b=8x2")).bytes().value == (32 + 16 + 8) * 4);
}

TEST_CASE("8 bits reach products and what keeps their results; the rest computes in f32") {
  CHECK(layers(retype(typed_model(), DataType::i8)) ==
        Signatures{"Quantize/f32/to=i8/x=1x1024x1", "Conv/i8/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/post=bias",
                   "Unary/i8/x=2048", "Dequantize/i8/x=1x2048x1", "Softmax/f32/x=256x8x1",
                   "Gather/f32/x=1x100x64/indices=3/constant=1"});
  CHECK(layers(retype(typed_model(), DataType::u8), Form::fused)[1] ==
        "Conv/u8/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/w_type=i8/y_type=f32/post=bias,relu");
}

TEST_CASE("a product of activations is quantised with its operands converted once") {
  GraphBuilder build;
  const ValueId x = build.input({2, 8, 8});
  build.output(build.node("MatMul", {x, x}, {2, 8, 8}));
  CHECK(layers(retype(build.graph(), DataType::i8)) ==
        Signatures{"Quantize/f32/to=i8/x=1x128x1", "MatMul/i8/a=2x8x8/b=2x8x8", "Dequantize/i8/x=1x128x1"});
}

TEST_CASE("types without arithmetic are refused") {
  CHECK_THROWS_AS(retype(typed_model(), DataType::i64), UsageError);
  CHECK_THROWS_AS(retype(typed_model(), DataType::string), UsageError);
}
