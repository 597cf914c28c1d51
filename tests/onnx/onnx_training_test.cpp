// SPDX-License-Identifier: Apache-2.0
// Training graphs as ONNX Runtime writes them: each operator becomes the same layer as in our own graphs. Schemas:
// orttraining/core/graph/training_op_defs.cc.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/model/cost.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_graph.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/derive_training.hpp>

#include <onnx/defs/schema.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

using namespace benanza;

namespace {

using Texts = std::vector<std::string>;

/// The layers of a model whose `body` may begin with constants.
Texts layers_of_body(const std::string& arguments, const std::string& results, const std::string& body) {
  const Graph graph = testing::import_text("m (" + arguments + ") => (" + results + ") " + body);
  Texts texts;
  for (const Node& one : graph.nodes) texts.push_back(LayerSignature(make_layer(one, graph)).text());
  return texts;
}

/// The layers of a model with one node.
Texts layers_of(const std::string& arguments, const std::string& results, const std::string& node) {
  return layers_of_body(arguments, results, "{ " + node + " }");
}

/// The contents of a file that ONNX Runtime wrote (tests/data/training_ort.py).
struct Written {
  std::set<std::string> gradients{};  ///< signatures
  std::int64_t macs = 0;
  double convolution_gradient_flops = 0;
  Texts opaque{};  ///< operators that are known only by their bytes
};
Written written(const std::string& name, const ImportOptions& options = {}) {
  const Graph graph =
      import_onnx(std::filesystem::path(BENANZA_TEST_DATA) / "training_ort" / (name + ".onnx"), options);
  Written result;
  for (const Node& one : graph.nodes) {
    const Layer layer = make_layer(one, graph);
    const std::string text = LayerSignature(layer).text(), kind = text.substr(0, text.find('/'));
    if (kind.ends_with("Gradient")) result.gradients.insert(text);
    if (kind == "ConvGradient") result.convolution_gradient_flops += cost(layer).flops.value;
    if (is_opaque(layer)) result.opaque.push_back(one.op_type);
    result.macs += cost(layer).macs;
  }
  return result;
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
  // Columns 2 to 5 of 10; then every second row, from the last one backwards.
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
                       "bool[1] done, seq(float) nw, seq(float) nm, seq(float) nv",
                       "{ ws = SequenceConstruct(w) gs = SequenceConstruct(g) ms = SequenceConstruct(m) "
                       "vs = SequenceConstruct(v) "
                       "done, nw, nm, nv = com.microsoft.AdamWOptimizer(eta, t, ws, gs, ms, vs) }")
            .front() == "OptimizerStep/f32/rule=adamw/x=40");
  CHECK_THROWS_WITH(layers_of_body("float eta, seq(float) ws, seq(float) gs", "seq(float) nws",
                                   "{ done, nws = com.microsoft.SGDOptimizerV2(eta, ws, gs) }"),
                    Catch::Contains("(SGDOptimizerV2): the sizes of the tensors in its sequence 1 are not known"));
  CHECK(layers_of("float[4,10] sum, float[4,10] value, bool signal", "float[4,10] y",
                  "y = com.microsoft.InPlaceAccumulator(sum, value, signal)") == Texts{"Binary/f32/a=40/b=40"});
}

TEST_CASE("a step of which ONNX Runtime asks only whether it was done is a layer", "[onnx]") {
  CHECK(layers_of("float[4,10] sum, float[4,10] value, bool[1] reset", "bool[1] done",
                  "done = com.microsoft.InPlaceAccumulatorV2(sum, value, reset)") == Texts{"Binary/f32/a=40/b=40"});
  CHECK(layers_of_body("float eta, float[4,10] w, float[7] b, float[4,10] gw, float[7] gb", "bool[1] done",
                       "{ ws = SequenceConstruct(w, b) gs = SequenceConstruct(gw, gb) "
                       "done = com.microsoft.SGDOptimizerV2(eta, ws, gs) }")
            .front() == "OptimizerStep/f32/x=47");
}

