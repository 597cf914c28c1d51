// SPDX-License-Identifier: Apache-2.0
#include "backend/native/isa.hpp"
#include "backend/plan_support.hpp"
#include <benanza/backend/onednn.hpp>
#include <benanza/model/layer_signature.hpp>

#include <map>
#include <set>
#include <string>

using namespace benanza;

namespace {

using enum ElementwiseFn;

const PostOp residual{add, TensorShape{}};

/// Odd sizes throughout: full blocks of channels, and remainders.
const std::vector<Layer> convolutions{
    op::Conv{.x = {1, 3, 37, 35}, .w = {16, 3, 7, 7}, .pads = {3, 3, 3, 3}, .strides = {2, 2}, .post = {bias, relu}},
    op::Conv{.x = {2, 16, 14, 14}, .w = {24, 16, 3, 3}, .pads = {1, 1, 1, 1}, .post = {bias, residual, relu}},
    op::Conv{.x = {1, 16, 14, 13}, .w = {32, 16, 1, 1}, .post = {bias, {clip, 0.0, 6.0}}},
    op::Conv{.x = {1, 13, 9, 9}, .w = {17, 13, 3, 3}, .pads = {0, 1, 2, 1}},
    op::Conv{.x = {1, 16, 15, 15},
             .w = {16, 16, 3, 3},
             .pads = {2, 2, 2, 2},
             .dilations = {2, 2},
             .post = {bias, {leaky_relu, 0.1}}},
    op::Conv{.x = {1, 24, 15, 15}, .w = {24, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 24, .post = {bias, hard_swish}},
    op::Conv{.x = {1, 10, 12, 12}, .w = {10, 1, 5, 5}, .pads = {1, 2, 1, 2}, .strides = {2, 2}, .group = 10},
    op::Conv{.x = {1, 32, 10, 10}, .w = {16, 8, 3, 3}, .pads = {1, 1, 1, 1}, .group = 4, .post = {bias, {swish, 1.0}}},
    op::Conv{.x = {1, 16, 7, 7}, .w = {32, 16, 7, 7}, .post = {bias, gelu}},
    op::Conv{.x = {1, 8, 1, 50}, .w = {8, 8, 1, 5}, .pads = {0, 2, 0, 2}, .post = {bias, gelu_tanh}},
    op::Conv{.x = {1, 8, 6, 7, 8}, .w = {16, 8, 3, 3, 3}, .pads = {1, 1, 1, 1, 1, 1}, .post = {bias, relu}},
    op::Conv{.x = {1, 4, 5, 9, 9}, .w = {8, 4, 1, 2, 3}, .strides = {1, 2, 2}},
    op::Conv{.x = {1, 16, 12, 12}, .w = {16, 16, 3, 3}, .pads = {1, 1, 1, 1}, .w_constant = false},
    op::Conv{.x = {1, 16, 12, 12},
             .w = {16, 16, 1, 1},
             .post = {bias, sigmoid, PostOp{mul, TensorShape{}}, per_channel(mul), {elu, 1.0}}},
    op::Conv{.x = {1, 16, 12, 12}, .w = {16, 16, 1, 1}, .post = {residual, relu}},
    op::Conv{.x = {1, 16, 12, 12}, .w = {16, 16, 3, 3}, .post = {bias, PostOp{sub, TensorShape{}, true}, mish}},
    op::ConvGradient{.x = {2, 16, 14, 14}, .w = {24, 16, 3, 3}, .pads = {1, 1, 1, 1}},
    op::ConvGradient{.x = {1, 32, 10, 10}, .w = {16, 8, 3, 3}, .pads = {0, 1, 2, 1}, .strides = {2, 2}, .group = 4},
    op::ConvGradient{
        .of = op::ConvGradientOf::weights, .x = {2, 16, 14, 14}, .w = {24, 16, 3, 3}, .pads = {1, 1, 1, 1}},
    op::ConvGradient{.of = op::ConvGradientOf::weights,
                     .x = {2, 24, 15, 15},
                     .w = {24, 1, 3, 3},
                     .pads = {1, 1, 1, 1},
                     .strides = {2, 2},
                     .group = 24},
    op::ConvTranspose{.x = {1, 16, 9, 9}, .w = {16, 8, 2, 2}, .strides = {2, 2}, .post = {bias}},
    op::ConvTranspose{.x = {1, 8, 7, 9},
                      .w = {8, 12, 3, 3},
                      .pads = {1, 1, 1, 1},
                      .strides = {2, 2},
                      .output_padding = {1, 1},
                      .post = {bias, relu}},
    op::ConvTranspose{.x = {2, 12, 6, 6}, .w = {12, 4, 3, 3}, .dilations = {2, 2}, .group = 3},
    op::ConvTranspose{.x = {1, 4, 4, 4, 5}, .w = {4, 6, 2, 2, 2}, .strides = {2, 2, 2}},
    op::Conv{.x = {1, 24, 15, 15}, .w = {24, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 24, .post = {bias, residual}},
    op::Conv{.x = {1, 32, 10, 10}, .w = {24, 8, 3, 3}, .group = 4, .post = {bias, {swish, 1.0}, residual, relu}},
    op::Conv{.x = {1, 13, 9, 9}, .w = {17, 13, 3, 3}, .post = {bias, residual, residual}},
    op::Conv{.x = {1, 16, 9, 9}, .w = {16, 16, 1, 1}, .w_constant = false, .post = {residual}},
    op::ConvTranspose{.x = {1, 16, 9, 9}, .w = {16, 8, 2, 2}, .strides = {2, 2}, .post = {bias, residual, relu}},
};

const std::vector<Layer> products{
    op::MatMul{.a = {1, 70}, .b = {70, 33}, .b_constant = true, .post = {bias}},
    op::MatMul{.a = {37, 64}, .b = {64, 48}, .b_constant = true, .post = {bias, gelu}},
    op::MatMul{.a = {37, 64}, .b = {64, 48}, .b_constant = true, .post = {bias, residual, relu}},
    op::MatMul{.a = {37, 64}, .b = {64, 48}, .post = {PostOp{mul, TensorShape{1, 48}}}},
    op::MatMul{.a = {19, 21}, .b = {21, 23}, .trans_a = true, .trans_b = true},
    op::MatMul{.a = {19, 21}, .b = {21, 23}, .trans_a = true, .b_constant = true},
    op::MatMul{.a = {3, 17, 16}, .b = {3, 16, 19}, .trans_b = true},
    op::MatMul{.a = {2, 4, 9, 16}, .b = {2, 4, 16, 9}, .post = {PostOp{add, TensorShape{2, 1, 1, 9}}}},
    op::MatMul{.a = {2, 4, 9, 16}, .b = {1, 4, 16, 9}},
    op::MatMul{.a = {1, 4, 9, 16}, .b = {2, 1, 16, 9}, .post = {tanh}},
    op::MatMul{.a = {5, 2, 3, 9, 16}, .b = {2, 1, 16, 9}},
    op::MatMul{.a = {3, 17, 16}, .b = {3, 16, 19}, .post = {residual}},
    op::MatMul{.a = {37, 64}, .b = {64, 48}, .post = {residual, gelu}},
    op::Attention{.q = {2, 3, 13, 16}, .k = {2, 3, 11, 16}, .v = {2, 3, 11, 24}},
    op::Attention{
        .q = {2, 4, 13, 16}, .k = {2, 4, 13, 16}, .v = {2, 4, 13, 16}, .mask = {2, 1, 1, 13}, .k_transposed = true},
    op::Attention{.q = {1, 6, 9, 16}, .k = {1, 2, 9, 16}, .v = {1, 2, 9, 16}, .causal = true},
    op::Attention{
        .q = {1, 6, 9, 16}, .k = {1, 2, 29, 16}, .v = {1, 2, 29, 16}, .causal = true, .past = 20, .before = 7},
    op::Attention{.q = {2, 6, 1, 16}, .k = {2, 3, 20, 16}, .v = {2, 3, 20, 16}, .mask = {1, 1, 1, 20}},
    op::Attention{.q = {2, 6, 5, 16}, .k = {2, 3, 7, 16}, .v = {2, 3, 7, 16}},
    op::Attention{.q = {2, 6, 5, 16}, .k = {2, 3, 7, 16}, .v = {2, 3, 7, 16}, .mask = {2, 6, 5, 7}},
    op::Attention{.q = {2, 3, 13, 16},
                  .k = {2, 3, 11, 16},
                  .v = {2, 3, 11, 24},
                  .q_tokens_first = true,
                  .k_tokens_first = true,
                  .v_tokens_first = true,
                  .y_tokens_first = true},
    op::Attention{.q = {1, 6, 9, 16},
                  .k = {1, 2, 9, 16},
                  .v = {1, 2, 9, 16},
                  .mask = {1, 6, 9, 9},
                  .causal = true,
                  .q_tokens_first = true,
                  .v_tokens_first = true},
    op::Attention{.q = {2, 4, 13, 16},
                  .k = {2, 4, 12, 16},
                  .v = {2, 4, 12, 16},
                  .mask = {2, 1, 1, 12},
                  .k_transposed = true,
                  .v_tokens_first = true,
                  .y_tokens_first = true},
};

const std::vector<Layer> windows_and_norms{
    op::Pool{.x = {1, 16, 17, 17}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
    op::Pool{.x = {1, 13, 9, 10}, .kernel = {2, 2}, .pads = {0, 0, 1, 0}, .strides = {2, 2}, .ceil_pads = {0, 0, 1, 0}},
    op::Pool{.mode = op::PoolMode::average, .x = {1, 16, 9, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}},
    op::Pool{
        .mode = op::PoolMode::average, .x = {1, 16, 9, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .include_pad = true},
    op::Pool{.mode = op::PoolMode::average, .x = {2, 24, 7, 7}, .kernel = {7, 7}},
    op::Pool{.x = {1, 8, 7, 7}, .kernel = {7, 7}},
    op::Pool{.x = {1, 8, 5, 8, 8}, .kernel = {2, 3, 3}, .strides = {1, 2, 2}},
    op::BatchNorm{.x = {2, 16, 49}},
    op::BatchNorm{.x = {2, 13, 50}, .post = {relu}},
    op::BatchNorm{.x = {1, 16, 49}, .post = {residual, {swish, 1.0}}},
    op::LayerNorm{.x = {11, 67}},
    op::LayerNorm{.x = {11, 64}, .scale = false},
    op::LayerNorm{.x = {11, 64}, .bias = true},
    op::Lrn{.x = {1, 32, 49}},
    op::NormGradient{.x = {2, 16, 49}},
    op::NormGradient{.x = {3, 13, 50}, .affine = false},
    op::NormGradient{.of = op::NormGradientOf::layer, .x = {11, 67}},
    op::NormGradient{.of = op::NormGradientOf::layer, .x = {11, 64}, .affine = false},
    op::PoolGradient{.mode = op::PoolMode::average, .x = {1, 16, 9, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}},
    op::PoolGradient{
        .mode = op::PoolMode::average, .x = {1, 16, 9, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .include_pad = true},
    op::PoolGradient{.mode = op::PoolMode::average, .x = {2, 24, 7, 7}, .kernel = {7, 7}},
    op::ResizeGradient{.x = {1, 16, 7, 9},
                       .y = {1, 16, 14, 18},
                       .coordinates = op::ResizeCoordinates::asymmetric,
                       .rounding = op::ResizeRounding::floor},
    op::ResizeGradient{.x = {1, 16, 7, 9}, .y = {1, 16, 10, 21}, .mode = op::ResizeMode::linear},
    op::UnaryGradient{.x = {1003}},
    op::UnaryGradient{.fn = ElementwiseFn::gelu, .x = {1003}},
    op::UnaryGradient{.fn = gelu_tanh, .x = {1003}},
    op::UnaryGradient{.fn = hard_swish, .x = {1003}},
    op::UnaryGradient{.fn = sigmoid, .x = {1003}},
    op::UnaryGradient{.fn = tanh, .x = {1003}},
    op::UnaryGradient{.fn = leaky_relu, .x = {1003}, .alpha = 0.1},
    op::UnaryGradient{.fn = clip, .x = {1003}, .alpha = -0.5, .beta = 0.25},
    op::UnaryGradient{.fn = swish, .x = {1003}, .alpha = 1},
    op::UnaryGradient{.fn = mish, .x = {1003}},
    op::Softmax{.x = {9, 67, 1}},
    op::Softmax{.x = {3, 21, 16}},
    op::Softmax{.x = {9, 64, 1}, .log = true},
    op::Resize{.x = {1, 16, 7, 9},
               .y = {1, 16, 14, 18},
               .coordinates = op::ResizeCoordinates::asymmetric,
               .rounding = op::ResizeRounding::floor},
    op::Resize{.x = {1, 5, 7, 9}, .y = {1, 5, 14, 18}},
    op::Resize{.x = {1, 16, 7, 9}, .y = {1, 16, 10, 21}, .mode = op::ResizeMode::linear},
    op::Resize{.x = {1, 8, 14, 14},
               .y = {1, 8, 7, 5},
               .mode = op::ResizeMode::linear,
               .coordinates = op::ResizeCoordinates::pytorch_half_pixel},
    op::Resize{.x = {1, 16, 7, 9},
               .y = {1, 16, 14, 18},
               .coordinates = op::ResizeCoordinates::asymmetric,
               .rounding = op::ResizeRounding::floor,
               .post = {residual, relu}},
    op::Resize{.x = {1, 8, 14, 14}, .y = {1, 8, 28, 28}, .mode = op::ResizeMode::linear, .post = {PostOp(swish, 1.0)}},
};

const std::vector<Layer> elementwise{
    op::Unary{.fn = relu, .x = {1001}},
    op::Unary{.fn = ElementwiseFn::abs, .x = {1001}},
    op::Unary{.fn = clip, .x = {77}, .alpha = -0.5, .beta = 0.25},
    op::Unary{.fn = elu, .x = {1001}, .alpha = 0.7},
    op::Unary{.fn = ElementwiseFn::exp, .x = {1001}},
    op::Unary{.fn = gelu, .x = {1001}},
    op::Unary{.fn = gelu_tanh, .x = {1001}},
    op::Unary{.fn = hard_sigmoid, .x = {1001}, .alpha = 0.2, .beta = 0.5},
    op::Unary{.fn = hard_swish, .x = {1001}},
    op::Unary{.fn = leaky_relu, .x = {1001}, .alpha = 0.01},
    op::Unary{.fn = ElementwiseFn::log, .x = {1001}},
    op::Unary{.fn = mish, .x = {1001}},
    op::Unary{.fn = neg, .x = {1001}},
    op::Unary{.fn = reciprocal, .x = {1001}},
    op::Unary{.fn = ElementwiseFn::round, .x = {1001}},
    op::Unary{.fn = selu, .x = {1001}, .alpha = 1.67326, .beta = 1.0507},
    op::Unary{.fn = sigmoid, .x = {1001}},
    op::Unary{.fn = softplus, .x = {1001}},
    op::Unary{.fn = ElementwiseFn::sqrt, .x = {1001}},
    op::Unary{.fn = square, .x = {1001}},
    op::Unary{.fn = swish, .x = {1001}, .alpha = 1.702},
    op::Unary{.fn = ElementwiseFn::tanh, .x = {1001}},
    op::Unary{
        .fn = sigmoid, .x = {3, 21, 10}, .post = {PostOp{mul, TensorShape{}}, PostOp{add, TensorShape{21, 1}}, relu}},
    op::Binary{.a = {1001}, .b = {1001}},
    op::Binary{.fn = mul, .a = {1001}, .b = {1001}, .same = true},
    op::Binary{.fn = sub, .a = {1001}, .b = {1}},
    op::Binary{.fn = ElementwiseFn::max, .a = {33, 21}, .b = {33, 21}},
    op::Binary{.fn = mul, .a = {2, 16, 49}, .b = {2, 16, 1}},
    op::Binary{.fn = add, .a = {2, 16, 49}, .b = {1, 16, 1}, .post = {relu}},
    op::Binary{.fn = add, .a = {2, 16, 49}, .b = {1, 16, 49}},
    op::Binary{.fn = sub, .a = {1, 32}, .b = {19, 32}},
    op::Binary{.fn = ElementwiseFn::div, .a = {1, 32}, .b = {19, 32}},
    op::Binary{.fn = less, .a = {1, 32}, .b = {19, 32}},
    op::Binary{.fn = greater, .a = {1001}, .b = {1001}},
    op::Binary{.fn = equal, .a = {1001}, .b = {1}},
    op::Binary{.fn = prelu, .a = {2, 16, 49}, .b = {1, 16, 1}},
    op::Binary{.fn = mul,
               .a = {19, 32},
               .b = {19, 32},
               .post = {PostOp{add, TensorShape{}}, PostOp{ElementwiseFn::div, TensorShape{1, 32}}, tanh}},
    op::Nary{.x = {1001}},
    op::Nary{.x = {1001}, .count = 5, .mean = true},
    op::Nary{.fn = ElementwiseFn::max, .x = {1001}, .count = 4},
    op::Reduce{.x = {3, 17, 40}, .axes = {2}},
    op::Reduce{.fn = op::ReduceFn::sum, .x = {3, 17, 40}, .axes = {1, 2}},
    op::Reduce{.fn = op::ReduceFn::sum, .x = {3, 17, 40}, .axes = {0, 1, 2}},
    op::Reduce{.fn = op::ReduceFn::prod, .x = {30, 17}, .axes = {1}},
    op::Reduce{.fn = op::ReduceFn::log_sum, .x = {30, 17}, .axes = {1}},
};

/// oneDNN 3.2 refused all of these on an AVX2 processor (Zen 3), and none on one with AVX-512.
const std::vector<Layer> softmax_gradients{
    op::SoftmaxGradient{.x = {9, 67, 1}},
    op::SoftmaxGradient{.x = {3, 21, 16}},
    op::SoftmaxGradient{.x = {9, 64, 1}, .log = true},
};

const std::vector<Layer> movement{
    op::Transpose{.x = {13, 12, 16}, .perm = {1, 0, 2}},
    op::Transpose{.x = {31, 45}, .perm = {1, 0}},
    op::Transpose{.x = {2, 3, 5, 7, 4}, .perm = {4, 2, 0, 3, 1}},
    op::Concat{.outer = 2, .sizes = {16, 8, 24}, .inner = 49},
    op::Concat{.outer = 7, .sizes = {1, 3, 2}, .inner = 1},
    op::Split{.outer = 3, .sizes = {4, 9, 2}, .inner = 11},
    op::Slice{.x = {3, 20, 21}, .starts = {1, 0, 2}, .y = {2, 10, 7}, .steps = {1, 2, 2}},
    op::Slice{.x = {20, 21}, .starts = {5, 0}, .y = {9, 21}},
    op::Cast{.to = DataType::bf16, .x = {1001}},
};

const std::vector<Layer> recurrent{
    op::Recurrent{.x = {7, 1, 12}, .hidden = 16},
    op::Recurrent{.x = {7, 3, 12}, .hidden = 20, .directions = 2, .initial_state = true},
    op::Recurrent{.x = {7, 3, 12}, .hidden = 16, .reverse = true, .bias = false},
    op::Recurrent{.cell = op::Cell::gru, .x = {7, 3, 12}, .hidden = 16, .directions = 2},
    op::Recurrent{
        .cell = op::Cell::gru, .x = {7, 3, 12}, .hidden = 16, .initial_state = true, .linear_before_reset = true},
    op::Recurrent{.cell = op::Cell::gru, .x = {7, 3, 12}, .hidden = 16, .bias = false, .linear_before_reset = true},
    op::Recurrent{.cell = op::Cell::rnn, .x = {7, 3, 12}, .hidden = 16, .initial_state = true},
};

void check_all(const std::vector<Layer>& layers) {
  const auto backend = onednn::backend();
  for (const auto& layer : layers)
    for (int threads : {1, 2}) {
      INFO(LayerSignature(layer).text());
      CHECK(test::check_plans(*backend, layer, threads) > 0);
    }
}

std::string reason(const Layer& layer) {
  const auto result = onednn::backend()->plans(layer, 1);
  const auto* unsupported = std::get_if<Unsupported>(&result);
  return unsupported == nullptr ? "" : unsupported->reason;
}

}  // namespace

TEST_CASE("oneDNN's convolutions agree with the reference") { check_all(convolutions); }
TEST_CASE("oneDNN's matrix products and attention agree with the reference") { check_all(products); }
TEST_CASE("oneDNN's pooling, normalisation, softmax and resizing agree with the reference") {
  check_all(windows_and_norms);
}
TEST_CASE("oneDNN's softmax gradients agree with the reference, or are refused without AVX-512") {
  if (native::runs_here(native::Isa::avx512)) return check_all(softmax_gradients);
  for (const auto& layer : softmax_gradients) CHECK_THAT(reason(layer), Catch::Contains("no optimised implementation"));
}
TEST_CASE("oneDNN's element-wise functions and reductions agree with the reference") { check_all(elementwise); }
TEST_CASE("oneDNN's data movement agrees with the reference") { check_all(movement); }
TEST_CASE("oneDNN's recurrent layers agree with the reference") { check_all(recurrent); }

TEST_CASE("what oneDNN lacks is unsupported with its reason") {
  using Catch::Contains;
  CHECK_THAT(reason(op::LayerNorm{.x = {4, 8}, .rms = true}), Contains("no RMS norm"));
  CHECK_THAT(reason(op::GroupNorm{.x = {1, 8, 9}, .groups = 2}), Contains("no GroupNorm"));
  CHECK_THAT(reason(op::Unary{.fn = ElementwiseFn::erf, .x = {8}}), Contains("no erf"));
  CHECK_THAT(reason(op::Conv{.x = {1, 1, 3, 3}, .w = {1, 1, 1, 1}, .post = {ElementwiseFn::erf}}),
             Contains("no post-op erf"));
  CHECK_THAT(reason(op::Pool{.mode = op::PoolMode::lp, .x = {1, 1, 3, 3}, .kernel = {3, 3}}), Contains("Lp pooling"));
  CHECK_THAT(reason(op::MatMul{.type = DataType::tf32, .a = {4, 8}, .b = {8, 4}}), Contains("no tf32 MatMul"));
  CHECK_THAT(reason(op::Reduce{.fn = op::ReduceFn::arg_max, .x = {4, 8}, .axes = {1}}),
             Contains("no reduction arg_max"));
  CHECK_THAT(reason(op::Reduce{.fn = op::ReduceFn::max, .x = {4, 8}, .axes = {1}}), Contains("of infinities"));
  CHECK_THAT(reason(op::Resize{.x = {1, 1, 4, 4}, .y = {1, 1, 8, 8}, .mode = op::ResizeMode::cubic}),
             Contains("cubic"));
  CHECK_THAT(reason(op::Binary{.a = {4, 1}, .b = {1, 4}}), Contains("broadcasts both"));
}

TEST_CASE("no reference implementation of oneDNN is offered") {
  const auto backend = onednn::backend();
  for (const auto* layers : {&convolutions, &products, &windows_and_norms, &softmax_gradients, &elementwise, &movement})
    for (const auto& layer : *layers) {
      auto result = backend->plans(layer, 1);
      if (const auto* plans = std::get_if<Plans>(&result))
        for (const auto& plan : *plans) CHECK(plan->algorithm().find("ref:") == std::string::npos);
    }
}

// The plans that add in place are among those that are compared with the reference above.
TEST_CASE("oneDNN adds to a residual in place, and says so") {
  const auto backend = onednn::backend();
  const auto in_place = [&](const Layer& layer) {
    std::size_t found = 0;
    const auto result = backend->plans(layer, 1);
    for (const auto& plan : std::get<Plans>(result)) {
      const bool said = plan->algorithm().find(",sum=in_place") != std::string::npos;
      CHECK(said == plan->sums_into(0).has_value());
      if (!said) continue;
      ++found;
      const std::size_t last = plan->inputs().size() - 1;
      CHECK(plan->sums_into(0) == last);
      CHECK(plan->inputs()[last] == plan->outputs()[0]);
    }
    return found;
  };
  CHECK(in_place(op::Conv{.x = {1, 16, 12, 12}, .w = {32, 16, 3, 3}, .post = {bias, residual, relu}}) > 0);
  CHECK(in_place(op::MatMul{.a = {37, 64}, .b = {64, 48}, .b_constant = true, .post = {bias, residual, relu}}) > 0);
  CHECK(in_place(op::ConvTranspose{.x = {1, 16, 9, 9}, .w = {16, 8, 2, 2}, .strides = {2, 2}, .post = {residual}}) > 0);
  // A tensor that is broadcast does not have the result's shape; a constant would be copied before each call.
  CHECK(in_place(op::MatMul{.a = {2, 4, 9, 16}, .b = {2, 4, 16, 9}, .post = {PostOp{add, TensorShape{2, 1, 1, 9}}}}) ==
        0);
  CHECK(in_place(op::MatMul{.a = {1, 70}, .b = {70, 33}, .post = {relu, per_channel(add)}}) == 0);
}

// Element (channel 10, row 0, column 1) of 16 x 2 x 3 is number 10 * 6 + 1 in row-major order. With channels last it is
// number 1 * 16 + 10; in blocks of 8 channels 1 * 48 + 1 * 8 + 2, of 16 channels 1 * 16 + 10.
TEST_CASE("a plan of oneDNN tells where an element of its output lies") {
  const std::map<std::string, std::int64_t> positions{{"plain", 61}, {"acdb", 26}, {"aBcd8b", 58}, {"aBcd16b", 26}};
  const auto result = onednn::backend()->plans(op::Conv{.x = {1, 16, 2, 3}, .w = {16, 16, 1, 1}}, 1);
  std::set<std::string> seen;
  for (const auto& plan : std::get<Plans>(result)) {
    const std::string& layout = plan->outputs()[0].name;
    INFO(layout);
    if (positions.count(layout) == 0) continue;
    seen.insert(layout);
    CHECK(plan->output_position(0, 61) == positions.at(layout));
  }
  CHECK(seen.size() > 1);
}
