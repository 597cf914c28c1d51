// SPDX-License-Identifier: Apache-2.0
// Operators that read a part of their operands, or none of it. A multiply-add is two operations, floats have 4
// bytes, constant indices no bytes. `h` is a product: each of its rows takes a row of x and all of w.
#include "least_work.hpp"

namespace parts_of_operands {

using benanza::testing::check_least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT, i64 = onnx::TensorProto::INT64, u8 = onnx::TensorProto::UINT8;
constexpr double row = 64 * 4, square = 64 * 64 * 4, product_row = 2 * 64 * 64;

TEST_CASE("a table of indices names rows", "[floors]") {
  SECTION("four of 64") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[2, 2, 64] y)
        <int64[2, 2] i = {0, 10, -1, 3}> { h = MatMul(x, w) y = Gather(h, i) })"),
                {4 * product_row, 4 * row + square, 4 * row});
  }
  SECTION("two rows of the table are one") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[2, 2, 64] y)
        <int64[2, 2] i = {5, 9, 5, 9}> { r = Relu(x) g = Gather(r, i) y = MatMul(g, w) })"),
                {2 * 64 + 2 * product_row, 2 * row + square, 4 * row});
  }
  SECTION("two rows, each twice") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[2, 2, 64] y)
        <int64[2, 2] i = {5, 9, 9, 5}> { r = Relu(x) g = Gather(r, i) y = MatMul(g, w) })"),
                {2 * 64 + 2 * product_row, 2 * row + square, 4 * row});
  }
  SECTION("2048 times the first") {
    check_least(least_layers("(float[64, 64] x, float[64, 64] w) => (float[2048, 64] y) { h = MatMul(x, w) "
                             "y = Gather(h, i) }",
                             {{"i", i64, {2048}, 8}}),
                {product_row, row + square, 2048 * row});
  }
  SECTION("of each row the first element") {
    check_least(least_layers("(float[64, 64] x, float[64, 64] w) => (float[64] y) { h = MatMul(x, w) "
                             "y = GatherND<batch_dims = 1>(h, i) }",
                             {{"i", i64, {64, 1}, 8}}),
                {2 * 64 * 64, square + row, 64 * 4});
  }
}

TEST_CASE("what a scatter overwrites is not computed", "[floors]") {
  const std::string head = "(float[4, 64] x, float[64, 64] w, float[";
  SECTION("all rows but one") {
    check_least(least_layers(head + R"(3, 64] u) => (float[4, 64] y) <int64[3, 1] i = {0, -1, 1}> {
        h = MatMul(x, w) y = ScatterND(h, i, u) })"),
                {product_row, row + square + 3 * row, 4 * row});
  }
  SECTION("all rows") {
    check_least(least_layers(head + R"(4, 64] u) => (float[4, 64] y) <int64[4, 1] i = {3, 2, -3, 0}> {
        h = MatMul(x, w) y = ScatterND(h, i, u) })"),
                {0, 4 * row, 4 * row});
  }
  SECTION("the first row, element by element") {
    check_least(least_layers(head + "1, 64] u) => (float[4, 64] y) { h = MatMul(x, w) y = ScatterElements(h, i, u) }",
                             {{"i", i64, {1, 64}, 8}}),
                {3 * product_row, 3 * row + square + row, 4 * row});
  }
  SECTION("a block of 2 x 4 places in 4 x 8") {
    check_least(least_layers(R"((float[4, 8] x, float[8, 8] w, float[2, 4] u) => (float[4, 8] y)
        <int64[2, 4, 2] i = {1, 2, 1, 3, 1, 4, 1, 5, 2, 2, 2, 3, 2, 4, 2, 5}> {
          h = MatMul(x, w) y = ScatterND(h, i, u) })"),
                {2 * 8 * (32 - 8), 32 * 4 + 64 * 4 + 8 * 4, 32 * 4});
  }
  SECTION("places that differ by row: half of 4 x 8 functions are left") {
    const benanza::testing::Least half{16, (16 + 16) * 4, 32 * 4};
    check_least(least_layers(R"((float[4, 8] x, float[4, 4] u) => (float[4, 8] y)
        <int64[4, 4] i = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}> {
          h = Exp(x) y = ScatterElements<axis = 1>(h, i, u) })"),
                half);
    check_least(least_layers(R"((float[4, 8] x, float[16] u) => (float[4, 8] y)
        <int64[16, 2] i = {0, 0, 0, 1, 0, 2, 0, 3, 1, 4, 1, 5, 1, 6, 1, 7,
                           2, 0, 2, 1, 2, 2, 2, 3, 3, 4, 3, 5, 3, 6, 3, 7}> {
          h = Exp(x) y = ScatterND(h, i, u) })"),
                half);
  }
  SECTION("a sum needs what was there") {
    check_least(least_layers(head + R"(1, 64] u) => (float[4, 64] y) <int64[1, 1] i = {0}> {
        h = MatMul(x, w) y = ScatterND<reduction = "add">(h, i, u) })"),
                {4 * product_row + 64, 4 * row + square + row, 4 * row});
  }
}

