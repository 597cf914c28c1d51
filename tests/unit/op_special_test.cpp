// SPDX-License-Identifier: Apache-2.0
// Losses, transforms, samplings and other operators that few models have: spellings, and exact counts.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;
constexpr auto i64 = DataType::i64;

double flops(const Layer& layer) { return cost(layer).flops.value; }
double bytes(const Layer& layer) { return cost(layer).bytes().value; }

TEST_CASE("Sums along an axis and triangles are named by what they keep", "[op]") {
  const auto sum = [] { return SingleNode("CumSum").in({2, 5, 3}); };
  const auto triangle = [] { return SingleNode("Trilu").in({1, 3, 4, 5}); };
  check({
      {"sum", sum().ints({1}).out({2, 5, 3}), "Cumulative/f32/x=2x5x3"},
      {"product, from the end", SingleNode("CumProd", 26).in({2, 5}).ints({-1}).out({2, 5}).set("reverse", 1),
       "Cumulative/f32/x=2x5x1/product=1/reverse=1"},
      {"an axis at run time", sum().in({}, i64).out({2, 5, 3}), "Cumulative/f32/x=1x2x15"},
      {"the one axis there is", SingleNode("CumSum").in({7}).in({}, i64).out({7}).set("exclusive", 1),
       "Cumulative/f32/x=1x7x1/exclusive=1"},
      {"upper", triangle().out({1, 3, 4, 5}), "Trilu/f32/x=3x4x5"},
      {"lower", triangle().ints({-1}).out({1, 3, 4, 5}).set("upper", 0), "Trilu/f32/x=3x4x5/upper=0/diagonal=-1"},
      {"beyond the last column", triangle().ints({99}).out({1, 3, 4, 5}), "Trilu/f32/x=3x4x5/diagonal=5"},
      {"a diagonal at run time", triangle().in({}, i64).out({1, 3, 4, 5}), "Trilu/f32/x=3x4x5/diagonal=5"},
      {"a diagonal at run time, lower", triangle().in({}, i64).out({1, 3, 4, 5}).set("upper", 0),
       "Trilu/f32/x=3x4x5/upper=0/diagonal=-4"},
  });
  CHECK(flops(op::Cumulative{.x = {2, 5, 3}}) == 2 * 3 * 4);
  CHECK(flops(op::Cumulative{.x = {2, 5, 3}, .exclusive = true}) == 2 * 3 * 3);
  CHECK(bytes(op::Cumulative{.x = {2, 5, 3}}) == 2 * 30 * 4);
}

TEST_CASE("A triangle reads what it keeps", "[op]") {
  struct Case {
    op::Trilu trilu;
    std::int64_t kept;
  };
  for (const auto& [trilu, kept] : std::vector<Case>{
           {{.x = {3, 4, 5}}, 3 * (5 + 4 + 3 + 2)},
           {{.x = {1, 6, 3}}, 3 + 2 + 1},
           {{.x = {3, 4, 5}, .diagonal = 2}, 3 * (3 + 2 + 1)},
           {{.x = {3, 4, 5}, .diagonal = -2}, 3 * (5 + 5 + 5 + 4)},
           {{.x = {3, 4, 5}, .diagonal = -4}, 3 * 20},
           {{.x = {3, 4, 5}, .diagonal = 5}, 0},
           {{.x = {3, 4, 5}, .upper = false}, 3 * (1 + 2 + 3 + 4)},
           {{.x = {3, 4, 5}, .upper = false, .diagonal = -1}, 3 * (0 + 1 + 2 + 3)},
           {{.x = {1, 6, 3}, .upper = false, .diagonal = 1}, 2 + 3 + 3 + 3 + 3 + 3},
           {{.x = {3, 4, 5}, .upper = false, .diagonal = -4}, 0},
       }) {
    CAPTURE(trilu.upper, trilu.diagonal);
    CHECK(trilu.kept() == kept);
    std::int64_t in_rows = 0;
    for (std::int64_t row = 0; row < trilu.x[1]; ++row)
      in_rows += trilu.kept_columns(row).end - trilu.kept_columns(row).begin;
    CHECK(in_rows * trilu.x[0] == kept);
  }
  CHECK(bytes(op::Trilu{.x = {3, 4, 5}}) == (42 + 60) * 4);
}

