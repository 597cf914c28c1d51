// SPDX-License-Identifier: Apache-2.0
// Element-wise functions, reductions and normalisations.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;

TEST_CASE("Functions of one tensor are named by the function and the number of elements", "[op]") {
  const auto unary = [](const char* type, int opset = 17, const char* domain = "") {
    return SingleNode(type, opset, domain).in({2, 3, 4}).out({2, 3, 4});
  };
  const auto clip = [](int opset = 17) { return SingleNode("Clip", opset).in({24}).out({24}); };
  check({
      {"relu", unary("Relu"), "Unary/f32/x=24"},
      {"scalar", SingleNode("Exp").in({}).out({}), "Unary/f32/fn=exp/x=1"},
      {"leaky, default", unary("LeakyRelu"), "Unary/f32/fn=leaky_relu/x=24/alpha=0.01"},
      {"leaky, the float nearest to 0.1", unary("LeakyRelu").set("alpha", static_cast<double>(0.1F)),
       "Unary/f32/fn=leaky_relu/x=24/alpha=0.1"},
      {"elu", unary("Elu"), "Unary/f32/fn=elu/x=24/alpha=1"},
      {"hard sigmoid", unary("HardSigmoid"), "Unary/f32/fn=hard_sigmoid/x=24/alpha=0.2/beta=0.5"},
      {"hard sigmoid of PyTorch", unary("HardSigmoid").set("alpha", static_cast<double>(1.0F / 6)),
       "Unary/f32/fn=hard_sigmoid/x=24/alpha=0.16666667/beta=0.5"},
      {"selu", unary("Selu"), "Unary/f32/fn=selu/x=24/alpha=1.6732632/beta=1.050701"},
      {"shrink", unary("Shrink"), "Unary/f32/fn=shrink/x=24/beta=0.5"},
      {"swish", unary("Swish", 24), "Unary/f32/fn=swish/x=24/alpha=1"},
      {"swish times another tensor", SingleNode("SwiGLU", 28).in({4, 6}).in({4, 6}).out({4, 6}).set("alpha", 0.5),
       "Unary/f32/fn=swish/x=24/alpha=0.5/post=mul"},
      {"gelu", unary("Gelu", 20), "Unary/f32/fn=gelu/x=24"},
      {"gelu of ONNX Runtime", unary("Gelu", 1, "com.microsoft"), "Unary/f32/fn=gelu/x=24"},
      {"gelu, tanh", unary("Gelu", 20).set("approximate", "tanh"), "Unary/f32/fn=gelu_tanh/x=24"},
      {"truth", SingleNode("Not").in({24}, DataType::boolean).out({24}, DataType::boolean),
       "Unary/bool/fn=logical_not/x=24"},
      {"clip, attributes", clip(6).set("min", 0.0).set("max", 6.0), "Unary/f32/fn=clip/x=24/beta=6"},
      {"clip, inputs", clip().number(-1).number(1), "Unary/f32/fn=clip/x=24/alpha=-1/beta=1"},
      {"clip, one side", clip().number(-1), "Unary/f32/fn=clip/x=24/alpha=-1/beta=inf"},
      {"clip at 0 is relu", clip().number(0), "Unary/f32/x=24"},
      {"clip of opset 6 at 0", clip(6).set("min", 0.0).set("max", static_cast<double>(3.4028234663852886e38F)),
       "Unary/f32/x=24"},
      {"clip, a bound at run time", clip().in({}), "Binary/f32/fn=max/a=24/b=1"},
      {"clip, the upper bound at run time", clip().none().in({1}), "Binary/f32/fn=min/a=24/b=1"},
      {"clip, bounds at run time", clip().in({}).in({}), "Binary/f32/fn=max/a=24/b=1/post=min:1"},
      {"x^2", unary("Pow").number(2), "Unary/f32/fn=square/x=24"},
      {"x^0.5", unary("Pow").number(0.5), "Unary/f32/fn=sqrt/x=24"},
      {"x^3", unary("Pow").number(3), "Binary/f32/fn=pow/a=24/b=1"},
      {"x * x", unary("Mul").again(0), "Unary/f32/fn=square/x=24"},
      {"x + x", unary("Add").again(0), "Binary/f32/a=24/b=24/same=1"},
      {"another domain's Relu", unary("Relu", 1, "com.example"),
       "Opaque/f32/op=com.example.Relu/read_bytes=96/written_bytes=96"},
  });
}

