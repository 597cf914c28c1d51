// SPDX-License-Identifier: Apache-2.0
// Products and sums whose operands are known in part, are equal, or can be summed up before they are multiplied. A
// multiply-add is two operations, floats have 4 bytes, indices 8.
#include "least_work.hpp"

namespace products_and_sums {

using benanza::testing::check_least;
using benanza::testing::least_layers;

constexpr auto f32 = onnx::TensorProto::FLOAT;
constexpr double row = 64 * 4, square = 64 * 64 * 4, half = 64 * 65 / 2;

TEST_CASE("an Einsum sums up first what one operand has alone", "[floors]") {
  const auto product = [](const std::string& result, const std::string& equation) {
    return least_layers("(float[64, 64] a, float[64, 64] b) => (" + result + " y) { y = Einsum<equation = \"" +
                        equation + "\">(a, b) }");
  };
  // 64 x 64 additions for each operand, and one product of both sums.
  check_least(product("float", "ij,kl->"), {2 * 64 * 64 + 1, 2 * square, 4});
  // 64 sums of rows, each times a sum.
  check_least(product("float[64]", "ij,kl->i"), {2 * 64 * 64 + 64, 2 * square, row});
  check_least(product("float[64]", "ij,ik->i"), {2 * 64 * 64 + 64, 2 * square, row});
  // 64 sums of columns times 64 sums of rows.
  check_least(product("float", "ij,jk->"), {2 * 64 * 64 + 2 * 64, 2 * square, 4});
  // 64 sums of rows of b, and a matrix times that vector.
  check_least(product("float[64]", "ij,jk->i"), {64 * 64 + 2 * 64 * 64, 2 * square, row});
  // Diagonals count their elements: 64 additions, 64 products.
  check_least(product("float[64]", "ii,jj->i"), {64 + 64, 2 * row, row});
  // A label that both operands have is summed up by the product; a label of the result is not summed up.
  check_least(product("float", "ij,ji->"), {2 * 64 * 64, 2 * square, 4});
  check_least(product("float[64, 64]", "ij,kj->ki"), {2.0 * 64 * 64 * 64, 2 * square, square});
  check_least(least_layers("(float[64] a, float[64] b) => (float[64, 64] y) { y = Einsum<equation = \"i,j->ij\">(a, "
                           "b) }"),
              {64 * 64, 2 * row, square});
}

TEST_CASE("zeros of an Einsum's operands are not multiplied", "[floors]") {
  const auto product = [](const std::string& equation) {
    return least_layers(
        "(float[64, 64] x, float[64, 64] z) => (float[64, 64] y) { t = Trilu<upper = 0>(x) "
        "y = Einsum<equation = \"" +
        equation + "\">(t, z) }");
  };
  SECTION("of a triangle, wherever the letter is that is summed up") {
    check_least(product(GENERATE("ij,jk->ik", "ij,kj->ik", "ij,jk->ki", "ji,jk->ik")),
                {2 * 64 * half, half * 4 + square, square});
  }
  SECTION("of two triangles: the rows and columns that meet in element k are 64 - k and k + 1") {
    double products = 0;
    for (int k = 0; k < 64; ++k) products += (64 - k) * (k + 1);
    check_least(least_layers(R"((float[64, 64] x, float[64, 64] z) => (float[64, 64] y) { t = Trilu<upper = 0>(x)
        u = Trilu<upper = 0>(z) y = Einsum<equation = "ij,jk->ki">(t, u) })"),
                {2 * products, 2 * half * 4, square});
  }
  SECTION("of columns that a Pad adds: no rows of the other matrix either") {
    check_least(least_layers(R"((float[16, 64] x) => (float[16, 64] y) <int64[4] p = {0, 0, 0, 192}> {
        a = Pad(x, p) y = Einsum<equation = "ij,jk->ik">(a, w) })",
                             {{"w", f32, {256, 64}}}),
                {2 * 16 * 64 * 64, 16 * row + square, 16 * row});
  }
  SECTION("of rows that a Pad adds") {
    check_least(least_layers(R"((float[1, 64] x, float[64, 64] w) => (float[16, 64] y) <int64[4] p = {0, 0, 15, 0}> {
        a = Pad(x, p) y = Einsum<equation = "ij,jk->ik">(a, w) })"),
                {2 * 64 * 64, row + square, 16 * row});
  }
}

