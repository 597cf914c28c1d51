// SPDX-License-Identifier: Apache-2.0
// Compiled twice: for the program that runs on a device, and for the program whose device is tests/emulated.
#include "backend/cuda/kernels.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cuda.hpp>
#include <benanza/model/layer_signature.hpp>

#include <cmath>
#include <vector>

using namespace benanza;

TEST_CASE("Benanza's own CUDA kernels agree with the reference", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  const std::vector<Layer> layers{
      op::Unary{.fn = ElementwiseFn::relu, .x = {1003}},
      op::Unary{.fn = ElementwiseFn::gelu, .x = {8, 128}, .post = {{ElementwiseFn::mul, TensorShape{1, 128}}}},
      op::Unary{.fn = ElementwiseFn::hard_swish, .x = {4096}},
      op::Binary{.fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {1, 64, 1}},
      op::Binary{.fn = ElementwiseFn::div, .a = {7, 1, 5}, .b = {1, 3, 5}},
      op::Nary{.x = {4, 100}, .count = 3, .mean = true},
      op::Where{.c = {1, 12}, .x = {8, 12}, .y = {8, 12}},
      op::BatchNorm{.x = {2, 16, 49}, .post = {ElementwiseFn::relu}},
      op::Transpose{.x = {12, 34, 56}, .perm = {0, 2, 1}},
      op::Transpose{.x = {5, 6, 7, 8}, .perm = {3, 1, 0, 2}},
      op::Transpose{.type = DataType::f16, .x = {64, 48}, .perm = {1, 0}},
      op::Slice{.x = {9, 20}, .starts = {8, 3}, .y = {3, 10}, .steps = {-2, 1}},
      op::Concat{.outer = 3, .sizes = {2, 5}, .inner = 12},
      op::Concat{.outer = 4, .sizes = {512, 1}, .inner = 64},  // a cache and the new position
      op::Concat{.outer = 4, .sizes = {512, 1}, .inner = 64, .in_place = true},
      op::Concat{.type = DataType::f16, .outer = 7, .sizes = {1, 2, 3}, .inner = 5},
      op::Concat{.type = DataType::i8, .outer = 2, .sizes = {3, 1, 4, 1, 5}, .inner = 1},
      op::Split{.outer = 3, .sizes = {2, 5}, .inner = 12},
      op::Split{.type = DataType::f16, .outer = 9, .sizes = {8, 16, 8}, .inner = 1},
      op::Expand{.x = {1, 7, 1}, .y = {5, 7, 6}},
      op::Tile{.x = {3, 4}, .repeats = {2, 3}},
      op::Pad{.x = {2, 5, 6}, .begins = {0, 2, 1}, .ends = {0, 1, 3}},
      op::Pad{.x = {2, 5, 6}, .begins = {0, 2, 1}, .ends = {0, 1, 3}, .mode = op::PadMode::reflect},
      op::Resize{.x = {1, 3, 7, 9}, .y = {1, 3, 14, 18}},
      op::Resize{.x = {1, 3, 7, 9}, .y = {1, 3, 13, 18}, .mode = op::ResizeMode::linear},
      op::Gather{.x = {2, 50, 12}, .indices = 9},
      op::GatherElements{.x = {4, 30, 5}, .indices = {4, 11, 5}, .axis = 1},
      op::GatherNd{.x = {6, 7, 8}, .indices = {5, 2}},
      op::ScatterElements{.x = {4, 30}, .indices = {4, 11}, .axis = 1},
      op::ScatterElements{.x = {4, 30}, .indices = {4, 11}, .axis = 1, .reduction = op::ScatterReduction::add},
      op::ScatterNd{.x = {6, 7, 8}, .indices = {5, 1}},
      op::Softmax{.x = {12, 100, 1}},
      op::Softmax{.x = {3, 10, 33}, .log = true},
      op::LayerNorm{.x = {16, 96}, .bias = true},
      op::LayerNorm{.x = {16, 96}, .rms = true},
      op::GroupNorm{.x = {2, 12, 25}, .groups = 3},
      op::Lrn{.x = {2, 16, 30}},
      // By halves and by neighbours, angles per element and per pair, with and without accesses of 16 bytes.
      op::Rotary{.x = {12, 9, 64}, .angles = {1, 9, 64}},
      op::Rotary{.type = DataType::f16, .x = {12, 64}, .angles = {1, 64}},
      op::Rotary{.type = DataType::bf16, .x = {2, 5, 3, 32}, .angles = {1, 5, 1, 16}},
      op::Rotary{.x = {3, 7, 10}, .angles = {1, 7, 5}},
      op::Rotary{.x = {2, 3, 5, 16}, .angles = {2, 1, 5, 16}, .interleaved = true},
      op::Rotary{.type = DataType::f16, .x = {4, 6, 64}, .angles = {1, 6, 32}, .interleaved = true},
      op::Rotary{.x = {4, 6, 6}, .angles = {4, 1, 3}, .interleaved = true},
      op::Reduce{.x = {12, 100}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::log_sum_exp, .x = {6, 10, 7}, .axes = {1}},
      // Rows by warps and by blocks, with and without accesses of 16 bytes; scales along rows, and one scale per
      // channel.
      op::Softmax{.x = {3, 4096, 1}},
      op::Softmax{.type = DataType::f16, .x = {5, 1003, 1}, .log = true},
      op::Softmax{.type = DataType::bf16, .x = {8200, 136, 1}},
      op::Softmax{.type = DataType::f16, .x = {2, 3, 262144}},
      op::LayerNorm{.type = DataType::f16, .x = {3, 3000}, .bias = true},
      op::LayerNorm{.x = {9, 77}, .bias = true},
      op::LayerNorm{.x = {16, 96}, .bias = true, .residual = op::Residual::kept},
      op::LayerNorm{.x = {9, 77}, .rms = true, .residual = op::Residual::added},
      op::LayerNorm{
          .type = DataType::f16, .x = {3, 3000}, .bias = true, .residual = op::Residual::kept, .x_bias = true},
      op::GroupNorm{.x = {2, 12, 256}, .groups = 3},
      op::GroupNorm{.type = DataType::bf16, .x = {2, 4, 6000}, .groups = 2},
      op::Lrn{.x = {2, 16, 32}, .size = 4},
      // Reductions by rows, split over blocks or not; by columns, with one or several per thread; over several
      // dimensions.
      op::Reduce{.x = {7, 40000}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::l2, .x = {300001}, .axes = {0}},
      op::Reduce{.type = DataType::f16, .fn = op::ReduceFn::max, .x = {2, 3, 262144}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::log_sum_exp, .x = {2, 3, 262144}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::log_sum_exp, .x = {2, 70000}, .axes = {1}},
      op::Reduce{.fn = op::ReduceFn::sum, .x = {3, 5, 14, 14}, .axes = {2, 3}},
      op::Reduce{.fn = op::ReduceFn::prod, .x = {3, 5, 4, 6}, .axes = {0, 2}},
      op::Reduce{.fn = op::ReduceFn::min, .x = {64, 30}, .axes = {0}},
      op::Reduce{.fn = op::ReduceFn::l1, .x = {1, 1}, .axes = {0, 1}},
      op::Pool{.mode = op::PoolMode::average, .x = {1, 2, 112, 112}, .kernel = {112, 112}},
      // Slices and rows in wider cells.
      op::GatherNd{.x = {6, 7, 9}, .indices = {5, 1}},
      op::GatherNd{.type = DataType::f16, .x = {3, 6, 16}, .indices = {3, 4, 1}, .batch_dims = 1},
      op::ScatterNd{.x = {6, 7, 3}, .indices = {5, 2}},
      op::ScatterNd{.type = DataType::f16, .x = {2, 3, 64}, .indices = {20, 2}},  // many updates of one slice
      // Updates in place: of one slice, of several slices, of a slice more than once.
      op::ScatterNd{.type = DataType::f16, .x = {4, 9, 64}, .indices = {1, 2}, .in_place = true},
      op::ScatterNd{.x = {4, 9, 20}, .indices = {12, 2}, .in_place = true},
      op::ScatterElements{.x = {4, 30}, .indices = {4, 45}, .axis = 1, .in_place = true},
      op::Pad{.type = DataType::f16, .x = {2, 5, 6}, .begins = {0, 2, 1}, .ends = {0, 1, 9}},
      op::Resize{.type = DataType::f16, .x = {1, 3, 7, 9}, .y = {1, 3, 13, 32}, .mode = op::ResizeMode::cubic},
      op::Quantize{.type = DataType::f16, .to = DataType::u8, .x = {1, 4000, 1}, .dynamic = true},
      op::Cast{.to = DataType::f16, .x = {1000}},
      op::Cast{.to = DataType::f8e4m3, .x = {1000}},
      op::Unary{.type = DataType::f8e4m3, .fn = ElementwiseFn::relu, .x = {4096}},
      op::Binary{.type = DataType::f8e5m2, .fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {1, 64, 1}},
      op::Softmax{.type = DataType::f8e4m3, .x = {12, 1000, 1}},
      op::Unary{.type = DataType::i8, .fn = ElementwiseFn::relu, .x = {4096}},
      op::Unary{.type = DataType::u8, .fn = ElementwiseFn::sigmoid, .x = {1003}},
      op::Binary{.type = DataType::i8, .fn = ElementwiseFn::add, .a = {4, 64, 49}, .b = {4, 64, 49}, .scaled = true},
      op::Binary{.type = DataType::i8,
                 .fn = ElementwiseFn::add,
                 .a = {4, 640},
                 .b = {4, 640},
                 .scaled = true,
                 .post = {ElementwiseFn::relu}},
      op::Where{.type = DataType::i8, .c = {8, 32}, .x = {8, 32}, .y = {8, 32}},
      op::Reduce{.type = DataType::i8, .x = {12, 100}, .axes = {1}},
      op::Pool{.x = {2, 5, 13, 12}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::Pool{.type = DataType::i8, .x = {2, 5, 13, 12}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}},
      op::Pool{.mode = op::PoolMode::average, .x = {2, 5, 13}, .kernel = {3}, .pads = {1, 1}, .include_pad = true},
      op::Pool{.type = DataType::i8, .mode = op::PoolMode::average, .x = {2, 16, 7, 7}, .kernel = {7, 7}},
      // Depthwise convolutions: with and without a zero point, by four outputs and by one, with several per channel.
      op::Conv{.type = DataType::i8,
               .x = {2, 8, 13, 12},
               .w = {8, 1, 3, 3},
               .pads = {1, 1, 1, 1},
               .group = 8,
               .post = {bias, ElementwiseFn::relu}},
      op::Conv{.type = DataType::u8,
               .x = {1, 6, 15, 15},
               .w = {6, 1, 5, 5},
               .pads = {2, 2, 2, 2},
               .strides = {2, 2},
               .group = 6,
               .w_type = DataType::i8,
               .x_zero = true,
               .post = {bias}},
      op::Conv{.type = DataType::u8,
               .x = {1, 3, 9, 8},
               .w = {6, 1, 3, 3},
               .pads = {2, 2, 2, 2},
               .dilations = {2, 2},
               .group = 3,
               .y_type = DataType::i32,
               .x_zero = true,
               .w_zero = true},
      op::Conv{.type = DataType::i8, .x = {1, 4, 7, 7}, .w = {4, 1, 7, 7}, .group = 4, .y_type = DataType::f32},
      op::Conv{.type = DataType::i8,
               .x = {1, 6, 9, 9},
               .w = {6, 1, 3, 3},
               .pads = {1, 1, 1, 1},
               .group = 6,
               .x_zero = true,
               .w_zero = true,
               .post = {bias}},
      // Other convolutions of integers: signs and zero points of both kinds, channels that fill whole words or not,
      // groups, more than one tile of pixels and of results, one dimension.
      op::Conv{.type = DataType::u8,
               .x = {2, 3, 11, 10},
               .w = {70, 3, 3, 3},
               .pads = {1, 1, 1, 1},
               .strides = {2, 2},
               .w_type = DataType::i8,
               .x_zero = true,
               .post = {bias, ElementwiseFn::relu}},
      op::Conv{.type = DataType::u8,
               .x = {1, 12, 9, 9},
               .w = {10, 6, 3, 3},
               .pads = {2, 0, 2, 0},
               .dilations = {2, 1},
               .group = 2,
               .y_type = DataType::i32,
               .x_zero = true,
               .w_zero = true},
      op::Conv{.type = DataType::i8, .x = {1, 40, 12, 12}, .w = {16, 40, 1, 1}, .y_type = DataType::f32},
      op::Conv{.type = DataType::i8,
               .x = {1, 6, 9, 9},
               .w = {10, 6, 3, 3},
               .pads = {1, 1, 1, 1},
               .x_zero = true,
               .w_zero = true,
               .post = {bias}},
      op::Conv{.type = DataType::u8, .x = {2, 8, 40}, .w = {12, 8, 5}, .pads = {2, 2}, .w_type = DataType::i8},
      op::Quantize{.to = DataType::i8, .x = {1, 4096, 1}},
      op::Quantize{.to = DataType::u8, .x = {2, 3, 35}},
      op::Quantize{.type = DataType::f16, .to = DataType::f8e4m3, .x = {1, 1000, 1}},
      op::Quantize{.to = DataType::u8, .x = {1, 300000, 1}, .dynamic = true},
      op::Quantize{.to = DataType::i8, .x = {1, 77, 1}, .dynamic = true},
      op::Dequantize{.type = DataType::i8, .x = {1, 4096, 1}},
      op::Dequantize{.type = DataType::u8, .to = DataType::bf16, .x = {2, 3, 32}},
  };
  for (const auto& layer : layers) {
    INFO(LayerSignature(layer).text());
    CHECK(test::check_device_plans(*backend, layer) > 0);
  }
}