TEST_CASE("Samplings count their taps", "[op]") {
  check({
      {"grid", SingleNode("GridSample", 20).in({2, 3, 8, 9}).in({2, 4, 5, 2}).out({2, 3, 4, 5}),
       "GridSample/f32/x=2x3x8x9/out=4x5"},
      {"grid of opset 16",
       SingleNode("GridSample", 16)
           .in({2, 3, 8, 9})
           .in({2, 4, 5, 2})
           .out({2, 3, 4, 5})
           .set("mode", "bicubic")
           .set("padding_mode", "border")
           .set("align_corners", 1),
       "GridSample/f32/x=2x3x8x9/out=4x5/mode=cubic/padding=border/align_corners=1"},
      {"a grid of another rank", SingleNode("GridSample", 20).in({2, 3, 8, 9}).in({2, 4, 5, 3}).out({2, 3, 4, 5}),
       "Opaque/f32/op=GridSample/read_bytes=2208/written_bytes=480"},
      {"boxes",
       SingleNode("RoiAlign", 16)
           .in({1, 2, 16, 16})
           .in({3, 4})
           .in({3}, i64)
           .out({3, 2, 7, 7})
           .set("output_height", 7)
           .set("output_width", 7)
           .set("sampling_ratio", 2),
       "RoiAlign/f32/x=1x2x16x16/boxes=3/out=7x7/samples=2"},
      {"boxes of opset 10",
       SingleNode("RoiAlign", 10).in({1, 2, 16, 16}).in({3, 4}).in({3}, i64).out({3, 2, 1, 1}).set("mode", "max"),
       "RoiAlign/f32/x=1x2x16x16/boxes=3/out=1x1/max=1/half_pixel=0"},
      {"shifted convolution",
       SingleNode("DeformConv", 19)
           .in({1, 4, 5, 5})
           .weight({6, 4, 3, 3})
           .in({1, 18, 3, 3})
           .weight({6})
           .in({1, 9, 3, 3})
           .out({1, 6, 3, 3})
           .set("pads", Dims{0, 0, 0, 0}),
       "DeformConv/f32/x=1x4x5x5/w=6x4x3x3/bias=1/mask=1"},
  });
  // 2 images, 3 channels, 4 * 5 points, 4 taps with one multiply-add each; all may lie outside of x.
  const op::GridSample grid{.x = {2, 3, 8, 9}, .out = {4, 5}};
  CHECK(flops(grid) == 2 * 3 * 20 * 4 * 2);
  CHECK(bytes(grid) == (2 * 20 * 2 + 120) * 4);
  // Nearest: nothing is computed.
  const op::GridSample nearest{.x = {1, 3, 10, 10}, .out = {2, 2}, .mode = op::ResizeMode::nearest};
  CHECK(flops(nearest) == 0);
  CHECK(bytes(nearest) == (8 + 12) * 4);
  // 3 boxes, 2 channels, 49 results with one addition each; all boxes may lie outside of x.
  const op::RoiAlign boxes{.x = {1, 2, 16, 16}, .boxes = 3, .out = {7, 7}, .samples = 2};
  CHECK(flops(boxes) == 3 * 2 * 49);
  CHECK(bytes(boxes) == (12 + 294) * 4 + 3 * 8);
  // 6 * 9 elements with 4 * 9 multiply-adds; a bias adds one each; all taps may be shifted out of x.
  op::DeformConv conv{.x = {1, 4, 5, 5}, .w = {6, 4, 3, 3}};
  CHECK(cost(Layer(conv)).macs == 54 * 36);
  CHECK(flops(conv) == 2 * 54 * 36);
  conv.bias = true;
  CHECK(flops(conv) == 2 * 54 * 36 + 54);
  CHECK(bytes(conv) == (216 + 2 * 81 + 6 + 54) * 4);
}

TEST_CASE("A loss reads the scores of its targets, a softmax before it all of them", "[op]") {
  check({
      {"log likelihood",
       SingleNode("NegativeLogLikelihoodLoss")
           .in({4, 10, 2, 3})
           .in({4, 2, 3}, i64)
           .weight({10})
           .out({4, 2, 3})
           .set("reduction", "none"),
       "Loss/f32/x=4x10x6/reduction=none/weighted=1"},
      {"cross entropy", SingleNode("SoftmaxCrossEntropyLoss").in({4, 10}).in({4}, DataType::i32).out({}).out({4, 10}),
       "Loss/f32/x=4x10x1/softmax=1/log_prob=1/target_type=i32"},
  });
  // 24 targets: their scores, indices of 8 bytes, 10 weights, 24 results.
  const op::Loss picked{.x = {4, 10, 6}, .reduction = op::LossReduction::none, .weighted = true};
  CHECK(flops(picked) == 24);
  CHECK(bytes(picked) == 24 * 4 + 24 * 8 + 10 * 4 + 24 * 4);
  // The exponential and the sum of 240 scores, and the logarithm of each probability.
  CHECK(flops(op::Loss{.x = {4, 10, 6}, .softmax = true}) == 2 * 240 + 24);
  CHECK(flops(op::Loss{.x = {4, 10, 6}, .softmax = true, .log_prob = true}) == 3 * 240 + 24);
  CHECK(bytes(op::Loss{.x = {4, 10, 6}, .softmax = true}) == 240 * 4 + 24 * 8 + 4);
}

