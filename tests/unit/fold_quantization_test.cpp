// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "support/graph_builder.hpp"
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/fold_quantization.hpp>
#include <benanza/model/layer_signature.hpp>

using namespace benanza;
using testing::GraphBuilder;

namespace {

/// A model of quantise / dequantise pairs, as ONNX Runtime's static quantiser writes it.
class Qdq {
 public:
  GraphBuilder build{};

  ValueId zero_point(std::int64_t number, DataType type = DataType::i8) {
    const ValueId id = build.weight({}, type);
    build.graph().values[id].literal = Literal{.ints = {number}};
    return id;
  }
  ValueId quantize(ValueId x, std::int64_t zero = 0, DataType type = DataType::i8) {
    return build.node("QuantizeLinear", {x, build.number(0.5), zero_point(zero, type)}, dims(x), {}, type);
  }
  ValueId dequantize(ValueId x, std::int64_t zero = 0) {
    return build.node("DequantizeLinear", {x, build.number(0.5), zero_point(zero, build.graph().value(x).type)},
                      dims(x));
  }
  ValueId weight(std::vector<std::int64_t> shape, DataType type = DataType::i8) {
    return dequantize(build.weight(std::move(shape), type));
  }
  [[nodiscard]] std::vector<std::int64_t> dims(ValueId id) { return build.graph().value(id).dims; }

  /// Signatures of the folded graph's layers.
  std::vector<std::string> layers(Form form = Form::single) {
    fold_quantization(build.graph());
    const LayerGraph single = make_layer_graph(build.graph());
    std::vector<std::string> result;
    for (const auto& at : (form == Form::single ? single : fuse(single, default_patterns())).layers)
      result.push_back(signature(at.layer).text());
    return result;
  }
};

using Signatures = std::vector<std::string>;

}  // namespace

TEST_CASE("a convolution between its pair of conversions is one of 8 bits") {
  Qdq model;
  const ValueId x = model.dequantize(model.quantize(model.build.input({1, 16, 8, 8}), 7), 7);
  const ValueId bias = model.weight({32}, DataType::i32);
  const ValueId y = model.build.node("Conv", {x, model.weight({32, 16, 3, 3}), bias}, {1, 32, 8, 8},
                                     {{"pads", GraphBuilder::Dims{1, 1, 1, 1}}});
  model.build.output(model.dequantize(model.quantize(y, -128), -128));
  CHECK(model.layers() == Signatures{"Quantize/f32/to=i8/x=1x1024x1",
                                     "Conv/i8/x=1x16x8x8/w=32x16x3x3/pads=1x1x1x1/x_zero=1/post=bias",
                                     "Dequantize/i8/x=1x2048x1"});
}

TEST_CASE("both types of unsigned activations and signed weights are named") {
  Qdq model;
  const ValueId x = model.dequantize(model.quantize(model.build.input({4, 64}), 0, DataType::u8));
  const ValueId y = model.build.node("MatMul", {x, model.weight({64, 32})}, {4, 32});
  model.build.output(model.dequantize(model.quantize(y, 0, DataType::u8)));
  CHECK(model.layers()[1] == "MatMul/u8/a=4x64/b=64x32/b_constant=1/b_type=i8");
}

TEST_CASE("what follows a convolution before it is quantised stays in 8 bits, and fuses with it") {
  const auto build = [](Qdq& model) {
    const ValueId x = model.dequantize(model.quantize(model.build.input({1, 16, 8, 8})));
    const ValueId y = model.build.node("Conv", {x, model.weight({16, 16, 1, 1})}, {1, 16, 8, 8});
    const ValueId sum = model.build.map("Add", {model.dequantize(model.quantize(y)), x});
    model.build.output(model.dequantize(model.quantize(model.build.map("Relu", {sum}))));
  };
  Qdq single;
  build(single);
  CHECK(single.layers() == Signatures{"Quantize/f32/to=i8/x=1x1024x1", "Conv/i8/x=1x16x8x8/w=16x16x1x1",
                                      "Binary/i8/a=1024/b=1024/scaled=1", "Unary/i8/x=1024",
                                      "Dequantize/i8/x=1x1024x1"});
  Qdq fused;
  build(fused);
  // The last conversion takes place when the result is written.
  CHECK(fused.layers(Form::fused) ==
        Signatures{"Quantize/f32/to=i8/x=1x1024x1", "Conv/i8/x=1x16x8x8/w=16x16x1x1/y_type=f32/post=add,relu"});
}