TEST_CASE("Every function of the CUDA kernels agrees with the reference", "[gpu]") {
  using enum ElementwiseFn;
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  for (auto fn = abs; fn <= sub; fn = static_cast<ElementwiseFn>(static_cast<int>(fn) + 1)) {
    const bool is_bitwise = fn == bitwise_not || fn == bitwise_and || fn == bitwise_or || fn == bitwise_xor ||
                            fn == shift_left || fn == shift_right;
    if (is_predicate(fn) || is_bitwise || fn == acosh || fn == atanh) continue;  // NaN for some of the operands
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    if (is_binary(fn)) {
      CHECK(test::check_device_plans(*backend, op::Binary{.fn = fn, .a = {12, 40}, .b = {12, 40}}) > 0);
      CHECK(test::check_device_plans(*backend, op::Binary{.fn = fn, .a = {7, 53}, .b = {7, 1}}) > 0);
      CHECK(test::check_device_plans(*backend, op::Unary{.x = {7, 53}, .post = {{fn, TensorShape{1, 53}}}}) > 0);
    } else {
      const double alpha = fn == clip ? -0.25 : 0.75;
      CHECK(test::check_device_plans(*backend, op::Unary{.fn = fn, .x = {1037}, .alpha = alpha, .beta = 0.5}) > 0);
    }
  }
}

