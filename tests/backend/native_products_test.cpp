// SPDX-License-Identifier: Apache-2.0
// Native convolutions and matrix products against the reference: each kind of tile, sizes that are not multiples of any
// block, windows of every form, epilogues, one to three threads, and each wide instruction set of this machine.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <string_view>

namespace benanza {

namespace {

using enum ElementwiseFn;

void check(std::initializer_list<Layer> layers) {
  for (const auto isa : {native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    const auto backend = native::backend(isa);
    for (const Layer& layer : layers)
      for (const int threads : {1, 2, 3}) {
        INFO(LayerSignature(layer).text() << " " << native::isa_names[static_cast<std::size_t>(isa)]);
        CHECK(test::check_plans(*backend, layer, threads) > 0);
      }
  }
}

/// With all values that the weights can have, not only small ones.
void check_all_weights(const op::MatMul& product) {
  const Operands shapes = product.operands();
  for (const auto isa : {native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    const auto plain = test::filled_inputs(shapes);
    auto* const bytes = static_cast<std::uint8_t*>(plain[1].data());
    for (std::int64_t i = 0; i < shapes.inputs[1].bytes(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 163 + i / 256);
    INFO(LayerSignature(product).text() << " " << native::isa_names[static_cast<std::size_t>(isa)]);
    for (const int threads : {1, 3}) CHECK(test::check_plans(*native::backend(isa), product, threads, plain) > 0);
  }
}

/// The reason why there is no plan on the widest instruction set.
std::string reason(const Layer& layer, native::Isa isa = native::widest_isa()) {
  return std::get<Unsupported>(native::backend(isa)->plans(layer, 1)).reason;
}

/// The number of plans on the widest instruction set whose name starts like this.
std::ptrdiff_t count_plans(const Layer& layer, std::string_view start) {
  const auto result = native::backend(native::widest_isa())->plans(layer, 1);
  const auto& plans = std::get<Plans>(result);
  return std::count_if(plans.begin(), plans.end(),
                       [&](const auto& plan) { return plan->algorithm().starts_with(start); });
}

}  // namespace

TEST_CASE("Depthwise convolutions agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 32, 9, 23}, .w = {32, 1, 3, 3}, .pads = {2, 2, 2, 2}, .dilations = {2, 2}, .group = 32},
         op::Conv{.x = {2, 21, 13, 17},
                  .w = {21, 1, 5, 3},
                  .pads = {2, 0, 1, 2},
                  .strides = {2, 3},
                  .dilations = {1, 2},
                  .group = 21,
                  .post = {bias, relu}},
         op::Conv{.x = {1, 19, 30, 31}, .w = {19, 1, 3, 3}, .pads = {5, 4, 5, 4}, .dilations = {5, 4}, .group = 19},
         op::Conv{.x = {1, 72, 14, 15}, .w = {72, 1, 5, 5}, .pads = {2, 2, 2, 2}, .group = 72, .post = {bias, swish}},
         op::Conv{.x = {1, 40, 27, 28}, .w = {40, 1, 3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}, .group = 40},
         op::Conv{.x = {1, 20, 16, 16}, .w = {20, 1, 2, 2}, .strides = {3, 2}, .dilations = {2, 3}, .group = 20},
         op::Conv{.x = {1, 48, 1, 301},
                  .w = {48, 1, 1, 3},
                  .pads = {0, 8, 0, 8},
                  .dilations = {1, 8},
                  .group = 48,
                  .post = {swish}},
         op::Conv{.x = {3, 16, 1, 1}, .w = {16, 1, 3, 3}, .pads = {3, 3, 3, 3}, .dilations = {3, 3}, .group = 16}});
}

// Rows of y that are a dilation apart are computed together. Sets of 3 and 2 rows, of one row and none, of one row each
// where the dilation exceeds the height, and sets that are divided among tasks.
TEST_CASE("Dilated convolutions agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 24, 11, 21}, .w = {40, 24, 3, 3}, .pads = {4, 4, 4, 4}, .dilations = {4, 4}, .post = {bias}},
         op::Conv{.x = {2, 16, 10, 9}, .w = {24, 16, 3, 2}, .pads = {7, 0, 5, 3}, .dilations = {7, 3}, .post = {swish}},
         op::Conv{.x = {1, 16, 9, 12}, .w = {16, 16, 3, 3}, .pads = {12, 12, 12, 12}, .dilations = {12, 12}},
         op::Conv{
             .x = {1, 8, 64, 70}, .w = {16, 8, 5, 3}, .pads = {4, 2, 4, 2}, .dilations = {2, 2}, .post = {bias, swish}},
         op::Conv{
             .x = {1, 3, 40, 33}, .w = {20, 3, 3, 3}, .pads = {3, 3, 3, 3}, .dilations = {3, 3}, .post = {bias, relu}},
         op::Conv{.x = {1, 20, 17, 19}, .w = {2, 20, 3, 3}, .pads = {5, 5, 5, 5}, .dilations = {5, 5}, .post = {bias}},
         op::Conv{.x = {1, 200, 20, 90}, .w = {32, 200, 3, 3}, .pads = {6, 6, 6, 6}, .dilations = {6, 6}}});
}