TEST_CASE("a result that nothing quantises stays in floats, a product with it") {
  Qdq model;
  const ValueId x = model.dequantize(model.quantize(model.build.input({4, 64})));
  const ValueId y = model.build.node("Gemm", {x, model.weight({64, 10}), model.build.weight({10})}, {4, 10});
  model.build.output(model.build.map("Softmax", {y}));
  CHECK(model.layers() == Signatures{"Quantize/f32/to=i8/x=1x256x1",
                                     "MatMul/i8/a=4x64/b=64x10/b_constant=1/y_type=f32/post=bias",
                                     "Softmax/f32/x=4x10x1"});
}

TEST_CASE("movement, functions and means between conversions stay in 8 bits") {
  Qdq model;
  const ValueId x = model.dequantize(model.quantize(model.build.input({1, 16, 8, 8})));
  const ValueId y = model.dequantize(model.quantize(model.build.map("HardSwish", {x})));
  const ValueId mean = model.build.node("ReduceMean", {y, model.build.ints({2, 3})}, {1, 16, 1, 1});
  const ValueId flat = model.build.node("Reshape", {mean, model.build.ints({1, 16})}, {1, 16});
  model.build.output(model.dequantize(model.quantize(flat)));
  CHECK(model.layers() == Signatures{"Quantize/f32/to=i8/x=1x1024x1", "Unary/i8/fn=hard_swish/x=1024",
                                     "Reduce/i8/x=16x64/axes=1", "View/i8/x=16", "Dequantize/i8/x=1x16x1"});
}

TEST_CASE("a tensor that floats read too keeps its conversion") {
  Qdq model;
  const ValueId x = model.dequantize(model.quantize(model.build.input({1, 16, 8, 8})));
  const ValueId y = model.build.node("Conv", {x, model.weight({16, 16, 1, 1})}, {1, 16, 8, 8});
  const ValueId back = model.dequantize(model.quantize(y));
  model.build.output(model.build.map("Exp", {back}));
  model.build.output(
      model.dequantize(model.quantize(model.build.node("Conv", {back, model.weight({8, 16, 1, 1})}, {1, 8, 8, 8}))));
  CHECK(model.layers() == Signatures{"Quantize/f32/to=i8/x=1x1024x1", "Conv/i8/x=1x16x8x8/w=16x16x1x1",
                                     "Dequantize/i8/x=1x1024x1", "Unary/f32/fn=exp/x=1024",
                                     "Conv/i8/x=1x16x8x8/w=8x16x1x1", "Dequantize/i8/x=1x512x1"});
}

TEST_CASE("an integer product is rescaled as it is written") {
  GraphBuilder build;
  const ValueId x = build.input({4, 64}, DataType::u8), zero = build.input({}, DataType::u8);
  const ValueId product =
      build.node("MatMulInteger", {x, build.weight({64, 32}, DataType::i8), zero}, {4, 32}, {}, DataType::i32);
  const ValueId scaled = build.map("Mul", {build.node("Cast", {product}, {4, 32}), build.input({})});
  build.output(build.map("Add", {scaled, build.weight({32})}));
  const LayerGraph single = make_layer_graph(build.graph());
  const LayerGraph fused = fuse(single, default_patterns());
  CHECK(signature(single.layers[0].layer).text() ==
        "MatMul/u8/a=4x64/b=64x32/b_constant=1/b_type=i8/y_type=i32/a_zero=1");
  REQUIRE(fused.layers.size() == 1);
  CHECK(signature(fused.layers[0].layer).text() ==
        "MatMul/u8/a=4x64/b=64x32/b_constant=1/b_type=i8/y_type=f32/a_zero=1/post=mul:1x1,bias");
}
