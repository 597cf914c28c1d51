// SPDX-License-Identifier: Apache-2.0
// Passes of loops and steps of recurrent layers that nobody needs, and what is the same in each of them.
#include "least_work.hpp"

namespace needed_passes {

using benanza::testing::check_least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, macs = 64 * 64;

TEST_CASE("what each pass hands on as it is does not change", "[floors]") {
  // v v is a product of 64 x 64 x 64, once; then 50 products of one row.
  check_least(least_layers(R"((float[1, 64] x, float[64, 64] w) => (float[1, 64] y) <int64 n = {50}> {
      y, z = Loop (n, "", x, w) <body = b (int64 i, bool go, float[1, 64] h, float[64, 64] v) =>
        (bool on, float[1, 64] h2, float[64, 64] v2) {
          on = Identity(go) s = MatMul(v, v) h2 = MatMul(h, s) v2 = Identity(v) }> })"),
              {2 * 64 * macs + 50 * 2 * macs, row + square, row});
}

TEST_CASE("of what a loop collects the passes count that are read", "[floors]") {
  const std::string loop = R"( h, s = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) =>
      (bool on, float[1, 64] h2, float[1, 1000] e) { on = Identity(go) h2 = Relu(h) e = MatMul(h2, w) }> )";
  SECTION("the last one: 50 maxima, one product") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 1000] y) <int64 n = {50}, int64 l = {49}> {" + loop +
                                 "y = Gather<axis = 0>(s, l) }",
                             {{"w", f32, {64, 1000}}}),
                {50 * 64 + 2 * 64 * 1000, row + 64 * 1000 * 4 + 8, 4000});
  }
  SECTION("the tenth: ten maxima") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 1000] y) <int64 n = {50}, int64 l = {9}> {" + loop +
                                 "y = Gather<axis = 0>(s, l) }",
                             {{"w", f32, {64, 1000}}}),
                {10 * 64 + 2 * 64 * 1000, row + 64 * 1000 * 4 + 8, 4000});
  }
  SECTION("none of them, but what the last pass hands on") {
    check_least(least_layers("(float[1, 64] x) => (float[1, 64] y) <int64 n = {50}> {" + loop + "y = Identity(h) }",
                             {{"w", f32, {64, 1000}}}),
                {50 * 64, row, row});
  }
  SECTION("all of them") {
    check_least(
        least_layers("(float[1, 64] x) => (float[50, 1, 1000] y) <int64 n = {50}> {" + loop + "y = Identity(s) }",
                     {{"w", f32, {64, 1000}}}),
        {50 * 64 + 50 * 2 * 64 * 1000, row + 64 * 1000 * 4, 50 * 4000});
  }
}

TEST_CASE("what a Scan computes of nothing that changes counts once", "[floors]") {
  // One element of what is scanned counts, which is too little.
  check_least(least_layers(R"((float[1, 64] h0, float[20, 64] xs, float[64, 64] w, float[1, 64] c) => (float[1, 64] y) {
      y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64] x) => (float[1, 64] h2) {
        p = MatMul(c, w) q = Add(p, x) h2 = Add(h, q) }>(h0, xs) })"),
              {2 * macs + 20 * 2 * 64, row + row + square + row, row});
}

TEST_CASE("the first step of a recurrent layer has no state to multiply", "[floors]") {
  const auto lstm = [](const std::string& steps) {
    return least_layers(
        "(float[" + steps + ", 1, 64] x) => (float[1, 1, 64] y) { s, y, c = LSTM<hidden_size = 64>(x, w, r) }",
        {{"w", f32, {1, 256, 64}}, {"r", f32, {1, 256, 64}}});
  };
  // Four gates; 9 element-wise operations a unit.
  const double product = 2 * 256 * 64, weights = 256 * 64 * 4;
  check_least(lstm("100"), {100 * (product + 9 * 64) + 99 * product, 100 * row + 2 * weights, row});
  check_least(lstm("1"), {product + 9 * 64, row + weights, row});
}

TEST_CASE("a branch that a constant leaves out costs nothing", "[floors]") {
  check_least(least_layers(R"((float[1, 64] x, float[64, 64] w) => (float[1, 64] y) <bool c = {1}> {
      y = If(c) <then_branch = a () => (float[1, 64] p) { p = Relu(x) },
                 else_branch = b () => (float[1, 64] q) { q = MatMul(x, w) }> })"),
              {64, row, row});
}

}  // namespace needed_passes
