// SPDX-License-Identifier: Apache-2.0
#include "backend/reference_support.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <limits>

using namespace benanza;
using test::run;
using Values = std::vector<double>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct UnaryCase {
  ElementwiseFn fn = ElementwiseFn::relu;
  double x = 0, y = 0;
  double alpha = 0, beta = 0;
  DataType type = DataType::f64;
};
struct BinaryCase {
  ElementwiseFn fn = ElementwiseFn::add;
  double a = 0, b = 0, y = 0;
  DataType type = DataType::f64;
};

}  // namespace

TEST_CASE("functions of one operand have the values of their definitions") {
  using enum ElementwiseFn;
  const double e = std::exp(1.0);
  const UnaryCase cases[]{
      {abs, -2, 2},
      {acos, 1, 0},
      {acosh, 1, 0},
      {asin, 0, 0},
      {asinh, 0, 0},
      {atan, 1, std::atan(1.0)},
      {atanh, 0, 0},
      {ceil, 1.2, 2},
      {celu, -1, 2 * (std::exp(-0.5) - 1), 2},
      {celu, 3, 3, 2},
      {clip, 5, 3, -1, 3},
      {clip, -5, -1, -1, 3},
      {clip, 5, 1, 2, 1},
      {cos, 0, 1},
      {cosh, 0, 1},
      {elu, -1, 0.5 * (1 / e - 1), 0.5},
      {elu, 2, 2, 0.5},
      {erf, 0, 0},
      {exp, 1, e},
      {floor, -1.2, -2},
      {gelu, 1, 0.8413447460685429},       // the normal distribution at 1
      {gelu_tanh, 1, 0.8411919906082768},  // 0.5 (1 + tanh(sqrt(2 / pi) 1.044715))
      {hard_sigmoid, 1, 0.7, 0.2, 0.5},
      {hard_sigmoid, 9, 1, 0.2, 0.5},
      {hard_swish, 1, 4.0 / 6},
      {hard_swish, -4, 0},
      {hard_swish, 4, 4},
      {is_inf, infinity, 1},
      {is_inf, 1, 0},
      {is_nan, std::nan(""), 1},
      {leaky_relu, -2, -0.5, 0.25},
      {leaky_relu, 2, 2, 0.25},
      {log, e, 1},
      {logical_not, 0, 1, 0, 0, DataType::boolean},
      {mish, 1, std::tanh(std::log(1 + e))},
      {neg, 3, -3},
      {reciprocal, 4, 0.25},
      {relu, -1, 0},
      {relu, 2, 2},
      {round, 0.5, 0},
      {round, 1.5, 2},
      {round, -2.5, -2},
      {selu, -1, 3 * (2 / e - 2), 2, 3},
      {selu, 1, 3, 2, 3},
      {shrink, -3, -1, 2, 1},
      {shrink, 0.5, 0, 2, 1},
      {shrink, 3, 1, 2, 1},
      {sigmoid, 0, 0.5},
      {sign, -7, -1},
      {sign, 0, 0},
      {sin, 0, 0},
      {sinh, 0, 0},
      {softplus, 0, std::log(2.0)},
      {softplus, 1000, 1000},
      {softsign, 1, 0.5},
      {sqrt, 9, 3},
      {square, -3, 9},
      {swish, 1, 2 / (1 + std::exp(-2.0)) / 2, 2},
      {tan, 0, 0},
      {tanh, 1, std::tanh(1.0)},
      {thresholded_relu, 2, 2, 1},
      {thresholded_relu, 1, 0, 1},
      // integers wrap around
      {abs, -128, -128, 0, 0, DataType::i8},
      {neg, 1, 255, 0, 0, DataType::u8},
      {square, 20, 144, 0, 0, DataType::u8},
      {bitwise_not, 5, 250, 0, 0, DataType::u8},
      {bitwise_not, 5, -6, 0, 0, DataType::i32},
      {relu, -5, 0, 0, 0, DataType::i32},
      {clip, 200, 100, 0, 100, DataType::u8},
  };
  std::vector<bool> covered(static_cast<std::size_t>(add));
  for (const auto& c : cases) {
    covered[static_cast<std::size_t>(c.fn)] = true;
    const auto y = run(op::Unary{.type = c.type, .fn = c.fn, .x = {1}, .alpha = c.alpha, .beta = c.beta}, {{c.x}});
    CAPTURE(detail::elementwise_names[static_cast<std::size_t>(c.fn)], c.x);
    CHECK(y[0] == Approx(c.y).margin(1e-15).epsilon(1e-12));
  }
  CHECK(std::find(covered.begin(), covered.end(), false) == covered.end());
}