TEST_CASE("Convolutions with 3x3 taps agree with the reference", "[native]") {
  const op::Conv even{.x = {1, 32, 8, 12}, .w = {48, 32, 3, 3}, .pads = {1, 1, 1, 1}};
  if (native::widest_isa() != native::Isa::baseline) {
    CHECK(count_plans(even, "winograd:4x4") > 0);
    CHECK(count_plans(even, "winograd:2x2") > 0);
    op::Conv stepped = even;
    stepped.strides = {2, 1};
    CHECK(count_plans(stepped, "winograd") == 0);
  }
  check({even, op::Conv{.x = {1, 40, 13, 30}, .w = {24, 40, 3, 3}, .pads = {1, 0, 2, 1}, .post = {bias, relu}},
         op::Conv{.x = {3, 16, 7, 7}, .w = {56, 16, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, swish}},
         op::Conv{.x = {2, 64, 9, 23}, .w = {20, 64, 3, 3}, .post = {bias, {add, TensorShape{}}, {clip, -0.5, 0.7}}},
         op::Conv{.x = {1, 30, 16, 17}, .w = {33, 30, 3, 3}, .pads = {-1, 1, 1, -2}, .post = {{mul, {33, 1, 1}}}},
         op::Conv{.x = {1, 64, 8, 8}, .w = {96, 32, 3, 3}, .pads = {1, 1, 1, 1}, .group = 2, .post = {bias}},
         op::Conv{.x = {1, 24, 41, 45}, .w = {16, 24, 3, 3}, .pads = {5, 2, 5, 2}, .dilations = {5, 2}, .post = {bias}},
         op::Conv{.x = {1, 512, 12, 12}, .w = {16, 512, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
         op::Conv{.x = {1, 16, 130, 131}, .w = {16, 16, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, swish}}});
}

TEST_CASE("Grouped convolutions agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 32, 10, 29}, .w = {32, 4, 3, 3}, .pads = {1, 1, 1, 1}, .group = 8, .post = {bias, relu}},
         op::Conv{.x = {2, 40, 7, 7}, .w = {40, 8, 3, 3}, .pads = {1, 1, 1, 1}, .group = 5},
         op::Conv{.x = {1, 64, 14, 15}, .w = {64, 16, 3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}, .group = 4},
         op::Conv{.x = {1, 96, 11, 18}, .w = {64, 48, 3, 3}, .pads = {2, 2, 2, 2}, .dilations = {2, 2}, .group = 2},
         op::Conv{.x = {1, 6, 12, 50}, .w = {9, 2, 3, 4}, .pads = {1, 2, 1, 2}, .group = 3, .post = {bias}},
         op::Conv{.x = {1, 8, 5, 6}, .w = {8, 2, 1, 1}, .group = 4, .post = {bias, {add, TensorShape{}}, relu}}});
}