TEST_CASE("updates of places that nobody reads are not computed", "[floors]") {
  // Row 5 of x is replaced by a product.
  const auto read = [](const std::string& from, const std::string& to) {
    return least_layers(R"((float[64, 64] x, float[1, 64] a, float[64, 64] w) => (float[1, 64] y)
        <int64[1, 1] i = {5}, int64[1] from = {)" +
                        from + "}, int64[1] to = {" + to +
                        "}> { u = MatMul(a, w) h = ScatterND(x, i, u) s = Slice(h, from, to) y = Relu(s) }");
  };
  const auto other = read("0", "1");
  CHECK(other.single.layers.front().needed.flops.value == 0);
  CHECK(other.single.model_reads.value <= row);
  CHECK(read("5", "6").single.layers.front().needed.flops.value == product_row);
  // Element by element: row 2 of three rows gets the second of two rows of updates.
  const auto elements = least_layers(R"((float[3, 4] x, float[2, 64] a, float[64, 4] w) => (float[1, 4] y)
      <int64[2, 4] i = {0, 0, 0, 0, 2, 2, 2, 2}, int64[1] from = {2}, int64[1] to = {3}> {
        u = MatMul(a, w) h = ScatterElements(x, i, u) s = Slice(h, from, to) y = Relu(s) })");
  CHECK(elements.single.layers.front().needed.flops.value == Approx(2 * 64 * 4));
}

TEST_CASE("only sums at places that are read count", "[floors]") {
  const auto flops = [](const std::string& inputs, const std::string& node, const std::string& from,
                        const std::string& to) {
    const auto model =
        least_layers("(float[2, 64] x, float[3, 64] u, " + inputs + "int64[1] from = {" + from + "}, int64[1] to = {" +
                     to + "}> { v = MatMul(u, w) h = " + node + "(x, i, v) s = Slice(h, from, to) y = Relu(s) }");
    double sum = 0;
    for (const auto& at : model.single.layers) sum += at.needed.flops.value;
    return sum;
  };
  // The three rows of updates are 3 x 64 dot products; all are added to row 1. The last operation is a Relu.
  const double updates = 3 * product_row, sums = 3 * 64;
  const std::string slices = "float[64, 64] w) => (float[1, 64] y) <int64[3, 1] i = {1, -1, 1}, ";
  CHECK(flops(slices, "ScatterND<reduction = \"add\">", "0", "1") == 64);
  CHECK(flops(slices, "ScatterND<reduction = \"add\">", "1", "2") == Approx(updates + sums + 64));
  // Each row of updates has two elements. Five of the six go to row 1, one to row 0.
  const std::string elements = "float[64, 2] w) => (float[1, 64] y) <int64[3, 2] i = {1, 0, 1, 1, 1, 1}, ";
  CHECK(flops(elements, "ScatterElements<reduction = \"max\">", "0", "1") == Approx(2 * 64 + 1 + 64));
  CHECK(flops(elements, "ScatterElements<reduction = \"max\">", "1", "2") == Approx(5 * 2 * 64 + 5 + 64));
  // Data may name any row.
  const auto unknown = "float[64, 64] w, int64[3, 1] i) => (float[1, 64] y) <";
  CHECK(flops(unknown, "ScatterND<reduction = \"add\">", "0", "1") <= updates + 64);
}

