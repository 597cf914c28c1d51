// SPDX-License-Identifier: Apache-2.0
// Copies that a Pad makes, and copies that other layers pass on: what is computed from copies of one element is
// computed once. A multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

#include <tuple>

namespace copies {

using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT, i64 = onnx::TensorProto::INT64;
constexpr double row = 64 * 4, square = 64 * 64 * 4, product_row = 2 * 64 * 64;

TEST_CASE("a Pad shows rows again", "[floors]") {
  // The two rows in front of the eight rows and the two behind them are copies of some of the eight.
  const std::string head = "(float[8, 64] x) => (float[12, 64] y) <int64[4] p = {2, 0, 2, 0}> { q = Pad<mode = \"" +
                           std::string(GENERATE("edge", "reflect", "wrap")) + "\">(x, p) ";
  SECTION("before a product") {
    check_least(least_layers(head + "y = MatMul(q, w) }", {{"w", f32, {64, 64}}}),
                {8 * product_row, 8 * row + square, 12 * row});
  }
  SECTION("before a maximum with 0") { check_least(least_layers(head + "y = Relu(q) }"), {8 * 64, 8 * row, 12 * row}); }
}

TEST_CASE("a window over an edge that is shown again adds up two of its weights", "[floors]") {
  // 14 of 16 windows have three different cells along an axis; the first and the last have two.
  const double cells = 14 * 3 + 2 * 2;
  const std::string mode = GENERATE("edge", "reflect");
  check_least(least_layers("(float[1, 4, 16, 16] x) => (float[1, 4, 16, 16] y) "
                           "<int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> { q = Pad<mode = \"" +
                               mode + "\">(x, p) y = Conv(q, w) }",
                           {{"w", f32, {4, 4, 3, 3}}}),
              {2 * 16 * cells * cells, 4 * 256 * 4 + 16 * 9 * 4, 4 * 256 * 4});
}

TEST_CASE("a pad that is too long to say what it shows copies nothing for certain", "[floors]") {
  // ONNX reflects only once: 3 rows in front of 3 are more than one reflection has.
  check_least(least_layers("(float[3, 64] x) => (float[6, 64] y) <int64[4] p = {3, 0, 0, 0}> { "
                           "q = Pad<mode = \"reflect\">(x, p) y = MatMul(q, w) }",
                           {{"w", f32, {64, 64}}}),
              {6 * product_row, 3 * row + square, 6 * row});
}

TEST_CASE("eight equal batches of 16 rows", "[floors]") {
  const std::string head =
      "(float[1, 32, 64] x) => (float[8, 16, 64] y) <int64[3] s = {8, 32, 64}, int64[1] a = {0}, "
      "int64[1] b = {16}, int64[1] axis = {1}> { e = Expand(x, s) ";
  SECTION("of which a product takes a part") {
    const std::string part = GENERATE("q = Slice(e, a, b, axis)", "q, r = Split<axis = 1, num_outputs = 2>(e)",
                                      "r, q = Split<axis = 1, num_outputs = 2>(e)");
    check_least(least_layers(head + part + " y = MatMul(q, w) }", {{"w", f32, {64, 64}}}),
                {16 * product_row, 16 * row + square, 8 * 16 * row});
  }
  SECTION("are rounded: three operations an element; a scale and a zero point") {
    check_least(least_layers("(float[1, 16, 64] x) => (int8[8, 16, 64] y) <int64[3] s = {8, 16, 64}, float f = {0.5}, "
                             "int8 z = {0}> { e = Expand(x, s) y = QuantizeLinear(e, f, z) }"),
                {3 * 16 * 64, 16 * row + 5, 8 * 16 * 64});
  }
  SECTION("attend to themselves: 16 x 16 pairs of two heads of depth 8, 4 operations of a score") {
    check_least(least_layers("(float[1, 2, 16, 8] x) => (float[8, 2, 16, 8] y) <int64[4] s = {8, 2, 16, 8}> { "
                             "e = Expand(x, s) y = Attention(e, e, e) }",
                             {}, 23),
                {2 * 256 * (2 * (8 + 8) + 4), 256 * 4, 8 * 256 * 4});
  }
}

TEST_CASE("attention with equal tokens", "[floors]") {
  // 16 tokens of depth 8: a pair takes 2 * (8 + 8) operations and 4 for the softmax. One tensor has a single token.
  const auto model = [](const std::string& q, const std::string& k, const std::string& v, const std::string& nodes) {
    return least_layers("(float[1, 1, " + q + ", 8] q, float[1, 1, " + k + ", 8] k, float[1, 1, " + v +
                            ", 8] v) => (float[1, 1, 16, 8] y) <int64[4] s = {1, 1, 16, 8}> { " + nodes + " }",
                        {}, 23);
  };
  constexpr double all = 16 * 8 * 4, token = 8 * 4;
  check_least(model("1", "16", "16", "e = Expand(q, s) y = Attention(e, k, v)"), {16 * 36, 2 * all + token, all});
  // The mean of all values: their sum for each of 8 columns.
  check_least(model("16", "1", "16", "e = Expand(k, s) y = Attention(q, e, v)"), {16 * 8, all, all});
  check_least(model("16", "16", "1", "e = Expand(v, s) y = Attention(q, k, e)"), {0, token, all});
  check_least(least_layers(R"((float[1, 16, 16] q, float[1, 16, 16] k, float[1, 16, 16] v) => (float[4, 16, 16] y)
      <int64[3] s = {4, 16, 16}> { a = Expand(q, s) b = Expand(k, s) c = Expand(v, s)
        y = com.microsoft.MultiHeadAttention<num_heads = 2>(a, b, c) })"),
              {2 * 256 * 36, 3 * 256 * 4, 4 * 256 * 4});
}

TEST_CASE("rows that GatherElements picks several times", "[floors]") {
  const std::string head = "(float[1, 64] x) => (float[32, 64] y) ";
  check_least(least_layers(head + "{ g = GatherElements(x, i) y = MatMul(g, w) }",
                           {{"i", onnx::TensorProto::INT64, {32, 64}, 8}, {"w", f32, {64, 64}}}),
              {product_row, row + square, 32 * row});
}

TEST_CASE("only one of eight equal rows is searched for its greatest element", "[floors]") {
  check_least(least_layers("(float[1, 64] x) => (int64[8, 1] y) <int64[2] s = {8, 64}> { e = Expand(x, s) "
                           "y = ArgMax<axis = 1>(e) }"),
              {64, row, 8 * 8});
}

TEST_CASE("eight equal images", "[floors]") {
  // 4 channels of 16 x 16 positions.
  constexpr double image = 4 * 256;
  const auto images = [](const std::string& side, const std::string& constants, const std::string& nodes,
                         const std::vector<Stored>& tensors = {}, const std::string& channels = "4") {
    return least_layers("(float[1, 4, 16, 16] x) => (float[8, " + channels + ", " + side + ", " + side +
                            "] y) <int64[4] s = {8, 4, 16, 16}" + constants + "> { e = Expand(x, s) " + nodes + " }",
                        tensors);
  };
  SECTION("with zeros around them, in a convolution: 46 taps of 16 windows along each axis are not zeros") {
    check_least(images("16", ", int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}", "q = Pad(e, p) y = Conv(q, w)",
                       {{"w", f32, {4, 4, 3, 3}}}),
                {2 * 16 * 46 * 46, image * 4 + 16 * 9 * 4, 8 * image * 4});
  }
  SECTION("normalised: mean, variance, a product and an addition") {
    check_least(images("16", "", "y = InstanceNormalization(e, f, b)", {{"f", f32, {4}}, {"b", f32, {4}}}),
                {5 * image, image * 4 + 2 * 4 * 4, 8 * image * 4});
  }
  SECTION("in a transposed convolution of 2 x 2 taps") {
    check_least(images("32", "", "y = ConvTranspose<strides = [2, 2]>(e, w)", {{"w", f32, {4, 4, 2, 2}}}),
                {2 * 4 * 4 * image, image * 4 + 16 * 4 * 4, 8 * 4 * image * 4});
  }
  SECTION("enlarged: two products and two additions for each of 32 x 32 places") {
    check_least(images("32", ", float[4] f = {1, 1, 2, 2}", "y = Resize<mode = \"linear\">(e, , f)"),
                {4 * 4 * image, image * 4, 8 * 4 * image * 4});
  }
  SECTION("with channels divided by windows of three") {
    check_least(images("16", "", "y = LRN<size = 3>(e)"), {7 * image, image * 4, 8 * image * 4});
  }
  SECTION("as one channel of 32 x 32 places") {
    check_least(images("32", "", "d = DepthToSpace<blocksize = 2>(e) y = Relu(d)", {}, "1"),
                {image, image * 4, 8 * image * 4});
  }
}

TEST_CASE("one cell at all places with zeros around them has nine different windows", "[floors]") {
  // Three different windows along each axis: the first, the last and those between. In each of them the weights of the
  // cell are added up beforehand: 4 x 4 products.
  check_least(least_layers("(float[1, 4, 1, 1] x) => (float[1, 4, 16, 16] y) <int64[4] s = {1, 4, 16, 16}, "
                           "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> { e = Expand(x, s) q = Pad(e, p) y = Conv(q, w) }",
                           {{"w", f32, {4, 4, 3, 3}}}),
              {2 * 16 * 9, 4 * 4 + 16 * 9 * 4, 4 * 256 * 4});
}

TEST_CASE("a pool over a tiled image", "[floors]") {
  SECTION("has 8 different windows of two cells along each axis, of 15") {
    check_least(least_layers("(float[1, 1, 8, 8] x) => (float[1, 1, 15, 15] y) <int64[4] r = {1, 1, 2, 2}> { "
                             "t = Tile(x, r) y = MaxPool<kernel_shape = [2, 2]>(t) }"),
                {16 * 16, 64 * 4, 15 * 15 * 4});
  }
  SECTION("with zeros around it: 8 different windows of three cells, and one of two at each end") {
    check_least(least_layers("(float[1, 1, 8, 8] x) => (float[1, 1, 16, 16] y) <int64[4] r = {1, 1, 2, 2}, "
                             "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> { t = Tile(x, r) q = Pad(t, p) "
                             "y = AveragePool<kernel_shape = [3, 3]>(q) }"),
                {28 * 28, 64 * 4, 16 * 16 * 4});
  }
}

TEST_CASE("a row that a GatherND names 64 times is multiplied once", "[floors]") {
  check_least(least_layers("(float[64, 64] x) => (float[64, 64] y) { g = GatherND(x, i) y = MatMul(g, w) }",
                           {{"i", i64, {64, 1}, 8}, {"w", f32, {64, 64}}}),
              {product_row, row + square, square});
}

TEST_CASE("norms of equal elements are constants", "[floors]") {
  SECTION("a softmax over eight of them: 1/8") {
    check_least(least_layers("(float[1, 64] x) => (float[8, 64] y) <int64[2] s = {8, 64}> { e = Expand(x, s) "
                             "y = Softmax<axis = 0>(e) }"),
                {0, 0, 8 * row});
  }
  SECTION("a layer norm: its bias") {
    check_least(least_layers("(float[64, 1] x) => (float[64, 64] y) <int64[2] s = {64, 64}> { e = Expand(x, s) "
                             "y = LayerNormalization(e, g, b) }",
                             {{"g", f32, {64}}, {"b", f32, {64}}}),
                {0, row, square});
  }
  SECTION("of one element each") {
    check_least(least_layers("(float[64, 1] x) => (float[64, 1] y) { r = Exp(x) y = LayerNormalization(r, g, b) }",
                             {{"g", f32, {1}}, {"b", f32, {1}}}),
                {0, 4, row});
    check_least(least_layers("(float[64, 1] x) => (float[64, 1] y) { r = Exp(x) y = Hardmax(r) }"), {0, 0, row});
  }
  SECTION("1/64 each: a product with them is of the sums of w's columns, which the file could have") {
    check_least(least_layers("(float[1, 1] x) => (float[64, 64] y) <int64[2] s = {64, 64}> { e = Expand(x, s) "
                             "p = Softmax(e) y = MatMul(p, w) }",
                             {{"w", f32, {64, 64}}}),
                {2 * 64, row, square});
  }
}

TEST_CASE("a choice between a row and itself repeats it where the condition has more rows", "[floors]") {
  SECTION("before a product") {
    // The product has 2 x 64 x 64 operations, for one row. x has 64 floats, w and y have 64 x 64 each; the condition is
    // not read.
    const std::string sizes = GENERATE("(bool[64, 1] c, float[1, 64] x)", "(bool[64, 64] c, float[64] x)");
    check_least(
        least_layers(sizes + " => (float[64, 64] y) { p = Where(c, x, x) y = MatMul(p, w) }", {{"w", f32, {64, 64}}}),
        {product_row, row + square, square});
  }
  SECTION("beside what makes the condition") {
    // y consists of 64 maxima with 0, one for each of the 64 floats of x. z and w are not read, nor are they multiplied
    // and compared.
    check_least(least_layers("(float[64, 64] z, float[1, 64] x) => (float[64, 64] y) { m = MatMul(z, w) "
                             "c = Greater(m, z) p = Where(c, x, x) y = Relu(p) }",
                             {{"w", f32, {64, 64}}}),
                {64, row, square});
  }
}

TEST_CASE("rows between two rows differ by their weights", "[floors]") {
  // Rows 1 to 6 of 8 are sums of two rows of x, each with a weight of its own; a product has all eight.
  check_least(
      least_layers("(float[2, 64] x) => (float[8, 64] y) <int64[2] s = {8, 64}> { "
                   "q = Resize<mode = \"linear\", coordinate_transformation_mode = \"align_corners\">(x, , , s) "
                   "y = MatMul(q, w) }",
                   {{"w", f32, {64, 64}}}),
      {8 * 64 * 4 + 8 * product_row, 2 * row + square, 8 * row});
}

TEST_CASE("a Resize of one row or one place copies it in each mode", "[floors]") {
  const std::string mode = GENERATE("linear", "cubic", "nearest"),
                    resize = "Resize<mode = \"" + mode + "\">(x, , , s) ";
  SECTION("before a maximum with 0: one row of 8 columns in 4 channels") {
    check_least(least_layers("(float[1, 4, 1, 8] x) => (float[1, 4, 8, 8] y) <int64[4] s = {1, 4, 8, 8}> { q = " +
                             resize + "y = Relu(q) }"),
                {4 * 8, 4 * 8 * 4, 4 * 64 * 4});
  }
  SECTION("before a convolution") {
    check_least(least_layers("(float[1, 4, 1, 1] x) => (float[1, 4, 8, 8] y) <int64[4] s = {1, 4, 8, 8}> { q = " +
                                 resize + "y = Conv(q, w) }",
                             {{"w", f32, {4, 4, 1, 1}}}),
                {2 * 16, 16 + 64, 4 * 64 * 4});
  }
}

TEST_CASE("channels with copies beside channels without", "[floors]") {
  SECTION("an image of 4 x 4 places, enlarged, and one of 8 x 8") {
    const std::string head =
        "(float[1, 8, 4, 4] x, float[1, 8, 8, 8] z) => (float[1, 8, 8, 8] y) <float[4] s = {1, 1, 2, 2}> { "
        "u = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">"
        "(x, , s) c = Concat<axis = 1>(u, z) ";
    const double images = 8 * 16 * 4 + 8 * 64 * 4;
    check_least(least_layers(head + "y = Conv(c, w) }", {{"w", f32, {8, 16, 1, 1}}}),
                {2 * 64 * 16 + 2 * 64 * 64, images + 8 * 16 * 4, 8 * 64 * 4});
    // Windows of three cells along an axis of doubled cells have two different cells, or one at an edge.
    const double doubled = 6 * 2 + 2, single = 6 * 3 + 2 * 2;
    check_least(least_layers(head + "y = Conv<pads = [1, 1, 1, 1]>(c, w) }", {{"w", f32, {8, 16, 3, 3}}}),
                {2 * 64 * (doubled * doubled + single * single), images + 8 * 16 * 9 * 4, 8 * 64 * 4});
  }
  SECTION("the same with a Pad around both") {
    const std::string head =
        "(float[1, 8, 4, 4] x, float[1, 8, 8, 8] z) => (float[1, 8, 8, 8] y) "
        "<float[4] s = {1, 1, 2, 2}, int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float one = {1}> { "
        "u = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\">"
        "(x, , s) c = Concat<axis = 1>(u, z) ";
    const double images = 8 * 16 * 4 + 8 * 64 * 4, doubled = 6 * 2 + 2, single = 6 * 3 + 2 * 2;
    check_least(least_layers(head + "q = Pad(c, p) y = Conv(q, w) }", {{"w", f32, {8, 16, 3, 3}}}),
                {2 * 64 * (doubled * doubled + single * single), images + 8 * 16 * 9 * 4, 8 * 64 * 4});
    // Ones around them count like other elements: windows of three cells have two different ones, or three.
    check_least(least_layers(head + "q = Pad(c, p, one) y = Conv(q, w) }", {{"w", f32, {8, 16, 3, 3}}}),
                {2 * 64 * (16 * 16 + 24 * 24), images + 8 * 16 * 9 * 4, 8 * 64 * 4});
  }
  SECTION("one vector beside each of 64 points") {
    check_least(
        least_layers("(float[1, 16, 1] x, float[1, 4, 64] z) => (float[1, 8, 64] y) "
                     "<int64[3] s = {1, 16, 64}> { e = Expand(x, s) c = Concat<axis = 1>(e, z) y = Conv(c, w) }",
                     {{"w", f32, {8, 20, 1}}}),
        {2 * 8 * 16 + 2 * 8 * 4 * 64, 16 * 4 + 4 * row + 8 * 20 * 4, 8 * row});
  }
  SECTION("one row of 32 columns beside eight") {
    check_least(least_layers("(float[1, 32] x, float[8, 32] z) => (float[8, 64] y) <int64[2] s = {8, 32}> { "
                             "e = Expand(x, s) c = Concat<axis = 1>(e, z) y = MatMul(c, w) }",
                             {{"w", f32, {64, 64}}}),
                {2 * 32 * 64 + 2 * 8 * 32 * 64, 9 * 128 + square, 8 * row});
  }
  SECTION("each channel has a scale of its own: equal channels do not stay equal") {
    check_least(
        least_layers("(float[1, 1, 32] x, float[1, 4, 32] z) => (float[1, 4, 64] y) <int64[3] s = {1, 4, 32}> { "
                     "e = Expand(x, s) c = Concat<axis = 2>(e, z) n = BatchNormalization(c, g, b, m, v) "
                     "y = MatMul(n, w) }",
                     {{"g", f32, {4}}, {"b", f32, {4}}, {"m", f32, {4}}, {"v", f32, {4}}, {"w", f32, {64, 64}}}),
        {4 * 64 * 2 + 4 * product_row, 5 * 128 + 2 * 16 + square, 4 * row});  // two vectors are made beforehand
  }
  SECTION("each batch has weights of its own: equal batches are not equal products") {
    check_least(
        least_layers("(float[1, 4, 32] x, float[2, 4, 32] z, float[2, 64, 64] w) => (float[2, 4, 64] y) "
                     "<int64[3] s = {2, 4, 32}> { e = Expand(x, s) c = Concat<axis = 2>(e, z) y = MatMul(c, w) }"),
        {2 * 4 * product_row, 4 * 128 + 8 * 128 + 2 * square, 8 * row});
  }
}

TEST_CASE("copies side by side stay copies if they are moved before a product", "[floors]") {
  // Half a row of the product: 32 of the 64 columns.
  constexpr double half = product_row / 2;
  const std::vector<Stored> weights{{"w", f32, {64, 64}}};
  SECTION("all pairs of eight rows and eight others, as 64 rows") {
    // Each row is multiplied once. The 64 sums of two results are not counted.
    const std::string rows = GENERATE("Reshape(c, r)", "Flatten<axis = 2>(c)");
    check_least(least_layers("(float[8, 1, 32] x, float[1, 8, 32] z) => (float[64, 64] y) "
                             "<int64[3] s = {8, 8, 32}, int64[2] r = {-1, 64}> { e = Expand(x, s) f = Expand(z, s) "
                             "c = Concat<axis = 2>(e, f) q = " +
                                 rows + " y = MatMul(q, w) }",
                             weights),
                {16 * half, 16 * 128 + square, 64 * row});
  }
  SECTION("one of two rows beside each of eight, in 16 rows") {
    check_least(least_layers("(float[2, 1, 32] x, float[2, 8, 32] z) => (float[16, 64] y) "
                             "<int64[3] s = {2, 8, 32}, int64[2] r = {16, 64}> { e = Expand(x, s) "
                             "c = Concat<axis = 2>(e, z) q = Reshape(c, r) y = Gemm(q, w) }",
                             weights),
                {2 * half + 16 * half, 18 * 128 + square, 16 * row});
  }
  SECTION("channels of 4 x 4 places, enlarged, beside those of 8 x 8, as 64 rows of channels") {
    check_least(least_layers("(float[1, 32, 4, 4] x, float[1, 32, 8, 8] z) => (float[1, 64, 64] y) "
                             "<float[4] s = {1, 1, 2, 2}, int64[3] r = {1, 64, 64}> { "
                             "u = Resize<mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
                             "nearest_mode = \"floor\">(x, , s) c = Concat<axis = 1>(u, z) q = Reshape(c, r) "
                             "t = Transpose<perm = [0, 2, 1]>(q) y = MatMul(t, w) }",
                             weights),
                {16 * half + 64 * half, 80 * 128 + square, 64 * row});
  }
  SECTION("one row on top of each of eight") {
    check_least(least_layers("(float[1, 1, 32] x, float[8, 1, 32] z) => (float[8, 64] y) "
                             "<int64[3] s = {8, 1, 32}, int64[2] r = {8, 64}> { e = Expand(x, s) "
                             "c = Concat<axis = 1>(e, z) q = Reshape(c, r) y = MatMul(q, w) }",
                             weights),
                {9 * half, 9 * 128 + square, 8 * row});
  }
  SECTION("in the second operand: one column on top of each of eight") {
    check_least(least_layers("(float[32, 1] x, float[32, 8] z) => (float[64, 8] y) <int64[2] s = {32, 8}> { "
                             "e = Expand(x, s) c = Concat<axis = 0>(e, z) y = MatMul(w, c) }",
                             weights),
                {9 * half, 9 * 128 + square, 8 * row});
  }
  SECTION("in an Einsum") {
    check_least(least_layers("(float[1, 32] x, float[8, 32] z) => (float[8, 64] y) <int64[2] s = {8, 32}> { "
                             "e = Expand(x, s) c = Concat<axis = 1>(e, z) y = Einsum<equation = \"bi,ij->bj\">(c, w) }",
                             weights),
                {9 * half, 9 * 128 + square, 8 * row});
  }
}

TEST_CASE("all pairs of 128 rows of four columns and 128 others multiply each row once", "[floors]") {
  // Each row is multiplied by 4 x 4 weights once, in one of 16,384 rows.
  const std::string head =
      "<int64[3] s = {128, 128, 4}, int64[2] r = {16384, 4}, int64[2] n = {128, 1}, int64[3] q = {128, 128, 8}> { "
      "e = Expand(x, s) a = Reshape(e, r) b = Tile(z, n) c = Concat<axis = 1>(a, b) ";
  const Least least{2 * 128 * 2 * 16, 2 * 128 * 16 + 8 * 16, 16384 * 16};
  check_least(
      least_layers("(float[128, 1, 4] x, float[128, 4] z) => (float[16384, 4] y) " + head + "y = MatMul(c, w) }",
                   {{"w", f32, {8, 4}}}),
      least);
  check_least(least_layers("(float[128, 1, 4] x, float[128, 4] z) => (float[128, 128, 4] y) " + head +
                               "p = Reshape(c, q) y = MatMul(p, w) }",
                           {{"w", f32, {8, 4}}}),
              least);
}

TEST_CASE("few positions of a long axis differ from the others", "[floors]") {
  SECTION("100 of 10,000, because one of 100 rows does") {
    // These and the others are maxima with 0 of the two numbers of x.
    std::string places = "0, 0, 0, 0, 0, 0, 0, 1";
    for (int i = 8; i < 100; ++i) places += ", 0";
    const auto [columns, rows, joined] =
        GENERATE(std::tuple("100", "10000", "Relu(q)"), std::tuple("50", "5000", "Concat<axis = 0>(q, q)"));
    const benanza::ModelLayers model = least_layers(
        "(float[2, 1] x) => (float[10000] y) <int64[2] s = {100, " + std::string(columns) + "}, int64[1] r = {" + rows +
        "}, int64[100] i = {" + places + "}> { m = Relu(x) g = Gather<axis = 0>(m, i) e = Expand(g, s) " +
        "q = Reshape(e, r) c = " + joined + " y = Exp(c) }");
    CHECK(model.single.layers.front().needed.flops.value == Approx(2));
  }
  SECTION("1,000 of 9,000, which a Concat puts between copies") {
    // These and one of the copies are maxima with 0.
    const benanza::ModelLayers model = least_layers(
        "(float[1] x, float[1000] z) => (float[9000] y) <int64[1] s = {2000}> { e = Expand(x, s) "
        "c = Concat<axis = 0>(e, z, e, e, e) y = Relu(c) }");
    CHECK(model.single.layers.back().needed.flops.value >= 1001);
  }
}

TEST_CASE("a mean over an image and the zeros around it adds up the image alone", "[floors]") {
  // It adds the 8 x 8 elements of each of 4 channels.
  check_least(least_layers("(float[1, 4, 8, 8] x) => (float[1, 4, 1, 1] y) <int64[8] p = {0, 0, 8, 8, 0, 0, 8, 8}> { "
                           "q = Pad(x, p) y = GlobalAveragePool(q) }"),
              {4 * 64, 4 * 64 * 4, 4 * 4});
}

TEST_CASE("a Pad may cut off rows in front and show the last one again behind", "[floors]") {
  check_least(least_layers("(float[8, 64] x) => (float[9, 64] y) <int64[4] p = {-2, 0, 3, 0}> { "
                           "q = Pad<mode = \"edge\">(x, p) y = MatMul(q, w) }",
                           {{"w", f32, {64, 64}}}),
              {6 * product_row, 6 * row + square, 9 * row});
}

TEST_CASE("channels that are joined to themselves", "[floors]") {
  const auto joined = [](const std::string& node, const std::vector<std::int64_t>& weights,
                         const std::string& further = "") {
    return least_layers("(float[1, 4, 8, 8] x" + further + ") => (float[1, 4, 8, 8] y) { c = Concat<axis = 1>(x, x) " +
                            "y = " + node + " }",
                        further.empty() ? std::vector<Stored>{{"w", f32, weights}} : std::vector<Stored>{});
  };
  // 6 positions along an axis have 3 taps, two have 2.
  const double taps = 22 * 22, image = 4 * 64 * 4;
  SECTION("multiply weights that are added up beforehand") {
    check_least(joined("Conv<pads = [1, 1, 1, 1]>(c, w)", {4, 8, 3, 3}),
                {2 * 4 * 4 * taps, image + 4 * 4 * 9 * 4, image});
    check_least(joined("ConvTranspose(c, w)", {8, 4, 1, 1}), {2 * 4 * 4 * 64, image + 4 * 4 * 4, image});
  }
  SECTION("multiply weights of a request, of which all are read") {
    check_least(joined("Conv<pads = [1, 1, 1, 1]>(c, w)", {}, ", float[4, 8, 3, 3] w"),
                {2 * 4 * 4 * taps, image + 4 * 8 * 9 * 4, image});
  }
  SECTION("are in groups of their own") {
    check_least(joined("Conv<pads = [1, 1, 1, 1], group = 2>(c, w)", {4, 4, 3, 3}),
                {2 * 4 * 4 * taps, image + 4 * 4 * 9 * 4, image});
  }
}

TEST_CASE("windows of zeros beside a window of two elements", "[floors]") {
  // 0 a a a a a b 0 0 in windows of two: the mean of a and b is an addition in each of 4,096 channels. As many elements
  // are read as there are windows, because two windows that hold only zeros make up for it.
  const benanza::ModelLayers model = least_layers(
      "(float[1, 4096, 1, 2] x) => (float[1, 4096, 1, 8] y) "
      "<int64[8] p = {0, 0, 0, 1, 0, 0, 0, 2}, int64[6] i = {0, 0, 0, 0, 0, 1}> { "
      "g = Gather<axis = 3>(x, i) q = Pad(g, p) y = AveragePool<kernel_shape = [1, 2]>(q) }");
  CHECK(model.single.layers.back().needed.flops.value >= 4096);
  CHECK(model.single.layers.back().needed.flops.value <= 2 * 8 * 4096);
}

}  // namespace copies
