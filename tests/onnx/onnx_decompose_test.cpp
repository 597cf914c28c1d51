// SPDX-License-Identifier: Apache-2.0
// Nodes that project and attend in one become separate nodes for each.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/onnx.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using Parts = std::vector<std::pair<std::string, std::string>>;

/// Names of nodes and signatures of their layers.
Parts parts(const std::string& model) {
  const std::string header = R"(<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1, "ai.onnx.ml" : 3]>)";
  const LayerGraph graph = make_layer_graph(testing::import_model(testing::parse_model(model, header)));
  CHECK(graph.unknown.empty());
  Parts result;
  for (const auto& at : graph.layers) result.emplace_back(at.nodes.at(0), LayerSignature(at.layer).text());
  return result;
}

/// Multiply-adds of a model of which all arithmetic is known.
std::int64_t multiply_adds(const std::string& model) {
  const LayerGraph graph = make_layer_graph(testing::import_text(model));
  CHECK(graph.unknown.empty());
  std::int64_t macs = 0;
  for (const auto& at : graph.layers) macs += cost(at.layer).macs * at.repeat;
  return macs;
}

TEST_CASE("Attention of com.microsoft is a product, its bias and attention", "[onnx]") {
  CHECK(parts(R"(g (float[2,128,768] x, float[768,2304] w, float[2304] b, int32[2] padding)
                   => (float[2,128,768] y)
                 { [attention] y = com.microsoft.Attention <num_heads = 12> (x, w, b, padding) })") ==
        Parts{{"attention/product", "MatMul/f32/a=256x768/b=768x2304"},
              {"attention/bias", "Binary/f32/a=256x2304/b=1x2304"},
              {"attention",
               "Attention/f32/q=2x12x128x64/k=2x12x128x64/v=2x12x128x64/q_tokens_first=1/k_tokens_first=1/"
               "v_tokens_first=1/y_tokens_first=1"}});
}

TEST_CASE("Sizes of queries, keys and values, a cache and earlier tokens alone are told to the attention", "[onnx]") {
  // Queries and keys of 12 x 64, values of 12 x 32: 768 + 768 + 384 columns. 28 tokens after 100.
  const Parts made = parts(R"(g (float[2,28,768] x, float[768,1920] w, float[2,2,12,100,64] past)
                                => (float[2,28,384] y, float[2,2,12,128,64] present)
                              { y, present = com.microsoft.Attention <num_heads = 12, unidirectional = 1,
                                  qkv_hidden_sizes = [768, 768, 384]> (x, w, , , past) })");
  REQUIRE(made.size() == 2);
  CHECK(made[0].second == "MatMul/f32/a=56x768/b=768x1920");
  CHECK(made[1].second ==
        "Attention/f32/q=2x12x28x64/k=2x12x128x64/v=2x12x128x32/causal=1/q_tokens_first=1/y_tokens_first=1/past=100");
}

TEST_CASE("QAttention multiplies integers", "[onnx]") {
  CHECK(parts(R"(g (uint8[2,128,768] x, int8[768,2304] w, float[2304] b, float s, float ws, uint8 z)
                   => (float[2,128,768] y)
                 <int8 wz = {0}>
                 { [attention] y = com.microsoft.QAttention <num_heads = 12> (x, w, b, s, ws, , z, wz) })") ==
        Parts{{"attention/product", "MatMul/u8/a=256x768/b=768x2304/b_type=i8/y_type=f32/a_zero=1/post=add:1x2304"},
              {"attention",
               "Attention/f32/q=2x12x128x64/k=2x12x128x64/v=2x12x128x64/q_tokens_first=1/k_tokens_first=1/"
               "v_tokens_first=1/y_tokens_first=1"}});
}

TEST_CASE("A cache that is shared with the caller says nothing of what is in it: the node stays one", "[onnx]") {
  const Graph graph =
      testing::import_text(R"(g (float[1,1,64] x, float[64,192] w, float[2,1,4,256,16] past, int32 before)
                                => (float[1,1,64] y, float[2,1,4,256,16] present)
                              { [attention] y, present = com.microsoft.Attention
                                  <num_heads = 4, unidirectional = 1, past_present_share_buffer = 1>
                                  (x, w, , , past, , before) })");
  CHECK(make_layer_graph(graph).unknown ==
        std::vector<std::string>{
            "'attention' (com.microsoft.Attention): known by bytes alone, the arithmetic is not counted"});
}