TEST_CASE("Every reduction of the CUDA kernels agrees with the reference", "[gpu]") {
  using enum op::ReduceFn;
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  for (const auto fn : {mean, sum, max, min, prod, l1, l2, sum_square, log_sum, log_sum_exp}) {
    INFO(enum_names(fn)[static_cast<std::size_t>(fn)]);
    for (const std::int64_t axis : {0, 1, 2})
      CHECK(test::check_device_plans(*backend, op::Reduce{.fn = fn, .x = {6, 40, 12}, .axes = {axis}}) > 0);
  }
}

TEST_CASE("single elements of every size are gathered, as a check gathers them", "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  Device& device = *backend->device();
  std::vector<unsigned char> x(256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i);
  const std::vector<std::int64_t> positions{5, 0, 31, 17};
  const test::OnDevice from(device, x.size(), 64), indices(device, 4 * sizeof(std::int64_t), 64), to(device, 32, 64);
  device.upload(from.data(), x.data(), x.size());
  device.upload(indices.data(), positions.data(), 4 * sizeof(std::int64_t));
  for (const std::size_t width : {1, 2, 4, 8}) {
    CAPTURE(width);
    cuda::gather_rows(from.data(), indices.data(), true, to.data(), 1, 0, 4, width,
                      static_cast<cudaStream_t>(device.stream()));
    std::vector<unsigned char> got(4 * width), expected, by_device(4 * width);
    device.download(got.data(), to.data(), got.size());
    for (const auto position : positions)
      for (std::size_t byte = 0; byte < width; ++byte)
        expected.push_back(static_cast<unsigned char>(static_cast<std::size_t>(position) * width + byte));
    CHECK(got == expected);
    device.gather(by_device.data(), from.data(), positions, width);
    CHECK(by_device == expected);
  }
}

