// SPDX-License-Identifier: Apache-2.0
// Tensors of which each pass of a loop reads a slice, and results that passes compute only from constants and their own
// number.
#include "least_work.hpp"

namespace sliced_by_passes {

using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, macs = 64 * 64;

TEST_CASE("passes read slices of what layers compute in front of a loop", "[floors]") {
  // z has 20 rows; each pass reads one of them.
  const auto scan = [](const std::string& body, const std::string& attributes = "") {
    return least_layers(
        "(float[20, 64] x, float[64] h0) => (float[64] y) <int64[1] a = {0}, int64[1] b = {1}> { z = MatMul(x, w) "
        "y = Scan<num_scan_inputs = 1" +
            attributes + ", body = b (float[64] h, float[64] v) => (float[64] h2) { " + body + " }>(h0, z) }",
        {{"w", f32, {64, 64}}});
  };
  SECTION("all of each: 20 rows and sums") {
    check_least(scan("h2 = Add(h, v)"), {20 * 2 * macs + 20 * 64, 20 * row + row + square, row});
  }
  SECTION("the first column: one column of w, 20 dot products, 64 sums in each pass") {
    check_least(scan("s = Slice(v, a, b) h2 = Add(h, s)"), {20 * 2 * 64 + 20 * 64, 20 * row + row + row, row});
  }
  SECTION("the last row, since each pass forgets those before it") {
    check_least(scan("h2 = Relu(v)"), {2 * macs + 64, row + square, row});
    check_least(scan("h2 = Relu(v)", ", scan_input_directions = [1]"), {2 * macs + 64, row + square, row});
  }
}

TEST_CASE("passes gather rows at places that follow from their number", "[floors]") {
  const auto collected = [](const std::string& place, const std::string& passes, const std::string& read,
                            const std::string& size) {
    return least_layers("(float[20, 64] x, float[1, 64] g) => (float[" + size + ", 1, 64] y) <int64 n = {" + passes +
                            "}, int64[1] one = {1}, int64 two = {2}, int64 last = {19}, int64[1] axis = {0}, " +
                            "int64[1] a = {0}, int64[1] b = {" + read + R"(}> { z = MatMul(x, w)
        h, s = Loop (n, "", g) <body = b (int64 i, bool go, float[1, 64] h) =>
          (bool on, float[1, 64] h2, float[1, 64] r) { on = Identity(go) h2 = Identity(h) )" +
                            place + " v = Gather(z, p) r = Relu(v) } > y = Slice(s, a, b) }",
                        {{"w", f32, {64, 64}}});
  };
  const auto rows = [](double count) { return Least{count * (2 * macs + 64), count * row + square, count * row}; };
  SECTION("that number: three passes are read, one row in each") {
    check_least(collected("p = Unsqueeze(i, axis)", "20", "3", "3"), rows(3));
  }
  SECTION("the number and one: rows 1 to 4") {
    check_least(collected("q = Unsqueeze(i, axis) p = Add(q, one)", "19", "4", "4"), rows(4));
  }
  SECTION("from the last row on") {
    check_least(collected("q = Sub(last, i) p = Unsqueeze(q, axis)", "20", "5", "5"), rows(5));
  }
  SECTION("every second row") {
    check_least(collected("q = Mul(i, two) p = Unsqueeze(q, axis)", "10", "10", "10"), rows(10));
  }
  SECTION("counted from the end: row 19 in the first pass, then row 0") {
    check_least(collected("q = Unsqueeze(i, axis) p = Sub(q, one)", "20", "2", "2"), rows(2));
  }
  SECTION("places that follow from data: all rows") {
    const auto model = least_layers(R"((float[20, 64] x, int64 d) => (float[64] y) <int64 n = {20}> { z = MatMul(x, w)
        h, j = Loop (n, "", h0, d) <body = b (int64 i, bool go, float[64] h, int64 k) =>
          (bool on, float[64] h2, int64 k2) { on = Identity(go) v = Gather(z, k) h2 = Add(h, v) k2 = Identity(k) }>
        y = Identity(h) })",
                                    {{"w", f32, {64, 64}}, {"h0", f32, {64}}});
    CHECK(model.single.layers.front().needed.flops.value == 20 * 2 * macs);
  }
}