TEST_CASE("sums, movements and factors of ONNX Runtime's training graphs are ONNX's own", "[onnx]") {
  CHECK(layers_of("float[4,10] x, float scale", "float[4,10] y", "y = com.microsoft.Scale(x, scale)") ==
        Texts{"Binary/f32/fn=mul/a=40/b=1"});
  CHECK(layers_of("float[4,10] x, int64 scale", "float[4,10] y", "y = com.microsoft.Scale<scale_down = 1>(x, scale)")
            .back() == "Binary/f32/fn=div/a=40/b=1");
  CHECK(layers_of_body("float[4,10] x", "float[10] y",
                       "<int64[1] axes = {0}> { y = com.microsoft.ReduceSumTraining<keepdims = 0>(x, axes) }") ==
        Texts{"Reduce/f32/fn=sum/x=4x10/axes=0"});
  CHECK(layers_of_body("float[4,10] x", "float[4,4] y, float[4,6] z",
                       "<int64[2] sizes = {4, 6}> { y, z = com.microsoft.SplitTraining<axis = 1>(x, sizes) }") ==
        Texts{"Split/f32/outer=4/sizes=4x6"});
  CHECK(layers_of("float[4,10] gradient, bool reset", "float[4,10] y",
                  "y = com.microsoft.ZeroGradient(gradient, reset)") == Texts{"Expand/f32/x=1/y=40"});
  CHECK(layers_of("float dy, float[4,10] log_prob, float[4,10] label", "float[4,10] dx",
                  "dx = com.microsoft.SoftmaxCrossEntropyGrad(dy, log_prob, label)") ==
        Texts{"Unary/f32/fn=exp/x=40", "Binary/f32/fn=sub/a=40/b=40", "Binary/f32/fn=mul/a=40/b=1"});
  // A bias that was repeated for 4 rows.
  CHECK(layers_of_body("float[4,10] x, float[10] b, float[4,10] dy", "float[10] db",
                       "{ sx = Shape(x) sb = Shape(b) ax, ab = com.microsoft.BroadcastGradientArgs(sx, sb) "
                       "db = ReduceSum<keepdims = 0>(dy, ab) }") == Texts{"Reduce/f32/fn=sum/x=4x10/axes=0"});
}

TEST_CASE("a convolutional network's training graph that ONNX Runtime wrote is read", "[onnx]") {
  const Written made = written("convolutions_cross_entropy");
  CHECK(made.opaque.empty());
  CHECK(made.gradients ==
        std::set<std::string>{"ConvGradient/f32/of=weights/x=2x3x16x16/w=8x3x3x3/pads=1x1x1x1",
                              "ConvGradient/f32/of=weights/x=2x8x8x8/w=16x8x3x3/pads=1x1x1x1/strides=2x2",
                              "ConvGradient/f32/x=2x8x8x8/w=16x8x3x3/pads=1x1x1x1/strides=2x2",
                              "LossGradient/f32/x=2x10x1/softmax=1", "NormGradient/f32/x=2x8x256",
                              "PoolGradient/f32/x=2x8x16x16/kernel=2x2/strides=2x2", "UnaryGradient/f32/x=4096"});
  // The first convolution has 2 * 8 * 16 * 16 results of 3 * 3 * 3 products, forward and for its weights; the second
  // has 2 * 16 * 4 * 4 of 8 * 3 * 3, also for its data; the classes have 2 * 16 * 10, three times.
  CHECK(made.macs == 2 * 4096 * 27 + 3 * 512 * 72 + 3 * 320);
  // 2 of the 16 * 3 taps along a side of the first lie outside, 1 of the 4 * 3 of the second.
  CHECK(made.convolution_gradient_flops == 2.0 * (2 * 8 * 3 * 46 * 46 + 2 * (2 * 16 * 8 * 11 * 11)));
}

