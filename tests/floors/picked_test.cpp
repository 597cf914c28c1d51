// SPDX-License-Identifier: Apache-2.0
// Positions that constants pick, elements that are copied, and the zeros that a Pad adds. A multiply-add is two
// operations, floats have 4 bytes, indices 8.
#include "least_work.hpp"

namespace picked_places {

using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT, i64 = onnx::TensorProto::INT64, boolean = onnx::TensorProto::BOOL;
constexpr double row = 64 * 4, square = 64 * 64 * 4;

TEST_CASE("indices of the file need the places that they name", "[floors]") {
  SECTION("12 elements of a product, each of another row and column") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[12] y)
        <int64[12, 2] i = {0, 0, 5, 5, 9, 9, 1, 2, 3, 4, 60, 61, 20, 19, 33, 32, 50, 51, 41, 42, 7, 8, 63, 1}> {
          m = MatMul(x, w) y = GatherND(m, i) })"),
                {2 * 64 * 12, 2 * 12 * row, 12 * 4});
  }
  SECTION("three rows of a product") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 32] w) => (float[3, 32] y) <int64[3, 1] i = {1, 9, -4}> {
        m = MatMul(x, w) y = GatherND(m, i) })"),
                {2 * 64 * 32 * 3, 3 * row + 64 * 32 * 4, 3 * 32 * 4});
  }
  SECTION("one element of each row") {
    check_least(least_layers(R"((float[4, 64] x) => (float[4, 1] y) <int64[4, 1] i = {1, 60, 3, 7}> {
        m = Relu(x) y = GatherElements<axis = 1>(m, i) })"),
                {4, 4 * 4, 4 * 4});
  }
  SECTION("the rows of a Compress whose condition is in the file") {
    check_least(least_layers(R"((float[8, 64] x, float[64, 64] w) => (float[2, 64] y)
        <bool[8] c = {0, 0, 1, 0, 0, 0, 1, 0}> { m = MatMul(x, w) y = Compress<axis = 0>(m, c) })"),
                {2 * 2 * 64 * 64, 2 * row + square, 2 * row});
  }
  SECTION("the rows of the two greatest of five numbers of the file") {
    check_least(least_layers(R"((float[8, 64] x, float[64, 64] w) => (float[2, 64] y)
        <float[5] v = {0.5, 2.5, 1, 4, 2}, int64[1] k = {2}> {
        m = MatMul(x, w) a, i = TopK(v, k) y = Gather<axis = 0>(m, i) })"),
                {2 * 2 * 64 * 64, 2 * row + square, 2 * row});
  }
  SECTION("a row of rows") {
    check_least(
        least_layers(R"((float[512, 64] x, float[64, 64] w) => (float[64] y) <int64[2] i = {0, 511}, int64 j = {1}> {
        m = MatMul(x, w) a = Gather<axis = 0>(m, i) y = Gather<axis = 0>(a, j) })"),
        {2 * 64 * 64, row + square, row});
  }
}

TEST_CASE("one of the places that data choose is certain", "[floors]") {
  check_least(least_layers("(float[1000, 64] x, int64[512, 1] i) => (float[512, 64] y) { y = GatherND(x, i) }"),
              {0, 512 * 8 + row, 512 * row});
  // One element is certain in each column.
  check_least(least_layers(
                  "(float[1000, 64] x, int64[512, 64] i) => (float[512, 64] y) { y = GatherElements<axis = 0>(x, i) }"),
              {0, 512 * 64 * 8 + row, 512 * row});
}

TEST_CASE("operands that change nothing are not read", "[floors]") {
  const std::vector<Stored> tensors{{"w", f32, {64, 64}}, {"c", f32, {16, 64}}};
  const auto gemm = [&](const std::string& attributes) {
    return least_layers("(float[16, 64] x) => (float[16, 64] y) { y = Gemm<" + attributes + ">(x, w, c) }", tensors);
  };
  SECTION("an addend that is scaled by 0") {
    check_least(gemm("beta = 0.0"), {2 * 16 * 64 * 64, 16 * row + square, 16 * row});
  }
  SECTION("a product that is scaled by 0") { check_least(gemm("alpha = 0.0"), {0, 16 * row, 16 * row}); }
  SECTION("two of the four vectors of a batch norm, which make two beforehand") {
    check_least(
        least_layers("(float[1, 64, 1, 1] x) => (float[1, 64, 1, 1] y) { y = BatchNormalization(x, s, b, m, v) }",
                     {{"s", f32, {64}}, {"b", f32, {64}}, {"m", f32, {64}}, {"v", f32, {64}}}),
        {2 * 64, row + 2 * row, row});
  }
  SECTION("of the weights of 1,000 classes those of the targets: one is certain") {
    // 64 scores and targets, with one operation each.
    check_least(least_layers("(float[64, 1000] x, int64[64] t) => (float y) { y = NegativeLogLikelihoodLoss(x, t, w) }",
                             {{"w", f32, {1000}}}),
                {64, 64 * 4 + 64 * 8 + 4, 4});
  }
}