TEST_CASE("Fourier transforms count the fewest operations known", "[op]") {
  const auto dft = [](Dims x, Dims y) {
    return SingleNode("DFT", 20).in(std::move(x)).none().ints({1}).out(std::move(y));
  };
  check({
      {"complex", dft({2, 64, 3, 2}, {2, 64, 3, 2}), "Fourier/f32/x=2x64x3/length=64"},
      {"real, half", dft({2, 64, 1}, {2, 33, 2}).set("onesided", 1),
       "Fourier/f32/x=2x64x1/length=64/real=1/one_sided=1"},
      {"back to real numbers", dft({2, 33, 2}, {2, 64, 1}).set("onesided", 1).set("inverse", 1),
       "Fourier/f32/x=2x33x1/length=64/inverse=1/one_sided=1"},
      {"of opset 17, longer than the signal", SingleNode("DFT", 17).in({2, 10, 1}).ints({16}).out({2, 16, 2}),
       "Fourier/f32/x=2x10x1/length=16/real=1"},
      // 10 transforms of 3 numbers have first bins of 40 operations, 6 transforms of 5 have 48, and 15 of 2 have 60.
      {"an axis at run time", SingleNode("DFT", 20).in({2, 5, 3, 2}).none().in({}, i64).out({2, 5, 3, 2}),
       "Fourier/f32/x=10x3x1/length=3"},
      {"an axis at run time that the result tells",
       SingleNode("DFT", 20).in({4, 10, 1}).none().in({}, i64).out({4, 6, 2}).set("onesided", 1),
       "Fourier/f32/x=4x10x1/length=10/real=1/one_sided=1"},
      {"a length at run time", SingleNode("DFT", 17).in({2, 10, 1}).in({}, i64).out({2, 16, 2}),
       "Opaque/f32/op=DFT/read_bytes=88/written_bytes=256"},
      {"frames", SingleNode("STFT").in({1, 400, 1}).ints({8}).weight({16}).out({1, 49, 9, 2}),
       "Fourier/f32/x=1x400x1/length=16/real=1/one_sided=1/frames=49/step=8/window=1"},
  });
  // Johnson and Frigo (2007), table I: 1152 for 64 complex numbers (split radix: 1160), 2792 for 128 (2824).
  CHECK(flops(op::Fourier{.x = {2, 64, 3}, .length = 64}) == Approx(6.0 * 1152));
  CHECK(flops(op::Fourier{.x = {1, 128, 1}, .length = 128}) == Approx(2792.0));
  // Real numbers: 168 / 2 - 16 + 2 for 16 (split radix: 2 * 16 * 4 - 4 * 16 + 6).
  CHECK(flops(op::Fourier{.x = {1, 16, 1}, .length = 16, .real = true}) == Approx(70.0));
  CHECK(flops(op::Fourier{.x = {1, 9, 1}, .length = 16, .inverse = true, .one_sided = true}) == Approx(70.0));
  // No minimum is known: 11 complex additions for the first bin; 9 for 10 numbers and zeros.
  CHECK(flops(op::Fourier{.x = {1, 12, 1}, .length = 12}) == 22);
  CHECK(flops(op::Fourier{.x = {1, 10, 1}, .length = 16}) == 18);
  // 49 frames of 16 samples, one every 8 samples: frames 0, 2, ... 48 share no samples.
  const op::Fourier frames{
      .x = {1, 400, 1}, .length = 16, .real = true, .one_sided = true, .frames = 49, .step = 8, .window = true};
  CHECK(flops(frames) == Approx(25.0 * 70));
  CHECK(bytes(frames) == (400 + 16 + 49 * 9 * 2) * 4);
}