TEST_CASE("a transformer's training graph that ONNX Runtime wrote for any batch and length is read", "[onnx]") {
  const Written made = written("transformer_mse", {.batch = 2, .dims = {{"length", 6}, {"rows_of_all", 12}}});
  CHECK(made.opaque.empty());
  CHECK(made.gradients == std::set<std::string>{"GatherGradient/f32/x=1x20x8/indices=12",
                                                "NormGradient/f32/of=layer/x=12x8", "SoftmaxGradient/f32/x=24x6x1",
                                                "UnaryGradient/f32/fn=gelu/x=384"});
  // 12 rows times the weights, and two products for each of 2 * 2 heads: forward, for the data and for the weights.
  CHECK(made.macs == 3 * (12 * (8 * 24 + 8 * 8 + 8 * 32 + 32 * 8 + 8 * 20) + 2 * 4 * 6 * 6 * 4));
}

TEST_CASE("a training graph with resized and joined feature maps that ONNX Runtime wrote is read", "[onnx]") {
  const Written made = written("pyramid_mse");
  CHECK(made.opaque.empty());
  CHECK(made.gradients ==
        std::set<std::string>{"ConvGradient/f32/of=weights/x=2x3x8x8/w=4x3x1x1",
                              "ConvGradient/f32/of=weights/x=2x3x8x8/w=6x3x1x1",
                              "ResizeGradient/f32/x=2x10x8x8/y=2x10x16x16/mode=linear/coordinates=asymmetric",
                              "UnaryGradient/f32/fn=sigmoid/x=512", "UnaryGradient/f32/fn=tanh/x=768"});
  CHECK(made.macs == 2 * (2 * 64 * 3 * 4 + 2 * 64 * 3 * 6));  // forward and for the weights
}

TEST_CASE("optimizer graphs that ONNX Runtime wrote do not say what they update", "[onnx]") {
  CHECK_THROWS_WITH(written("sgd"), Catch::Contains("the sizes of the tensors in its sequence 1 are not known"));
  CHECK_THROWS_WITH(written("adamw"), Catch::Contains("the sizes of the tensors in its sequence 2 are not known"));
}

TEST_CASE("the differentiable inputs of operators are those of ONNX's schemas", "[onnx]") {
  // PyTorch differentiates initial states, the grid of grid_sample and the divisor of a remainder, but no statistics.
  const std::set<std::pair<std::string, std::string>> differ{{"LSTM", "initial_h"},
                                                             {"LSTM", "initial_c"},
                                                             {"GRU", "initial_h"},
                                                             {"RNN", "initial_h"},
                                                             {"GridSample", "grid"},
                                                             {"Mod", "B"},
                                                             {"BatchNormalization", "input_mean"},
                                                             {"BatchNormalization", "input_var"}};
  std::size_t compared = 0;
  for (const auto& one : onnx::OpSchemaRegistry::get_all_schemas()) {
    const std::string& type = one.Name();
    const auto* schema = onnx::OpSchemaRegistry::Schema(type, 20, "");
    const std::size_t operands = facts_of("", type).differentiable;
    if (schema == nullptr || operands == 0) continue;
    for (std::size_t i = 0; i < schema->inputs().size(); ++i) {
      const auto& input = schema->inputs()[i];
      const auto category = input.GetDifferentiationCategory();
      const auto& types = input.GetTypes();
      const bool has_floats =
          std::any_of(types.begin(), types.end(), [](const auto* one) { return *one == "tensor(float)"; });
      if (!has_floats || category == onnx::OpSchema::Unknown) continue;
      INFO(type << " " << input.GetName());
      const bool differentiable = category == onnx::OpSchema::Differentiable;
      CHECK((i < operands) == (differentiable != differ.contains({type, input.GetName()})));
      ++compared;
    }
  }
  CHECK(compared > 80);
}