TEST_CASE("only the tensors that are taken out of a sequence count", "[floors]") {
  const std::string head = "(float[64, 64] x, float[64, 64] w) => ";
  SECTION("the first: 64 x 64 maxima") {
    const auto model = least_layers(head + R"((float[64, 64] y) <int64 i = {0}> {
        a = Relu(x) b = MatMul(x, w) s = SequenceConstruct(a, b) y = SequenceAt(s, i) })");
    check_least(model, {64 * 64, square, square});
  }
  SECTION("the last but one row of a product") {
    check_least(least_layers(head + R"((float[1, 64] y) <int64 i = {-2}, int64 n = {1}> {
        b = MatMul(x, w) s = SplitToSequence<axis = 0>(b, n) y = SequenceAt(s, i) })"),
                {2 * 64 * 64, row + square, row});
  }
  SECTION("how many there are: known before a request") {
    check_least(least_layers(head + "(int64 y) { b = MatMul(x, w) s = SequenceConstruct(b, b) y = SequenceLength(s) }"),
                {0, 0, 0});
  }
  SECTION("whether there is one") {
    check_least(least_layers(head + "(bool y) { b = MatMul(x, w) o = Optional(b) y = OptionalHasElement(o) }"),
                {0, 0, 1});
  }
}

TEST_CASE("copies are computed once", "[floors]") {
  SECTION("sums that differ in the order of their addends, and their products") {
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] w) => (float[64, 64] y) {
        a = Add(x, w) b = Add(w, x) c = MatMul(a, w) d = MatMul(b, w) y = Mul(c, d) })"),
                {2 * 64 * 64 * 64 + 2 * 64 * 64, 2 * square, square});
  }
  SECTION("products whose attributes differ in words alone, and what passes its input on") {
    const auto pair = [](const std::string& first, const std::string& second) {
      return least_layers(
          "(float[64, 64] x, float[64, 64] w) => (float[64, 64] y) <int64[2] s = {64, 64}, int64[1] a = {0}, "
          "int64[1] b = {64}, int64[4] p = {0, 0, 0, 0}> { " +
          first + " " + second + " y = Add(c, d) }");
    };
    const Least least{2 * 64 * 64 * 64 + 64 * 64, 2 * square, square};
    check_least(pair("c = Gemm(x, w)", "d = Gemm<alpha = 1.0, beta = 1.0, transA = 0>(x, w)"), least);
    for (const std::string passed :
         {"Reshape(x, s)", "Cast<to = 1>(x)", "Dropout(x)", "Slice(x, a, b)", "Pad(x, p)", "Concat<axis = 0>(x)"})
      check_least(pair("c = MatMul(x, w)", "e = " + passed + " d = MatMul(e, w)"), least);
    // A reversed tensor is a different one. The sums of one product start with the other.
    const double both = 2 * 2 * 64 * 64 * 64;
    check_least(pair("c = MatMul(x, w)",
                     "m = Constant<value_ints = [-1]>() n = Constant<value_ints = [-65]>() "
                     "e = Slice(x, m, n, a, m) d = MatMul(e, w)"),
                {both, 2 * square, square});
  }
  SECTION("convolutions with and without a stride of 1") {
    check_least(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 6, 6] y) { a = Conv(x, w) "
                             "b = Conv<strides = [1, 1], pads = [0, 0, 0, 0], group = 1>(x, w) y = Add(a, b) }",
                             {{"w", f32, {4, 4, 3, 3}}}),
                {2 * 4 * 4 * 9 * 36 + 4 * 36, 4 * 64 * 4 + 16 * 9 * 4, 4 * 36 * 4});
  }
  SECTION("a tensor joined to itself") {
    check_least(least_layers(R"((float[16, 64] x, float[64, 64] w) => (float[32, 64] y) {
        g = Concat<axis = 0>(x, x) y = MatMul(g, w) })"),
                {2 * 16 * 64 * 64, 16 * row + square, 32 * row});
  }
  SECTION("a row that a Gather picks 64 times") {
    check_least(least_layers(R"((float[16, 64] x, float[64, 64] w) => (float[64, 64] y) {
        g = Gather<axis = 0>(x, i) y = MatMul(g, w) })",
                             {{"i", i64, {64}, 8}}),
                {2 * 64 * 64, row + square, 64 * row});
  }
  SECTION("a convolution over a tiled image") {
    // Windows repeat after 16 positions along each axis: 16 x 16 of 62 x 62.
    check_least(least_layers(R"((float[1, 4, 16, 16] x) => (float[1, 8, 62, 62] y) <int64[4] r = {1, 1, 4, 4}> {
        t = Tile(x, r) y = Conv(t, w) })",
                             {{"w", f32, {8, 4, 3, 3}}}),
                {2 * 8 * 4 * 9 * 256, 4 * 256 * 4 + 8 * 36 * 4, 8 * 62 * 62 * 4});
  }
  SECTION("a convolution over an image that is enlarged: 3 taps meet 2 cells") {
    check_least(least_layers(R"((float[1, 4, 32, 32] x) => (float[1, 8, 62, 62] y) <float[4] s = {1, 1, 2, 2}> {
        t = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , s)
        y = Conv(t, w) })",
                             {{"w", f32, {8, 4, 3, 3}}}),
                {2 * 8 * 4 * 4 * 62 * 62, 4 * 1024 * 4 + 8 * 36 * 4, 8 * 62 * 62 * 4});
  }
}

