// SPDX-License-Identifier: Apache-2.0
// The native kernels of losses, transforms, samplings and other operators that few models have, against the reference.
#include "backend/native/backend.hpp"
#include "plan_support.hpp"
#include <benanza/model/layer_signature.hpp>

namespace benanza {

namespace {

/// Checks all plans of the layers on every instruction set, with one thread and with three.
void check_special(std::initializer_list<Layer> layers) {
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

TEST_CASE("Sums and products along an axis agree with the reference", "[native]") {
  for (const auto type : {DataType::f32, DataType::f64, DataType::i32, DataType::i64})
    for (const bool reverse : {false, true})
      for (const bool exclusive : {false, true})
        check_special({op::Cumulative{.type = type, .x = {3, 37, 1}, .exclusive = exclusive, .reverse = reverse},
                       op::Cumulative{.type = type, .x = {2, 9, 53}, .exclusive = exclusive, .reverse = reverse},
                       op::Cumulative{
                           .type = type, .x = {2, 9, 5}, .product = true, .exclusive = exclusive, .reverse = reverse}});
  check_special({op::Cumulative{.type = DataType::f16, .x = {3, 17, 1}}, op::Cumulative{.x = {1, 1, 7}}});
}

TEST_CASE("What is written without reading agrees with the reference", "[native]") {
  for (const auto type : {DataType::f32, DataType::i64, DataType::boolean, DataType::f16})
    check_special(
        {op::Trilu{.type = type, .x = {3, 7, 11}},
         op::Trilu{.type = type, .x = {2, 11, 7}, .upper = false, .diagonal = -2},
         op::Trilu{.type = type, .x = {1, 5, 5}, .diagonal = 5},
         op::Trilu{.type = type, .x = {1, 5, 5}, .upper = false, .diagonal = 3},
         op::OneHot{.type = type, .y = {33, 10, 1}},
         op::OneHot{.type = type, .y = {3, 5, 7}, .index_type = DataType::i32}, op::Generate{.type = type, .y = {1037}},
         op::Generate{.type = type, .fn = op::GenerateFn::eye, .y = {13, 29}},
         op::Generate{.type = type, .fn = op::GenerateFn::eye, .y = {29, 13}},
         op::TensorScatter{.type = type, .x = {2, 3, 11, 5}, .length = 4},
         op::TensorScatter{.type = type, .x = {2, 3, 11, 5}, .length = 4, .circular = true},
         op::TensorScatter{.type = type, .x = {2, 3, 11, 5}, .length = 4, .indices = false},
         op::TensorScatter{.type = type, .x = {2, 3, 900, 5}, .length = 1, .in_place = true},
         op::TensorScatter{.type = type, .x = {2, 3, 11, 5}, .length = 4, .circular = true, .in_place = true}});
  for (const auto type : {DataType::f32, DataType::i32, DataType::i64})
    check_special({op::Generate{.type = type, .fn = op::GenerateFn::range, .y = {1037}}});
  for (const auto fn : {op::GenerateFn::hann, op::GenerateFn::hamming, op::GenerateFn::blackman})
    check_special({op::Generate{.fn = fn, .y = {400}}});
}

TEST_CASE("Normalisations by statistics of their own agree with the reference", "[native]") {
  for (const auto fn : {op::AxisNormFn::l1, op::AxisNormFn::l2, op::AxisNormFn::hardmax})
    check_special({op::AxisNorm{.fn = fn, .x = {5, 133, 1}}, op::AxisNorm{.fn = fn, .x = {2, 9, 301}},
                   op::AxisNorm{.fn = fn, .x = {3, 1, 5}},
                   op::AxisNorm{.type = DataType::f16, .fn = fn, .x = {3, 9, 5}}});
  check_special({op::ChannelNorm{.x = {3, 5, 37}, .running = true}, op::ChannelNorm{.x = {9, 7, 1}},
                 op::ChannelNorm{.x = {1, 3, 1001}, .affine = false},
                 op::ChannelNorm{.type = DataType::bf16, .x = {3, 5, 37}, .running = true}});
}

TEST_CASE("Tree ensembles agree with the reference", "[native]") {
  for (const auto aggregate :
       {op::TreeAggregate::sum, op::TreeAggregate::average, op::TreeAggregate::min, op::TreeAggregate::max})
    check_special({op::TreeEnsemble{.x = {37, 9},
                                    .trees = 50,
                                    .comparisons = 170,
                                    .targets = 3,
                                    .leaf_weights = 3,
                                    .aggregate = aggregate,
                                    .transform = op::TreeTransform::softmax,
                                    .labels = true},
                   op::TreeEnsemble{.x = {1, 300}, .trees = 50, .comparisons = 170, .aggregate = aggregate},
                   op::TreeEnsemble{.type = DataType::f64,
                                    .x = {2, 70000},
                                    .trees = 7,
                                    .comparisons = 5,
                                    .targets = 300,
                                    .leaf_weights = 2,
                                    .aggregate = aggregate,
                                    .transform = op::TreeTransform::logistic}});
  for (const auto type : {DataType::f64, DataType::i64, DataType::i32})
    check_special({op::TreeEnsemble{
        .type = type, .x = {19, 4}, .trees = 20, .comparisons = 65, .targets = 2, .score_type = DataType::f32}});
}

TEST_CASE("Losses agree with the reference", "[native]") {
  for (const auto reduction : {op::LossReduction::none, op::LossReduction::sum, op::LossReduction::mean})
    for (const bool weighted : {false, true})
      check_special(
          {op::Loss{.x = {33, 77, 1}, .reduction = reduction, .weighted = weighted},
           op::Loss{.x = {33, 77, 1}, .softmax = true, .reduction = reduction, .weighted = weighted, .log_prob = true},
           op::Loss{.x = {2, 5, 301},
                    .softmax = true,
                    .reduction = reduction,
                    .weighted = weighted,
                    .target_type = DataType::i32},
           op::Loss{.x = {2, 1, 9}, .softmax = true, .reduction = reduction, .log_prob = true},
           op::Loss{.type = DataType::f16, .x = {7, 9, 1}, .softmax = true, .reduction = reduction}});
}

TEST_CASE("Fourier transforms agree with the reference", "[native]") {
  for (const std::int64_t length : {1, 2, 12, 64, 97})
    check_special({op::Fourier{.x = {2, length, 3}, .length = length},
                   op::Fourier{.x = {2, length, 1}, .length = length, .inverse = true},
                   op::Fourier{.x = {2, length, 3}, .length = length, .real = true},
                   op::Fourier{.x = {2, length, 1}, .length = length, .real = true, .one_sided = true},
                   op::Fourier{.x = {2, length / 2 + 1, 3}, .length = length, .inverse = true, .one_sided = true}});
  check_special(
      {op::Fourier{.x = {1, 10, 2}, .length = 16}, op::Fourier{.x = {1, 20, 2}, .length = 16},
       op::Fourier{
           .x = {2, 1000, 1}, .length = 100, .real = true, .one_sided = true, .frames = 19, .step = 50, .window = true},
       op::Fourier{.x = {2, 300, 1}, .length = 64, .frames = 3, .step = 100}});
}

TEST_CASE("Samplings agree with the reference", "[native]") {
  for (const auto mode : {op::ResizeMode::nearest, op::ResizeMode::linear, op::ResizeMode::cubic})
    for (const auto padding : {op::GridPadding::zeros, op::GridPadding::border, op::GridPadding::reflection})
      for (const bool align : {false, true})
        check_special(
            {op::GridSample{
                 .x = {2, 3, 7, 9}, .out = {5, 11}, .mode = mode, .padding = padding, .align_corners = align},
             op::GridSample{
                 .x = {1, 2, 3, 4, 5}, .out = {3, 3, 40}, .mode = mode, .padding = padding, .align_corners = align}});
  for (const bool max : {false, true})
    for (const bool half : {false, true})
      check_special({op::RoiAlign{.x = {2, 5, 19, 23}, .boxes = 9, .out = {3, 4}, .max = max, .half_pixel = half},
                     op::RoiAlign{.x = {2, 5, 19, 23},
                                  .boxes = 9,
                                  .out = {7, 7},
                                  .samples = 2,
                                  .max = max,
                                  .half_pixel = half,
                                  .index_type = DataType::i32}});
  check_special({op::DeformConv{.x = {1, 4, 5, 5}, .w = {6, 4, 3, 3}},
                 op::DeformConv{.x = {2, 8, 13, 11},
                                .w = {6, 4, 3, 2},
                                .pads = {1, 1, 1, 0},
                                .strides = {2, 1},
                                .dilations = {1, 2},
                                .group = 2,
                                .offset_group = 4,
                                .bias = true,
                                .mask = true},
                 op::DeformConv{.x = {1, 4, 20, 20}, .w = {3, 4, 1, 1}, .mask = true}});
}

TEST_CASE("Antialiased resizing and scales of blocks agree with the reference", "[native]") {
  for (const auto mode : {op::ResizeMode::linear, op::ResizeMode::cubic})
    check_special({op::Resize{.x = {1, 3, 17, 29}, .y = {1, 3, 5, 13}, .mode = mode, .antialias = true},
                   op::Resize{.x = {1, 3, 7, 29}, .y = {1, 3, 15, 13}, .mode = mode, .antialias = true},
                   op::Resize{.x = {1, 3, 7, 9},
                              .y = {1, 3, 5, 13},
                              .mode = mode,
                              .coordinates = op::ResizeCoordinates::tf_crop_and_resize}});
  for (const auto to : {DataType::u8, DataType::i8})
    check_special({op::Quantize{.to = to, .x = {5, 100, 1}, .block = 32},
                   op::Quantize{.to = to, .x = {2, 9, 37}, .block = 4},
                   op::Dequantize{.type = to, .x = {5, 100, 1}, .block = 32},
                   op::Dequantize{.type = to, .x = {2, 9, 37}, .block = 4}});
}

}  // namespace benanza