/// The names of the parameters of a model in training.
std::set<std::string> parameters_of(const std::string& text) {
  const TrainingGraph iteration =
      derive_training(testing::import_text(text, {.training = true}), {.loss = TrainingLoss::mse});
  std::set<std::string> names;
  for (const Parameter& one : iteration.parameters) names.insert(one.name);
  return names;
}

TEST_CASE("initial states of zeros in the file are no parameters", "[onnx]") {
  // Weights: 2 x 2, twice. The state is the first operand of a product and, like the cell of an LSTM, a factor.
  CHECK(parameters_of("m (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2,2] r = {1, 2, 3, 4}, "
                      "float[1,2] h = {0, 0}, float[1,2] c = {0, 0}> { a = MatMul(x, w) b = MatMul(h, r) s = Add(a, b) "
                      "g = Sigmoid(s) k = Mul(g, c) t = Tanh(s) y = Add(k, t) }") == std::set<std::string>{"w", "r"});
  // Scales that begin with 0 are parameters: they have other sizes than what they scale.
  CHECK(parameters_of("m (float[3,2] x) => (float[3,2] y) <float[1,2] gamma = {0, 0}> { y = Mul(x, gamma) }") ==
        std::set<std::string>{"gamma"});
}

TEST_CASE("masks and tables are known by their numbers", "[onnx]") {
  const auto trained = [](const std::string& dims, const std::string& weight, const std::string& numbers) {
    return parameters_of("m (float[" + dims + "] x) => (float[" + dims + "] y) <float[" + dims + "] w = {" + weight +
                         "}, float[" + dims + "] c = {" + numbers + "}> { a = Mul(x, w) y = Mul(a, c) }")
        .contains("c");
  };
  const std::string three = "5, 2, 3, 7, 1, 4, 2, 9, 6", eight = "5, 2, 3, 7, 1, 4, 2, 9";
  CHECK_FALSE(trained("3,3", three, "1, 0, 0, 1, 1, 0, 1, 1, 1"));                  // a triangle
  CHECK_FALSE(trained("3,3", three, "0, -10000, 0, 0, 0, -10000, 0, 0, 0"));        // hidden scores
  CHECK_FALSE(trained("8", eight, "0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5"));               // a ramp
  CHECK_FALSE(trained("8", eight, "1, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 1e-7"));  // powers
  // sin(k) for k = 0 to 7
  CHECK_FALSE(trained("8", eight, "0, 0.841471, 0.909297, 0.14112, -0.756802, -0.958924, -0.279415, 0.656987"));
  // (1 - cos(2 pi k / 8)) / 2 and (1 - cos(2 pi k / 7)) / 2: a periodic and a symmetric Hann window
  CHECK_FALSE(trained("8", eight, "0, 0.146447, 0.5, 0.853553, 1, 0.853553, 0.5, 0.146447"));
  CHECK_FALSE(trained("8", eight, "0, 0.188255, 0.61126, 0.950484, 0.950484, 0.61126, 0.188255, 0"));
  CHECK(trained("8", eight, "0, 0.188255, 0.61126, 0.950484, 0.950484, 0.62126, 0.188255, 0"));
  CHECK(trained("3,3", three, "1, 0, 0, 0, 1, 0, 0, 0, 1"));             // a weight that begins as the identity
  CHECK(trained("3,3", three, "1, 0, 0, 1, 1, 0, 1, 1, 2"));             // no triangle
  CHECK(trained("8", eight, "0, 0.5, 1, 1.5, 2.2, 2.5, 3, 3.5"));        // no ramp
  CHECK(trained("8", eight, "1, 1, 1, 1, 1, 1, 1, 1"));                  // a scale at its beginning
  CHECK(trained("8", eight, "1, 1.001, 1, 0.999, 1, 1.002, 1, 0.998"));  // and after some steps
}