TEST_CASE("zeros that a Pad adds take no part in what follows", "[floors]") {
  // 3 taps at 32 positions with a zero at each end: 94.
  const std::string around = "<int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> { a = Pad(x, p) ";
  const double taps = 94 * 94, image = 8 * 1024 * 4;
  SECTION("with a maximum in between") {
    check_least(
        least_layers("(float[1, 8, 32, 32] x) => (float[1, 4, 32, 32] y) " + around + "b = Relu(a) y = Conv(b, w) }",
                     {{"w", f32, {4, 8, 3, 3}}}),
        {2 * 4 * 8 * taps + 8 * 1024, image + 4 * 72 * 4, image / 2});
  }
  SECTION("of which a Slice leaves one at each end, or an image without zeros") {
    const std::string part =
        GENERATE("<int64[2] b = {1, 1}, int64[2] e = {35, 35}", "<int64[2] b = {2, 2}, int64[2] e = {34, 34}");
    const bool zeros = part.find("35") != std::string::npos;
    check_least(least_layers("(float[1, 8, 32, 32] x) => (float[1, 4, " + std::string(zeros ? "32, 32" : "30, 30") +
                                 "] y) " + part +
                                 ", int64[2] axes = {2, 3}, int64[8] p = {0, 0, 2, 2, 0, 0, 2, 2}> { "
                                 "a = Pad(x, p) s = Slice(a, b, e, axes) y = Conv(s, w) }",
                             {{"w", f32, {4, 8, 3, 3}}}),
                {2 * 4 * 8 * (zeros ? taps : 90 * 90), image + 4 * 72 * 4, 4.0 * (zeros ? 1024 : 900) * 4});
  }
  SECTION("in front of a transposition") {
    check_least(
        least_layers(R"((float[1, 32, 32, 8] x) => (float[1, 4, 32, 32] y) <int64[8] p = {0, 1, 1, 0, 0, 1, 1, 0}> {
        a = Pad(x, p) b = Transpose<perm = [0, 3, 1, 2]>(a) y = Conv(b, w) })",
                     {{"w", f32, {4, 8, 3, 3}}}),
        {2 * 4 * 8 * taps, image + 4 * 72 * 4, image / 2});
  }
  SECTION("in windows of 4 x 4 that are cut out of 6 x 6 places with zeros behind them") {
    check_least(least_layers(R"((float[1, 6, 6, 64] x) => (float[4, 4, 4, 32] y)
        <int64[8] p = {0, 0, 0, 0, 0, 2, 2, 0}, int64[6] s = {1, 2, 4, 2, 4, 64}, int64[4] t = {4, 4, 4, 64}> {
        a = Pad(x, p) b = Reshape(a, s) c = Transpose<perm = [0, 1, 3, 2, 4, 5]>(b) d = Reshape(c, t)
        y = MatMul(d, w) })",
                             {{"w", f32, {64, 32}}}),
                {2 * 36 * 64 * 32, 36 * 64 * 4 + 64 * 32 * 4, 64 * 32 * 4});
  }
  SECTION("for each channel by itself") {
    check_least(
        least_layers("(float[1, 8, 32, 32] x) => (float[1, 8, 32, 32] y) " + around + "y = Conv<group = 8>(a, w) }",
                     {{"w", f32, {8, 1, 3, 3}}}),
        {2 * 8 * taps, image + 8 * 9 * 4, image});
  }
  SECTION("between all places of an image: half of 16 windows of 4, but for one at each end") {
    check_least(least_layers(R"((float[1, 4, 8, 8] x) => (float[4, 1, 16, 16] y)
        <int64[6] s = {4, 1, 8, 1, 8, 1}, int64[12] p = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1},
         int64[4] t = {4, 1, 16, 16}, int64[8] q = {0, 0, 2, 2, 0, 0, 1, 1}> {
        a = Reshape(x, s) b = Pad(a, p) c = Reshape(b, t) d = Pad(c, q) y = Conv(d, w) })",
                             {{"w", f32, {1, 1, 4, 4}}}),
                {2 * 4 * 30 * 30, 4 * 64 * 4 + 16 * 4, 4 * 256 * 4});
  }
  SECTION("channels of zeros need no weights") {
    check_least(
        least_layers(R"((float[1, 3, 32, 32] x) => (float[1, 8, 30, 30] y) <int64[8] p = {0, 0, 0, 0, 0, 5, 0, 0}> {
        a = Pad(x, p) y = Conv(a, w) })",
                     {{"w", f32, {8, 8, 3, 3}}}),
        {2 * 8 * 3 * 9 * 900, 3 * 1024 * 4 + 8 * 27 * 4, 8 * 900 * 4});
  }
  SECTION("columns of zeros need no rows of the other matrix") {
    check_least(least_layers(R"((float[16, 64] x) => (float[16, 64] y) <int64[4] p = {0, 0, 0, 192}> {
        a = Pad(x, p) y = MatMul(a, w) })",
                             {{"w", f32, {256, 64}}}),
                {2 * 16 * 64 * 64, 16 * row + square, 16 * row});
  }
}