TEST_CASE("Dimensions that broadcast alike are folded", "[op]") {
  const auto binary = [](const char* type, Dims a, Dims b, int opset = 17) {
    return SingleNode(type, opset).in(std::move(a)).in(std::move(b)).out({});
  };
  check({
      {"equal shapes", binary("Add", {1, 64, 56, 56}, {1, 64, 56, 56}), "Binary/f32/a=200704/b=200704"},
      {"channels", binary("Mul", {1, 64, 56, 56}, {1, 64, 1, 1}), "Binary/f32/fn=mul/a=64x3136/b=64x1"},
      {"channels without batch", binary("Mul", {1, 64, 56, 56}, {64, 1, 1}), "Binary/f32/fn=mul/a=64x3136/b=64x1"},
      {"the other way round", binary("Mul", {64, 1, 1}, {1, 64, 56, 56}), "Binary/f32/fn=mul/a=64x3136/b=64x1"},
      {"which does not hold for Sub", binary("Sub", {64, 1, 1}, {1, 64, 56, 56}), "Binary/f32/fn=sub/a=64x1/b=64x3136"},
      {"last dimension", binary("Add", {1, 128, 768}, {768}), "Binary/f32/a=128x768/b=1x768"},
      {"scalar", binary("Div", {2, 3, 4}, {}), "Binary/f32/fn=div/a=24/b=1"},
      {"one element of another rank", binary("Div", {2, 3, 4}, {1, 1, 1, 1}), "Binary/f32/fn=div/a=24/b=1"},
      {"both broadcast", binary("Add", {1, 12, 1, 64}, {1, 1, 10, 64}), "Binary/f32/a=12x1x64/b=1x10x64"},
      {"two scalars", binary("Add", {}, {1}), "Binary/f32/a=1/b=1"},
      {"predicate", SingleNode("Less").in({8}, DataType::i64).in({}, DataType::i64).out({8}, DataType::boolean),
       "Binary/i64/fn=less/a=8/b=1"},
      {"fmod", binary("Mod", {8}, {8}).set("fmod", 1), "Binary/f32/fn=fmod/a=8/b=8"},
      {"shift", binary("BitShift", {8}, {8}).set("direction", "RIGHT"), "Binary/f32/fn=shift_right/a=8/b=8"},
      {"slopes", binary("PRelu", {1, 64, 8, 8}, {64, 1, 1}), "Binary/f32/fn=prelu/a=64x64/b=64x1"},
      {"slopes of opset 6", binary("PRelu", {1, 64, 8, 8}, {64}, 6), "Binary/f32/fn=prelu/a=64x64/b=64x1"},
      {"axis of opset 6", binary("Add", {1, 64, 8, 8}, {64}, 6).set("broadcast", 1).set("axis", 1),
       "Binary/f32/a=64x64/b=64x1"},
      {"Sum of two", binary("Sum", {8}, {8}), "Binary/f32/a=8/b=8"},
      {"Max of one", SingleNode("Max").in({8}).out({8}), "View/f32/rule=no_op/x=8"},
      {"Max of three", SingleNode("Max").in({2, 4}).in({4}).in({4}).out({2, 4}), "Nary/f32/fn=max/x=8"},
      {"Mean of two", SingleNode("Mean").in({2, 4}).in({2, 4}).out({2, 4}), "Nary/f32/x=8/count=2/mean=1"},
      {"where", SingleNode("Where").in({1, 1, 8, 8}, DataType::boolean).in({1, 12, 8, 8}).in({}).out({1, 12, 8, 8}),
       "Where/f32/c=1x64/x=12x64/y=1x1"},
      {"quantised",
       SingleNode("QLinearAdd", 1, "com.microsoft")
           .in({1, 8, 4, 4}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .in({1, 8, 4, 4}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .out({1, 8, 4, 4}, DataType::u8),
       "Binary/u8/a=128/b=128/scaled=1"},
      {"more than 8 dimensions", binary("Add", {2, 1, 2, 1, 2, 1, 2, 1, 2}, {1, 2, 1, 2, 1, 2, 1, 2, 1}),
       "Opaque/f32/op=Add/read_bytes=192/written_bytes=4"},
  });
}

TEST_CASE("Reductions fold dimensions that are reduced or kept alike", "[op]") {
  const auto reduce = [](const char* type, Dims x, int opset = 13) {
    return SingleNode(type, opset).in(std::move(x)).out({1});
  };
  check({
      {"axes as attribute", reduce("ReduceMean", {1, 64, 7, 7}).set("axes", Dims{2, 3}), "Reduce/f32/x=64x49/axes=1"},
      {"axes as input", reduce("ReduceMean", {1, 64, 7, 7}, 18).ints({-1, -2}), "Reduce/f32/x=64x49/axes=1"},
      {"all", reduce("ReduceSum", {2, 3, 4}), "Reduce/f32/fn=sum/x=24/axes=0"},
      {"the middle", reduce("ReduceMax", {2, 3, 4}).set("axes", Dims{1}), "Reduce/f32/fn=max/x=2x3x4/axes=1"},
      {"outside", reduce("ReduceL2", {2, 3, 4}).set("axes", Dims{0, 2}), "Reduce/f32/fn=l2/x=2x3x4/axes=0x2"},
      {"dimensions of 1", reduce("ReduceMin", {2, 1, 4}).set("axes", Dims{0, 2}), "Reduce/f32/fn=min/x=8/axes=0"},
      {"axes at run time, which the result tells",
       SingleNode("ReduceSum", 13).in({2, 3, 4}).in({1}, DataType::i64).out({2, 4}),
       "Reduce/f32/fn=sum/x=2x3x4/axes=1"},
      {"axes at run time, kept as 1", SingleNode("ReduceL1", 18).in({2, 3, 4}).in({1}, DataType::i64).out({1, 3, 4}),
       "Reduce/f32/fn=l1/x=2x12/axes=0"},
      {"axes at run time, either of two", SingleNode("ReduceMax", 18).in({4, 4}).in({1}, DataType::i64).out({4}),
       "Reduce/f32/fn=max/x=4x4/axes=1"},
      {"axes at run time that do not fit", SingleNode("ReduceMean", 18).in({4, 4}).in({1}, DataType::i64).out({3}),
       "Opaque/f32/op=ReduceMean/read_bytes=72/written_bytes=12"},
      {"no axes, none meant", SingleNode("ReduceSum").in({2, 3}).out({2, 3}).set("noop_with_empty_axes", 1),
       "View/f32/rule=no_op/x=6"},
      {"over nothing", SingleNode("ReduceMean").in({2, 1}).out({2, 1}).set("axes", Dims{1}), "View/f32/rule=no_op/x=2"},
      {"over nothing, but a function", SingleNode("ReduceL1").in({2, 1}).out({2, 1}).set("axes", Dims{1}),
       "Reduce/f32/fn=l1/x=2x1/axes=1"},
      {"arg max", reduce("ArgMax", {2, 10, 5, 5}).set("axis", 1), "Reduce/f32/fn=arg_max/x=2x10x25/axes=1"},
      {"arg max, default axis", reduce("ArgMax", {10, 5}), "Reduce/f32/fn=arg_max/x=10x5/axes=0"},
      {"top k", SingleNode("TopK").in({1, 1000}).ints({5}).out({1, 5}).out({1, 5}, DataType::i64),
       "TopK/f32/x=1x1000x1/k=5"},
  });
}

TEST_CASE("Normalisations fold what they treat alike", "[op]") {
  const auto norm = [](SingleNode node, int weights, std::int64_t size) {
    for (int i = 0; i < weights; ++i) node.weight({size});
    return node;
  };
  const auto skip = [](const char* type) {
    return SingleNode(type, 1, "com.microsoft").in({1, 128, 768}).in({1, 128, 768}).out({1, 128, 768});
  };
  check({
      {"batch norm", norm(SingleNode("BatchNormalization").in({1, 64, 56, 56}).out({1, 64, 56, 56}), 4, 64),
       "BatchNorm/f32/x=1x64x3136"},
      {"batch norm of features", norm(SingleNode("BatchNormalization").in({8, 64}).out({8, 64}), 4, 64),
       "BatchNorm/f32/x=8x64x1"},
      {"batch norm of each position",
       norm(SingleNode("BatchNormalization", 7).in({1, 64, 5, 5}).out({1, 64, 5, 5}).set("spatial", 0), 4, 1600),
       "BatchNorm/f32/x=1x1600x1"},
      {"outputs of training",
       norm(SingleNode("BatchNormalization", 7).in({1, 4, 2, 2}).out({1, 4, 2, 2}).out({4}).out({4}).out({4}).out({4}),
            4, 4),
       "BatchNorm/f32/x=1x4x4"},
      {"layer norm", norm(SingleNode("LayerNormalization").in({1, 128, 768}).out({1, 128, 768}), 2, 768),
       "LayerNorm/f32/x=128x768/bias=1"},
      {"over two dimensions", norm(SingleNode("LayerNormalization").in({8, 4, 4}).out({8, 4, 4}).set("axis", 1), 1, 16),
       "LayerNorm/f32/x=8x16"},
      {"RMS norm", norm(SingleNode("RMSNormalization", 23).in({1, 128, 768}).out({1, 128, 768}), 1, 768),
       "LayerNorm/f32/x=128x768/rms=1"},
      {"RMS norm of ONNX Runtime",
       norm(SingleNode("SimplifiedLayerNormalization", 1).in({1, 128, 768}).out({1, 128, 768}), 1, 768),
       "LayerNorm/f32/x=128x768/rms=1"},
      {"the norm of a sum", norm(skip("SkipLayerNormalization"), 2, 768),
       "LayerNorm/f32/x=128x768/bias=1/residual=added"},
      {"with a bias", norm(skip("SkipLayerNormalization"), 3, 768),
       "LayerNorm/f32/x=128x768/bias=1/residual=added/x_bias=1"},
      {"RMS norm of a sum", norm(skip("SkipSimplifiedLayerNormalization"), 1, 768),
       "LayerNorm/f32/x=128x768/rms=1/residual=added"},
      {"RMS norm with a bias", norm(skip("SkipSimplifiedLayerNormalization"), 2, 768),
       "LayerNorm/f32/x=128x768/rms=1/residual=added/x_bias=1"},
      {"the sum is an output",
       norm(skip("SkipSimplifiedLayerNormalization").no_out().no_out().out({1, 128, 768}), 1, 768),
       "LayerNorm/f32/x=128x768/rms=1/residual=kept"},
      {"a skip that broadcasts",
       norm(SingleNode("SkipLayerNormalization", 1, "com.microsoft").in({2, 4, 8}).in({1, 4, 8}).out({2, 4, 8}), 1, 8),
       "Opaque/f32/op=com.microsoft.SkipLayerNormalization/read_bytes=416/written_bytes=256/constant_bytes=32"},
      {"group norm",
       norm(SingleNode("GroupNormalization", 21).in({1, 32, 8, 8}).out({1, 32, 8, 8}).set("num_groups", 4), 2, 32),
       "GroupNorm/f32/x=1x32x64/groups=4"},
      {"instance norm", norm(SingleNode("InstanceNormalization").in({1, 32, 8, 8}).out({1, 32, 8, 8}), 2, 32),
       "GroupNorm/f32/x=1x32x64/groups=32"},
      {"LRN", SingleNode("LRN").in({1, 96, 55, 55}).out({1, 96, 55, 55}).set("size", 5), "Lrn/f32/x=1x96x3025"},
      {"softmax", SingleNode("Softmax").in({1, 12, 128, 128}).out({1, 12, 128, 128}), "Softmax/f32/x=1536x128x1"},
      {"softmax over channels", SingleNode("Softmax").in({1, 21, 8, 8}).out({1, 21, 8, 8}).set("axis", 1),
       "Softmax/f32/x=1x21x64"},
      {"softmax before opset 13 flattens", SingleNode("Softmax", 11).in({2, 21, 8, 8}).out({2, 21, 8, 8}),
       "Softmax/f32/x=2x1344x1"},
      {"log", SingleNode("LogSoftmax").in({2, 10}).out({2, 10}), "Softmax/f32/x=2x10x1/log=1"},
  });
}

}  // namespace
