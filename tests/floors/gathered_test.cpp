// SPDX-License-Identifier: Apache-2.0
// What a Gather with indices of the file makes: windows of an image, repeated rows, weights that are stored as numbers
// of a table's rows. Counted by hand: a multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

#include <string>

namespace gathered_elements {

using namespace benanza;
using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT;

/// Like check_least, but a Gather of an input is certain to read one row alone.
void check_windows(const ModelLayers& model, const Least& least) {
  CHECK(model.single.model_reads.value <= least.reads);
  CHECK(model.single.model_reads.value >= least.reads / 2);
  check_least(model, {least.flops, model.single.model_reads.value, least.writes});
}

/// An initializer with the positions that the taps of a window read: `taps` rows of `places` numbers.
std::string positions(int taps, int places) {
  std::string text = "int64[" + std::to_string(taps) + ", " + std::to_string(places) + "] i = {";
  for (int t = 0; t < taps; ++t)
    for (int p = 0; p < places; ++p) text += (t + p > 0 ? ", " : "") + std::to_string(t + p);
  return text + "}";
}

TEST_CASE("windows that two Gathers take count each element of the image once", "[floors]") {
  // As PyTorch exports unfold: rows, then columns, then one column of a matrix for each window. 4 channels, 8 results.
  const auto unfolded = [](int side, int taps, int pad, const std::string& function = "") {
    const int places = side + 2 * pad - taps + 1;
    const auto text = [](int n) { return std::to_string(n); };
    const std::string image = "float[1, 4, " + text(side) + ", " + text(side) + "] x",
                      pads = "int64[8] p = {0, 0, " + text(pad) + ", " + text(pad) + ", 0, 0, " + text(pad) + ", " +
                             text(pad) + "}",
                      shape = "int64[3] s = {1, " + text(4 * taps * taps) + ", " + text(places * places) + "}",
                      padded = pad > 0 ? "q = Pad(x, p) " : "q = Identity(x) ";
    return least_layers("(" + image + ") => (float[1, 8, " + text(places * places) + "] y) <" + pads + ", " + shape +
                            ", " + positions(taps, places) + "> { " + padded +
                            "g = Gather<axis = 2>(q, i) h = Gather<axis = 4>(g, i) " +
                            (function.empty() ? "f = Identity(h) " : "f = " + function + "(h) ") +
                            "t = Transpose<perm = [0, 1, 2, 4, 3, 5]>(f) c = Reshape(t, s) y = MatMul(w, c) }",
                        {{"w", f32, {8, 4 * taps * taps}}});
  };
  const auto weights = [](int taps) { return 8.0 * 4 * taps * taps * 4; };
  SECTION("without padding: each window has 9 elements of each channel") {
    check_windows(unfolded(7, 3, 0), {2.0 * 8 * 4 * 9 * 25, 4 * 49 * 4 + weights(3), 8 * 25 * 4});
  }
  SECTION("zeros around the image are not multiplied: 6 + 7 + 6 elements along each axis") {
    check_windows(unfolded(7, 3, 1), {2.0 * 8 * 4 * 19 * 19, 4 * 49 * 4 + weights(3), 8 * 49 * 4});
  }
  SECTION("5 x 5 taps, padded by 2: 4 + 5 + 6 + 5 + 4 elements along each axis") {
    check_windows(unfolded(6, 5, 2), {2.0 * 8 * 4 * 24 * 24, 4 * 36 * 4 + weights(5), 8 * 36 * 4});
  }
  SECTION("a function of each element of the image") {
    check_windows(unfolded(7, 3, 0, "Sigmoid"), {2.0 * 8 * 4 * 9 * 25 + 4 * 49, 4 * 49 * 4 + weights(3), 8 * 25 * 4});
  }
}

TEST_CASE("rows that indices name several times are computed once", "[floors]") {
  // 9 rows of 16 numbers; 3 x 7 indices.
  const auto model = [](const std::string& nodes, const std::string& result) {
    return least_layers("(float[9, 16] x) => (float[" + result + "] y) <" + positions(3, 7) +
                            ", int64[2] s = {21, 16}, int64[1] a = {-1}> { r = Relu(x) g = Gather(r, i) " + nodes +
                            " }",
                        {{"w", f32, {16, 8}}, {"m", f32, {3, 7, 16}}});
  };
  constexpr double reads = 9 * 16 * 4, weights = 16 * 8 * 4;
  SECTION("are multiplied once") {
    check_least(model("y = MatMul(g, w)", "3, 7, 8"), {9 * 16 + 2 * 9 * 16 * 8, reads + weights, 21 * 8 * 4});
    check_least(model("v = Reshape(g, s) e = Exp(v) y = MatMul(e, w)", "21, 8"),
                {2 * 9 * 16 + 2 * 9 * 16 * 8, reads + weights, 21 * 8 * 4});
  }
  SECTION("differ after a sum with different rows") {
    check_least(model("a0 = Add(g, m) y = MatMul(a0, w)", "3, 7, 8"),
                {9 * 16 + 21 * 16 + 2 * 21 * 16 * 8, reads + weights + 21 * 16 * 4, 21 * 8 * 4});
  }
}

TEST_CASE("weights stored as indices are read as indices and a table", "[floors]") {
  // 128 x 128 weights, one byte each, and the table of 256 floats.
  constexpr double x = 128 * 4, table = 256 * 4, macs = 128 * 128;
  const auto model = [](const std::string& weights, onnx::TensorProto::DataType type, double bytes, int entries = 256) {
    return least_layers("(float[1, 128] x) => (float[1, 128] y) { " + weights + " y = MatMul(x, w) }",
                        {{"t", f32, {entries}}, {"i", type, {128, 128}, bytes}});
  };
  SECTION("of 8 bits, after a Cast") {
    check_least(model("c = Cast<to = 6>(i) w = Gather(t, c)", onnx::TensorProto::UINT8, 1),
                {2 * macs, x + 128 * 128 + table, x});
  }
  SECTION("in another order") {
    check_least(model("c = Cast<to = 7>(i) g = Gather(t, c) w = Transpose(g)", onnx::TensorProto::UINT8, 1),
                {2 * macs, x + 128 * 128 + table, x});
  }
  SECTION("of 64 bits, which a program stores in 8") {
    check_least(model("w = Gather(t, i)", onnx::TensorProto::INT64, 8), {2 * macs, x + 128 * 128 + table, x});
  }
  SECTION("of 8 bits for 16 entries, which a program stores in 4") {
    check_least(model("c = Cast<to = 6>(i) w = Gather(t, c)", onnx::TensorProto::UINT8, 1, 16),
                {2 * macs, x + 128 * 128 / 2 + 16 * 4, x});
  }
}

TEST_CASE("many indices in the file are data, and group numbers are not", "[floors]") {
  SECTION("many indices are data: 9 bits name one of 512 rows") {
    check_least(least_layers("(float[512, 4] x) => (float[10000, 4] y) { r = Relu(x) y = Gather(r, i) }",
                             {{"i", onnx::TensorProto::INT64, {10000}, 8}}),
                {512 * 4, 512 * 4 * 4 + 10000 * 9 / 8.0, 10000 * 4 * 4});
  }
  SECTION("the groups of MatMulNBits are in the code of the program") {
    // 64 x 32 weights of 4 bits, a scale for each block of 32.
    check_least(
        least_layers(
            "(float[1, 64] x) => (float[1, 32] y) { "
            "y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, block_size = 32>(x, b, s, , g) }",
            {{"b", onnx::TensorProto::UINT8, {32, 2, 16}, 1}, {"s", f32, {64}}, {"g", onnx::TensorProto::INT32, {64}}}),
        {2 * 64 * 32, 64 * 4 + 64 * 32 / 2 + 64 * 4, 32 * 4});
  }
}

}  // namespace gathered_elements