TEST_CASE("functions of two operands have the values of their definitions") {
  using enum ElementwiseFn;
  const BinaryCase cases[]{
      {add, 1, 2, 3},
      {sub, 1, 2, -1},
      {mul, 3, 4, 12},
      {div, 1, 4, 0.25},
      {pow, 2, 0.5, std::sqrt(2.0)},
      {max, 1, 2, 2},
      {min, 1, 2, 1},
      {prelu, -2, 0.25, -0.5},
      {prelu, 2, 0.25, 2},
      {mod, -7, 3, 2},
      {fmod, -7, 3, -1},
      {equal, 2, 2, 1},
      {greater, 2, 2, 0},
      {greater_or_equal, 2, 2, 1},
      {less, 1, 2, 1},
      {less_or_equal, 3, 2, 0},
      {logical_and, 1, 0, 0, DataType::boolean},
      {logical_or, 1, 0, 1, DataType::boolean},
      {logical_xor, 1, 1, 0, DataType::boolean},
      // integers: division drops the fraction, the rest has the divisor's sign (mod) or the dividend's (fmod), overflow
      // wraps around
      {add, 200, 100, 44, DataType::u8},
      {sub, 1, 2, 255, DataType::u8},
      {mul, 100, 3, 44, DataType::i8},
      {div, -7, 2, -3, DataType::i32},
      {div, 7, 2, 3, DataType::u64},
      {div, -128, -1, -128, DataType::i8},
      {mod, -7, 3, 2, DataType::i32},
      {fmod, -7, 3, -1, DataType::i32},
      {mod, 7, -3, -2, DataType::i64},
      {pow, 3, 4, 81, DataType::i32},
      {bitwise_and, 12, 10, 8, DataType::i32},
      {bitwise_or, 12, 10, 14, DataType::u8},
      {bitwise_xor, 12, 10, 6, DataType::i64},
      {shift_left, 129, 1, 2, DataType::u8},
      {shift_right, 129, 1, 64, DataType::u8},
      {prelu, -2, 3, -6, DataType::i32},
  };
  std::vector<bool> covered(static_cast<std::size_t>(sub) + 1, true);
  std::fill(covered.begin() + static_cast<std::ptrdiff_t>(add), covered.end(), false);
  for (const auto& c : cases) {
    covered[static_cast<std::size_t>(c.fn)] = true;
    const auto y = run(op::Binary{.type = c.type, .fn = c.fn, .a = {1}, .b = {1}}, {{c.a}, {c.b}});
    CAPTURE(detail::elementwise_names[static_cast<std::size_t>(c.fn)], c.a, c.b);
    CHECK(y[0] == Approx(c.y).margin(1e-15).epsilon(1e-12));
  }
  CHECK(std::find(covered.begin(), covered.end(), false) == covered.end());
}

TEST_CASE("the larger of a number and what is not a number is not a number") {
  using enum ElementwiseFn;
  for (auto fn : {max, min}) {
    CHECK(std::isnan(run(op::Binary{.fn = fn, .a = {1}, .b = {1}}, {{std::nan("")}, {1}})[0]));
    CHECK(std::isnan(run(op::Binary{.fn = fn, .a = {1}, .b = {1}}, {{1}, {std::nan("")}})[0]));
  }
  CHECK(std::isnan(run(op::Unary{.x = {1}}, {{std::nan("")}})[0]));
}

