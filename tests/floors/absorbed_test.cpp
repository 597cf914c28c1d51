// SPDX-License-Identifier: Apache-2.0
// Arithmetic that costs nothing: what products absorb, and what changes nothing. Counted by hand: a multiply-add is two
// operations, floats have 4 bytes.
#include "least_work.hpp"

#include <string>

namespace absorbed_arithmetic {

using namespace benanza;
using benanza::testing::check_least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;

TEST_CASE("sums of products start with an addend", "[floors]") {
  // 16 rows by 4 x 4 weights.
  constexpr double macs = 16 * 4 * 4, rows = 16 * 4 * 4, square = 4 * 4 * 4, bias = 4 * 4;
  const std::vector<Stored> stored{{"w", f32, {4, 4}}, {"b", f32, {4}}, {"c", f32, {4}}};
  const auto model = [&](const std::string& nodes, const std::string& more = "") {
    return least_layers("(float[16, 4] x" + more + ") => (float[16, 4] y) { " + nodes + " }", stored);
  };
  SECTION("a bias of a Gemm") {
    check_least(model("y = Gemm<transB = 1>(x, w, b)"), {2 * macs, rows + square + bias, rows});
  }
  SECTION("a bias that is added or subtracted, on either side") {
    for (const std::string sum : {"Add(p, b)", "Add(b, p)", "Sub(p, b)", "Sub(b, p)"})
      check_least(model("p = MatMul(x, w) y = " + sum), {2 * macs, rows + square + bias, rows});
  }
  SECTION("two biases, which are added up before a request") {
    check_least(model("p = MatMul(x, w) q = Add(p, b) y = Add(q, c)"), {2 * macs, rows + square + bias, rows});
  }
  SECTION("a residual, but not a bias as well") {
    check_least(model("p = MatMul(x, w) y = Add(p, r)", ", float[16, 4] r"), {2 * macs, 2 * rows + square, rows});
    check_least(model("p = Gemm(x, w, b) y = Add(p, r)", ", float[16, 4] r"),
                {2 * macs + 16 * 4, 2 * rows + square + bias, rows});
  }
  SECTION("two products and a bias: one starts with the other, which starts with the bias") {
    const auto both = model("p = MatMul(x, w) q = MatMul(z, w) a = Add(p, q) y = Add(a, b)", ", float[16, 4] z");
    CHECK(both.single.dead.empty());
    check_least(both, {2 * 2 * macs, 2 * rows + square + bias, rows});
    check_least(model("p = Gemm(x, w, b) q = Gemm(z, w, c) y = Add(p, q)", ", float[16, 4] z"),
                {2 * 2 * macs, 2 * rows + square + bias, rows});
  }
  SECTION("behind views and transpositions") {
    check_least(least_layers("(float[16, 4] x, float[4, 2, 8] r) => (float[4, 2, 8] y) <int64[3] s = {2, 8, 4}> { "
                             "p = MatMul(x, w) v = Reshape(p, s) t = Transpose<perm = [2, 0, 1]>(v) y = Add(t, r) }",
                             stored),
                {2 * macs, 2 * rows + square, rows});
  }
  SECTION("not if the product itself is read as well") {
    check_least(
        least_layers("(float[16, 4] x) => (float[16, 4] y, float[16, 4] p) { p = MatMul(x, w) y = Add(p, b) }", stored),
        {2 * macs + 16 * 4, rows + square + bias, 2 * rows});
  }
  SECTION("not if more results are added than products are summed") {
    check_least(
        least_layers("(float[1, 4] x, float[16, 4] r) => (float[16, 4] y) { p = MatMul(x, w) y = Add(p, r) }", stored),
        {2 * 4 * 4 + 16 * 4, 4 * 4 + rows + square, rows});
  }
  SECTION("not if equal rows of the product become different ones: one row is computed") {
    check_least(least_layers("(float[1, 4] x, float[16, 4] r) => (float[16, 4] y) <int64[2] s = {16, 4}> { "
                             "e = Expand(x, s) p = MatMul(e, w) y = Add(p, r) }",
                             stored),
                {2 * 4 * 4 + 15 * 4, 4 * 4 + rows + square, rows});
  }
  SECTION("an Einsum") {
    check_least(model("p = Einsum<equation = \"ik,kj->ij\">(x, w) y = Add(p, b)"),
                {2 * macs, rows + square + bias, rows});
  }
}

TEST_CASE("constants behind a product are folded into its weights", "[floors]") {
  // 3x3 taps, 4 channels to 8, 6 x 6 results.
  constexpr double macs = 8 * 36 * 4 * 9, x = 4 * 64 * 4, weights = 8 * 4 * 9 * 4, vector = 8 * 4, y = 8 * 36 * 4;
  const auto model = [](const std::string& nodes, const std::string& more = "") {
    return least_layers("(float[1, 4, 8, 8] x" + more + ") => (float[1, 8, 6, 6] y) { " + nodes + " }",
                        {{"w", f32, {8, 4, 3, 3}},
                         {"b", f32, {8}},
                         {"s", f32, {8}},
                         {"m", f32, {8}},
                         {"v", f32, {8}},
                         {"k", f32, {1, 8, 1, 1}},
                         {"n", f32, {8, 1, 1}},
                         {"o", f32, {8, 6, 6}}});
  };
  SECTION("a batch norm: its scale into the weights, its shift into a bias") {
    check_least(model("c = Conv(x, w) y = BatchNormalization(c, s, b, m, v)"), {2 * macs, x + weights + vector, y});
    check_least(model("c = Conv(x, w, b) y = BatchNormalization(c, s, b, m, v)"), {2 * macs, x + weights + vector, y});
  }
  SECTION("a batch norm and a residual: the shift is the addend") {
    check_least(model("c = Conv(x, w) n0 = BatchNormalization(c, s, b, m, v) y = Add(n0, r)", ", float[1, 8, 6, 6] r"),
                {2 * macs + 8 * 36, x + weights + vector + y, y});
  }
  SECTION("a scale of each channel") {
    check_least(model("c = Conv(x, w) y = Mul(c, k)"), {2 * macs, x + weights, y});
    check_least(model("c = Conv(x, w) y = Div(c, n)"), {2 * macs, x + weights, y});
    check_least(model("c = Conv(x, w) t = Mul(n, c) y = Add(t, k)"), {2 * macs, x + weights + vector, y});
  }
  SECTION("not a number for each element") {
    check_least(model("c = Conv(x, w) y = Mul(c, o)"), {2 * macs + 8 * 36, x + weights + y, y});
  }
  SECTION("not behind a residual or a function") {
    check_least(model("c = Conv(x, w) a = Add(c, r) y = BatchNormalization(a, s, b, m, v)", ", float[1, 8, 6, 6] r"),
                {2 * macs + 2 * 8 * 36, x + weights + y + 2 * vector, y});
    check_least(model("c = Conv(x, w) a = Relu(c) y = Mul(a, k)"), {2 * macs + 2 * 8 * 36, x + weights + vector, y});
  }
  SECTION("not into weights of a request") {
    check_least(least_layers("(float[1, 4, 8, 8] x, float[8, 4, 3, 3] w) => (float[1, 8, 6, 6] y) { c = Conv(x, w) "
                             "y = Mul(c, k) }",
                             {{"k", f32, {1, 8, 1, 1}}}),
                {2 * macs + 8 * 36, x + weights + vector, y});
  }
}

TEST_CASE("arithmetic with a neutral number changes nothing", "[floors]") {
  constexpr double tensor = 8 * 16 * 4;
  const auto model = [](const std::string& nodes, const std::string& type = "float") {
    return least_layers("(" + type + "[8, 16] x) => (" + type + "[8, 16] y) <" + type + " one = {1}, " + type +
                        "[1] ones = {1}, " + type + "[1, 1] zero = {0}, " + type + " two = {2}> { " + nodes + " }");
  };
  SECTION("on either side of a function: one maximum for each element") {
    for (const std::string neutral : {"Mul(%, one)", "Mul(ones, %)", "Add(%, zero)", "Add(zero, %)", "Sub(%, zero)",
                                      "Div(%, one)", "Pow(%, one)", "Sum(zero, %)"}) {
      const std::size_t at = neutral.find('%');
      const auto of = [&](const std::string& x) { return std::string(neutral).replace(at, 1, x); };
      check_least(model("a = " + of("x") + " b = Relu(a) y = " + of("b")), {8 * 16, tensor, tensor});
    }
  }
  SECTION("of whole numbers") { check_least(model("a = Div(x, one) y = Abs(a)", "int32"), {8 * 16, tensor, tensor}); }
  SECTION("other numbers count, and so do 0 - x and 1 / x") {
    for (const std::string other : {"Mul(x, two)", "Sub(zero, x)", "Div(one, x)", "Add(x, one)", "Pow(one, x)"})
      check_least(model("y = " + other), {8 * 16, tensor + 4, tensor});
  }
}

TEST_CASE("attention takes no more operations than its fastest form", "[floors]") {
  // 4 heads, 256 queries and keys of 16 numbers. Per score: two products, maximum, difference, exponential and sum. The
  // division is left to the results, and the scale to the queries: neither counts.
  constexpr double scores = 4 * 256 * 256, tensor = 4 * 256 * 16 * 4, least = scores * (2 * (16 + 16) + 4);
  const auto model = [](const std::string& nodes) {
    return least_layers(
        "(float[4, 256, 16] q, float[4, 16, 256] k, float[4, 256, 16] v, float[4, 256, 256] m) => "
        "(float[4, 256, 16] y) <float s = {0.25}, float c = {2.0}> { p = MatMul(q, k) " +
        nodes + " }");
  };
  SECTION("divides the results") {
    check_least(model("a = Softmax<axis = -1>(p) y = MatMul(a, v)"), {least, 3 * tensor, tensor});
  }
  SECTION("scales the queries") {
    check_least(model("t = Mul(p, s) a = Softmax<axis = -1>(t) y = MatMul(a, v)"), {least, 3 * tensor + 4, tensor});
    check_least(model("t = Div(p, c) a = Softmax<axis = -1>(t) y = MatMul(a, v)"), {least, 3 * tensor + 4, tensor});
  }
  SECTION("starts the scores with the mask") {
    check_least(model("t = Mul(p, s) n = Add(t, m) a = Softmax<axis = -1>(n) y = MatMul(a, v)"),
                {least, 3 * tensor + scores * 4 + 4, tensor});
  }
  SECTION("as one operator") {
    check_least(least_layers("(float[1, 4, 256, 16] q, float[1, 4, 256, 16] k, float[1, 4, 256, 16] v) => "
                             "(float[1, 4, 256, 16] y) { y = Attention(q, k, v) }",
                             {}, 23),
                {least, 3 * tensor, tensor});
  }
  SECTION("but divides each score that is a result") {
    check_least(least_layers("(float[4, 256, 256] p, float[4, 256, 16] v) => (float[4, 256, 16] y, float[4, 256, 256] "
                             "a) { a = Softmax<axis = -1>(p) y = MatMul(a, v) }"),
                {scores * (5 + 2 * 16), scores * 4 + tensor, scores * 4 + tensor});
  }
}

}  // namespace absorbed_arithmetic
