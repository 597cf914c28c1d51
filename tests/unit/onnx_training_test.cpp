// SPDX-License-Identifier: Apache-2.0
// Training graphs as ONNX Runtime writes them: each operator is the layer that it is here. Schemas:
// orttraining/core/graph/training_op_defs.cc.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/training/derive_training.hpp>

#include <string>
#include <vector>

using namespace benanza;

namespace {

using Texts = std::vector<std::string>;

/// The layers of a model; `body` may begin with constants.
Texts layers_of_body(const std::string& arguments, const std::string& results, const std::string& body) {
  const Graph graph = testing::import_text("m (" + arguments + ") => (" + results + ") " + body);
  Texts texts;
  for (const Node& one : graph.nodes) texts.push_back(LayerSignature(make_layer(one, graph)).text());
  return texts;
}

/// The layers of a model of one node.
Texts layers_of(const std::string& arguments, const std::string& results, const std::string& node) {
  return layers_of_body(arguments, results, "{ " + node + " }");
}

}  // namespace

TEST_CASE("gradients of com.microsoft are the layers that training here has", "[onnx]") {
  CHECK(layers_of("float[2,16,14,14] dy, float[2,8,14,14] x, float[16,8,3,3] w",
                  "float[2,8,14,14] dx, float[16,8,3,3] dw, float[16] db",
                  "dx, dw, db = com.microsoft.ConvGrad<pads = [1, 1, 1, 1]>(dy, x, w)") ==
        Texts{"Reduce/f32/fn=sum/x=2x16x196/axes=0x2",
              "ConvGradient/f32/of=weights/x=2x8x14x14/w=16x8x3x3/pads=1x1x1x1",
              "ConvGradient/f32/x=2x8x14x14/w=16x8x3x3/pads=1x1x1x1"});
  const std::string rows = "float[4,10] dy, float[4,10] x";
  CHECK(layers_of(rows, "float[4,10] dx", "dx = com.microsoft.ReluGrad(dy, x)") == Texts{"UnaryGradient/f32/x=40"});
  CHECK(layers_of(rows, "float[4,10] dx", "dx = com.microsoft.GeluGrad(dy, x)") ==
        Texts{"UnaryGradient/f32/fn=gelu/x=40"});
  CHECK(layers_of(rows, "float[4,10] dx", "dx = com.microsoft.SoftmaxGrad_13<axis = -1>(dy, x)") ==
        Texts{"SoftmaxGradient/f32/x=4x10x1"});
  CHECK(layers_of("float[4,3,5] dy, float[4,3,5] y", "float[4,3,5] dx",
                  "dx = com.microsoft.LogSoftmaxGrad<axis = 1>(dy, y)") == Texts{"SoftmaxGradient/f32/x=4x15x1/log=1"});
  CHECK(layers_of("float[4,10] dy, float[4,10] x, float[10] scale, float[4,1] mean, float[4,1] inverse",
                  "float[4,10] dx, float[10] ds, float[10] db",
                  "dx, ds, db = com.microsoft.LayerNormalizationGrad<axis = -1>(dy, x, scale, mean, inverse)") ==
        Texts{"NormGradient/f32/of=layer/x=4x10"});
  CHECK(layers_of("float[4,10] dy, float[4,10] x, float[10] scale, float[4,1] inverse", "float[4,10] dx, float[10] ds",
                  "dx, ds = com.microsoft.SimplifiedLayerNormalizationGrad<axis = -1>(dy, x, scale, inverse)") ==
        Texts{"NormGradient/f32/of=rms/x=4x10/bias=0"});
  CHECK(layers_of("float[2,6,4,4] dy, float[2,6,4,4] x, float[6] scale, float[6] mean, float[6] var",
                  "float[2,6,4,4] dx, float[6] ds, float[6] db",
                  "dx, ds, db = com.microsoft.BatchNormalizationGrad(dy, x, scale, mean, var)") ==
        Texts{"NormGradient/f32/x=2x6x16"});
}