TEST_CASE("rows of zeros make rows of zeros, and add nothing to a sum", "[floors]") {
  SECTION("of a product") {
    check_least(least_layers(R"((float[16, 64] x, float[64, 64] w) => (float[64, 64] y) <int64[4] p = {0, 0, 48, 0}> {
        a = Pad(x, p) y = MatMul(a, w) })"),
                {2 * 16 * 64 * 64, 16 * row + square, square});
  }
  SECTION("of a sum") {
    check_least(least_layers(R"((float[16, 64] x) => (float[16] y) <int64[4] p = {0, 0, 0, 1000}, int64[1] axis = {1}> {
        a = Pad(x, p) y = ReduceSum<keepdims = 0>(a, axis) })"),
                {16 * 64, 16 * row, 16 * 4});
  }
  SECTION("of a mean of windows: 3 taps at 16 places with a zero at each end are 46") {
    check_least(
        least_layers(R"((float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {
        a = Pad(x, p) y = AveragePool<kernel_shape = [3, 3]>(a) })"),
        {8 * 46 * 46, 8 * 256 * 4, 8 * 256 * 4});
  }
}

TEST_CASE("only the certain rows of the tables of com.microsoft's layers count", "[floors]") {
  SECTION("embeddings: one word, one segment, 128 positions") {
    const auto model = least_layers(
        R"((int32[1, 128] i, int32[1, 128] s) => (float[1, 128, 64] y) {
        y, m = com.microsoft.EmbedLayerNormalization(i, s, w, p, t, g, b) })",
        {{"w", f32, {1000, 64}}, {"p", f32, {512, 64}}, {"t", f32, {2, 64}}, {"g", f32, {64}}, {"b", f32, {64}}});
    CHECK(model.single.model_reads.value == 2 * 128 * 4 + row + 128 * row + row + 2 * row);
  }
  SECTION("the embedding of the third of 128 tokens: its word, segment and position, for each of two sequences") {
    const std::vector<Stored> tables{
        {"w", f32, {1000, 64}}, {"p", f32, {512, 64}}, {"t", f32, {2, 64}}, {"g", f32, {64}}, {"b", f32, {64}}};
    const auto third = [&](const std::string& inputs, const std::string& node) {
      return least_layers("(int32[2, 128] i, int32[2, 128] s" + inputs +
                              ") => (float[2, 64] y) <int64 third = {2}> { " + node +
                              " y = Gather<axis = 1>(e, third) }",
                          tables)
          .single.model_reads.value;
    };
    CHECK(third("", "e, m = com.microsoft.EmbedLayerNormalization(i, s, w, p, t, g, b)") ==
          2 * 2 * 4 + 3 * row + 2 * row);
    CHECK(third(", int32[2, 128] k", "e, m = com.microsoft.EmbedLayerNormalization(i, s, w, p, t, g, b, k)") ==
          2 * 2 * 4 + 3 * row + 2 * row);
    CHECK(third(", int32[2, 128] q", "e, m = com.microsoft.EmbedLayerNormalization(i, s, w, p, t, g, b, , q)") ==
          3 * 2 * 4 + 3 * row + 2 * row);
    // The sum of the embeddings has no scale and no bias.
    CHECK(third("", "n, m, e = com.microsoft.EmbedLayerNormalization(i, s, w, p, t, g, b)") == 2 * 2 * 4 + 3 * row);
  }
  SECTION("angles of one position") {
    const auto model = least_layers(R"((float[1, 1, 128] q, float[1, 1, 64] k, float[1, 1, 64] v,
        float[1, 1, 1024, 64] pk, float[1, 1, 1024, 64] pv, int32[1, 1] l, int32 t) =>
        (float[1, 1, 128] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, do_rotary = 1>(
            q, k, v, pk, pv, l, t, c, s) })",
                                    {{"c", f32, {1024, 32}}, {"s", f32, {1024, 32}}});
    CHECK(model.single.model_reads.value <= 2 * row + 2 * row + 2 * 1024 * row + 8 + row);
  }
  SECTION("two of eight experts") {
    const auto model = least_layers(
        "(float[4, 64] x, float[4, 8] r) => (float[4, 64] y) "
        "{ y = com.microsoft.MoE<k = 2>(x, r, w, , v) }",
        {{"w", f32, {8, 64, 128}}, {"v", f32, {8, 128, 64}}});
    CHECK(model.single.model_reads.value == 4 * row + 4 * 8 * 4 + 2 * 2 * 2 * square);
    CHECK(model.single.unknown.empty());
  }
}