TEST_CASE("Convolutions of many channels agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 64, 9, 15}, .w = {40, 64, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, swish}},
         op::Conv{.x = {1, 70, 11, 19}, .w = {33, 70, 3, 3}, .pads = {6, 6, 6, 6}, .dilations = {6, 6}},
         op::Conv{.x = {2, 48, 13, 13}, .w = {64, 48, 1, 1}, .post = {bias, {add, TensorShape{}}, relu}},
         op::Conv{.x = {1, 200, 12, 11}, .w = {16, 200, 1, 1}, .strides = {2, 2}, .post = {bias, {mul, {6, 6}}}},
         op::Conv{.x = {1, 17, 40, 41}, .w = {96, 17, 1, 1}, .pads = {0, 1, 0, 0}, .post = {{mul, {96, 1, 1}}}},
         op::Conv{.x = {1, 320, 7, 7}, .w = {64, 320, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, gelu}},
         op::Conv{.x = {1, 24, 70, 75}, .w = {24, 24, 5, 5}, .pads = {2, 2, 2, 2}, .strides = {2, 2}},
         op::Conv{.x = {1, 80, 1, 303}, .w = {48, 80, 1, 3}, .pads = {0, 1, 0, 1}}});
}

TEST_CASE("Convolutions of few input channels agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 3, 30, 33}, .w = {24, 3, 7, 7}, .pads = {3, 3, 3, 3}, .strides = {2, 2}, .post = {bias}},
         op::Conv{.x = {1, 1, 40, 60}, .w = {16, 1, 11, 41}, .pads = {5, 20, 5, 20}, .strides = {2, 2}},
         op::Conv{.x = {2, 4, 19, 21}, .w = {33, 4, 5, 6}, .pads = {-1, 2, 3, -1}, .strides = {1, 4}},
         op::Conv{.x = {1, 2, 8, 9}, .w = {50, 2, 5, 5}, .strides = {4, 4}, .post = {bias, {clip, -0.1, 0.1}}},
         op::Conv{.x = {1, 1, 1, 20011}, .w = {32, 1, 1, 25}, .strides = {1, 5}, .post = {bias, gelu}}});
}

TEST_CASE("Convolutions of few output channels agree with the reference", "[native]") {
  check({op::Conv{.x = {1, 1, 1, 30011}, .w = {1, 1, 1, 80}, .pads = {0, 37, 0, 43}, .strides = {1, 6}},
         op::Conv{.x = {2, 20, 9, 35}, .w = {3, 20, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, {add, {9, 1}}, tanh}},
         op::Conv{.x = {1, 5, 6, 7}, .w = {2, 5, 2, 5}, .pads = {3, 6, 3, 6}, .dilations = {3, 2}},
         op::Conv{.x = {1, 7, 70, 3}, .w = {4, 7, 1, 1}, .strides = {2, 2}, .post = {bias, {mul, TensorShape{}}}}});
}

// A block with one channel of y is still a vector, and so is each operand of its epilogue.
TEST_CASE("Operands of the epilogue lie in blocks as the convolution's result does", "[native]") {
  check({op::Conv{.x = {2, 9, 6, 7}, .w = {1, 9, 3, 3}, .post = {bias, {add, TensorShape{}}, relu}},
         op::Conv{.x = {1, 9, 6, 7}, .w = {1, 9, 1, 1}, .post = {bias, {mul, {6, 7}}, {sub, TensorShape{}}}},
         op::Conv{.x = {1, 9, 6, 7}, .w = {33, 9, 1, 1}, .post = {{mul, {33, 1, 1}}, {sub, {33, 6, 7}}}}});
}

TEST_CASE("Transposed convolutions agree with the reference", "[native]") {
  check({op::ConvTranspose{.x = {1, 128, 9, 20}, .w = {128, 64, 2, 2}, .strides = {2, 2}, .post = {bias}},
         op::ConvTranspose{
             .x = {2, 70, 8, 7}, .w = {70, 33, 4, 4}, .pads = {1, 1, 1, 1}, .strides = {2, 2}, .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 24, 7, 9},
                           .w = {24, 40, 3, 3},
                           .pads = {1, 1, 1, 1},
                           .strides = {2, 2},
                           .output_padding = {1, 1},
                           .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 17, 5, 11}, .w = {17, 21, 3, 3}, .pads = {1, 0, 2, 1}, .strides = {1, 2}},
         op::ConvTranspose{.x = {1, 16, 40, 41}, .w = {16, 24, 5, 5}, .pads = {2, 2, 2, 2}, .strides = {3, 3}},
         op::ConvTranspose{.x = {1, 300, 14, 15}, .w = {300, 40, 3, 3}, .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 32, 3, 4}, .w = {32, 21, 16, 16}, .pads = {4, 4, 4, 4}, .strides = {8, 8}}});
}