TEST_CASE("operands broadcast, one tensor may stand on both sides, and an epilogue follows") {
  using enum ElementwiseFn;
  CHECK(run(op::Binary{.a = {2, 1}, .b = {1, 3}}, {{10, 20}, {1, 2, 3}}) == Values{11, 12, 13, 21, 22, 23});
  CHECK(run(op::Binary{.fn = mul, .a = {3}, .b = {3}, .same = true}, {{1, -2, 3}}) == Values{1, 4, 9});
  CHECK(run(op::Binary{.a = {2}, .b = {2}, .post = {relu, {mul, TensorShape{1}}}}, {{1, 2}, {-5, 3}, {10}}) ==
        Values{0, 50});
  CHECK(run(op::Unary{.fn = neg, .x = {2, 2}, .post = {{sub, TensorShape{2}, true}}}, {{1, 2, 3, 4}, {10, 20}}) ==
        Values{11, 22, 13, 24});
  CHECK(run(op::Where{.c = {2, 1}, .x = {1, 2}, .y = {2, 2}}, {{1, 0}, {1, 2}, {3, 4, 5, 6}}) == Values{1, 2, 5, 6});
  CHECK(run(op::Nary{.x = {2}, .mean = true}, {{1, 2}, {3, 4}, {5, 9}}) == Values{3, 5});
  CHECK(run(op::Nary{.fn = max, .x = {2}}, {{1, 2}, {3, 4}, {5, -9}}) == Values{5, 4});
}

TEST_CASE("casts round to the type they lead to") {
  const auto cast = [](DataType from, DataType to, Values x) {
    const auto count = static_cast<std::int64_t>(x.size());
    return run(op::Cast{.type = from, .to = to, .x = {count}}, {std::move(x)});
  };
  CHECK(cast(DataType::f32, DataType::i32, {1.9, -1.9}) == Values{1, -1});
  CHECK(cast(DataType::f32, DataType::boolean, {0, 0.1, -3}) == Values{0, 1, 1});
  CHECK(cast(DataType::f32, DataType::f16, {2049, 0.5}) == Values{2048, 0.5});
  CHECK(cast(DataType::i32, DataType::u8, {257, -1}) == Values{1, 255});
  CHECK(cast(DataType::f64, DataType::f32, {0.1}) == Values{static_cast<double>(0.1F)});
}

TEST_CASE("quantisation rounds to nearest even, shifts and saturates") {
  // 1 / 2 = 0.5 -> 0, 3 / 2 = 1.5 -> 2, both + 128; 1000 saturates.
  CHECK(run(op::Quantize{.x = {1, 4, 1}}, {{1, 3, 1000, -1000}, {2}, {128}}) == Values{128, 130, 255, 0});
  const op::Quantize channels{.to = DataType::i8, .x = {1, 2, 2}};
  CHECK(run(channels, {{1, 2, 30, 40}, {1, 10}, {0, 1}}) == Values{1, 2, 4, 5});
  CHECK(run(op::Dequantize{.x = {1, 2, 2}}, {{10, 20, 30, 40}, {0.5, 2}, {10, 0}}) == Values{0, 5, 60, 80});
  // ONNX DynamicQuantizeLinear: [-1, 254] spans 255 steps of 1; zero lies at 1.
  const op::Quantize dynamic{.x = {1, 3, 1}, .dynamic = true};
  CHECK(run(dynamic, {{-1, 0, 254}}) == Values{0, 1, 255});
  CHECK(run(dynamic, {{-1, 0, 254}}, 1) == Values{1});
  CHECK(run(dynamic, {{-1, 0, 254}}, 2) == Values{1});
}