TEST_CASE("taps that lie in the padding wherever the window is are not read", "[floors]") {
  SECTION("dilated by more than the image") {
    check_least(
        least_layers(
            "(float[1, 64, 8, 8] x) => (float[1, 64, 8, 8] y) { y = Conv<dilations = [12, 12], pads = [12, 12, 12, "
            "12]>(x, w) }",
            {{"w", f32, {64, 64, 3, 3}}}),
        {2 * 64 * 64 * 64, square + square, square});
  }
  SECTION("3x3 on one place") {
    check_least(least_layers("(float[1, 64, 1, 1] x) => (float[1, 64, 1, 1] y) { y = Conv<pads = [1, 1, 1, 1]>(x, w) }",
                             {{"w", f32, {64, 64, 3, 3}}}),
                {2 * 64 * 64, row + square, row});
  }
  SECTION("a transposed convolution whose pads cut off its result") {
    // Positions 6 to 9 of 16, stride 2: elements 3 and 4 of x along each axis, one tap for each.
    check_least(
        least_layers("(float[1, 16, 8, 8] x) => (float[1, 16, 4, 4] y) { y = ConvTranspose<strides = [2, 2], pads = "
                     "[6, 6, 6, 6]>(x, w) }",
                     {{"w", f32, {16, 16, 2, 2}}}),
        {2 * 16 * 16 * 16, 16 * 4 * 4 + 16 * 16 * 4 * 4, 16 * 16 * 4});
  }
}

TEST_CASE("some channels of a group normalisation need their groups", "[floors]") {
  // One group of 8 channels: mean 1, variance 2, multiply-add 2; scale and bias of 8 channels.
  check_least(least_layers(R"((float[1, 32, 16, 16] x) => (float[1, 8, 16, 16] y)
      <int64[1] a = {0}, int64[1] b = {8}, int64[1] axis = {1}> {
        g = GroupNormalization<num_groups = 4>(x, s, t) y = Slice(g, a, b, axis) })",
                           {{"s", f32, {32}}, {"t", f32, {32}}}),
              {5 * 8 * 256, 8 * 256 * 4 + 2 * 8 * 4, 8 * 256 * 4});
}