TEST_CASE("a mask that is made of one number that hides scores is no parameter", "[onnx]") {
  const auto parameters = [](const std::string& constants, const std::string& nodes) {
    return parameters_of("m (float[3,2] x) => (float[3,3] y) <float[2,3] w = {5, 2, 3, 7, 1, 4}, int64 one = {1}" +
                         constants + "> { s = MatMul(x, w) " + nodes + " m = Trilu(c, one) y = Add(s, m) }");
  };
  const std::string three = "-1e9, -1e9, -1e9, ";
  CHECK(parameters(", float[3,3] c = {" + three + three + "-1e9, -1e9, -1e9}", "") == std::set<std::string>{"w"});
  CHECK(parameters(", int64[2] n = {3, 3}", "c = ConstantOfShape<value = float[1] {-1e9}>(n)") ==
        std::set<std::string>{"w"});
}

TEST_CASE("what standardises an input of the model is no parameter", "[onnx]") {
  const auto parameters = [](const std::string& x, const std::string& nodes, const std::string& constant = "3") {
    return parameters_of(
        "m (float[" + x + "] x) => (float[2,3] y) <float[3,3] w = {5, 2, 3, 7, 1, 4, 2, 9, 6}, float[" + constant +
        "] mean = {0.485, 0.456, 0.406}, float[" + constant + "] scale = {0.229, 0.224, 0.225}> { " + nodes + " }");
  };
  using Names = std::set<std::string>;
  CHECK(parameters("2,3", "a = Sub(x, mean) b = Div(a, scale) y = MatMul(b, w)") == Names{"w"});
  CHECK(parameters("2,3", "a = Sub(x, mean) b = Mul(a, scale) y = MatMul(b, w)") == Names{"w"});
  CHECK(parameters("2,3", "a = Abs(x) b = Sub(a, mean) c = Mul(x, scale) d = Add(b, c) y = MatMul(d, w)") ==
        Names{"w", "scale"});  // a scale of features
  CHECK(parameters("2,3", "a = MatMul(x, w) b = Sub(a, mean) y = Div(b, scale)") == Names{"w", "mean", "scale"});
  // The bias of an autoencoder: subtracted before the first product, and added after the last.
  CHECK(parameters("2,3", "a = Sub(x, mean) b = MatMul(a, w) c = Add(b, mean) y = Mul(c, scale)") ==
        Names{"w", "mean", "scale"});
  // The distances of 2 rows to 3 learned centres.
  CHECK(parameters("2,1", "a = Sub(x, mean) b = Div(a, scale) y = MatMul(b, w)") == Names{"w", "mean", "scale"});
}

TEST_CASE("equal numbers that are limits, subtracted or as large as a batch are no parameters", "[onnx]") {
  const auto trained = [](const std::string& dims, const std::string& number, const std::string& node,
                          const std::string& x = "2,2,3") {
    std::int64_t count = 1;
    for (const char one : dims)
      if (one != ',') count *= one - '0';
    std::string numbers = number;
    for (std::int64_t i = 1; i < count; ++i) numbers += ", " + number;
    return parameters_of("m (float[" + x + "] x) => (float[" + x +
                         "] y) <float[3,3] w = {5, 2, 3, 7, 1, 4, 2, 9, 6}, float[" + dims + "] c = {" + numbers +
                         "}> { a = MatMul(x, w) " + node + " }")
        .contains("c");
  };
  CHECK_FALSE(trained("3", "0", "y = Max(a, c)"));
  CHECK_FALSE(trained("3", "6", "y = Min(c, a)"));
  CHECK_FALSE(trained("3", "0", "y = Sub(a, c)"));
  CHECK_FALSE(trained("2,2,3", "1", "y = Mul(a, c)"));
  CHECK_FALSE(trained("2,2,3", "1", "y = Div(a, c)"));
  CHECK_FALSE(trained("2,2,3", "0", "y = Add(a, c)"));
  CHECK_FALSE(trained("2,3", "1", "y = Mul(a, c)", "2,3"));
  // Parameters at their beginning: scales and biases, positions, a normalisation over two axes that is written out.
  CHECK(trained("3", "1", "y = Mul(a, c)"));
  CHECK(trained("3", "0", "y = Add(a, c)"));
  CHECK(trained("2,3", "1", "y = Mul(a, c)"));
  CHECK(trained("1,2,3", "0", "y = Add(a, c)", "1,2,3"));
  CHECK(trained("2,3", "0", "y = Add(a, c)", "2,3"));
  CHECK(trained("2,3", "1", "s = Exp(a) n = Div(a, s) y = Mul(n, c)", "2,3"));
  CHECK(trained("3", "0", "m = Max(a, c) y = Add(m, c)"));  // also a bias
}