TEST_CASE("An Einsum of three tensors is two products in the order with the fewest multiply-adds", "[onnx]") {
  // (8 x 100 x 6) + (8 x 6 x 50) = 7,200; the other order takes 100 x 6 x 50 + 8 x 100 x 50 = 70,000.
  CHECK(parts(R"(g (float[8,100] a, float[100,6] b, float[6,50] c) => (float[8,50] y)
                 { [three] y = Einsum <equation = "ij,jk,kl->il"> (a, b, c) })") ==
        Parts{{"three", "MatMul/f32/a=8x100/b=100x6"}, {"three/part.1", "MatMul/f32/a=8x6/b=6x50"}});
}

TEST_CASE("A product of constants in an Einsum is computed before a request", "[onnx]") {
  // The product of b and c, 2 x 3, is a constant: 4 x 2 x 3 = 24. From the left it takes 4 x 2 x 4 + 4 x 4 x 3 = 80.
  CHECK(parts(R"(g (float[4,2] a) => (float[4,3] y)
                 <float[2,4] b = {1, 2, 3, 4, 5, 6, 7, 8}, float[4,3] c = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
                 { [three] y = Einsum <equation = "ij,jk,kl->il"> (a, b, c) })") ==
        Parts{{"three", "MatMul/f32/a=4x2/b=2x3/b_constant=1"}});
}

TEST_CASE("An Einsum of four tensors has hidden dimensions, a trace and a batch", "[onnx]") {
  // The trace of a is summed, 5 additions; then 2 x 3 x 4 x 7 products, 2 x 3 x 7 x 6 and one factor for 2 x 3 x 6.
  // The factor scales b, the smallest.
  CHECK(multiply_adds(R"(g (float[5,5] a, float[2,3,4] b, float[2,4,7] c, float[7,6] d) => (float[2,3,6] y)
         { y = Einsum <equation = "ii,...jk,...kl,lm->...jm"> (a, b, c, d) })") ==
        2 * 3 * 4 * 7 + 2 * 3 * 7 * 6 + 2 * 3 * 4);
}

TEST_CASE("Each token of a mixture of experts goes through the best of them", "[onnx]") {
  // 5 tokens, 2 experts each, of 8 x 16 and 16 x 8; a third layer of 8 x 16 gates the first.
  CHECK(
      multiply_adds(R"(g (float[5,8] x, float[5,4] r, float[4,16,8] a, float[4,16] b, float[4,8,16] c) => (float[5,8] y)
      { y = com.microsoft.MoE <k = 2, activation_type = "gelu"> (x, r, a, b, c) })") == 5 * 2 * (8 * 16 + 16 * 8));
  CHECK(multiply_adds(R"(g (float[1,5,8] x, float[5,4] r, float[4,16,8] a, float[4,8,16] c, float[4,16,8] e)
        => (float[1,5,8] y)
      { y = com.microsoft.MoE <k = 2, activation_type = "silu"> (x, r, a, "", c, "", e) })") ==
        5 * 2 * (8 * 16 + 16 * 8 + 8 * 16));
}

TEST_CASE("The weights of a quantised mixture of experts hold two numbers in a byte", "[onnx]") {
  const auto zeros = [](int count) {
    std::string text = "{0";
    for (int i = 1; i < count; ++i) text += ", 0";
    return text + "}";
  };
  // 6 tokens, 1 expert each: 16 x 64, of which half are gates, and 32 x 16.
  CHECK(multiply_adds("g (float[2,3,16] x, float[6,4] r) => (float[2,3,16] y) <uint8[4,64,8] a = " + zeros(4 * 64 * 8) +
                      ", float[4,64] s = " + zeros(4 * 64) + ", uint8[4,16,16] c = " + zeros(4 * 16 * 16) +
                      ", float[4,16] t = " + zeros(4 * 16) +
                      "> { y = com.microsoft.QMoE <k = 1, activation_type = \"swiglu\", expert_weight_bits = 4> "
                      "(x, r, a, s, \"\", c, t) }") == 6 * (16 * 64 + 32 * 16));
}

TEST_CASE("A linear classifier is a product, a bias and what finds the label; ZipMap is a view", "[onnx]") {
  CHECK(parts(R"(g (int64[9,2] x) => (int64[9] l, float[9,3] p)
                 { [linear] l, s = ai.onnx.ml.LinearClassifier <coefficients = [0.5, -1.0, 0.25, 0.75, -0.5, 1.5],
                       intercepts = [0.1, -0.2, 0.3], classlabels_ints = [4, 1, 2], post_transform = "LOGISTIC"> (x)
                   [norm] p = ai.onnx.ml.Normalizer <norm = "L1"> (s) })") ==
        Parts{{"linear", "Cast/i64/x=18"},
              {"linear/part.1", "MatMul/f32/a=9x2/b=2x3/b_constant=1"},
              {"linear/part.2", "Binary/f32/a=9x3/b=1x3"},
              {"linear/part.3", "Unary/f32/fn=sigmoid/x=27"},
              {"linear/part.4", "Reduce/f32/fn=arg_max/x=9x3/axes=1"},
              {"linear/part.5", "Gather/i64/x=1x3x1/indices=9/constant=1"},
              {"norm", "AxisNorm/f32/fn=l1/x=9x3x1"}});
  const Graph graph = testing::import_model(testing::parse_model(
      R"(g (float[9,3] x) => (seq(map(int64, float)) y)
         { [zip] y = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1, 2]> (x) })",
      R"(<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 1]>)"));
  CHECK(LayerSignature(make_layer_graph(graph).layers.at(0).layer).text() == "View/f32/x=27");
}

