// SPDX-License-Identifier: Apache-2.0
// Weights that the passes of a recurrence read again; loops that count by themselves; loops that change sizes.
#include "least_work.hpp"

namespace recurrences {

using benanza::testing::check_least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, macs = 64 * 64;

/// Bytes of weights that are read again if the caches hold `caches` bytes.
double read_again(const benanza::ModelLayers& model, double caches = 0) {
  double bytes = 0;
  for (const auto& [weights, times] : model.single.rereads) bytes += std::max(0.0, weights.value - caches) * times;
  return bytes;
}

const std::vector<Stored> two_squares{{"w", f32, {64, 64}}, {"v", f32, {64, 64}}};

TEST_CASE("passes that wait for each other read their weights again", "[floors]") {
  const auto loop = [](const std::string& body, const std::string& x = "float[1, 64] x") {
    return least_layers(
        "(" + x + ") => (float[1, 64] y) <int64 n = {50}> { y = Loop (n, \"\", x) <body = b (int64 i, " +
            "bool go, float[1, 64] h) => (bool on, float[1, 64] h2) { on = Identity(go) " + body + " }> }",
        two_squares);
  };
  SECTION("two products: 49 times, as far as the caches do not hold them") {
    const auto model = loop("p = MatMul(h, w) r = Relu(p) h2 = MatMul(r, v)");
    CHECK(read_again(model) == Approx(49 * 2 * square));
    CHECK(read_again(model, square) == Approx(49 * square));
    CHECK(read_again(model, 2 * square) == 0);
  }
  SECTION("one product: half of the weights serve two passes at a time") {
    CHECK(read_again(loop("p = MatMul(h, w) h2 = Relu(p)")) == Approx(49 * square / 2));
  }
  SECTION("products of what does not change, or of the pass alone, wait for nothing") {
    CHECK(read_again(loop("p = MatMul(x, w) h2 = Add(h, p)")) == 0);
    CHECK(read_again(loop("h2 = MatMul(x, w)")) == 0);
    CHECK(read_again(loop("h2 = Relu(h)")) == 0);
  }
  SECTION("rows of weights that multiply the state") {
    // The other half of the rows multiplies x, which is known before the loop.
    const auto model = least_layers(
        R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {50}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
            on = Identity(go) c = Concat<axis = 1>(x, h) p = MatMul(c, w) h2 = Relu(p) }> })",
        {{"w", f32, {128, 64}}});
    CHECK(read_again(model) == Approx(49 * square / 2));
  }
  SECTION("states of two layers: each layer may make all of its passes before the next one") {
    const auto model = least_layers(
        R"((float[1, 64] x) => (float[1, 64] y, float[1, 64] z) <int64 n = {50}> {
          y, z = Loop (n, "", x, x) <body = b (int64 i, bool go, float[1, 64] g, float[1, 64] h) =>
            (bool on, float[1, 64] g2, float[1, 64] h2) {
              on = Identity(go) p = MatMul(g, w) g2 = Relu(p) q = MatMul(h, v) s = Add(q, g2) h2 = Relu(s) }> })",
        two_squares);
    CHECK(read_again(model) == Approx(2 * 49 * square / 2));
    CHECK(read_again(model, square) == 0);
  }
  SECTION("heads that are independent of each other") {
    const auto model = least_layers(
        R"((float[4, 1, 16] x) => (float[4, 1, 16] y) <int64 n = {50}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[4, 1, 16] h) => (bool on, float[4, 1, 16] h2) {
            on = Identity(go) p = MatMul(h, w) h2 = Relu(p) }> })",
        {{"w", f32, {4, 16, 16}}});
    CHECK(read_again(model) == 0);
  }
  SECTION("a loop in a loop: 5 x 10 passes") {
    const auto model = least_layers(
        R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {5}, int64 m = {10}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
            on = Identity(go) h2 = Loop (m, "", h) <body = c (int64 j, bool goes, float[1, 64] g) =>
              (bool more, float[1, 64] g2) { more = Identity(goes) p = MatMul(g, w) r = Relu(p) g2 = MatMul(r, v) }> }> })",
        two_squares);
    CHECK(read_again(model) == Approx(49 * 2 * square));
  }
  SECTION("a Scan") {
    const auto model = least_layers(
        R"((float[1, 64] h, float[30, 1, 64] xs) => (float[1, 64] y) {
          y = Scan<num_scan_inputs = 1, body = b (float[1, 64] g, float[1, 64] x) => (float[1, 64] g2) {
            p = MatMul(g, w) s = Add(p, x) g2 = Relu(s) }>(h, xs) })",
        two_squares);
    CHECK(read_again(model) == Approx(29 * square / 2));
  }
}

TEST_CASE("the steps of a recurrent layer read the weights of the state again", "[floors]") {
  // The first step has no state. 4 gates of 64 x 64 weights.
  SECTION("LSTM: 29 of 30 steps read them, half of them for two steps at a time") {
    const auto model =
        least_layers("(float[30, 1, 64] x) => (float[1, 1, 64] y) { ys, y = LSTM<hidden_size = 64>(x, w, r) }",
                     {{"w", f32, {1, 256, 64}}, {"r", f32, {1, 256, 64}}});
    CHECK(read_again(model) == Approx(28 * 4 * square / 2));
  }
  SECTION("GRU in two directions, with a state: each direction by itself") {
    const auto model = least_layers(
        "(float[30, 1, 64] x, float[2, 1, 64] h) => (float[2, 1, 64] y) "
        "{ ys, y = GRU<hidden_size = 64, direction = \"bidirectional\">(x, w, r, , , h) }",
        {{"w", f32, {2, 192, 64}}, {"r", f32, {2, 192, 64}}});
    CHECK(read_again(model) == Approx(2 * 29 * 3 * square / 2));
    CHECK(read_again(model, 3 * square) == 0);
  }
}

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