TEST_CASE("What is written without reading counts what is written", "[op]") {
  check({
      {"range", SingleNode("Range").in({}).in({}).in({}).out({10}), "Generate/f32/fn=range/y=10"},
      {"eye", SingleNode("EyeLike").in({3, 4}).out({3, 4}, i64), "Generate/i64/fn=eye/y=3x4"},
      {"window", SingleNode("HannWindow").in({}, i64).out({16}), "Generate/f32/fn=hann/y=16"},
      {"constant", SingleNode("ConstantOfShape").in({2}, i64).out({2, 5}), "Generate/f32/y=10"},
      {"one hot", SingleNode("OneHot").in({16, 2}, i64).ints({10}).in({2}).out({16, 10, 2}).set("axis", 1),
       "OneHot/f32/y=16x10x2"},
      {"cache", SingleNode("TensorScatter", 24).in({2, 8, 100, 16}).in({2, 8, 3, 16}).in({2}, i64).out({2, 8, 100, 16}),
       "TensorScatter/f32/x=2x8x100x16/length=3"},
  });
  CHECK(bytes(op::Generate{.fn = op::GenerateFn::range, .y = {10}}) == (2 + 10) * 4);
  CHECK(flops(op::Generate{.fn = op::GenerateFn::range, .y = {10}}) == 10);
  CHECK(bytes(op::Generate{.fn = op::GenerateFn::eye, .y = {3, 4}}) == 12 * 4);
  CHECK(bytes(op::OneHot{.y = {16, 10, 2}}) == 32 * 8 + 2 * 4 + 320 * 4);
  // 2 * 8 * 3 * 16 elements are read and written, and two indices of 8 bytes.
  CHECK(bytes(op::TensorScatter{.x = {2, 8, 100, 16}, .length = 3}) == 2 * 768 * 4 + 2 * 8);
}

TEST_CASE("Normalisations by statistics of their own", "[op]") {
  check({
      {"lengths", SingleNode("LpNormalization").in({2, 3, 4}).out({2, 3, 4}).set("axis", 1), "AxisNorm/f32/x=2x3x4"},
      {"sums", SingleNode("LpNormalization").in({2, 3, 4}).out({2, 3, 4}).set("p", 1), "AxisNorm/f32/fn=l1/x=6x4x1"},
      {"hardmax", SingleNode("Hardmax").in({2, 3, 4}).out({2, 3, 4}), "AxisNorm/f32/fn=hardmax/x=6x4x1"},
      {"hardmax of opset 11", SingleNode("Hardmax", 11).in({2, 3, 4}).out({2, 3, 4}),
       "AxisNorm/f32/fn=hardmax/x=2x12x1"},
      {"training",
       SingleNode("BatchNormalization", 15)
           .in({8, 64, 7, 7})
           .in({64})
           .in({64})
           .in({64})
           .in({64})
           .out({8, 64, 7, 7})
           .out({64})
           .out({64})
           .set("training_mode", 1),
       "ChannelNorm/f32/x=8x64x49/running=1"},
      {"mean and variance", SingleNode("MeanVarianceNormalization").in({8, 64, 7, 7}).out({8, 64, 7, 7}),
       "ChannelNorm/f32/x=8x64x49/affine=0"},
      {"of each image",
       SingleNode("MeanVarianceNormalization").in({8, 64, 7, 7}).out({8, 64, 7, 7}).set("axes", Dims{2, 3}),
       "ChannelNorm/f32/x=1x512x49/affine=0"},
      {"of all", SingleNode("MeanVarianceNormalization").in({8, 64}).out({8, 64}).set("axes", Dims{0, 1}),
       "ChannelNorm/f32/x=512x1x1/affine=0"},
      {"axes that are not adjacent",
       SingleNode("MeanVarianceNormalization").in({8, 64, 7, 7}).out({8, 64, 7, 7}).set("axes", Dims{1}),
       "Opaque/f32/op=MeanVarianceNormalization/read_bytes=100352/written_bytes=100352"},
  });
  CHECK(flops(op::AxisNorm{.x = {2, 3, 4}}) == 3 * 24);
  CHECK(flops(op::AxisNorm{.fn = op::AxisNormFn::hardmax, .x = {2, 3, 4}}) == 24);
  CHECK(flops(op::ChannelNorm{.x = {2, 3, 4}}) == 5 * 24);
  // x and y, scale and shift; mean and variance, before and after.
  CHECK(bytes(op::ChannelNorm{.x = {2, 3, 4}, .running = true}) == (2 * 24 + 6 * 3) * 4);
}

TEST_CASE("The result tells the cells of pads and crops", "[op]") {
  check({
      {"pads at run time", SingleNode("Pad").in({3, 4}).in({4}, i64).out({5, 4}), "Pad/f32/x=3x4/begins=0x0/ends=2x0"},
      {"pads at run time, none", SingleNode("Pad").in({3, 4}).in({4}, i64).out({3, 4}), "View/f32/rule=no_op/x=12"},
      // 10 to 7: 3 cells fewer, 1 in front; 4 to 9: 5 cells more, 2 in front.
      {"around the centre", SingleNode("CenterCropPad", 18).in({10, 4}).ints({7, 9}).out({7, 9}),
       "Pad/f32/x=10x4/begins=-1x2/ends=-2x3"},
      {"of that size", SingleNode("CenterCropPad", 18).in({10, 4}).ints({10, 4}).out({10, 4}),
       "View/f32/rule=no_op/x=40"},
  });
}

}  // namespace