TEST_CASE("weights are parameters whatever their numbers are", "[onnx]") {
  const std::string ramp = "1, 2, 3, 4, 5, 6, 7, 8";
  CHECK(parameters_of("m (float[2,1] x) => (float[2,8] y) <float[1,8] w = {" + ramp + "}, float[8] b = {" + ramp +
                      "}> { a = MatMul(x, w) y = Add(a, b) }") == std::set<std::string>{"w", "b"});
  CHECK(parameters_of("m (float[2,1] x) => (float[2,8] y) <float[8,1] w = {" + ramp +
                      "}> { t = Transpose<perm = [1, 0]>(w) y = MatMul(x, t) }") == std::set<std::string>{"w"});
}

TEST_CASE("tensors that the network's code contains are no parameters", "[onnx]") {
  // torch.export names them so, in modules after the module; parameters and buffers have names of the network.
  const auto parameters = [](const std::string& constant) {
    return parameters_of("m (float[2,3] x) => (float[2,3] y) <float[3] scale = {1.5, 0.25, 2}, float[3] " + constant +
                         " = {0.485, 0.456, 0.406}> { a = Mul(x, scale) y = Sub(a, " + constant + ") }");
  };
  for (const std::string constant : {"lifted_tensor_0", "_tensor_constant12", "_lifted_tensor_constant3"})
    CHECK(parameters(constant) == std::set<std::string>{"scale"});
  CHECK(parameters("lifted_tensor_mean") == std::set<std::string>{"lifted_tensor_mean", "scale"});
}

TEST_CASE("a warning names constants that the exporter has computed and that no layer reads as weights", "[onnx]") {
  const auto warnings = [](const std::string& w, const std::string& c) {
    return testing::import_text("m (float[2,3] x) => (float[2,3] y) <float[3,3] " + w +
                                    " = {5, 2, 3, 7, 1, 4, 2, 9, 6}, float[2,3] " + c +
                                    " = {5, 2, 3, 7, 1, 4}> { a = " + "MatMul(x, " + w + ") y = Add(a, " + c + ") }",
                                {.training = true})
        .warnings;
  };
  CHECK(warnings("weight", "position").empty());
  CHECK(warnings("val_0", "position").empty());  // a transposed weight
  CHECK(testing::import_text("m (float[2,3] x) => (float[2,3] y) <float[1,3] val_3 = {5, 2, 3}> { y = Mul(x, val_3) }",
                             {.training = true})
            .warnings.empty());  // the scale of channels
  const auto computed = warnings("weight", "val_3");
  REQUIRE(computed.size() == 1);
  CHECK(computed[0] ==
        "constants that the exporter has computed count as parameters: 1 ('val_3'); --frozen NAME leaves one out");
}