TEST_CASE("Transposed convolutions leave gaps, crop and dilate as the reference does", "[native]") {
  // Stride 3 and 2 taps: each third row and column holds only the bias.
  check({op::ConvTranspose{.x = {1, 20, 5, 6}, .w = {20, 18, 2, 2}, .strides = {3, 3}, .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 600, 5, 6}, .w = {600, 18, 2, 2}, .strides = {3, 3}, .output_padding = {2, 1}},
         op::ConvTranspose{.x = {1, 12, 6, 5}, .w = {12, 16, 3, 3}, .strides = {2, 2}, .dilations = {2, 2}},
         op::ConvTranspose{.x = {1, 12, 6, 5}, .w = {12, 16, 4, 3}, .strides = {6, 2}, .dilations = {4, 3}},
         op::ConvTranspose{.x = {1, 8, 6, 5}, .w = {8, 16, 3, 3}, .pads = {-2, -1, -3, -1}, .strides = {2, 2}},
         op::ConvTranspose{.x = {1, 8, 6, 7}, .w = {8, 16, 3, 2}, .pads = {3, 4, 5, 2}, .strides = {2, 2}},
         op::ConvTranspose{.x = {1, 8, 6, 7}, .w = {8, 16, 2, 2}, .pads = {2, 2, 2, 2}, .strides = {2, 2}},
         op::ConvTranspose{.x = {1, 8, 1, 1}, .w = {8, 16, 4, 4}, .pads = {1, 1, 1, 1}, .strides = {5, 7}},
         // One element of y, which depends on no element of x.
         op::ConvTranspose{.x = {1, 8, 1, 1}, .w = {8, 16, 1, 1}, .pads = {-1, -1, 1, 1}, .strides = {3, 3}}});
}