TEST_CASE("a sum of tensors that are broadcast reads each as it is", "[floors]") {
  // 100 sums of a and b, one for each element of x.
  check_least(
      least_layers("(float[1000, 100] x, float[100] a, float[1] b) => (float[1000, 100] y) { y = Sum(x, a, b) }"),
      {100 + 100'000, 4 * (100'000 + 100 + 1), 400'000});
  check_least(least_layers("(float[1000, 100] x, float[100] a) => (float[1000, 100] y) { y = Mean(a, x) }"),
              {2 * 100'000, 4 * (100'000 + 100), 400'000});
}

TEST_CASE("a choice by a constant needs each operand where it is chosen", "[floors]") {
  // The file's condition is false for all rows: nothing of the first product is needed.
  const auto model = least_layers(R"((float[64, 64] x, float[64, 64] z, float[64, 64] w) => (float[64, 64] y) {
      a = MatMul(x, w) b = MatMul(z, w) y = Where(m, a, b) })",
                                  {{"m", boolean, {64, 1}, 1}});
  check_least(model, {2 * 64 * 64 * 64 + 64 * 64, 2 * square + 64, square});
}

TEST_CASE("a choice by a table needs each operand at its places", "[floors]") {
  // Two rows of four come from the first product, two from the second.
  const auto model = least_layers(R"((float[4, 64] x, float[4, 64] z, float[64, 4] w) => (float[4, 4] y)
      <bool[4, 4] m = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}> {
        a = MatMul(x, w) b = MatMul(z, w) y = Where(m, a, b) })");
  for (const std::size_t k : {0U, 1U}) CHECK(model.single.layers[k].needed.flops.value == Approx(2 * 64 * 4 * 2));
}

TEST_CASE("a constant that decides a truth value needs no other operand", "[floors]") {
  const std::string head =
      "(float[16, 64] x, float[64, 64] w) => (bool[16, 64] y) <bool t = {1}, bool f = {0}, "
      "bool[16, 1] rows = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> { "
      "m = MatMul(x, w) c = Less(m, x) ";
  SECTION("at all places") {
    check_least(least_layers(head + GENERATE("y = And(c, f) }", "y = And(f, c) }", "y = Or(c, t) }")), {0, 0, 16 * 64});
  }
  SECTION("at none: a product, and 1,024 comparisons whose results are taken twice") {
    const auto model = least_layers(head + GENERATE("y = And(c, t) }", "y = Or(f, c) }"));
    CHECK(model.single.layers[0].needed.flops.value == Approx(16 * 2 * 64 * 64));
    CHECK(model.single.layers[1].needed.flops.value == Approx(1024));
  }
  SECTION("in 12 of 16 rows, or in 4") {
    const bool both = GENERATE(true, false);
    const auto model = least_layers(head + (both ? "y = And(c, rows) }" : "y = Or(c, rows) }"));
    CHECK(model.single.layers[0].needed.flops.value == Approx((both ? 4 : 12) * 2 * 64 * 64));
    CHECK(model.single.layers[1].needed.flops.value == Approx((both ? 4 : 12) * 64));
  }
  SECTION("and with it a choice, between a product and 1,024 maxima") {
    check_least(least_layers(R"((float[16, 64] x, bool[16, 64] c, float[64, 64] w) => (float[16, 64] y) {
        e = And(c, f) m = MatMul(x, w) r = Relu(x) y = Where(e, m, r) })",
                             {{"f", boolean, {16, 64}, 1}}),
                {2 * 1024, 16 * row, 16 * row});
  }
  SECTION("but not what a choice takes at other places") {
    const auto model = least_layers(R"((float[16, 64] x, bool[16, 64] c, float[64, 64] w) => (float[16, 64] y)
        <bool[16, 1] rows = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> {
          e = And(rows, c) m = MatMul(x, w) n = MatMul(x, m0) y = Where(e, m, n) })",
                                    {{"m0", onnx::TensorProto::FLOAT, {64, 64}}});
    for (const auto& at : model.single.layers)  // data choose in the first four rows
      if (at.nodes[0].starts_with("MatMul_"))
        CHECK(at.needed.flops.value == Approx((at.nodes[0] == "MatMul_m" ? 4 : 16) * 2 * 64 * 64));
  }
}

}  // namespace picked_places
