// SPDX-License-Identifier: Apache-2.0
// Weights that the passes of a recurrence read again; loops that count by themselves; loops that change sizes.
#include "least_work.hpp"

namespace recurrences {

using benanza::testing::check_least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, macs = 64 * 64;

TEST_CASE("a loop that counts by itself has as many passes as its counter allows", "[floors]") {
  struct Case {
    std::string condition;
    double passes;
  };
  // The counter is 3 in the first pass and 5 at its end.
  const auto [condition, passes] = GENERATE(values<Case>({{"on = Less(c2, n)", 9},          // 21 < 21 is false
                                                          {"on = LessOrEqual(c2, n)", 10},  // 21 <= 21 is true
                                                          {"on = Greater(n, c2)", 9},
                                                          {"q = GreaterOrEqual(c2, n) on = Not(q)", 9},
                                                          {"q = Equal(c2, n) on = Not(q)", 9},
                                                          {"a = Less(c2, n) b = Less(i, m) on = And(a, b)", 5},
                                                          {"a = Less(c2, n) b = Less(i, m) on = Or(a, b)", 9},
                                                          {"f = Cast<to = 1>(c2) on = Less(f, r)", 9},
                                                          {"on = Less(n, c2)", 1}}));
  INFO(condition);
  const auto model = least_layers(
      R"((float[8, 64] x) => (float[8, 64] y) <int32 zero = {3}, int32 two = {2}, int32 n = {21}, int64 m = {4}, float r = {20.0}> {
        y, c = Loop ("", "", x, zero) <body = b (int64 i, bool go, float[8, 64] h, int32 c1) =>
          (bool on, float[8, 64] h2, int32 c2) { h2 = MatMul(h, w) c2 = Add(c1, two) )" +
          condition + " }> }",
      {{"w", f32, {64, 64}}});
  CHECK(model.single.unknown.empty());
  check_least(model, {passes * 8 * 2 * macs, 8 * row + square, 8 * row});
}

TEST_CASE("a loop whose counter depends on data, or is no counter, has an unknown number of passes", "[floors]") {
  const auto unknown = [](const std::string& inputs, const std::string& next) {
    return least_layers(
               "(float[8, 64] x, int64 s) => (float[8, 64] y) <int64 zero = {0}, int64 one = {1}, int64 n = {9}> {" +
                   std::string(" y, c = Loop (\"\", \"\", x, ") + inputs + ") <body = b (int64 i, bool go, " +
                   "float[8, 64] h, int64 c1) => (bool on, float[8, 64] h2, int64 c2) { h2 = MatMul(h, w) " + next +
                   " on = Less(c2, n) }> }",
               {{"w", f32, {64, 64}}})
        .single.unknown.size();
  };
  CHECK(unknown("zero", "c2 = Add(c1, one)") == 0);
  CHECK(unknown("s", "c2 = Add(c1, one)") == 1);   // begins anywhere
  CHECK(unknown("zero", "c2 = Add(c1, s)") == 1);  // gains anything
  CHECK(unknown("one", "c2 = Add(c1, c1)") == 1);  // doubles
  CHECK(unknown("zero", "c2 = Add(c1, i)") == 1);  // gains more in each pass
}

TEST_CASE("rows that a counter picks are read", "[floors]") {
  // Rows 2, 4, ..., 10 of 100.
  const auto model = least_layers(
      R"((float[1, 64] x, float[100, 1, 64] xs) => (float[1, 64] y) <int64 two = {2}, int64 n = {12}> {
        y, c = Loop ("", "", x, two) <body = b (int64 i, bool go, float[1, 64] h, int64 c1) =>
          (bool on, float[1, 64] h2, int64 c2) {
            g = Gather<axis = 0>(xs, c1) h2 = Add(h, g) c2 = Add(c1, two) on = Less(c2, n) }> })");
  check_least(model, {5 * 64, row + 5 * row, row});
}

}  // namespace recurrences