TEST_CASE("the weights of attention are a softmax of scores and mask, of earlier keys alone where it is causal",
          "[gpu]") {
  const auto backend = cuda::backend();
  if (!test::has_device(*backend)) return;
  Device& device = *backend->device();
  const float ln2 = std::log(2.0F), ln3 = std::log(3.0F);
  // One entry, two heads with two queries and three keys; e to the power of the scores is 1 2 3 in each row.
  std::vector<float> scores;
  for (int row = 0; row < 4; ++row) scores.insert(scores.end(), {0, ln2, ln3});
  const std::vector<float> mask{0, -ln2, 0, ln3, 0, 0};  // by head and key
  const auto weights = [&](const cuda::WeightShape& shape, bool masked) {
    const std::size_t bytes = scores.size() * sizeof(float), mask_bytes = mask.size() * sizeof(float);
    const test::OnDevice data(device, bytes, test::OnDevice::operand),
        added(device, mask_bytes, test::OnDevice::operand);
    device.upload(data.data(), scores.data(), bytes);
    device.upload(added.data(), mask.data(), mask_bytes);
    cuda::attention_weights(shape, cuda::Element::f32, masked ? added.data() : nullptr, data.data(),
                            static_cast<cudaStream_t>(device.stream()));
    device.finish();
    std::vector<float> result(scores.size());
    device.download(result.data(), data.data(), bytes);
    return result;
  };
  const auto check = [](const std::vector<float>& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(double{got[i]} == Approx(expected[i]).margin(1e-6));
  };
  const double sixth = 1.0 / 6, third = 1.0 / 3;
  const cuda::WeightShape shape{.heads = 2, .queries = 2, .keys = 3};
  check(weights(shape, false), {sixth, third, 0.5, sixth, third, 0.5, sixth, third, 0.5, sixth, third, 0.5});
  cuda::WeightShape masked = shape;
  masked.mask_strides[1] = 3;
  masked.mask_strides[3] = 1;
  // 1 1 3 of 5 in the first head, 3 2 3 of 8 in the second.
  check(weights(masked, true), {0.2, 0.2, 0.6, 0.2, 0.2, 0.6, 0.375, 0.25, 0.375, 0.375, 0.25, 0.375});
  cuda::WeightShape causal = shape;
  causal.causal = true;
  check(weights(causal, false), {1, 0, 0, third, 2 * third, 0, 1, 0, 0, third, 2 * third, 0});
}