TEST_CASE("a OneHot picks rows behind movements too", "[floors]") {
  // An index may lie outside of the table: then the row is zeros, and nothing of the table is read.
  const std::string values = "int64 depth = {64}, float[2] values = {0, 1}";
  SECTION("behind an Unsqueeze") {
    check_least(least_layers("(int64[16] i, float[64, 64] w) => (float[1, 16, 64] y) <" + values +
                             ", int64[1] a = {0}> { h = OneHot(i, depth, values) u = Unsqueeze(h, a) "
                             "y = MatMul(u, w) }"),
                {0, 16 * 8, 16 * row});
  }
  SECTION("behind a Reshape") {
    check_least(least_layers("(int64[4, 4] i, float[64, 64] w) => (float[16, 64] y) <" + values +
                             ", int64[2] s = {16, 64}> { h = OneHot(i, depth, values) u = Reshape(h, s) "
                             "y = MatMul(u, w) }"),
                {0, 16 * 8, 16 * row});
  }
  SECTION("in an Einsum") {
    check_least(least_layers("(int64[16] i, float[64, 64] w) => (float[16, 64] y) <" + values +
                             "> { h = OneHot(i, depth, values) y = Einsum<equation = \"sv,vd->sd\">(h, w) }"),
                {0, 16 * 8, 16 * row});
  }
  SECTION("transposed, it adds each of 16 rows to one of 64: an addition for each element") {
    check_least(least_layers("(int64[16] i, float[16, 64] g) => (float[64, 64] y) <" + values +
                             "> { h = OneHot(i, depth, values) t = Transpose(h) y = MatMul(t, g) }"),
                {16 * 64, 16 * 8 + 16 * row, square});
  }
}

TEST_CASE("an EyeLike is a diagonal", "[floors]") {
  check_least(
      least_layers("(float[64, 64] x, float[64, 16] z) => (float[64, 16] y) { e = EyeLike(x) y = MatMul(e, z) }"),
      {2 * 64 * 16, 64 * 16 * 4, 64 * 16 * 4});
}

TEST_CASE("a reduction looks at one of several equal elements", "[floors]") {
  const auto expanded = [](const std::string& reduction) {
    return least_layers(
        "(float[64, 1] x) => (float[64] y) <int64[2] s = {64, 1000}, int64[1] a = {1}> { e = Expand(x, s) " +
        reduction + " }");
  };
  SECTION("which is their maximum") { check_least(expanded("y = ReduceMax<keepdims = 0>(e, a)"), {0, 64 * 4, 64 * 4}); }
  SECTION("and their mean: 64 maxima with 0") {
    check_least(expanded("r = Relu(e) y = ReduceMean<keepdims = 0>(r, a)"), {64, 64 * 4, 64 * 4});
  }
  SECTION("and their sum is 1,000 times it") {
    check_least(expanded("y = ReduceSum<keepdims = 0>(e, a)"), {64, 64 * 4, 64 * 4});
  }
  SECTION("8 of 32") {
    check_least(least_layers(R"((float[64, 8] x) => (float[64] y) <int64[2] r = {1, 4}, int64[1] a = {1}> {
        t = Tile(x, r) y = ReduceMax<keepdims = 0>(t, a) })"),
                {64 * 8, 64 * 8 * 4, 64 * 4});
  }
  SECTION("in a window over copies of one cell") {
    // 4 x 64 x 64 cells take a maximum with 0. They are the results of the windows.
    const std::string pool = GENERATE("AveragePool", "MaxPool");
    check_least(least_layers(R"((float[1, 4, 64, 64] x) => (float[1, 4, 64, 64] y) <float[4] s = {1, 1, 2, 2}> {
        t = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , s)
        r = Relu(t) y = )" + pool +
                             "<kernel_shape = [2, 2], strides = [2, 2]>(r) }"),
                {4 * 64 * 64, 4 * square, 4 * square});
  }
}

TEST_CASE("weights that multiply equal elements are added up beforehand", "[floors]") {
  SECTION("64 equal columns: 16 x 64 products with the sums of the columns of the weights") {
    check_least(least_layers(R"((float[16, 1] x) => (float[16, 64] y) <int64[2] s = {16, 64}> {
        e = Expand(x, s) y = MatMul(e, w) })",
                             {{"w", f32, {64, 64}}}),
                {2 * 16 * 64, 16 * 4 + row, 16 * row});
  }
  SECTION("columns that a Concat repeats") {
    const std::string product = GENERATE("MatMul(g, w)", "Einsum<equation = \"ij,jk->ik\">(g, w)");
    check_least(
        least_layers("(float[16, 64] x) => (float[16, 64] y) { g = Concat<axis = 1>(x, x) y = " + product + " }",
                     {{"w", f32, {128, 64}}}),
        {2 * 16 * 64 * 64, 16 * row + square, 16 * row});
  }
}