TEST_CASE("places that a scatter adds to may be one", "[floors]") {
  // 512 x 64 sums. Read are the updates, the indices and one row, which is also written.
  check_least(least_layers(R"((float[1000, 64] x, int64[512, 1] i, float[512, 64] u) => (float[1000, 64] y) {
      y = ScatterND<reduction = "add">(x, i, u) })"),
              {512 * 64, 512 * row + 512 * 8 + row, row});
  // Here each column has its own indices, and one row is certain.
  check_least(least_layers(R"((float[1000, 64] x, int64[512, 64] i, float[512, 64] u) => (float[1000, 64] y) {
      y = ScatterElements<axis = 0, reduction = "mul">(x, i, u) })"),
              {512 * 64, 512 * row + 512 * 64 * 8 + row, row});
  // Constant indices that name row 5 twice, and row 7.
  check_least(least_layers(R"((float[10, 64] x, float[3, 64] u) => (float[10, 64] y) <int64[3, 1] i = {5, -5, 7}> {
      y = ScatterND<reduction = "add">(x, i, u) })"),
              {3 * 64, 3 * row + 2 * row, 2 * row});
}

TEST_CASE("padded positions show what lies at the edge", "[floors]") {
  const auto padded = [](const std::string& mode, const std::string& cells, const std::string& from,
                         const std::string& to, const std::string& rows) {
    return least_layers("(float[8, 64] x, float[64, 64] w) => (float[" + rows + ", 64] y) <int64[4] p = {" + cells +
                        "}, int64[1] a = {" + from + "}, int64[1] b = {" + to +
                        "}> { h = MatMul(x, w) q = Pad<mode = \"" + mode + "\">(h, p) y = Slice(q, a, b) }");
  };
  const auto rows = [](double count, double written) -> benanza::testing::Least {
    return {count * product_row, count * row + square, written * row};
  };
  check_least(padded("edge", "1, 0, 1, 0", "5", "6", "1"), rows(1, 1));      // row 4
  check_least(padded("edge", "3, 0, 0, 0", "0", "4", "4"), rows(1, 4));      // row 0, four times
  check_least(padded("edge", "0, 0, 3, 0", "7", "9", "2"), rows(1, 2));      // row 7, twice
  check_least(padded("reflect", "3, 0, 0, 0", "0", "2", "2"), rows(2, 2));   // rows 3 and 2
  check_least(padded("reflect", "3, 0, 0, 0", "2", "5", "3"), rows(2, 3));   // rows 1, 0, 1
  check_least(padded("reflect", "0, 0, 2, 0", "9", "10", "1"), rows(1, 1));  // row 5
  check_least(padded("wrap", "2, 0, 0, 0", "1", "3", "2"), rows(2, 2));      // rows 7 and 0
}

