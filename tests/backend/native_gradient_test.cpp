// SPDX-License-Identifier: Apache-2.0
// The native kernels of gradients and of optimizers' steps against the reference.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"
#include <benanza/model/layer_signature.hpp>

namespace benanza {

namespace {

/// Checks all plans of the layers on every instruction set, with one thread and with three.
void check_gradients(std::initializer_list<Layer> layers) {
  for (const auto isa : {native::Isa::baseline, native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    const auto backend = native::backend(isa);
    for (const Layer& layer : layers)
      for (const int threads : {1, 3}) {
        INFO(LayerSignature(layer).text() << ", " << native::isa_names[static_cast<std::size_t>(isa)]);
        CHECK(test::check_plans(*backend, layer, threads) > 0);
      }
  }
}

}  // namespace

TEST_CASE("Gradients of element-wise functions and of softmax agree with the reference", "[native]") {
  using enum ElementwiseFn;
  for (const auto fn : {relu, sigmoid, ElementwiseFn::tanh, ElementwiseFn::exp, ElementwiseFn::sqrt, reciprocal,
                        ElementwiseFn::abs, ElementwiseFn::cos, ElementwiseFn::erf, gelu, gelu_tanh, hard_swish,
                        ElementwiseFn::log, mish, ElementwiseFn::sin, softplus, softsign})
    check_gradients({op::UnaryGradient{.fn = fn, .x = {1003}}});
  check_gradients({op::UnaryGradient{.fn = elu, .x = {1003}, .alpha = 0.7},
                   op::UnaryGradient{.fn = leaky_relu, .x = {1003}, .alpha = 0.1},
                   op::UnaryGradient{.fn = hard_sigmoid, .x = {1003}, .alpha = 0.2, .beta = 0.5},
                   op::UnaryGradient{.fn = celu, .x = {1003}, .alpha = 0.8},
                   op::UnaryGradient{.fn = clip, .x = {1003}, .alpha = -0.5, .beta = 0.25},
                   op::UnaryGradient{.fn = selu, .x = {1003}, .alpha = 1.67, .beta = 1.05},
                   op::UnaryGradient{.fn = shrink, .x = {1003}, .alpha = 0.4, .beta = 0.3},
                   op::UnaryGradient{.fn = swish, .x = {1003}, .alpha = 1.702},
                   op::UnaryGradient{.fn = thresholded_relu, .x = {1003}, .alpha = 0.3},
                   op::UnaryGradient{.type = DataType::bf16, .fn = gelu, .x = {1003}},
                   op::SoftmaxGradient{.x = {9, 67, 1}}, op::SoftmaxGradient{.x = {9, 64, 1}, .log = true},
                   op::SoftmaxGradient{.type = DataType::f16, .x = {9, 33, 1}}});
}

TEST_CASE("Gradients of normalisations agree with the reference", "[native]") {
  using enum op::NormGradientOf;
  check_gradients({op::NormGradient{.x = {2, 16, 49}}, op::NormGradient{.x = {3, 13, 50}, .affine = false},
                   op::NormGradient{.x = {1, 5, 9001}}, op::NormGradient{.x = {3, 4, 17}, .bias = false},
                   op::NormGradient{.of = group, .x = {2, 12, 35}, .groups = 3},
                   op::NormGradient{.of = group, .x = {2, 12, 35}, .groups = 12},
                   op::NormGradient{.of = group, .x = {3, 8, 20}, .groups = 1, .affine = false},
                   op::NormGradient{.of = layer, .x = {11, 67}},
                   op::NormGradient{.of = layer, .x = {11, 64}, .affine = false},
                   op::NormGradient{.of = layer, .x = {2, 5003}, .bias = false},
                   op::NormGradient{.of = rms, .x = {11, 67}, .bias = false},
                   op::NormGradient{.of = rms, .x = {11, 64}, .affine = false, .bias = false},
                   op::NormGradient{.type = DataType::bf16, .of = rms, .x = {5, 64}, .bias = false}});
}

TEST_CASE("Gradients of depthwise convolutions to their weights agree with the reference", "[native]") {
  for (const auto isa : {native::Isa::avx2, native::Isa::avx512}) {
    if (!native::runs_here(isa)) continue;
    using enum op::ConvGradientOf;
    const auto backend = native::backend(isa);
    for (const Layer& layer : std::initializer_list<Layer>{
             op::ConvGradient{
                 .of = weights, .x = {2, 19, 9, 11}, .w = {19, 1, 3, 3}, .pads = {1, 1, 1, 1}, .group = 19},
             op::ConvGradient{.of = weights,
             .x = {1, 33, 15, 14},
             .w = {33, 1, 5, 5},
             .pads = {2, 2, 2, 2},
             .strides = {2, 2},
             .group = 33},
             op::ConvGradient{.of = weights, .x = {3, 16, 7, 7}, .w = {16, 1, 7, 7}, .pads = {3, 3, 3, 3}, .group = 16},
             op::ConvGradient{.of = weights, .x = {2, 8, 6, 20}, .w = {8, 1, 1, 17}, .group = 8},
             op::ConvGradient{.of = weights,
             .x = {1, 17, 12, 13},
             .w = {17, 1, 3, 2},
             .pads = {2, 0, 1, 3},
             .strides = {3, 2},
             .dilations = {2, 3},
             .group = 17},
             op::ConvGradient{
                 .of = weights, .x = {1, 16, 9, 9}, .w = {16, 1, 3, 3}, .pads = {-1, -2, 1, -1}, .group = 16}})
      for (const int threads : {1, 3}) {
        INFO(LayerSignature(layer).text() << ", " << native::isa_names[static_cast<std::size_t>(isa)]);
        CHECK(test::check_plans(*backend, layer, threads) == 1);
      }
  }
}

TEST_CASE("Gradients of pools agree with the reference", "[native]") {
  using enum op::PoolMode;
  check_gradients(
      {op::PoolGradient{.x = {2, 5, 17, 17}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
       op::PoolGradient{.x = {2, 3, 8, 8}, .kernel = {2, 2}, .strides = {2, 2}},
       op::PoolGradient{.x = {1, 3, 5, 8, 8}, .kernel = {2, 3, 3}, .strides = {1, 2, 2}},
       op::PoolGradient{.mode = average, .x = {2, 5, 9, 10}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}},
       op::PoolGradient{
           .mode = average, .x = {1, 16, 9, 9}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .include_pad = true},
       op::PoolGradient{.mode = average, .x = {1, 6, 14, 15}, .kernel = {2, 3}, .strides = {2, 2}},
       op::PoolGradient{.mode = average, .x = {1, 3, 11, 11}, .kernel = {3, 2}, .dilations = {2, 3}},
       op::PoolGradient{.mode = average,
                        .x = {1, 4, 9, 10},
                        .kernel = {2, 2},
                        .pads = {1, 0, 1, 0},
                        .strides = {2, 2},
                        .include_pad = true,
                        .ceil_pads = {1, 0}},
       op::PoolGradient{.mode = average, .x = {1, 4, 4, 6, 7}, .kernel = {2, 3, 2}, .pads = {0, 1, 0, 0, 1, 1}},
       op::PoolGradient{.mode = average, .x = {3, 7, 7, 9}, .kernel = {7, 9}},
       op::PoolGradient{.type = DataType::bf16, .mode = average, .x = {1, 7, 7, 7}, .kernel = {7, 7}}});
}

TEST_CASE("Gradients of losses and of look-ups agree with the reference", "[native]") {
  for (const auto reduction : {op::LossReduction::none, op::LossReduction::sum, op::LossReduction::mean})
    for (const bool softmax : {false, true})
      for (const bool weighted : {false, true})
        check_gradients(
            {op::LossGradient{.x = {7, 1000, 1}, .softmax = softmax, .reduction = reduction, .weighted = weighted},
             op::LossGradient{.x = {2, 21, 333}, .softmax = softmax, .reduction = reduction, .weighted = weighted}});
  check_gradients({op::GatherGradient{.x = {1, 301, 64}, .indices = 200},
                   op::GatherGradient{.x = {3, 17, 5}, .indices = 40, .index_type = DataType::i32},
                   op::GatherGradient{.x = {2, 50, 1}, .indices = 9},
                   op::GatherGradient{.type = DataType::bf16, .x = {1, 20, 16}, .indices = 3}});
}

TEST_CASE("Gradients of resizing agree with the reference", "[native]") {
  using enum op::ResizeMode;
  using enum op::ResizeCoordinates;
  check_gradients(
      {op::ResizeGradient{
           .x = {1, 3, 7, 9}, .y = {1, 3, 14, 18}, .coordinates = asymmetric, .rounding = op::ResizeRounding::floor},
       op::ResizeGradient{.x = {2, 3, 7, 9}, .y = {2, 3, 10, 21}, .mode = linear},
       op::ResizeGradient{.x = {1, 2, 9, 8}, .y = {1, 2, 5, 8}, .mode = linear, .coordinates = align_corners},
       op::ResizeGradient{.x = {1, 2, 5, 6}, .y = {1, 2, 11, 12}, .mode = cubic},
       op::ResizeGradient{.x = {1, 2, 8, 8}, .y = {1, 2, 3, 4}, .mode = linear, .antialias = true},
       op::ResizeGradient{.x = {1, 2, 4, 4, 5}, .y = {1, 2, 8, 4, 10}, .mode = linear}});
}

TEST_CASE("Optimizers' steps agree with the reference", "[native]") {
  for (const auto rule :
       {op::OptimizerRule::sgd, op::OptimizerRule::momentum, op::OptimizerRule::adam, op::OptimizerRule::adamw})
    check_gradients({op::OptimizerStep{.rule = rule, .x = {5003}},
                     op::OptimizerStep{.type = DataType::bf16, .rule = rule, .x = {5003}, .master = true},
                     op::OptimizerStep{.type = DataType::f16, .rule = rule, .x = {2049}, .master = true}});
}

}  // namespace benanza