TEST_CASE("passes that change sizes count with their own sizes", "[floors]") {
  SECTION("halves: 32 + 16 + ... + 1 rows are added and multiplied") {
    check_least(least_layers(
                    R"((float[64, 64] x) => (float[1, 64] y) <int64 n = {6}, int64[1] a = {0}, int64[1] b = {1},
          int64[1] c = {1000}, int64[1] s = {2}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[r, 64] h) => (bool on, float[q, 64] h2) {
            on = Identity(go) e = Slice(h, a, c, a, s) o = Slice(h, b, c, a, s) p = Add(e, o) h2 = MatMul(p, w) }> })",
                    {{"w", f32, {64, 64}}}),
                {63 * (64 + 2 * macs), 64 * row + square, row});
  }
  SECTION("a cache that grows: 11 + 12 + ... + 20 rows are multiplied, of which each collects a sum") {
    const auto model = least_layers(
        R"((float[10, 64] c, float[1, 64] x) => (float[20, 64] y, float[10] s) <int64 n = {10}> {
          y, s = Loop (n, "", c) <body = b (int64 i, bool go, float[r, 64] h) =>
            (bool on, float[q, 64] h2, float e) {
              on = Identity(go) g = Concat<axis = 0>(h, x) h2 = MatMul(g, w) e = ReduceSum<keepdims = 0>(h2) }> })",
        {{"w", f32, {64, 64}}});
    check_least(model, {155 * (2 * macs + 64), 11 * row + square, 20 * row + 40});
    CHECK(model.single.unknown.empty());
  }
  SECTION("a window that is full after 4 of 1,000 passes") {
    const auto model = least_layers(
        R"((float[1, 64] x) => (float[5, 64] y) <int64 n = {1000}, int64[1] a = {-5}, int64[1] c = {1000}, int64[1] d = {0}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[r, 64] h) => (bool on, float[q, 64] h2) {
            on = Identity(go) g = Concat<axis = 0>(h, x) s = Slice(g, a, c, d) h2 = Sigmoid(s) }> })");
    CHECK(model.single.unknown.empty());
    CHECK(model.single.model_writes.value == 5 * row);
    CHECK(model.single.layers.size() < 40);
  }
  SECTION("more passes than stand in the graph: 1 + 2 + ... + 100,000 rows") {
    const auto model = least_layers(
        R"((float[0, 64] c, float[1, 64] x) => (float[100000, 64] y) <int64 n = {100000}> {
          y = Loop (n, "", c) <body = b (int64 i, bool go, float[r, 64] h) => (bool on, float[q, 64] h2) {
            on = Identity(go) g = Concat<axis = 0>(h, x) h2 = Relu(g) }> })");
    check_least(model, {100000.0 * 100001 / 2 * 64, row, 100000 * row});
    CHECK(model.single.unknown.empty());
  }
  SECTION("sizes that follow from the number of the pass: the last pass reads 10 rows") {
    check_least(least_layers(
                    R"((float[30, 64] x) => (float[10, 64] y) <int64 n = {10}, int64 one = {1}, int64[1] a = {0}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[r, 64] h) => (bool on, float[q, 64] h2) {
            on = Identity(go) j = Add(i, one) e = Unsqueeze(j, a) s = Slice(x, a, e, a) h2 = MatMul(s, w) }> })",
                    {{"w", f32, {64, 64}}}),
                {10 * 2 * macs, 10 * row + square, 10 * row});
  }
  SECTION("what does not change counts once, and so do weights in the bodies") {
    const auto model = least_layers(
        R"((float[4, 64] x, float[2, 64] u) => (float[24, 64] y) <int64 n = {10}, int64 m = {3}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[r, 64] h) => (bool on, float[q, 64] h2) {
            on = Identity(go) p = MatMul(u, v) g = Concat<axis = 0>(h, p)
            h2 = Loop (m, "", g) <body = c (int64 j, bool goes, float[s, 64] k) => (bool more, float[t, 64] k2)
              <float[64] z = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> {
              more = Identity(goes) a = MatMul(k, w) k2 = Add(a, z) }> }> })",
        two_squares);
    // 6 + 8 + ... + 24 = 150 rows, three times each. The sums of a product start with what is added.
    check_least(model, {2 * 2 * macs + 3 * 150 * 2 * macs, 6 * row + 2 * square + row, 24 * row});
  }
  SECTION("data that choose the sizes: the report says so") {
    const auto model = least_layers(
        R"((float[64, 64] x, bool[64] k) => (float[r, 64] y) <int64 n = {10}> {
          y = Loop (n, "", x) <body = b (int64 i, bool go, float[s, 64] h) => (bool on, float[t, 64] h2) {
            on = Identity(go) c = Compress<axis = 0>(h, k) h2 = Relu(c) }> })");
    CHECK_FALSE(model.single.unknown.empty());
  }
}

TEST_CASE("passes that change sizes read weights again too", "[floors]") {
  const auto model = least_layers(
      R"((float[10, 64] c, float[1, 64] x) => (float[1, 64] y, float[20, 64] z) <int64 n = {10}, int64[1] a = {0}> {
        y, z = Loop (n, "", x, c) <body = b (int64 i, bool go, float[1, 64] h, float[r, 64] k) =>
          (bool on, float[1, 64] h2, float[q, 64] k2) {
            on = Identity(go) p = MatMul(h, w) k2 = Concat<axis = 0>(k, p) m = ReduceMean(k2, a) s = Add(m, p)
            h2 = MatMul(s, v) }> })",
      two_squares);
  CHECK(read_again(model) == Approx(9 * 2 * square));
}

}  // namespace recurrences