TEST_CASE("a corner of a transposed convolution", "[floors]") {
  // Stride 2 and 2x2 taps: 2 x 2 positions of the result have one tap each, of position 0 of x; 4 channels to 4.
  for (const std::string attribute : {"auto_pad = \"SAME_UPPER\"", "output_shape = [32, 32]"})
    check_least(least_layers("(float[1, 4, 16, 16] x) => (float[1, 4, 2, 2] y) <int64[2] a = {0, 0}, "
                             "int64[2] b = {2, 2}, int64[2] c = {2, 3}> { t = ConvTranspose<strides = [2, 2], " +
                                 attribute + ">(x, w) y = Slice(t, a, b, c) }",
                             {{"w", f32, {4, 4, 2, 2}}}),
                {2 * 16 * 4, 4 * 4 + 4 * 4 * 4 * 4, 4 * 4 * 4});
  // One group of four: one channel to one channel, 9 taps of 16 x 16 elements.
  check_least(least_layers(R"((float[1, 4, 16, 16] x) => (float[1, 1, 33, 33] y)
      <int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {1}> {
        t = ConvTranspose<strides = [2, 2], group = 4>(x, w) y = Slice(t, a, b, c) })",
                           {{"w", f32, {4, 1, 3, 3}}}),
              {2 * 9 * 256, 256 * 4 + 9 * 4, 33 * 33 * 4});
}

TEST_CASE("channels of zeros are in no product", "[floors]") {
  // The second of two groups is all zeros: two filters of 2 channels are left.
  check_least(
      least_layers(R"((float[1, 2, 16, 16] x) => (float[1, 4, 14, 14] y) <int64[8] p = {0, 0, 0, 0, 0, 2, 0, 0}> {
        q = Pad(x, p) y = Conv<group = 2>(q, w) })",
                   {{"w", f32, {4, 2, 3, 3}}}),
      {2 * 2 * 2 * 9 * 196, 2 * 256 * 4 + 2 * 2 * 9 * 4, 4 * 196 * 4});
  // Two of 8 channels, one tap, 4 results of each element.
  check_least(
      least_layers(R"((float[1, 2, 16, 16] x) => (float[1, 4, 31, 31] y) <int64[8] p = {0, 0, 0, 0, 0, 6, 0, 0}> {
        q = Pad(x, p) y = ConvTranspose<strides = [2, 2]>(q, w) })",
                   {{"w", f32, {8, 4, 1, 1}}}),
      {2 * 2 * 4 * 256, 2 * 256 * 4 + 2 * 4 * 4, 4 * 31 * 31 * 4});
}

TEST_CASE("one normalised channel of 64", "[floors]") {
  // A 1x1 convolution makes the channels at 64 positions: 64 products each.
  const auto first_of = [](const std::string& norm) {
    return least_layers(
        "(float[1, 64, 8, 8] x) => (float[1, 1, 8, 8] y) <int64[1] a = {0}, int64[1] b = {1}, "
        "int64[1] c = {1}> { h = Conv(x, w) t = " +
            norm + "(h) y = Slice(t, a, b, c) }",
        {{"w", f32, {64, 64, 1, 1}}});
  };
  // A window of 3 channels: the first and the second channel; 7 operations per result.
  check_least(first_of("LRN<size = 3>"), {2 * 2 * 64 * 64 + 7 * 64, square + 2 * 64 * 4, 64 * 4});
  // The channel's own mean and variance: 5 operations per element.
  check_least(first_of("MeanVarianceNormalization"), {2 * 64 * 64 + 5 * 64, square + 64 * 4, 64 * 4});
  check_least(first_of("MeanVarianceNormalization<axes = [2, 3]>"), {2 * 64 * 64 + 5 * 64, square + 64 * 4, 64 * 4});
}

