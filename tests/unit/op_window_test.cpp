// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools: canonical spellings, and exact counts.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;

TEST_CASE("Spellings of one convolution have one signature", "[op]") {
  const std::string flat = "Conv/f32/x=1x8x1x50/w=16x8x1x5/pads=0x2x0x2/strides=1x2/post=bias";
  check({
      {"1-D",
       SingleNode("Conv")
           .in({1, 8, 50})
           .weight({16, 8, 5})
           .weight({16})
           .out({1, 16, 25})
           .set("pads", Dims{2, 2})
           .set("strides", Dims{2}),
       flat},
      {"height 1",
       SingleNode("Conv")
           .in({1, 8, 1, 50})
           .weight({16, 8, 1, 5})
           .weight({16})
           .out({1, 16, 1, 25})
           .set("pads", Dims{0, 2, 0, 2})
           .set("strides", Dims{1, 2}),
       flat},
      {"width 1",
       SingleNode("Conv")
           .in({1, 8, 50, 1})
           .weight({16, 8, 5, 1})
           .weight({16})
           .out({1, 16, 25, 1})
           .set("pads", Dims{2, 0, 2, 0})
           .set("strides", Dims{2, 1}),
       flat},
      {"a stride that is never taken",
       SingleNode("Conv")
           .in({1, 8, 50, 1})
           .weight({16, 8, 5, 1})
           .weight({16})
           .out({1, 16, 25, 1})
           .set("pads", Dims{2, 0, 2, 0})
           .set("strides", Dims{2, 2}),
       flat},
      {"3-D with depth 1", SingleNode("Conv").in({1, 8, 1, 6, 6}).weight({16, 8, 1, 3, 3}).out({1, 16, 1, 4, 4}),
       "Conv/f32/x=1x8x6x6/w=16x8x3x3"},
      {"defaults written out",
       SingleNode("Conv")
           .in({1, 4, 8, 8})
           .weight({4, 4, 3, 3})
           .out({1, 4, 6, 6})
           .set("pads", Dims{0, 0, 0, 0})
           .set("strides", Dims{1, 1})
           .set("dilations", Dims{1, 1})
           .set("group", 1)
           .set("auto_pad", "NOTSET")
           .set("kernel_shape", Dims{3, 3}),
       "Conv/f32/x=1x4x8x8/w=4x4x3x3"},
      {"dilation of one tap",
       SingleNode("Conv").in({1, 4, 8, 8}).weight({4, 4, 1, 1}).out({1, 4, 8, 8}).set("dilations", Dims{2, 2}),
       "Conv/f32/x=1x4x8x8/w=4x4x1x1"},
      // 224 at stride 2: 112 positions, 111 * 2 + 3 - 224 = 1 cell of padding.
      {"SAME_UPPER",
       SingleNode("Conv")
           .in({1, 3, 224, 224})
           .weight({8, 3, 3, 3})
           .out({1, 8, 112, 112})
           .set("auto_pad", "SAME_UPPER")
           .set("strides", Dims{2, 2}),
       "Conv/f32/x=1x3x224x224/w=8x3x3x3/pads=0x0x1x1/strides=2x2"},
      {"SAME_LOWER",
       SingleNode("Conv")
           .in({1, 3, 224, 224})
           .weight({8, 3, 3, 3})
           .out({1, 8, 112, 112})
           .set("auto_pad", "SAME_LOWER")
           .set("strides", Dims{2, 2}),
       "Conv/f32/x=1x3x224x224/w=8x3x3x3/pads=1x1x0x0/strides=2x2"},
      // Dilation 2 covers 5 cells: 7 + 4 in all, 2 on each side.
      {"SAME, dilated",
       SingleNode("Conv")
           .in({1, 3, 7, 7})
           .weight({8, 3, 3, 3})
           .out({1, 8, 7, 7})
           .set("auto_pad", "SAME_UPPER")
           .set("dilations", Dims{2, 2}),
       "Conv/f32/x=1x3x7x7/w=8x3x3x3/pads=2x2x2x2/dilations=2x2"},
      {"VALID", SingleNode("Conv").in({1, 3, 7, 7}).weight({8, 3, 3, 3}).out({1, 8, 5, 5}).set("auto_pad", "VALID"),
       "Conv/f32/x=1x3x7x7/w=8x3x3x3"},
      {"weights computed at run time", SingleNode("Conv").in({1, 3, 7, 7}).in({8, 3, 3, 3}).in({8}).out({1, 8, 5, 5}),
       "Conv/f32/x=1x3x7x7/w=8x3x3x3/w_constant=0/post=add:1x8x1x1"},
      {"depthwise", SingleNode("Conv").in({1, 32, 7, 7}).weight({32, 1, 3, 3}).out({1, 32, 5, 5}).set("group", 32),
       "Conv/f32/x=1x32x7x7/w=32x1x3x3/group=32"},
      {"integers",
       SingleNode("ConvInteger")
           .in({1, 3, 7, 7}, DataType::u8)
           .weight({8, 3, 3, 3}, DataType::i8)
           .weight({}, DataType::u8)
           .out({1, 8, 5, 5}, DataType::i32),
       "Conv/u8/x=1x3x7x7/w=8x3x3x3/w_type=i8/y_type=i32/x_zero=1"},
      {"quantised",
       SingleNode("QLinearConv")
           .in({1, 3, 7, 7}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .weight({8, 3, 3, 3}, DataType::i8)
           .weight({8})
           .weight({8}, DataType::i8)
           .weight({})
           .weight({}, DataType::u8)
           .weight({8}, DataType::i32)
           .out({1, 8, 5, 5}, DataType::u8),
       "Conv/u8/x=1x3x7x7/w=8x3x3x3/w_type=i8/x_zero=1/post=bias"},
      {"channels that do not fit", SingleNode("Conv").in({1, 3, 7, 7}).weight({8, 4, 3, 3}).out({1, 8, 5, 5}),
       "Opaque/f32/op=Conv/read_bytes=1740/written_bytes=800/constant_bytes=1152"},
  });
}

TEST_CASE("Transposed convolutions resolve output_shape and auto_pad", "[op]") {
  const auto node = [] { return SingleNode("ConvTranspose").in({1, 8, 3, 3}).weight({8, 4, 3, 3}); };
  check({
      {"plain", node().weight({4}).out({1, 4, 5, 5}), "ConvTranspose/f32/x=1x8x3x3/w=8x4x3x3/post=bias"},
      {"1-D", SingleNode("ConvTranspose").in({1, 8, 3}).weight({8, 4, 2}).out({1, 4, 6}).set("strides", Dims{2}),
       "ConvTranspose/f32/x=1x8x1x3/w=8x4x1x2/strides=1x2"},
      {"output_padding", node().out({1, 4, 8, 8}).set("strides", Dims{2, 2}).set("output_padding", Dims{1, 1}),
       "ConvTranspose/f32/x=1x8x3x3/w=8x4x3x3/strides=2x2/output_padding=1x1"},
      // ONNX: total = stride * (x - 1) + output_padding + (k - 1) * dilation + 1 - wanted = 2 * 2 + 3 - 6 = 1; not
      // SAME_UPPER: begin gets 1 - 1 / 2 = 1.
      {"output_shape", node().out({1, 4, 6, 6}).set("strides", Dims{2, 2}).set("output_shape", Dims{6, 6}),
       "ConvTranspose/f32/x=1x8x3x3/w=8x4x3x3/pads=1x1x0x0/strides=2x2"},
      {"SAME_UPPER", node().out({1, 4, 6, 6}).set("strides", Dims{2, 2}).set("auto_pad", "SAME_UPPER"),
       "ConvTranspose/f32/x=1x8x3x3/w=8x4x3x3/pads=0x0x1x1/strides=2x2"},
  });
}

TEST_CASE("Global pools, ceil_mode and padding have one spelling", "[op]") {
  const auto max_pool = [](Dims x, Dims y) {
    return SingleNode("MaxPool")
        .in(std::move(x))
        .out(std::move(y))
        .set("kernel_shape", Dims{3, 3})
        .set("strides", Dims{2, 2});
  };
  const auto average = [](Dims x) {
    return SingleNode("AveragePool")
        .in(std::move(x))
        .out({1, 8, 4, 4})
        .set("kernel_shape", Dims{3, 3})
        .set("strides", Dims{2, 2});
  };
  check({
      {"global", SingleNode("GlobalAveragePool").in({1, 512, 7, 7}).out({1, 512, 1, 1}),
       "Pool/f32/mode=average/x=1x512x7x7/kernel=7x7"},
      {"full-size",
       SingleNode("AveragePool")
           .in({1, 512, 7, 7})
           .out({1, 512, 1, 1})
           .set("kernel_shape", Dims{7, 7})
           .set("strides", Dims{7, 7}),
       "Pool/f32/mode=average/x=1x512x7x7/kernel=7x7"},
      {"global 1-D", SingleNode("GlobalMaxPool").in({1, 512, 49}).out({1, 512, 1}),
       "Pool/f32/x=1x512x1x49/kernel=1x49"},
      // 112: (112 - 3) / 2 = 54.5, up to 55: 56 positions reach 55 * 2 + 3 = 113, one cell beyond.
      {"ceil_mode", max_pool({1, 64, 112, 112}, {1, 64, 56, 56}).set("ceil_mode", 1),
       "Pool/f32/x=1x64x112x112/kernel=3x3/pads=0x0x1x1/strides=2x2"},
      {"ceil_mode without effect", max_pool({1, 64, 111, 111}, {1, 64, 55, 55}).set("ceil_mode", 1),
       "Pool/f32/x=1x64x111x111/kernel=3x3/strides=2x2"},
      // 4 + 1 + 1: ceil((6 - 2) / 3) + 1 = 3 positions, at 0, 3 and 6; the last starts at 6 >= 4 + 1, in the padding,
      // and is dropped.
      {"a window that starts in the padding",
       SingleNode("MaxPool", 22)
           .in({1, 1, 4, 4})
           .out({1, 1, 2, 2})
           .set("kernel_shape", Dims{2, 2})
           .set("strides", Dims{3, 3})
           .set("pads", Dims{1, 1, 1, 1})
           .set("ceil_mode", 1),
       "Pool/f32/x=1x1x4x4/kernel=2x2/pads=1x1x1x1/strides=3x3"},
      {"count_include_pad without padding", average({1, 8, 9, 9}).set("count_include_pad", 1),
       "Pool/f32/mode=average/x=1x8x9x9/kernel=3x3/strides=2x2"},
      {"count_include_pad of ceil_mode's cells alone",
       average({1, 8, 8, 8}).set("count_include_pad", 1).set("ceil_mode", 1),
       "Pool/f32/mode=average/x=1x8x8x8/kernel=3x3/pads=0x0x1x1/strides=2x2"},
      // 6 + 1 + 1: ceil(5 / 2) + 1 = 4 positions, the last one at 6 < 7, ending at 9: one cell more.
      {"both", average({1, 8, 6, 6}).set("pads", Dims{1, 1, 1, 1}).set("count_include_pad", 1).set("ceil_mode", 1),
       "Pool/f32/mode=average/x=1x8x6x6/kernel=3x3/pads=1x1x2x2/strides=2x2/include_pad=1/ceil_pads=1x1"},
      {"indices", max_pool({1, 8, 9, 9}, {1, 8, 4, 4}).out({1, 8, 4, 4}, DataType::i64),
       "Pool/f32/x=1x8x9x9/kernel=3x3/strides=2x2/indices=1"},
      {"lp", SingleNode("LpPool").in({1, 8, 4, 4}).out({1, 8, 2, 2}).set("kernel_shape", Dims{3, 3}).set("p", 1),
       "Pool/f32/mode=lp/x=1x8x4x4/kernel=3x3/p=1"},
      {"quantised",
       SingleNode("QLinearGlobalAveragePool", 1, "com.microsoft")
           .in({1, 8, 4, 4}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .out({1, 8, 1, 1}, DataType::u8),
       "Pool/u8/mode=average/x=1x8x4x4/kernel=4x4"},
      {"channels last",
       SingleNode("QLinearGlobalAveragePool", 1, "com.microsoft")
           .in({1, 4, 4, 8}, DataType::u8)
           .out({1, 1, 1, 8}, DataType::u8)
           .set("channels_last", 1),
       "Pool/u8/mode=average/x=1x8x4x4/kernel=4x4"},
  });
}

TEST_CASE("VGG16 takes 15,470,264,320 multiply-adds an image", "[op]") {
  // Simonyan and Zisserman, configuration D: input channels, output channels, size of the plane.
  struct Row {
    std::int64_t in, out, size;
  };
  const std::vector<Row> rows{{3, 64, 224},   {64, 64, 224},  {64, 128, 112}, {128, 128, 112}, {128, 256, 56},
                              {256, 256, 56}, {256, 256, 56}, {256, 512, 28}, {512, 512, 28},  {512, 512, 28},
                              {512, 512, 14}, {512, 512, 14}, {512, 512, 14}};
  std::int64_t macs = 0;
  for (const auto& [in, out, size] : rows)
    macs +=
        op::Conv{
            .x = {1, in, size, size}, .w = {out, in, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, ElementwiseFn::relu}}
            .arithmetic()
            .macs;
  CHECK(macs == 15'346'630'656);
  macs += op::MatMul{.a = {1, 25088}, .b = {25088, 4096}, .b_constant = true, .post = {bias}}.arithmetic().macs;
  macs += op::MatMul{.a = {1, 4096}, .b = {4096, 4096}, .b_constant = true, .post = {bias}}.arithmetic().macs;
  macs += op::MatMul{.a = {1, 4096}, .b = {4096, 1000}, .b_constant = true, .post = {bias}}.arithmetic().macs;
  CHECK(macs == 15'470'264'320);
}

TEST_CASE("The FLOPs of a convolution and of its gradient count in-range taps only, its bytes what they read", "[op]") {
  for (std::int64_t size : {1, 2, 5, 8})
    for (std::int64_t kernel : {1, 2, 3, 5})
      for (std::int64_t begin : {-1, 0, 1, 3})
        for (std::int64_t end : {-1, 0, 2, 6})
          for (std::int64_t stride : {1, 2, 3})
            for (std::int64_t dilation : {1, 2}) {
              const std::int64_t span = size + begin + end - dilation * (kernel - 1) - 1;
              if (span < 0) continue;
              const std::int64_t outputs = span / stride + 1;
              std::set<std::int64_t> read;
              std::int64_t taps = 0;  // by the definition: which (output, tap) read a real element
              for (std::int64_t o = 0; o < outputs; ++o)
                for (std::int64_t k = 0; k < kernel; ++k) {
                  const std::int64_t at = o * stride + k * dilation - begin;
                  if (at < 0 || at >= size) continue;
                  ++taps;
                  read.insert(at);
                }
              INFO(size << " " << kernel << " " << begin << " " << end << " " << stride << " " << dilation);
              const op::Conv conv{.x = {2, 3, 1, size},
                                  .w = {5, 3, 1, kernel},
                                  .pads = {0, begin, 0, end},
                                  .strides = {1, stride},
                                  .dilations = {1, dilation}};
              CHECK(conv.y() == TensorShape{2, 5, 1, outputs});
              const auto x = operands(Layer(conv)).inputs[0];
              CHECK(x.touched.value_or(x.elements()) == std::int64_t{6} * static_cast<std::int64_t>(read.size()));
              CHECK(conv.arithmetic().flops == 2.0 * 2 * 5 * 3 * static_cast<double>(taps));
              CHECK(conv.arithmetic().macs == std::int64_t{30} * outputs * kernel);
              // The gradient maps 5 channels of `outputs` positions back to 3 channels of `size`; the remainder of the
              // last stride is output padding.
              const op::ConvTranspose back{.x = {2, 5, 1, outputs},
                                           .w = {5, 3, 1, kernel},
                                           .pads = {0, begin, 0, end},
                                           .strides = {1, stride},
                                           .dilations = {1, dilation},
                                           .output_padding = {0, span % stride}};
              CHECK(back.y() == TensorShape{2, 3, 1, size});
              CHECK(back.arithmetic().flops == conv.arithmetic().flops);
              CHECK(back.arithmetic().macs == conv.arithmetic().macs);
            }
}

TEST_CASE("Any algorithm needs a product for each output and each phase of the stride", "[op]") {
  const auto products = [](std::int64_t size, std::int64_t kernel, std::int64_t pad, std::int64_t stride,
                           std::int64_t dilation) {
    return detail::Window{
        .size = size, .kernel = kernel, .pad_begin = pad, .pad_end = pad, .stride = stride, .dilation = dilation}
        .least_products();
  };
  CHECK(products(14, 3, 1, 1, 1) == 14);      // 14 outputs
  CHECK(products(14, 3, 0, 1, 1) == 12);      // 12 outputs
  CHECK(products(224, 7, 3, 2, 1) == 224);    // 112 outputs, even and odd taps
  CHECK(products(56, 1, 0, 2, 1) == 28);      // one tap, one phase
  CHECK(products(64, 2, 0, 4, 1) == 32);      // 16 outputs, two taps
  CHECK(products(224, 16, 0, 16, 1) == 224);  // windows do not overlap: as many as taps
  CHECK(products(14, 3, 4, 1, 4) == 14);      // a dilation interleaves filters
  CHECK(products(15, 3, 2, 2, 2) == 8);       // all taps of a window are in one phase
  CHECK(products(21, 3, 3, 2, 3) == 22);      // 11 outputs, with odd and with even elements
  CHECK(products(7, 7, 0, 1, 1) == 7);        // an inner product
  CHECK(products(1, 3, 10, 1, 1) == 3);       // 19 outputs, of which three read the element
  CHECK(products(3, 5, 4, 1, 1) == 7);        // all 7 coefficients of a product of polynomials
}

TEST_CASE("Any algorithm needs 2 N K C products of outputs for a convolution and its gradient", "[op]") {
  const auto least = [](const std::string& signature) { return cost(parse_layer(signature)).least_flops.value; };
  CHECK(least("Conv/f32/x=2x8x14x14/w=16x8x3x3/pads=1x1x1x1") == 2.0 * 2 * 16 * 8 * 14 * 14);
  CHECK(least("Conv/f32/x=1x8x14x14/w=16x8x3x3/pads=1x1x1x1/post=bias") == 2.0 * 16 * 8 * 14 * 14 + 16 * 14 * 14);
  CHECK(least("Conv/f32/x=1x32x14x14/w=32x1x3x3/pads=1x1x1x1/group=32") == 2.0 * 32 * 14 * 14);
  CHECK(least("Conv/f32/x=1x3x224x224/w=64x3x7x7/pads=3x3x3x3/strides=2x2") == 2.0 * 64 * 3 * 224 * 224);
  CHECK(least("Conv/f32/x=1x8x7x7/w=16x8x7x7") == 2.0 * 16 * 8 * 49);
  // Each of 14 x 14 elements in each of 2 x 2 phases.
  CHECK(least("ConvTranspose/f32/x=1x8x14x14/w=8x16x4x4/pads=1x1x1x1/strides=2x2") == 2.0 * 16 * 8 * 28 * 28);
  for (const std::string of : {"data", "weights"})
    CHECK(least("ConvGradient/f32/of=" + of + "/x=2x8x14x14/w=16x8x3x3/pads=1x1x1x1") == 2.0 * 2 * 16 * 8 * 14 * 14);
  CHECK(least("MatMul/f32/a=4x8/b=8x16") == 2.0 * 4 * 8 * 16);  // Strassen's algorithm is an assumption
}

TEST_CASE("A grouped convolution reads each weight once and each output once", "[op]") {
  const op::Conv conv{.x = {2, 8, 4, 4}, .w = {16, 2, 3, 3}, .group = 4, .post = {bias, {ElementwiseFn::add}}};
  const Cost cost = benanza::cost(conv);
  CHECK(cost.macs == std::int64_t{2} * 16 * 2 * 2 * 2 * 9);   // N M positions C/group taps = 2 16 (2 2) 2 9
  CHECK(cost.flops.value == 2.0 * 2304 + 2.0 * 128);          // two steps on 2 * 16 * 2 * 2 results
  CHECK(cost.weights.value == 4.0 * (16 * 2 * 9 + 16));       // kernel and bias
  CHECK(cost.activations.value == 4.0 * (2 * 8 * 16 + 128));  // x and the residual
  CHECK(cost.written.value == 4.0 * 128);
}

}  // namespace