TEST_CASE("What reads strings is known by its bytes, views of them are views", "[onnx]") {
  const LayerGraph graph = make_layer_graph(testing::import_model(testing::parse_model(
      R"(g (string[6,2] x, int64[3] i, float[3,2] z) => (string[3,2] y, string[1,12] v, float[3,2] w)
                              { [pick] y = Gather <axis = 0> (x, i)
                                [view] v = Flatten <axis = 0> (x)
                                [add] w = Add (z, z) })",
      R"(<ir_version: 10, opset_import: ["" : 20]>)")));
  REQUIRE(graph.layers.size() == 3);
  CHECK(std::holds_alternative<op::Opaque>(*graph.layers[0].layer));
  CHECK(std::holds_alternative<op::View>(*graph.layers[1].layer));
  CHECK(std::holds_alternative<op::Binary>(*graph.layers[2].layer));
  CHECK(graph.unknown.empty());
}

TEST_CASE("A machine that votes in pairs of classes stays one node", "[onnx]") {
  const Graph graph = testing::import_model(testing::parse_model(
      R"(g (float[9,2] x) => (int64[9] l, float[9,3] s)
         { [votes] l, s = ai.onnx.ml.SVMClassifier <kernel_type = "LINEAR", vectors_per_class = [1, 1, 1],
               support_vectors = [0.5, -0.25, 0.75, 0.1, -0.6, 0.9], rho = [0.3, 0.1, 0.2],
               coefficients = [0.8, -1.2, 0.4, 0.1, 0.2, 0.3], classlabels_ints = [0, 1, 2]> (x) })",
      R"(<ir_version: 10, opset_import: ["" : 20, "ai.onnx.ml" : 1]>)"));
  CHECK(make_layer_graph(graph).unknown ==
        std::vector<std::string>{
            "'votes' (ai.onnx.ml.SVMClassifier): known by bytes alone, the arithmetic is not counted"});
}

TEST_CASE("A group norm with a scale for each group is an instance norm over groups", "[onnx]") {
  // Operator set 20: four channels in two groups.
  CHECK(parts(R"(g (float[2,4,3] x, float[2] scale, float[2] bias) => (float[2,4,3] y)
                 { [norm] y = GroupNormalization <num_groups = 2> (x, scale, bias) })")[1]
            .second == "GroupNorm/f32/x=2x2x6/groups=2");
}

TEST_CASE("Squeeze removes axes that are not in order, before operator set 11", "[onnx]") {
  const Graph graph = testing::import_model(
      testing::parse_model(R"(g (float[1,3,4,1] x) => (float y) { y = Squeeze <axes = [3, 0]> (x) })",
                           R"(<ir_version: 4, opset_import: ["" : 9]>)"));
  CHECK(graph.value(graph.outputs[0]).dims == std::vector<std::int64_t>{3, 4});
}

}  // namespace