TEST_CASE("frames that lie apart read what is in them", "[floors]") {
  // 10 frames of 4 samples; 3 bins of two numbers each.
  const auto frames = least_layers(R"((float[1, 1000, 1] x) => (float[1, 10, 3, 2] y) <int64 s = {100}, int64 l = {4}> {
      y = STFT(x, s, , l) })");
  CHECK(frames.single.model_reads.value == 10 * 4 * 4);
  CHECK(frames.single.model_writes.value == 10 * 3 * 2 * 4);
  // 499 frames of 4 samples that overlap by 2: all samples are read.
  const auto overlapping =
      least_layers(R"((float[1, 1000, 1] x) => (float[1, 499, 3, 2] y) <int64 s = {2}, int64 l = {4}> {
      y = STFT(x, s, , l) })");
  CHECK(overlapping.single.model_reads.value == 1000 * 4);
  // The second of 124 frames of 16 samples, one every 8 samples: 16 samples.
  const auto one = least_layers(R"((float[1, 1000, 1] x) => (float[1, 1, 9, 2] y) <int64 s = {8}, int64 l = {16},
      int64[1] a = {1}, int64[1] b = {2}, int64[1] axis = {1}> { f = STFT(x, s, , l) y = Slice(f, a, b, axis) })");
  CHECK(one.single.model_reads.value == Approx(16 * 4));
  // The first 8 samples; length and axis are constants of the model.
  const auto cut = least_layers(
      "(float[1, 1000, 1] x) => (float[1, 8, 2] y) <int64 l = {8}, int64 a = {1}> { y = DFT(x, l, a) }", {}, 20);
  CHECK(cut.single.model_reads.value == 8 * 4);
}

TEST_CASE("the first step of reversed sequences is the last of each", "[floors]") {
  check_least(least_layers(R"((float[4, 3, 64] x) => (float[1, 3, 64] y)
      <int64[3] l = {4, 2, 4}, int64[1] a = {0}, int64[1] b = {1}> {
        r = Relu(x) s = ReverseSequence(r, l) y = Slice(s, a, b) })"),
              {3 * 64, 3 * row, 3 * row});
  // Step 3 of the second sequence lies behind its end and keeps its position.
  check_least(least_layers(R"((float[4, 3, 64] x) => (float[1, 3, 64] y)
      <int64[3] l = {4, 2, 4}, int64[1] a = {3}, int64[1] b = {4}> {
        r = Relu(x) s = ReverseSequence(r, l) y = Slice(s, a, b) })"),
              {3 * 64, 3 * row, 3 * row});
}

TEST_CASE("an operand that gives a shape or a type is not computed", "[floors]") {
  const std::string square_of = "(float[64, 64] x, float[64, 64] w) => (float[64, 64] y) { h = MatMul(x, w) ";
  check_least(least_layers(square_of + "y = EyeLike(h) }"), {0, 0, square});
  check_least(least_layers(square_of + "y = RandomNormalLike(h) }"), {0, 0, square});
  check_least(least_layers(square_of + "y = RandomUniformLike(h) }"), {0, 0, square});
  check_least(least_layers("(float[64] z, float[64, 64] x, float[64, 64] w) => (float[64] y) { h = MatMul(x, w) "
                           "r = Relu(z) y = CastLike(r, h) }"),
              {64, row, row});
  // Nothing is dropped at inference: the mask is the same for all requests.
  check_least(least_layers("(float[64, 64] x, float[64, 64] w) => (bool[64, 64] m) { h = MatMul(x, w) "
                           "y, m = Dropout(h) }"),
              {0, 0, 64 * 64});
}

TEST_CASE("a cumulative sum needs only what comes before", "[floors]") {
  const auto first_of = [](const std::string& attributes, const std::string& count) {
    return least_layers("(float[64, 64] x) => (float[" + count + ", 64] y) <int64[1] a = {0}, int64[1] b = {" + count +
                        "}, int64 k = {0}> { v = CumSum" + attributes + "(x, k) y = Slice(v, a, b) }");
  };
  check_least(first_of("", "3"), {2 * 64, 3 * row, 3 * row});
  // Without the element itself: zeros, the first row, and the sum of the first and the second row.
  check_least(first_of("<exclusive = 1>", "1"), {0, 0, row});
  check_least(first_of("<exclusive = 1>", "2"), {0, row, 2 * row});
  check_least(first_of("<exclusive = 1>", "3"), {64, 2 * row, 3 * row});
  // The same for products.
  check_least(least_layers(R"((float[64, 64] x) => (float[3, 64] y)
      <int64[1] a = {0}, int64[1] b = {3}, int64 k = {0}> { v = CumProd(x, k) y = Slice(v, a, b) })",
                           {}, 26),
              {2 * 64, 3 * row, 3 * row});
}