TEST_CASE("passes read all weights that are stacked", "[floors]") {
  // 50 matrices; pass i multiplies by the i-th.
  const Least least{50 * 2 * macs, row + 50 * square, row};
  SECTION("as a sequence of a Scan") {
    const auto model = least_layers(R"((float[1, 64] x) => (float[1, 64] y) {
        y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64, 64] w) => (float[1, 64] h2) {
          h2 = MatMul(h, w) }>(x, ws) })",
                                    {{"ws", f32, {50, 64, 64}}});
    check_least(model, least);
    CHECK(model.single.weights.value == 50 * square);
  }
  SECTION("gathered by the number of the pass") {
    const auto model = least_layers(R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {50}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) w = Gather(ws, i) h2 = MatMul(h, w) }> })",
                                    {{"ws", f32, {50, 64, 64}}});
    check_least(model, least);
    CHECK(model.single.weights.value == 50 * square);
  }
  SECTION("30 of them, if there are 30 passes") {
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {30}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) w = Gather(ws, i) h2 = MatMul(h, w) }> })",
                             {{"ws", f32, {50, 64, 64}}}),
                {30 * 2 * macs, row + 30 * square, row});
  }
  SECTION("as f16 numbers behind a Cast") {
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 64] y) { ws = Cast<to = 1>(half)
        y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64, 64] w) => (float[1, 64] h2) {
          h2 = MatMul(h, w) }>(x, ws) })",
                             {{"half", onnx::TensorProto::FLOAT16, {50, 64, 64}, 2}}),
                {50 * 2 * macs, row + 50 * square / 2, row});
  }
}

TEST_CASE("what depends on constants and the number of the pass is known before a request", "[floors]") {
  const auto model = [](const std::string& passes, const std::string& step) {
    return least_layers("(float[1, 64] x) => (float[1, 64] y) <int64 n = {" + passes + R"(}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) )" +
                            step + " h2 = Add(h, p) }> }",
                        {{"e", f32, {50, 64}}, {"v", f32, {64, 64}}, {"f", f32, {64}}});
  };
  SECTION("a row of a table times a weight: 50 rows of results take less than the weight") {
    check_least(model("50", "r = Gather(e, i) p = MatMul(r, v)"), {50 * 64, row + 50 * row, row});
  }
  SECTION("sines of the number, times a weight") {
    check_least(model("50", "t = Cast<to = 1>(i) a = Mul(t, f) s = Sin(a) p = MatMul(s, v)"),
                {50 * 64, row + 50 * row, row});
  }
  SECTION("1,000 rows of results take more than the weight and the frequencies") {
    check_least(model("1000", "t = Cast<to = 1>(i) a = Mul(t, f) s = Sin(a) p = MatMul(s, v)"),
                {1000 * 64, row + square + row, row});
  }
  SECTION("a sequence in the file times a weight") {
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 64] y) {
        y = Scan<num_scan_inputs = 1, body = b (float[1, 64] h, float[64] r) => (float[1, 64] h2) {
          p = MatMul(r, v) h2 = Add(h, p) }>(x, e) })",
                             {{"e", f32, {50, 64}}, {"v", f32, {64, 64}}}),
                {50 * 64, row + 50 * row, row});
  }
  SECTION("in two loops: 5 x 6 results") {
    check_least(least_layers(R"((float[1, 64] x) => (float[1, 64] y) <int64 n = {5}, int64 m = {6}> {
        y = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
          on = Identity(go) h2 = Loop (m, "", h) <body = c (int64 j, bool goes, float[1, 64] g) =>
            (bool more, float[1, 64] g2) {
              more = Identity(goes) k = Add(i, j) r = Gather(e, k) p = MatMul(r, v) g2 = Add(g, p) }> }> })",
                             {{"e", f32, {50, 64}}, {"v", f32, {64, 64}}}),
                {30 * 64, row + 30 * row, row});
  }
  SECTION("random numbers are not known") {
    const auto drawn = model("50", "t = Cast<to = 1>(i) a = Mul(t, f) u = RandomUniformLike(a) p = MatMul(u, v)");
    check_least(drawn, {50 * 2 * macs, row + square, row});  // each product starts with what is added
  }
}

}  // namespace sliced_by_passes
