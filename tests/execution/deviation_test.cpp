// SPDX-License-Identifier: Apache-2.0
#include "execution/deviation.hpp"

#include "support/catch.hpp"
#include "support/onnx_text.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace benanza;
using execution::deviation;
using execution::is_rounded;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor tensor_of(DataType type, const std::vector<double>& values) {
  return Tensor::of(type, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("floats differ by a part of the largest magnitude that is expected") {
  const auto one = deviation(tensor_of(DataType::f32, {1, -4, 2}), tensor_of(DataType::f32, {1, -4, 3}), false);
  CHECK(one.largest == 4);
  CHECK(one.relative == 0.25);  // 1 of 4
  CHECK(one.unequal == 0);
}

TEST_CASE("what is not finite has to be the same") {
  const auto relative = [](double expected, double got) {
    return deviation(tensor_of(DataType::f32, {1, expected}), tensor_of(DataType::f32, {1, got}), false).relative;
  };
  CHECK(relative(infinity, infinity) == 0);
  CHECK(relative(-infinity, -infinity) == 0);
  CHECK(relative(not_a_number, not_a_number) == 0);
  for (const double expected : {infinity, -infinity, not_a_number}) {
    CHECK(relative(expected, 1) == infinity);
    CHECK(relative(1, expected) == infinity);
    CHECK(relative(expected, infinity) == (expected == infinity ? 0 : infinity));
  }
}

TEST_CASE("integers and booleans are counted where they differ, however large they are") {
  std::vector<double> expected(2000, 50000), got = expected;
  got[7] = 49960;  // less than 1e-3 of the largest
  got[1999] = 0;
  const auto one = deviation(tensor_of(DataType::i64, expected), tensor_of(DataType::i64, got), false);
  CHECK(one.largest == 50000);
  CHECK(one.relative == 0);
  CHECK(one.unequal == 1e-3);  // 2 of 2000
  CHECK(deviation(tensor_of(DataType::boolean, {1, 0, 1, 1}), tensor_of(DataType::boolean, {1, 1, 1, 1}), false)
            .unequal == 0.25);
}

TEST_CASE("rounded integers may be one step off") {
  const Tensor expected = tensor_of(DataType::u8, {10, 20, 30, 40}), got = tensor_of(DataType::u8, {11, 20, 28, 39});
  CHECK(deviation(expected, got, true).unequal == 0.25);  // 30 and 28
  CHECK(deviation(expected, got, false).unequal == 0.75);
}

TEST_CASE("integers of 8 bits are rounded where a quantising node has made them") {
  const Graph graph = testing::import_text(
      R"(m (float[1,2,4,4] x, uint8[4] i) => (uint8[1,2,2,2] a, uint8[4] b, int64[1,1,4,4] c)
         <float scale = {0.1}, uint8 zero = {3}> {
    q = QuantizeLinear(x, scale, zero)
    a = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(q)
    b = Identity(i)
    c = ArgMax<axis = 1>(x)
  })",
      {.executable = true});
  REQUIRE(graph.outputs.size() == 3);
  CHECK(is_rounded(graph, graph.outputs[0]));
  CHECK_FALSE(is_rounded(graph, graph.outputs[1]));
  CHECK_FALSE(is_rounded(graph, graph.outputs[2]));
}