TEST_CASE("a mean needs no scale and no variance", "[floors]") {
  check_least(
      least_layers("(float[64, 64] x) => (float[64, 1] m) { y, m = LayerNormalization(x, g) }", {{"g", f32, {64}}}),
      {64 * 64, square, 64 * 4});
}

TEST_CASE("scales of 4-bit weights follow the columns", "[floors]") {
  // 16 of 32 columns of 64 weights, with a scale for each half.
  check_least(least_layers(R"((float[8, 64] x) => (float[1, 16] y) <int64[2] a = {0, 0}, int64[2] b = {1, 16}> {
        t = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, block_size = 32>(x, w, s) y = Slice(t, a, b) })",
                           {{"w", u8, {32, 2, 16}, 1}, {"s", f32, {64}}}),
              {2 * 64 * 16, row + 16 * 32 + 16 * 2 * 4, 16 * 4});
}

TEST_CASE("if no operator describes a node, of a part of its result nothing is certain", "[floors]") {
  // Two matrices of 8 x 8; the operand is a Relu of both.
  const auto relu = [](const std::string& y, const std::string& node) {
    const auto model =
        least_layers("(float[2, 8, 8] x) => (float[" + y +
                     "] y) <int64[1] a = {0}, int64[1] b = {1}> { r = Relu(x) d = Det(r) " + node + " }");
    return model.single.layers.front().needed.flops.value;
  };
  CHECK(relu("2", "y = Neg(d)") == Approx(2 * 8 * 8));
  CHECK(relu("1", "y = Slice(d, a, b)") == 0);
  // Nor if data choose the axis along which an operator works.
  const auto sums = least_layers(R"((float[2, 8] x, int64 k) => (float[1, 8] y)
      <int64[1] a = {0}, int64[1] b = {1}> { r = Relu(x) d = CumSum(r, k) y = Slice(d, a, b) })");
  CHECK(sums.single.layers.front().needed.flops.value == 0);
}

TEST_CASE("of operands that a part of a result may not need, nothing counts", "[floors]") {
  // The operand is a Relu: each of its elements takes one FLOP.
  const auto relu = [](const std::string& inputs, const std::string& y, const std::string& nodes, int opset = 21) {
    const auto model =
        least_layers("(" + inputs + ") => (float[" + y +
                         "] y) <int64[1] a = {0}, int64[1] b = {1}, int64[1] one = {1}> { " + nodes + " }",
                     {}, opset);
    return model.single.layers.front().needed.flops.value;
  };
  // One column of scales that have the shape of x.
  CHECK(relu("float[64, 32] x, float[64, 32] w, float[64, 32] c", "64, 1",
             "r = Relu(w) d = LayerNormalization<axis = 0>(x, r, c) y = Slice(d, a, b, one)") == 64);
  // Any update, and any step, may be the one that is read.
  CHECK(relu("float[100, 64] x, int64[50, 64] i, float[50, 64] u", "100, 1",
             "r = Relu(u) d = ScatterElements(x, i, r) y = Slice(d, a, b, one)") == 0);
  CHECK(relu("float[100, 64] x, int64[50, 1] i, float[50, 64] u", "1, 64",
             "r = Relu(u) d = ScatterND(x, i, r) y = Slice(d, a, b)") == 0);
  CHECK(relu("float[16, 4, 8] x, int64[4] n", "1, 4, 8", "r = Relu(x) d = ReverseSequence(r, n) y = Slice(d, a, b)") ==
        0);
  CHECK(relu("float[2, 64, 32] x, float[2, 16, 32] u, int64[2] n", "2, 1, 32",
             "r = Relu(u) d = TensorScatter(x, r, n) y = Slice(d, a, b, one)", 24) == 0);
  // Scores of one batch and one head: of the queries 32 x 16.
  CHECK(relu("float[2, 4, 32, 16] q, float[2, 4, 32, 16] k, float[2, 4, 32, 16] v", "1, 1, 32, 32",
             "r = Relu(q) d, e, f, s = Attention(r, k, v) t = Slice(s, a, b, a) y = Slice(t, a, b, one)",
             23) == 32 * 16);
}

