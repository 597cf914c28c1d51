// SPDX-License-Identifier: Apache-2.0
// Pooling, normalisation, reduction and resizing.
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace benanza;
using test::run;
using Values = std::vector<double>;

namespace {

/// Compares element by element, to 12 digits.
void check_close(const Values& got, const Values& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("pools take the largest, the mean or a norm of their window") {
  const Values x{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const op::Pool max{.x = {1, 1, 3, 3}, .kernel = {2, 2}, .indices = true};
  CHECK(run(max, {x}) == Values{5, 6, 8, 9});
  CHECK(run(max, {x}, 1) == Values{4, 5, 7, 8});
  op::Pool mean{
      .mode = op::PoolMode::average, .x = {1, 1, 3, 3}, .kernel = {2, 2}, .pads = {1, 1, 0, 0}, .strides = {2, 2}};
  CHECK(run(mean, {x}) == Values{1, 2.5, 5.5, 7});  // 1, (2+3)/2, (4+7)/2, (5+6+8+9)/4: the padding does not count
  mean.include_pad = true;
  CHECK(run(mean, {x}) == Values{0.25, 1.25, 2.75, 7});
  // Cells that ceil_mode added at the end never count: the last window holds only 9.
  const op::Pool ceil{.mode = op::PoolMode::average,
                      .x = {1, 1, 3, 3},
                      .kernel = {2, 2},
                      .pads = {0, 0, 1, 1},
                      .strides = {2, 2},
                      .include_pad = true,
                      .ceil_pads = {1, 1}};
  CHECK(run(ceil, {x}) == Values{3, 4.5, 7.5, 9});
  check_close(run(op::Pool{.mode = op::PoolMode::lp, .x = {1, 1, 1, 2}, .kernel = {1, 2}}, {{3, -4}}), {5});
  CHECK(run(op::Pool{.x = {1, 1, 1, 5}, .kernel = {1, 2}, .dilations = {1, 3}}, {{1, 2, 3, 0, 5}}) == Values{1, 5});
  CHECK(run(op::Pool{.x = {1, 1, 1, 2}, .kernel = {1, 2}, .pads = {0, 1, 0, 0}}, {{-3, -2}}) ==
        Values{-3, -2});  // padding is not zero
}

TEST_CASE("normalisations subtract the mean and divide by the deviation") {
  const double eps = 1e-5;
  // Mean 2, variance 1.
  const double unit = 1 / std::sqrt(1 + eps);
  check_close(run(op::LayerNorm{.x = {1, 2}, .bias = true}, {{1, 3}, {2, 3}, {10, 20}}),
              {10 - 2 * unit, 20 + 3 * unit});
  // Mean square (9 + 16) / 2.
  const double rms = std::sqrt(12.5 + eps);
  check_close(run(op::LayerNorm{.x = {1, 2}, .rms = true, .scale = false}, {{3, 4}}), {3 / rms, 4 / rms});
  // 1 - 3 + 5 = 3 and 3 + 2 - 1 = 4: the same root.
  const op::LayerNorm of_sum{.x = {1, 2}, .rms = true, .scale = false, .residual = op::Residual::kept, .x_bias = true};
  check_close(run(of_sum, {{1, 3}, {-3, 2}, {5, -1}}), {3 / rms, 4 / rms});
  check_close(run(of_sum, {{1, 3}, {-3, 2}, {5, -1}}, 1), {3, 4});
  check_close(run(op::LayerNorm{.x = {1, 2}, .bias = true, .residual = op::Residual::added},
                  {{2, -1}, {-1, 4}, {2, 3}, {10, 20}}),
              {10 - 2 * unit, 20 + 3 * unit});
  check_close(run(op::GroupNorm{.x = {1, 2, 2}, .groups = 2}, {{1, 3, 11, 13}, {1, 2}, {0, 5}}),
              {-unit, unit, 5 - 2 * unit, 5 + 2 * unit});
  const double all = std::sqrt(26 + eps);  // 1, 3, 11, 13: mean 7, squares of 6, 4, 4, 6
  check_close(run(op::GroupNorm{.x = {1, 2, 2}}, {{1, 3, 11, 13}, {1, 1}, {0, 0}}),
              {-6 / all, -4 / all, 4 / all, 6 / all});
  check_close(run(op::BatchNorm{.x = {1, 2, 1}}, {{5, 6}, {2, 3}, {1, 2}, {3, 4}, {4, 9}}),
              {2 * 2 / std::sqrt(4 + eps) + 1, 3 * 2 / std::sqrt(9 + eps) + 2});
  check_close(run(op::BatchNorm{.x = {1, 1, 1}, .post = {ElementwiseFn::relu}}, {{-5}, {1}, {0}, {0}, {1}}), {0});
}

TEST_CASE("local response normalisation sums squares of neighbouring channels") {
  const op::Lrn lrn{.x = {1, 4, 1}, .size = 3};
  const auto scaled = [](double x, double sum) { return x / std::pow(1 + 1e-4 / 3 * sum, 0.75); };
  check_close(run(lrn, {{1, 2, 3, 4}}), {scaled(1, 5), scaled(2, 14), scaled(3, 29), scaled(4, 25)});
  // An even size reaches one element farther behind: floor and ceil of (size - 1) / 2.
  check_close(run(op::Lrn{.x = {1, 3, 1}, .size = 2}, {{1, 2, 3}}, 0, {.lrn_alpha = 2, .lrn_bias = 0}),
              {1 / std::pow(5.0, 0.75), 2 / std::pow(13.0, 0.75), 3 / std::pow(9.0, 0.75)});
}

TEST_CASE("softmax sums to one along its axis, and large numbers do not overflow") {
  const double e = std::exp(1.0);
  check_close(run(op::Softmax{.x = {1, 2, 2}}, {{1000, 0, 1001, 0}}), {1 / (1 + e), 0.5, e / (1 + e), 0.5});
  check_close(run(op::Softmax{.x = {1, 2, 1}, .log = true}, {{1000, 1001}}), {-std::log(1 + e), 1 - std::log(1 + e)});
}

TEST_CASE("reductions fold the axes they name") {
  const Values x{1, 2, 3, 4, 5, 6};  // 2 x 3
  const auto reduce = [&](op::ReduceFn fn, TensorShape axes, DataType type = DataType::f32) {
    return run(op::Reduce{.type = type, .fn = fn, .x = {2, 3}, .axes = axes}, {x});
  };
  using enum op::ReduceFn;
  CHECK(reduce(mean, {1}) == Values{2, 5});
  CHECK(reduce(mean, {0}) == Values{2.5, 3.5, 4.5});
  CHECK(reduce(mean, {0}, DataType::i32) == Values{2, 3, 4});
  CHECK(reduce(sum, {0, 1}) == Values{21});
  CHECK(reduce(max, {1}) == Values{3, 6});
  CHECK(reduce(min, {0}) == Values{1, 2, 3});
  CHECK(reduce(prod, {1}) == Values{6, 120});
  CHECK(reduce(l1, {1}) == Values{6, 15});
  check_close(reduce(l2, {0}), {std::sqrt(17.0), std::sqrt(29.0), std::sqrt(45.0)});
  check_close(reduce(log_sum, {1}), {std::log(6.0), std::log(15.0)});
  check_close(reduce(log_sum_exp, {1}),
              {3 + std::log(1 + std::exp(-1.0) + std::exp(-2.0)), 6 + std::log(1 + std::exp(-1.0) + std::exp(-2.0))});
  CHECK(reduce(sum_square, {1}) == Values{14, 77});
  CHECK(reduce(arg_max, {1}) == Values{2, 2});
  CHECK(reduce(arg_min, {0}) == Values{0, 0, 0});
  CHECK(run(op::Reduce{.fn = arg_max, .x = {3}, .axes = {0}}, {{5, 5, 1}}) == Values{0});
  CHECK(run(op::Reduce{.fn = arg_max, .x = {3}, .axes = {0}}, {{5, 5, 1}}, 0, {.select_last_index = true}) ==
        Values{1});
}

TEST_CASE("top-k orders values and breaks ties by index") {
  const op::TopK largest{.x = {1, 4, 1}, .k = 3};
  CHECK(run(largest, {{1, 7, 7, 9}}) == Values{9, 7, 7});
  CHECK(run(largest, {{1, 7, 7, 9}}, 1) == Values{3, 1, 2});
  const op::TopK smallest{.x = {1, 2, 2}, .k = 1, .largest = false};
  CHECK(run(smallest, {{1, 5, 2, 4}}) == Values{1, 4});
  CHECK(run(smallest, {{1, 5, 2, 4}}, 1) == Values{0, 1});
}

TEST_CASE("resizing reads where ONNX's coordinates say") {
  const Values x{1, 2, 3, 4};
  const auto resize = [&](op::Resize op) { return run(op, {x}); };
  using Mode = op::ResizeMode;
  using Coordinates = op::ResizeCoordinates;
  CHECK(resize({.x = {4}, .y = {8}}) == Values{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(resize({.x = {4}, .y = {2}, .coordinates = Coordinates::asymmetric, .rounding = op::ResizeRounding::floor}) ==
        Values{1, 3});
  CHECK(resize({.x = {4}, .y = {7}, .mode = Mode::linear, .coordinates = Coordinates::align_corners}) ==
        Values{1, 1.5, 2, 2.5, 3, 3.5, 4});
  CHECK(resize({.x = {4}, .y = {8}, .mode = Mode::linear}) == Values{1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
  CHECK(resize({.x = {4}, .y = {1}, .mode = Mode::linear, .coordinates = Coordinates::pytorch_half_pixel}) ==
        Values{1});
  // Keys' cubic at a distance of a half: -0.09375, 0.59375, 0.59375, -0.09375 for a = -0.75.
  check_close(resize({.x = {4}, .y = {2}, .mode = Mode::cubic}),
              {-0.09375 + 0.59375 + 2 * 0.59375 - 3 * 0.09375, -0.09375 * 2 + 0.59375 * 3 + 4 * 0.59375 - 4 * 0.09375});
  CHECK(
      resize(
          {.x = {2, 2}, .y = {4, 2}, .coordinates = Coordinates::asymmetric, .rounding = op::ResizeRounding::floor}) ==
      Values{1, 2, 1, 2, 3, 4, 3, 4});
  // Then a residual is added, and the activation comes last.
  const op::Resize with_sum{
      .x = {1, 4}, .y = {1, 8}, .post = {PostOp(ElementwiseFn::add, TensorShape{}), ElementwiseFn::relu}};
  CHECK(run(with_sum, {x, {-2, 1, -2, 1, 0, 0, -4, -5}}) == Values{0, 2, 0, 3, 3, 3, 0, 0});
}