TEST_CASE("pools, look-ups and losses of com.microsoft are the layers that training here has", "[onnx]") {
  CHECK(layers_of("float[1,3,4,4] dy, int64[1,3,4,4] indices", "float[1,3,8,8] dx",
                  "dx = com.microsoft.MaxPoolGrad<kernel_shape = [2, 2], strides = [2, 2]>(dy, indices)") ==
        Texts{"PoolGradient/f32/x=1x3x8x8/kernel=2x2/strides=2x2"});
  CHECK(layers_of("float[1,3,4,4] dy", "float[1,3,8,8] dx",
                  "dx = com.microsoft.AveragePoolGrad<kernel_shape = [2, 2], strides = [2, 2]>(dy)") ==
        Texts{"PoolGradient/f32/mode=average/x=1x3x8x8/kernel=2x2/strides=2x2"});
  const Graph gather = testing::import_text(
      "m (int64[5] indices, float[5,8] dy) => (float[100,8] dx) <int64[2] shape = {100, 8}> "
      "{ dx = com.microsoft.GatherGrad<axis = 0>(shape, indices, dy) }");
  REQUIRE(gather.nodes.size() == 1);
  CHECK(LayerSignature(make_layer(gather.nodes[0], gather)).text() == "GatherGradient/f32/x=1x100x8/indices=5");
  CHECK(layers_of_body("int64[3,10] indices, float[3,10] dy", "float[8,10] dx",
                       "<int64[2] shape = {8, 10}> "
                       "{ dx = com.microsoft.GatherElementsGrad<axis = 0>(dy, shape, indices) }") ==
        Texts{"Expand/f32/x=1/y=80", "ScatterElements/f32/x=1x8x10/indices=1x3x10/axis=1/reduction=add"});
  CHECK(layers_of_body("int64[3,1] indices, float[3,10] dy", "float[8,10] dx",
                       "<int64[2] shape = {8, 10}> { dx = com.microsoft.GatherNDGrad(shape, indices, dy) }") ==
        Texts{"Expand/f32/x=1/y=80", "ScatterNd/f32/x=8x10/indices=3x1/reduction=add"});
  // Columns 2 to 5 of 10; then every second row from the last one back.
  CHECK(layers_of_body("float[8,4] dy", "float[8,10] dx",
                       "<int64[2] shape = {8, 10}, int64[1] starts = {2}, int64[1] ends = {6}, int64[1] axes = {1}> "
                       "{ dx = com.microsoft.SliceGrad(dy, shape, starts, ends, axes) }") ==
        Texts{"Pad/f32/x=8x4/begins=0x2/ends=0x4"});
  CHECK(layers_of_body("float[4,10] dy", "float[8,10] dx",
                       "<int64[2] shape = {8, 10}, int64[1] starts = {-1}, int64[1] ends = {-9}, int64[1] axes = {0}, "
                       "int64[1] steps = {-2}> { dx = com.microsoft.SliceGrad(dy, shape, starts, ends, axes, steps) }")
            .front() == "GatherGradient/f32/x=1x8x10/indices=4");
  CHECK(layers_of("float dy, float[4,10] log_prob, int64[4] label", "float[4,10] dx",
                  "dx = com.microsoft.SoftmaxCrossEntropyLossGrad<reduction = \"mean\">(dy, log_prob, label)") ==
        Texts{"LossGradient/f32/x=4x10x1/softmax=1"});
}

TEST_CASE("optimizers of com.microsoft are the steps that training here has", "[onnx]") {
  CHECK(layers_of("float eta, float[4,10] w, float[4,10] g", "float[4,10] nw",
                  "nw = com.microsoft.SGDOptimizer(eta, w, g)") == Texts{"OptimizerStep/f32/x=40"});
  CHECK(layers_of("float eta, int64 t, float[4,10] w, float[4,10] g, float[4,10] m, float[4,10] v",
                  "int64 nt, float[4,10] nm, float[4,10] nv, float[4,10] nw",
                  "nt, nm, nv, nw = com.microsoft.AdamOptimizer(eta, t, w, g, m, v)") ==
        Texts{"OptimizerStep/f32/rule=adam/x=40"});
  CHECK(layers_of_body("float eta, float[4,10] w, float[7] b, float[4,10] gw, float[7] gb", "float[7] nb",
                       "<int64 one = {1}> { ws = SequenceConstruct(w, b) gs = SequenceConstruct(gw, gb) "
                       "done, nws = com.microsoft.SGDOptimizerV2(eta, ws, gs) nb = SequenceAt(nws, one) }")
            .front() == "OptimizerStep/f32/x=47");
  CHECK(layers_of_body("float eta, int64[1] t, float[4,10] w, float[4,10] g, float[4,10] m, float[4,10] v",
                       "int64[1] nt, seq(float) nw, seq(float) nm, seq(float) nv",
                       "{ ws = SequenceConstruct(w) gs = SequenceConstruct(g) ms = SequenceConstruct(m) "
                       "vs = SequenceConstruct(v) "
                       "nt, nw, nm, nv = com.microsoft.AdamWOptimizer(eta, t, ws, gs, ms, vs) }")
            .front() == "OptimizerStep/f32/rule=adamw/x=40");
  CHECK_THROWS_WITH(layers_of_body("float eta, seq(float) ws, seq(float) gs", "seq(float) nws",
                                   "{ done, nws = com.microsoft.SGDOptimizerV2(eta, ws, gs) }"),
                    Catch::Contains("(SGDOptimizerV2): the sizes of the tensors in its sequence 1 are not known"));
  CHECK(layers_of("float[4,10] sum, float[4,10] value, bool signal", "float[4,10] y",
                  "y = com.microsoft.InPlaceAccumulator(sum, value, signal)") == Texts{"Binary/f32/a=40/b=40"});
}

TEST_CASE("a recurrence that its gradient does not know is refused by name", "[onnx]") {
  CHECK_THROWS_WITH(derive_training(testing::import_text(
                        "m (float[5,2,1] x) => (float[5,1,2,1] y) <float[1,4,1] w = {1, 2, 3, 4}, float[1,4,1] r = "
                        "{1, 2, 3, 4}> { y = LSTM<hidden_size = 1, clip = 1.0>(x, w, r) }")),
                    Catch::Contains("(LSTM): no gradient is known for its attributes and operands"));
}