TEST_CASE("items of a batch are apart", "[floors]") {
  // The first of two items; the operand is a Relu of `x`, of which half of the elements are needed.
  const auto first_of = [](const std::string& x, const std::string& y, const std::string& node, int opset = 21) {
    const auto model =
        least_layers("(float[" + x +
                         "] x, float[2, 2, 2, 2] g, float[2, 1, 4, 4] z, float[1, 1, 2, 2] w, "
                         "float[2, 8, 16] c, int64[2] n) => (float[1, " +
                         y +
                         "] y) <int64 k = {1}, int64 l = {8}, int64[2] size = {4, 4}, int64[2] block = {2, 2}, "
                         "int64[1] a = {0}, int64[1] b = {1}> { r = Relu(x) d = " +
                         node + " y = Slice(d, a, b) }",
                     {}, opset);
    return model.single.layers.front().needed.flops.value;
  };
  CHECK(first_of("2, 16, 1", "16, 2", "DFT(r, , k)") == Approx(16));
  CHECK(first_of("2, 16, 1", "16, 2", "DFT<axis = 1>(r)", 17) == Approx(16));
  // Two frames of 8 samples, 5 bins.
  CHECK(first_of("2, 16, 1", "2, 5, 2", "STFT(r, l, , l)") == Approx(16));
  CHECK(first_of("2, 1, 8, 8", "1, 2, 2", "GridSample(r, g)") == Approx(64));
  // 3 x 3 positions of windows of 2 x 2, each of which has two offsets.
  CHECK(first_of("2, 8, 3, 3", "1, 3, 3", "DeformConv(z, w, r)") == Approx(72));
  CHECK(first_of("2, 4, 9", "1, 4, 4", "Col2Im(r, size, block)") == Approx(36));
  CHECK(first_of("2, 1, 16", "8, 16", "TensorScatter(c, r, n)", 24) == Approx(16));
}

TEST_CASE("indices of positions that are needed", "[floors]") {
  SECTION("one of 512 rows of a one-hot code") {
    check_least(least_layers(R"((int64[512] t) => (float[1, 1000] y)
        <int64 d = {1000}, float[2] v = {0, 1}, int64[1] a = {7}, int64[1] b = {8}> {
          o = OneHot(t, d, v) y = Slice(o, a, b) })"),
                {0, 8, 4000});
  }
  SECTION("one of 8 boxes: corners and the place of its image") {
    const auto model = least_layers(R"((float[1, 2, 8, 8] x, float[8, 4] r, int64[8] n) => (float[1, 2, 2, 2] y)
        <int64[1] a = {3}, int64[1] b = {4}> {
          d = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 1>(x, r, n) y = Slice(d, a, b) })");
    CHECK(model.single.model_reads.value == Approx(4 * 4 + 8));
  }
  SECTION("scales of half of the columns, one for each half of them") {
    check_least(least_layers(R"((uint8[64, 64] x, float[2, 64] s) => (float[64, 32] y)
        <int64[1] a = {0}, int64[1] b = {32}, int64[1] axis = {1}> {
          d = DequantizeLinear<axis = 0, block_size = 32>(x, s) y = Slice(d, a, b, axis) })"),
                {2 * 64 * 32, 64 * 32 + 2 * 32 * 4, 64 * 32 * 4});
  }
}

}  // namespace parts_of_operands