TEST_CASE("Transposed convolutions of few channels agree with the reference", "[native]") {
  check({op::ConvTranspose{.x = {1, 1, 9, 13}, .w = {1, 24, 4, 4}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
         op::ConvTranspose{.x = {2, 3, 9, 13}, .w = {3, 17, 3, 5}, .strides = {2, 3}, .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 20, 9, 13}, .w = {20, 1, 2, 2}, .strides = {2, 2}, .post = {bias, sigmoid}},
         op::ConvTranspose{.x = {1, 20, 9, 13}, .w = {20, 3, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
         op::ConvTranspose{.x = {1, 2, 9, 40}, .w = {2, 2, 4, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 1}}});
}

TEST_CASE("Transposed convolutions of groups agree with the reference", "[native]") {
  check(
      {op::ConvTranspose{.x = {1, 96, 6, 7}, .w = {96, 32, 3, 3}, .strides = {2, 2}, .group = 2, .post = {bias, relu}},
       op::ConvTranspose{.x = {1, 21, 9, 8},
                         .w = {21, 1, 4, 4},
                         .pads = {1, 1, 1, 1},
                         .strides = {2, 2},
                         .group = 21,
                         .post = {bias}},
       op::ConvTranspose{.x = {2, 40, 5, 7}, .w = {40, 4, 3, 3}, .strides = {2, 2}, .group = 10},
       op::ConvTranspose{.x = {1, 6, 5, 50}, .w = {6, 3, 3, 3}, .strides = {2, 1}, .group = 3, .post = {bias}}});
}

TEST_CASE("Epilogues of transposed convolutions agree with the reference", "[native]") {
  op::ConvTranspose conv{.x = {1, 24, 7, 20}, .w = {24, 40, 3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}};
  for (const Epilogue& post : {Epilogue{bias, {add, TensorShape{}}, relu}, Epilogue{bias, swish},
                               Epilogue{{mul, {40, 1, 1}}, {clip, -0.1, 0.1}}, Epilogue{bias, {mul, {13, 39}}}}) {
    conv.post = post;
    check({conv});
  }
}

TEST_CASE("Products with weights agree with the reference", "[native]") {
  check({op::MatMul{.a = {37, 64}, .b = {64, 48}, .b_constant = true},
         op::MatMul{.a = {128, 700}, .b = {700, 67}, .b_constant = true, .post = {bias, gelu}},
         op::MatMul{.a = {1, 1100}, .b = {1100, 333}, .b_constant = true, .post = {bias, relu}},
         op::MatMul{.a = {3, 5, 31}, .b = {31, 1}, .b_constant = true},
         op::MatMul{.a = {251, 13}, .b = {13, 130}, .b_constant = true, .post = {bias, {add, TensorShape{}}}},
         op::MatMul{.a = {2, 9, 40}, .b = {40, 50}, .b_constant = true, .post = {{mul, {9, 1}}, {clip, 0, 0.5}}}});
}

// The rows of a single tile take the whole depth at once; with more rows, each tile takes a block of it. In AVX-512 the
// 14 rows of the last product are one tile of two vectors. With panels of three vectors and three threads, the threads
// share the panels: those of one thread fit one tile, and a plan that copies rows still copies a block of the depth.
TEST_CASE("Products of few rows with many factors agree with the reference", "[native]") {
  check({op::MatMul{.a = {1, 25088}, .b = {25088, 40}, .b_constant = true, .post = {bias, relu}},
         op::MatMul{.a = {2, 1025}, .b = {1025, 130}, .b_constant = true, .post = {bias, gelu}},
         op::MatMul{.a = {4, 1537}, .b = {1537, 95}, .b_constant = true, .post = {bias, {add, TensorShape{}}}},
         op::MatMul{.a = {7, 2048}, .b = {2048, 64}, .b_constant = true, .post = {{clip, -0.5, 0.5}}},
         op::MatMul{.a = {14, 1030}, .b = {1030, 49}, .b_constant = true}});
}

TEST_CASE("Products with weights of 2, 4 and 8 bits agree with the reference", "[native]") {
  for (const auto type : {DataType::u2, DataType::u4, DataType::u8}) {
    op::MatMul one{.a = {1, 1100}, .b = {1100, 333}, .b_constant = true, .b_type = type},
        many{.a = {128, 700}, .b = {700, 67}, .b_constant = true, .b_type = type},
        few{.a = {3, 515}, .b = {515, 70}, .b_constant = true, .b_type = type},
        one_column{.a = {3, 5, 31}, .b = {31, 1}, .b_constant = true, .b_type = type},
        few_products{.a = {251, 13}, .b = {13, 130}, .b_constant = true, .b_type = type};
    for (const auto& product : {one, many, few, one_column, few_products}) check_all_weights(product);
    one.post = Epilogue{bias, relu};
    many.post = Epilogue{bias, gelu};
    few.post = Epilogue{bias, {add, TensorShape{}}, {clip, -20, 20}};
    one_column.post = Epilogue{{mul, {5, 1}}, {clip, 0, 0.5}};
    few_products.post = Epilogue{bias, {add, TensorShape{}}};
    check({one, many, few, one_column, few_products});
  }
}

TEST_CASE("Products of batches, and of two varying matrices, agree with the reference", "[native]") {
  check({op::MatMul{.a = {13, 21}, .b = {21, 37}}, op::MatMul{.a = {1, 70}, .b = {70, 5}, .trans_b = true},
         op::MatMul{.a = {40, 33}, .b = {33, 50}, .trans_a = true, .trans_b = true},
         op::MatMul{.a = {5, 19, 24}, .b = {5, 24, 19}, .trans_b = true},
         op::MatMul{.a = {2, 3, 17, 9}, .b = {2, 3, 9, 65}, .trans_a = true, .post = {{mul, {1, 1, 1, 1}}, relu}},
         op::MatMul{.a = {2, 1, 6, 40}, .b = {3, 40, 18}, .post = {{add, {2, 1, 1, 18}}}},
         op::MatMul{.a = {4, 1, 16}, .b = {4, 16, 33}, .post = {bias, {add, TensorShape{}}}},
         op::MatMul{.a = {3, 8, 16}, .b = {3, 16, 30}, .b_constant = true, .post = {{add, {8, 1}}}}});
}

TEST_CASE("Products and convolutions of 16-bit floats run in f32", "[native]") {
  for (const auto type : {DataType::f16, DataType::bf16})
    check(
        {op::MatMul{.type = type, .a = {37, 70}, .b = {70, 51}, .b_constant = true, .post = {bias, gelu}},
         op::MatMul{.type = type, .a = {1, 300}, .b = {300, 129}, .b_constant = true, .post = {{add, TensorShape{}}}},
         op::MatMul{.type = type, .a = {5, 19, 24}, .b = {5, 24, 19}, .trans_b = true},
         op::MatMul{.type = type, .a = {7, 64}, .b = {64, 40}, .b_constant = true, .b_type = DataType::u4},
         op::Conv{.type = type, .x = {1, 16, 14, 15}, .w = {24, 16, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, relu}},
         op::Conv{.type = type,
                  .x = {1, 16, 9, 9},
                  .w = {16, 16, 1, 1},
                  .strides = {2, 2},
                  .post = {bias, {add, TensorShape{}}, relu}},
         op::Conv{.type = type, .x = {1, 21, 13, 17}, .w = {21, 1, 5, 3}, .pads = {2, 0, 1, 2}, .group = 21},
         op::Conv{.type = type, .x = {2, 3, 20, 21}, .w = {8, 3, 7, 7}, .pads = {3, 3, 3, 3}, .strides = {2, 2}},
         op::ConvTranspose{
             .type = type, .x = {1, 8, 9, 9}, .w = {8, 8, 4, 4}, .pads = {1, 1, 1, 1}, .strides = {2, 2}}});
  // Plans that save multiplications say so.
  const op::Conv conv{.type = DataType::f16, .x = {1, 64, 14, 14}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}};
  const auto all = native::backend(native::widest_isa())->plans(conv, 1);
  for (const auto& plan : std::get<Plans>(all))
    CHECK(plan->saves_multiplications() == plan->algorithm().starts_with("widened:winograd"));
}

TEST_CASE("Products and convolutions without a native kernel are refused with a reason", "[native]") {
  CHECK(reason(op::Conv{.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}}, native::Isa::baseline) ==
        "no Conv without AVX2 in backend native");
  if (!native::runs_here(native::Isa::avx2)) return;
  CHECK(reason(op::Conv{.type = DataType::f64, .x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}}) ==
        "no f64 Conv in backend native");
  CHECK(reason(op::Conv{.x = {1, 8, 9, 9, 9}, .w = {8, 8, 3, 3, 3}}) == "no Conv of three axes in backend native");
  CHECK(reason(op::Conv{.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}, .w_constant = false}) ==
        "no Conv with weights that are computed in backend native");
  CHECK(reason(op::Conv{.x = {1, 66, 9, 9}, .w = {66, 33, 3, 3}, .group = 2}) ==
        "no tile of backend native suits a Conv with groups of 33 channels");
  CHECK(reason(op::ConvTranspose{.type = DataType::f64, .x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}}) ==
        "no f64 ConvTranspose in backend native");
  CHECK(reason(op::ConvTranspose{.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}}, native::Isa::baseline) ==
        "no ConvTranspose without AVX2 in backend native");
  CHECK(reason(op::ConvTranspose{.x = {1, 8, 9, 9, 9}, .w = {8, 8, 3, 3, 3}}) ==
        "no ConvTranspose of three axes in backend native");
  CHECK(reason(op::ConvTranspose{.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}, .w_constant = false}) ==
        "no ConvTranspose with weights that are computed in backend native");
  CHECK(reason(op::ConvTranspose{.x = {1, 66, 9, 9}, .w = {66, 3, 3, 3}, .strides = {2, 2}, .group = 2}) ==
        "no tile of backend native suits a ConvTranspose with groups of 33 channels");
  CHECK(reason(op::MatMul{.a = {4, 4}, .b = {4, 4}, .b_constant = true, .b_type = DataType::i4}) ==
        "no f32 MatMul in backend native");
  CHECK(reason(op::MatMul{.a = {4, 4}, .b = {4, 4}, .b_type = DataType::u4}) ==
        "no MatMul of weights of few bits but of rows with one matrix in backend native");
}

}  // namespace benanza
