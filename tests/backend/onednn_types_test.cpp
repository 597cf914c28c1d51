// SPDX-License-Identifier: Apache-2.0
// oneDNN in types other than f32. Quantised products run on every x86 processor with AVX2. bf16 and f16 depend on the
// processor: plans are checked if there are any, and the reason if there is none.
#include "backend/plan_support.hpp"
#include <benanza/backend/onednn.hpp>
#include <benanza/model/layer_signature.hpp>

using namespace benanza;

namespace {

using enum ElementwiseFn;
using enum DataType;

const PostOp residual{add, TensorShape{}};

const std::vector<Layer> quantized{
    op::Conv{.type = u8,
             .x = {1, 16, 14, 14},
             .w = {32, 16, 3, 3},
             .pads = {1, 1, 1, 1},
             .w_type = i8,
             .post = {bias, relu}},
    op::Conv{.type = i8, .x = {1, 16, 14, 14}, .w = {32, 16, 1, 1}, .post = {bias}},
    op::Conv{.type = i8, .x = {1, 13, 9, 9}, .w = {17, 13, 3, 3}, .strides = {2, 2}},
    op::Conv{.type = i8, .x = {1, 24, 15, 15}, .w = {24, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 24},
    op::Conv{.type = u8, .x = {1, 3, 23, 23}, .w = {16, 3, 3, 3}, .w_type = i8, .x_zero = true, .post = {bias}},
    op::Conv{.type = i8, .x = {1, 16, 14, 14}, .w = {16, 16, 1, 1}, .x_zero = true, .post = {bias, residual, relu}},
    op::Conv{.type = i8, .x = {1, 13, 9, 9}, .w = {16, 13, 3, 3}, .pads = {1, 1, 1, 1}, .x_zero = true, .post = {bias}},
    op::Conv{.type = i8, .x = {1, 16, 14, 14}, .w = {16, 16, 1, 1}, .y_type = f32, .post = {bias, relu}},
    op::MatMul{.type = u8, .a = {37, 64}, .b = {64, 48}, .b_constant = true, .b_type = i8, .y_type = i32},
    op::MatMul{
        .type = u8, .a = {37, 64}, .b = {64, 48}, .b_constant = true, .b_type = i8, .y_type = i32, .a_zero = true},
    op::MatMul{.type = u8,
               .a = {37, 64},
               .b = {64, 48},
               .b_constant = true,
               .b_type = i8,
               .y_type = f32,
               .post = {PostOp{mul, TensorShape{1, 1}}, per_channel(add)}},
    op::MatMul{.type = i8, .a = {1, 70}, .b = {70, 33}, .b_constant = true, .post = {bias}},
    op::MatMul{.type = i8, .a = {3, 17, 16}, .b = {3, 16, 19}},
    op::MatMul{.type = u8, .a = {37, 64}, .b = {64, 48}, .b_constant = true},
    op::MatMul{
        .type = u8, .a = {37, 64}, .b = {64, 48}, .b_constant = true, .a_zero = true, .b_zero = true, .post = {bias}},
    op::MatMul{.type = u8, .a = {3, 17, 16}, .b = {3, 16, 19}, .b_zero = true},
    op::MatMul{.type = u8, .a = {3, 17, 16}, .b = {3, 16, 19}, .trans_b = true, .y_type = i32, .a_zero = true},
    op::Pool{.type = i8, .x = {1, 16, 17, 17}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
    op::Binary{.type = i8, .a = {1001}, .b = {1001}, .scaled = true},
    op::Binary{.type = u8, .fn = mul, .a = {2, 16, 49}, .b = {2, 16, 1}, .scaled = true},
    op::Transpose{.type = i8, .x = {13, 12, 16}, .perm = {1, 0, 2}},
    op::Concat{.type = u8, .outer = 2, .sizes = {16, 8, 24}, .inner = 49},
    op::Slice{.type = i8, .x = {20, 21}, .starts = {5, 0}, .y = {9, 21}},
};

/// In one floating-point type.
std::vector<Layer> floats(DataType type) {
  return {
      op::Conv{.type = type,
               .x = {1, 16, 14, 14},
               .w = {32, 16, 3, 3},
               .pads = {1, 1, 1, 1},
               .post = {bias, residual, relu}},
      op::Conv{
          .type = type, .x = {1, 24, 15, 15}, .w = {24, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 24, .post = {bias}},
      op::ConvTranspose{.type = type, .x = {1, 16, 9, 9}, .w = {16, 8, 2, 2}, .strides = {2, 2}, .post = {bias}},
      op::MatMul{.type = type, .a = {37, 64}, .b = {64, 48}, .b_constant = true, .post = {bias, gelu}},
      op::MatMul{.type = type, .a = {3, 17, 16}, .b = {3, 16, 19}, .trans_b = true},
      op::Attention{.type = type, .q = {1, 6, 9, 16}, .k = {1, 2, 9, 16}, .v = {1, 2, 9, 16}, .causal = true},
      op::Pool{.type = type, .x = {1, 16, 17, 17}, .kernel = {3, 3}, .strides = {2, 2}},
      op::LayerNorm{.type = type, .x = {11, 64}, .bias = true},
      op::Softmax{.type = type, .x = {9, 67, 1}},
      op::Unary{.type = type, .fn = gelu, .x = {1001}},
      op::Binary{.type = type, .fn = mul, .a = {2, 16, 49}, .b = {2, 16, 1}},
      op::Reduce{.type = type, .x = {3, 17, 40}, .axes = {2}},
      op::Transpose{.type = type, .x = {13, 12, 16}, .perm = {1, 0, 2}},
      op::Concat{.type = type, .outer = 2, .sizes = {16, 8, 24}, .inner = 49},
  };
}

void check_offered(const std::vector<Layer>& layers) {
  const auto backend = onednn::backend();
  for (const auto& layer : layers)
    for (int threads : {1, 2}) {
      INFO(LayerSignature(layer).text());
      const auto result = backend->plans(layer, threads);
      if (const auto* unsupported = std::get_if<Unsupported>(&result))
        CHECK_THAT(unsupported->reason, Catch::Contains(std::string(name(type(layer)))));
      else CHECK(test::check_plans(*backend, layer, threads) > 0);
    }
}

}  // namespace

TEST_CASE("oneDNN's quantised layers agree with the reference") {
  const auto backend = onednn::backend();
  for (const auto& layer : quantized)
    for (int threads : {1, 2}) {
      INFO(LayerSignature(layer).text());
      CHECK(test::check_plans(*backend, layer, threads) > 0);
    }
}

TEST_CASE("oneDNN's bf16 and f16 layers agree with the reference where the processor has them") {
  check_offered(floats(bf16));
  check_offered(floats(f16));
}

TEST_CASE("oneDNN's weights of u8 are shifted exactly, whatever their values") {
  const auto backend = onednn::backend();
  for (const bool constant : {true, false})
    for (const bool zero : {true, false}) {
      const op::MatMul product{
          .type = u8, .a = {9, 40}, .b = {40, 33}, .b_constant = constant, .y_type = i32, .b_zero = zero};
      INFO(LayerSignature(Layer(product)).text());
      const Operands shapes = product.operands();
      const auto plain = test::filled_inputs(shapes);
      test::fill_with_all_bytes(shapes.inputs[1], plain[1]);
      CHECK(test::check_plans(*backend, product, 1, plain) > 0);
    }
}