TEST_CASE("a matrix times its own transposition is symmetric", "[floors]") {
  // 64 * 65 / 2 products of rows of 256 elements.
  const double each = 2 * 256;
  const auto gram = [](const std::string& nodes, const std::string& result = "64, 64") {
    return least_layers("(float[64, 256] x) => (float[" + result + "] y) { " + nodes + " }");
  };
  SECTION("in all spellings") {
    check_least(
        gram(GENERATE("t = Transpose(x) y = MatMul(x, t)", "y = Gemm<transB = 1>(x, x)",
                      "y = Einsum<equation = \"ik,jk->ij\">(x, x)", "y = Einsum<equation = \"ik,jk->ji\">(x, x)",
                      "t = Transpose(x) y = Einsum<equation = \"ij,jk->ik\">(x, t)")),
        {each * half, 64 * 256 * 4, square});
  }
  SECTION("of the columns of images") {
    check_least(least_layers(R"((float[2, 256, 64] x) => (float[2, 64, 64] y) {
        t = Transpose<perm = [0, 2, 1]>(x) y = MatMul(t, x) })"),
                {2 * each * half, 2 * 64 * 256 * 4, 2 * square});
  }
  SECTION("another transposition is another matrix") {
    check_least(least_layers(R"((float[64, 64, 64] x) => (float[64, 64, 64] y) {
        t = Transpose<perm = [1, 0, 2]>(x) y = MatMul(x, t) })"),
                {2.0 * 64 * 64 * 64 * 64, 64 * square, 64 * square});
  }
  SECTION("a square is not symmetric") {
    check_least(least_layers("(float[64, 64] x) => (float[64, 64] y) { y = MatMul(x, x) }"),
                {2.0 * 64 * 64 * 64, square, square});
  }
}

TEST_CASE("a gated product counts its gate, and no bias that it lacks", "[floors]") {
  // Two products of 16 rows and 128 columns, and a bias with which the sums of the first start; at each element a SiLU
  // and a multiplication. The single form counts the SiLU's two nodes, the fused form counts one function.
  const benanza::ModelLayers model = least_layers(
      "(float[16, 64] x) => (float[16, 128] y) { u = MatMul(x, v) p = MatMul(x, w) q = Add(p, b) s = Sigmoid(q) "
      "t = Mul(q, s) y = Mul(t, u) }",
      {{"v", f32, {64, 128}}, {"w", f32, {64, 128}}, {"b", f32, {128}}});
  double fused = 0;
  for (const auto& at : model.fused.layers) fused += at.needed.flops.value;
  CHECK(fused == 2 * 2.0 * 16 * 64 * 128 + 16 * 128 * 2);
}

TEST_CASE("axes that only a constant of an Einsum has are summed before a request", "[floors]") {
  const auto einsum = [](const std::string& equation, const std::string& x, const std::string& y,
                         const std::vector<std::int64_t>& w) {
    return benanza::testing::least_layers(
        "(float[" + x + "] x) => (float" + y + " y) { y = Einsum<equation = \"" + equation + "\">(x, w) }",
        {{"w", onnx::TensorProto::FLOAT, w}});
  };
  // 50 x 50 products with the sums.
  check_least(einsum("de,dbe->", "50, 50", "", {50, 20, 50}), {2 * 2500, 2 * 2500 * 4, 4});
  check_least(einsum("ij,jk->i", "50, 50", "[50]", {50, 30}), {2 * 2500, (2500 + 50) * 4, 50 * 4});
  // Six sums of diagonals, each of which is a factor.
  check_least(einsum("e,edd->e", "6", "[6]", {6, 3, 3}), {6, (6 + 6) * 4, 6 * 4});
  // An axis of the request is summed during it; then there are six products.
  check_least(einsum("ib,i->i", "6, 20", "[6]", {6}), {6 * 20 + 6, (6 * 20 + 6) * 4, 6 * 4});
}

}  // namespace products_and_sums
