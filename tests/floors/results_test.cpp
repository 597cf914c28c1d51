// SPDX-License-Identifier: Apache-2.0
// Nodes with several results of which only one is read, and nodes that pass on an operand unchanged. A multiply-add is
// two operations, floats have 4 bytes.
#include "least_work.hpp"

namespace one_of_several_results {

using benanza::testing::check_least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, product_row = 2 * 64 * 64;

TEST_CASE("a sum before a norm that nothing reads", "[floors]") {
  const std::string head = "(float[1, 64, 64] x, float[1, 64, 64] k) => (float[1, 64, 64] s";
  SECTION("is an addition for each element") {
    check_least(
        least_layers(head + ") { y, m, v, s = com.microsoft.SkipLayerNormalization(x, k, g) }", {{"g", f32, {64}}}),
        {64 * 64, 2 * square, square});
    check_least(least_layers(head + ") { y, m, v, s = com.microsoft.SkipSimplifiedLayerNormalization(x, k, g) }",
                             {{"g", f32, {64}}}),
                {64 * 64, 2 * square, square});
  }
  SECTION("is two with a bias, which is read") {
    check_least(least_layers(head + ") { y, m, v, s = com.microsoft.SkipLayerNormalization(x, k, g, b, c) }",
                             {{"g", f32, {64}}, {"b", f32, {64}}, {"c", f32, {64}}}),
                {2 * 64 * 64, 2 * square + row, square});
  }
  SECTION("of which one row is read: mean, variance, normalising and scaling of 64 elements") {
    check_least(least_layers(head + R"(, float[1, 1, 64] z) <int64[1] i = {0}, int64[1] j = {1}> {
        y, m, v, s = com.microsoft.SkipLayerNormalization(x, k, g) z = Slice(y, i, j, j) })",
                             {{"g", f32, {64}}}),
                {64 * 64 + 6 * 64, 2 * square + row, square + row});
  }
}

TEST_CASE("a choice between a tensor and itself", "[floors]") {
  SECTION("asks for no condition") {
    check_least(least_layers("(bool[64, 64] c, float[64, 64] x) => (float[64, 64] y) { r = Relu(x) "
                             "y = Where(c, r, r) }"),
                {64 * 64, square, square});
    check_least(least_layers(R"((float[64, 64] z, float[64, 64] x, float[64, 64] w) => (float[64, 64] y) {
        m = MatMul(z, w) c = Greater(m, z) r = Relu(x) y = Where(c, r, r) })"),
                {64 * 64, square, square});
  }
  SECTION("by its maximum or minimum") {
    const std::string choice = GENERATE("Max", "Min");
    const std::string operands = GENERATE("(m, m) }", "(m, m, m) }");
    check_least(least_layers("(float[64, 64] x, float[64, 64] w) => (float[64, 64] y) { m = MatMul(x, w) y = " +
                             choice + operands),
                {64 * product_row, 2 * square, square});
  }
  SECTION("but not of three tensors of which two are one") {
    check_least(least_layers("(float[64, 64] x, float[64, 64] z) => (float[64, 64] y) { y = Max(x, x, z) }"),
                {2 * 64 * 64, 2 * square, square});
  }
}

TEST_CASE("attention of which only the new caches are read computes no scores", "[floors]") {
  // 48 tokens of two heads are in the caches, 16 come with the call. The new caches hold inputs unchanged.
  const std::string caches =
      "(float[1, 2, 16, 64] x, float[1, 2, 16, 64] o, float[1, 2, 16, 64] v, "
      "float[1, 2, 48, 64] pk, float[1, 2, 48, 64] pv, float[64, 64] w) => "
      "(float[1, 2, 64, 64] a, float[1, 2, 64, 64] b) { ";
  SECTION("no queries are needed") {
    check_least(least_layers(caches + "q = MatMul(x, w) y, a, b = Attention(q, o, v, , pk, pv) }", {}, 23), {0, 0, 0});
  }
  SECTION("keys are computed") {
    check_least(least_layers(caches + "k = MatMul(x, w) y, a, b = Attention(o, k, v, , pk, pv) }", {}, 23),
                {32 * product_row, 32 * row + square, 32 * row});
  }
  SECTION("of keys one token") {
    check_least(least_layers(R"((float[1, 2, 16, 64] x, float[1, 2, 16, 64] o, float[1, 2, 16, 64] v,
        float[1, 2, 48, 64] pk, float[1, 2, 48, 64] pv, float[64, 64] w) => (float[1, 2, 1, 64] z)
        <int64[1] i = {63}, int64[1] j = {64}, int64[1] axis = {2}> {
          k = MatMul(x, w) y, a, b = Attention(o, k, v, , pk, pv) s = Slice(a, i, j, axis) z = Relu(s) })",
                             {}, 23),
                {2 * product_row + 2 * 64, 2 * row + square, 2 * row});
  }
  SECTION("of GroupQueryAttention") {
    check_least(least_layers(R"((float[1, 1, 128] x, float[1, 1, 64] k, float[1, 1, 64] v, float[1, 1, 1023, 64] pk,
        float[1, 1, 1023, 64] pv, int32[1] l, int32 t, float[128, 128] w) =>
        (float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          q = MatMul(x, w)
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })"),
                {0, 0, 0});
  }
}

TEST_CASE("scores of attention need no values", "[floors]") {
  const auto model = least_layers(R"((float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v) =>
      (float[1, 2, 128, 128] s) { y, a, b, s = Attention(q, k, v) })",
                                  {}, 23);
  CHECK(model.single.model_reads.value == 2 * 2 * 128 * 8 * 4);
  CHECK(model.single.model_writes.value == 2 * 128 * 128 * 4);
}

TEST_CASE("a scale needs the least and the greatest element", "[floors]") {
  check_least(least_layers("(float[64, 64] x) => (float s) { y, s, z = DynamicQuantizeLinear(x) }"),
              {2 * 64 * 64, square, 4});
}

TEST_CASE("logarithms of probabilities need no targets", "[floors]") {
  // An exponential, an addition and a subtraction for each of 100 scores.
  check_least(least_layers("(float[64, 100] x, int64[64] t) => (float[64, 100] p) { "
                           "y, p = SoftmaxCrossEntropyLoss(x, t) }"),
              {3 * 6400, 6400 * 4, 6400 * 4});
}

TEST_CASE("a loss of one position needs its scores and its target alone", "[floors]") {
  // Of 64 rows of 8 scores one: an exponential and an addition for each score, and the choice of one.
  const auto first = [](const std::string& nodes) {
    return least_layers("(float[64, 8] x, int64[64] t) => (float[1] y) <int64[1] a = {0}, int64[1] b = {1}> { " +
                        nodes + " y = Slice(l, a, b, a) }");
  };
  check_least(first("l = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, t)"), {2 * 8 + 1, 8 * 4 + 8, 4});
  // A softmax takes 5 operations a score.
  check_least(first("h = LogSoftmax(x) l = NegativeLogLikelihoodLoss<reduction = \"none\">(h, t)"),
              {5 * 8 + 1, 8 * 4 + 8, 4});
  // A mean needs all.
  check_least(least_layers("(float[64, 8] x, int64[64] t) => (float y) { y = SoftmaxCrossEntropyLoss(x, t) }"),
              {64 * (2 * 8 + 1), 64 * (8 * 4 + 8), 4});
}

TEST_CASE("a result without elements needs nothing", "[floors]") {
  check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[0, 64] y)
      <int64[1] i = {5}, int64[1] axis = {0}> { h = MatMul(x, w) y = Slice(h, i, i, axis) })"),
              {0, 0, 0});
}

}  // namespace one_of_several_results
