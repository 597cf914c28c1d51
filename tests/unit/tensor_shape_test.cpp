// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include <benanza/base/detail/window.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <limits>

using namespace benanza;

TEST_CASE("a shape is a literal value") {
  constexpr TensorShape x{1, 3, 224, 224};
  static_assert(x.size() == 4 && x[1] == 3 && x.back() == 224);
  static_assert(TensorShape{}.empty());
  static_assert(x != TensorShape{1, 3, 224});
  static_assert(TensorShape::filled(3, 7) == TensorShape{7, 7, 7});
}

TEST_CASE("a ninth dimension is refused, never dropped") {
  TensorShape x = TensorShape::filled(8, 2);
  CHECK_THROWS_AS(x.push_back(2), InputError);
  CHECK_THROWS_AS(TensorShape::filled(9, 1), InputError);
}

TEST_CASE("a scalar has one element, an empty dimension none") {
  CHECK(element_count({}) == 1);
  CHECK(element_count(TensorShape{3, 0, 5}) == 0);
  CHECK(element_count(TensorShape{2, 3, 5}) == 30);
}

TEST_CASE("sizes that overflow 64 bits are an error") {
  constexpr auto large = std::int64_t{1} << 62;
  CHECK(checked_product(large, 1) == large);
  CHECK_THROWS_AS(checked_product(large, 2), InputError);
  CHECK_THROWS_AS(checked_product(std::numeric_limits<std::int64_t>::min(), -1), InputError);
  CHECK_THROWS_AS(element_count(TensorShape{large, 1, 4}), InputError);
}

TEST_CASE("shapes broadcast as NumPy's do") {
  // The examples of NumPy's documentation, "General broadcasting rules".
  CHECK(broadcast({8, 1, 6, 1}, {7, 1, 5}) == TensorShape{8, 7, 6, 5});
  CHECK(broadcast({256, 256, 3}, {3}) == TensorShape{256, 256, 3});
  CHECK(broadcast({5, 4}, {1}) == TensorShape{5, 4});
  CHECK(broadcast({15, 3, 5}, {3, 1}) == TensorShape{15, 3, 5});
  CHECK(broadcast({}, {2}) == TensorShape{2});
  CHECK(broadcast({1}, {0}) == TensorShape{0});
  CHECK_THROWS_AS(broadcast({3}, {4}), InputError);
  CHECK_THROWS_AS(broadcast({2, 1}, {8, 4, 3}), InputError);
}

TEST_CASE("a window knows which elements it never reads") {
  using detail::Window;
  CHECK(Window{.size = 56, .kernel = 3, .pad_begin = 1, .pad_end = 1}.touched() == 56);
  CHECK(Window{.size = 56, .kernel = 1, .stride = 2}.touched() == 28);  // every second one
  CHECK(Window{.size = 8, .kernel = 3, .stride = 2}.touched() == 7);    // windows at 0, 2, 4: elements 0 to 6
  CHECK(Window{.size = 9, .kernel = 2, .stride = 4}.touched() == 4);    // windows at 0, 4: 0 1, 4 5
  CHECK(Window{.size = 10, .kernel = 2, .stride = 2, .dilation = 2}.touched() ==
        5);  // windows at 0, 2, 4, 6: 0 2, 2 4, 4 6, 6 8
  CHECK(Window{.size = 10, .kernel = 3, .stride = 1, .dilation = 3}.touched() ==
        10);  // windows at 0 to 3: 0 3 6, 1 4 7, 2 5 8, 3 6 9
  CHECK(Window{.size = 5, .kernel = 3, .pad_begin = 2, .pad_end = 2, .dilation = 2}.touched() == 5);
  CHECK(Window{.size = 10, .kernel = 1, .pad_begin = -2, .pad_end = -3}.touched() == 5);
}