TEST_CASE("a warning names constants that may not be trained", "[onnx]") {
  const auto warnings = [](const std::string& dims, const std::string& numbers, const std::string& node) {
    return testing::import_text("m (float[2,2] x) => (float[2,2] y) <float[2,2] w = {5, 2, 3, 7}, float[" + dims +
                                    "] c = {" + numbers + "}> { a = MatMul(x, w) " + node + " }",
                                {.training = true})
        .warnings;
  };
  const std::vector<std::string> named{
      "constants that may not be trained count as parameters: 1 ('c'); --frozen NAME leaves one out"};
  CHECK(warnings("2,2", "10, 13, 16, 30", "e = Exp(a) y = Mul(e, c)") == named);  // the sizes of anchors
  CHECK(warnings("2", "0.5, 0.25", "y = Sub(a, c)") == named);
  CHECK(warnings("2", "0.5, 0.25", "y = Div(a, c)") == named);
  CHECK(warnings("2", "0.5, 0.25", "y = Max(a, c)") == named);
  CHECK(warnings("2,2", "0, 0, 0, 0", "y = Add(a, c)") == named);  // positions at their beginning, or a state
  // cos(2 pi i k / 8) for i = 0, 1 and k = 0 to 7: a transform
  CHECK(warnings("2,8", "1, 1, 1, 1, 1, 1, 1, 1, 1, 0.707107, 0, -0.707107, -1, -0.707107, 0, 0.707107",
                 "f = MatMul(a, c) s = Softmax(f) t = Transpose<perm = [1, 0]>(c) y = MatMul(s, t)") == named);
  CHECK(warnings("2", "0.5, 0.25", "y = Mul(a, c)").empty());        // scales of channels
  CHECK(warnings("2", "0, 0", "y = Add(a, c)").empty());             // biases
  CHECK(warnings("2,2", "1, 2, 4, 3", "y = Add(a, c)").empty());     // positions
  CHECK(warnings("2,2", "1, 0, 0, 1", "y = MatMul(a, c)").empty());  // a weight
}

TEST_CASE("parts of different sizes that a SplitToSequence makes have gradients", "[onnx]") {
  // A weight of 12 x 6 in parts of 4 and 8 rows, as for queries and for keys. Forward and backward: x by each of them,
  // and their gradients; keys by 8 x 4, with both gradients.
  const auto text =
      "m (float[2,6] x) => (float[2,4] y) <int64[2] n = {4, 8}, int64 zero = {0}, int64 one = {1}> { "
      "s = SplitToSequence<axis = 0>(w, n) a = SequenceAt(s, zero) b = SequenceAt(s, one) "
      "t = Transpose(a) u = Transpose(b) q = MatMul(x, t) k = MatMul(x, u) p = MatMul(k, v) "
      "y = Add(q, p) }";
  auto proto = testing::parse_model(text);
  for (const auto& [name, rows, columns] : {std::tuple("w", 12, 6), std::tuple("v", 8, 4)}) {
    auto& tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(rows);
    tensor.add_dims(columns);
    for (int i = 0; i < rows * columns; ++i) tensor.add_float_data(static_cast<float>(i * i % 7) + 0.5F);
  }
  const TrainingGraph iteration =
      derive_training(testing::import_model(proto, {.training = true}), {.loss = TrainingLoss::mse});
  std::int64_t parameters = 0;
  for (const Parameter& one : iteration.parameters) parameters += one.elements;
  CHECK(parameters == 12 * 6 + 8 * 4);
  double macs = 0;
  for (const auto& at : make_layer_graph(iteration.graph).layers)
    if (const auto* product = std::get_if<op::MatMul>(&*at.layer))
      macs += static_cast<double>(product->m() * product->n() * product->k());
  CHECK(macs == 2 * (2 * 6 * 4 + 2 * 6 * 8) + 3 * 2 * 8 * 4);
}

TEST_CASE("a recurrence that its gradient does not know is refused by name", "[onnx]") {
  CHECK_THROWS_WITH(derive_training(testing::import_text(
                        "m (float[5,2,1] x) => (float[5,1,2,1] y) <float[1,4,1] w = {1, 2, 3, 4}, float[1,4,1] r = "
                        "{1, 2, 3, 4}> { y = LSTM<hidden_size = 1, clip = 1.0>(x, w, r) }")),
                    Catch::Contains("(LSTM): no gradient is known for its attributes and operands"));
}
