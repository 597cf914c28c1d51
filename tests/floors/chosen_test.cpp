// SPDX-License-Identifier: Apache-2.0
// What holds for every request although data choose the places: one-hot vectors, updates of a few rows, the best k of
// several experts. Counted by hand: a multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

#include <string>

namespace chosen_places {

using namespace benanza;
using benanza::testing::check_least;
using benanza::testing::Least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT;

TEST_CASE("products with a comparison of indices pick rows", "[floors]") {
  // 16 indices of 1000 rows of 64 numbers. An index may lie outside of the table: then nothing of it is read.
  const auto check_picks = [](const std::string& input, const std::string& result, const std::string& nodes,
                              double index = 8, double each = 4) {
    const std::string numbers =
        "<int64 o = {0}, int64 n = {1000}, int64 s = {1}, int64[1] first = {0}, "
        "int64[1] last = {-1}, int64[2] flat = {16, 1000}, int64[2] column = {1000, 1}, "
        "float one = {1}, float zero = {0}> { r = Range(o, n, s) ";
    check_least(least_layers("(" + input + " i) => (" + result + " y) " + numbers + nodes + " }",
                             {{"w", f32, {1000, 64}}, {"v", f32, {64, 1000}}}),
                {0, 16 * index, 16 * 64 * each});
  };
  SECTION("as JAX writes one_hot") {
    check_picks("int64[16]", "float[16, 64]",
                "u = Unsqueeze(i, last) e = Equal(u, r) h = Cast<to = 1>(e) y = MatMul(h, w)");
  }
  SECTION("of 32 bits, with the operands exchanged") {
    check_picks("int32[16]", "float[16, 64]",
                "c = Cast<to = 6>(r) u = Unsqueeze(i, last) e = Equal(c, u) h = Cast<to = 1>(e) y = MatMul(h, w)", 4);
  }
  SECTION("along the first axis") {
    check_picks("int64[16]", "float[64, 16]",
                "k = Reshape(r, column) e = Equal(k, i) h = Cast<to = 1>(e) y = MatMul(v, h)");
  }
  SECTION("transposed, in an Einsum") {
    check_picks("int64[16]", "float[16, 64]",
                "k = Reshape(r, column) e = Equal(k, i) h = Cast<to = 1>(e) t = Transpose(h) "
                "y = Einsum<equation = \"bv,vd->bd\">(t, w)");
  }
  SECTION("without the column of the first index, which does not make the rows zeros: a function of 16 x 64 numbers") {
    const auto part = least_layers(
        "(int64[16] i) => (float[16, 64] y) <int64 o = {0}, int64 n = {1000}, int64 s = {1}, "
        "int64[1] last = {-1}, int64[1] a = {1}, int64[1] b = {1000}> { r = Range(o, n, s) "
        "u = Unsqueeze(i, last) e = Equal(u, r) h = Cast<to = 1>(e) g = Slice(h, a, b, a) "
        "p = MatMul(g, w) y = Relu(p) }",
        {{"w", f32, {999, 64}}});
    double flops = 0;
    for (const auto& at : part.single.layers) flops += at.needed.flops.value;
    CHECK(flops == 16 * 64);
    CHECK(part.single.model_reads.value <= 16 * 8);
  }
  SECTION("as a Where, of two axes that are joined") {
    check_picks("int64[2, 8]", "float[16, 64]",
                "u = Unsqueeze(i, last) e = Equal(u, r) h = Where(e, one, zero) f = Reshape(h, flat) y = MatMul(f, w)");
  }
  SECTION("not if the comparison is with other data: 16 x 1000 comparisons, casts and rows") {
    check_least(least_layers("(int64[16, 1] i, int64[1000] r) => (float[16, 64] y) { e = Equal(i, r) "
                             "h = Cast<to = 1>(e) y = MatMul(h, w) }",
                             {{"w", f32, {1000, 64}}}),
                {2 * 16 * 1000 + 2 * 16 * 1000 * 64, 16 * 8 + 1000 * 8 + 1000 * 64 * 4, 16 * 64 * 4});
  }
}

TEST_CASE("an update of the row at a position changes that row", "[floors]") {
  // A cache of 64 rows of 32 numbers, and the position of a request.
  constexpr double row = 32 * 4, position = 8;
  const auto model = [](const std::string& nodes, const std::string& given = "float[1, 32] n",
                        const std::string& cache = "float[64, 32]") {
    return least_layers("(" + cache + " c, " + given + ", int64 p) => (" + cache +
                        " y) <int64 o = {0}, int64 m = {64}, int64 s = {1}, int64[1] last = {1}, float one = {1}> { "
                        "r = Range(o, m, s) e = Equal(r, p) u = Unsqueeze(e, last) " +
                        nodes + " }");
  };
  SECTION("by a Where") { check_least(model("y = Where(u, n, c)"), {0, row + position, row}); }
  SECTION("by a Where whose condition is negated") {
    check_least(model("b = Not(u) y = Where(b, c, n)"), {0, row + position, row});
  }
  SECTION("with the same row of another tensor") {
    check_least(model("y = Where(u, n, c)", "float[64, 32] n"), {0, row + position, row});
  }
  SECTION("along the second axis, of 4 heads") {
    check_least(model("y = Where(u, n, c)", "float[4, 1, 32] n", "float[4, 64, 32]"), {0, 4 * row + position, 4 * row});
  }
  SECTION("by adding a one-hot times the row: 32 sums") {
    check_least(model("h = Cast<to = 1>(u) t = Mul(h, n) y = Add(c, t)"), {32, 2 * row + position, row});
    check_least(model("h = Cast<to = 1>(u) t = Mul(n, h) y = Add(t, c)"), {32, 2 * row + position, row});
  }
  SECTION("by clearing the row first") {
    const auto cleared = model("h = Cast<to = 1>(u) g = Sub(one, h) k = Mul(c, g) t = Mul(h, n) y = Add(k, t)");
    check_least(cleared, {32, row + position, row});
  }
  SECTION("of a row that a layer computes") {
    check_least(model("f = Relu(n) y = Where(u, f, c)"), {32, row + position, row});
  }
}

TEST_CASE("only the best 2 of 4 experts of each token count", "[floors]") {
  // 8 tokens of 16 numbers, 32 in between. TopK looks at each score once.
  constexpr double tokens = 8, chosen = 2, square = 16 * 32;
  constexpr double router = (2 * 16 + 1) * tokens * 4, experts = tokens * chosen * 2 * 2 * square,
                   between = tokens * chosen * 32, gated = tokens * chosen * 16, sums = tokens * 16;
  constexpr double reads = tokens * 16 * 4 + 16 * 4 * 4 + chosen * 2 * square * 4, writes = tokens * 16 * 4;
  const auto model = [](const std::string& nodes) {
    return least_layers(
        "(float[8, 16] x) => (float[8, 16] y) <int64[1] k = {2}, int64[2] s = {8, 4}, "
        "int64[1] a0 = {0}, int64[1] a1 = {1}, int64[1] a2 = {2}, int64[2] copies = {4, 1}, int64[2] flat = {32, 1}, "
        "int64[3] split = {4, 8, 16}, "
        "int64[3] cube = {4, 2, 4}, int64 depth = {4}, float[2] offon = {0, 1}> { "
        "l = MatMul(x, wr) v, i = TopK<axis = -1>(l, k) " +
            nodes + " }",
        {{"wr", f32, {16, 4}}, {"w1", f32, {4, 16, 32}}, {"w2", f32, {4, 32, 16}}});
  };
  const std::string multiply = "h = MatMul(e, w1) r = Relu(h) o = MatMul(r, w2) ";
  const std::string dense = "e = Unsqueeze(x, a0) " + multiply;
  const std::string summed = "q = Mul(o, g) y = ReduceSum<keepdims = 0>(q, a0)";
  SECTION("whose scores are scattered into zeros") {
    check_least(model("p = Softmax(v) z = ConstantOfShape<value = float[1] {0}>(s) "
                      "d = ScatterElements<axis = 1>(z, i, p) t = Transpose(d) g = Unsqueeze(t, a2) " +
                      dense + summed),
                {router + tokens * chosen * 5 + experts + between + gated + sums, reads, writes});
  }
  SECTION("whose gates are reshaped, and multiply the other operand") {
    check_least(model("p = Softmax(v) z = ConstantOfShape<value = float[1] {0}>(s) "
                      "d = ScatterElements<axis = 1>(z, i, p) t = Transpose<perm = [1, 0]>(d) "
                      "c = Reshape(t, cube) n = Constant<value_ints = [4, 8, 1]>() g = Reshape(c, n) " +
                      dense + "q = Mul(g, o) y = ReduceSum<keepdims = 0>(q, a0)"),
                {router + tokens * chosen * 5 + experts + between + gated + sums, reads, writes});
  }
  SECTION("whose scores are hidden before a sigmoid, and scale the tokens of each expert") {
    check_least(model("z = ConstantOfShape<value = float[1] {-inf}>(s) d = ScatterElements<axis = 1>(z, i, v) "
                      "t = Transpose(d) b = Sigmoid(t) g = Reshape(b, flat) n = Tile(x, copies) m = Mul(n, g) "
                      "e = Reshape(m, split) " +
                      multiply + "y = ReduceSum<keepdims = 0>(o, a0)"),
                {router + tokens * chosen + gated + experts + between + sums, reads, writes});
  }
  SECTION("as Einsums, the last of which adds up the experts") {
    check_least(
        model("p = Softmax(v) z = ConstantOfShape<value = float[1] {0}>(s) "
              "d = ScatterElements<axis = 1>(z, i, p) h = Einsum<equation = \"th,ehf->tef\">(x, w1) r = Relu(h) "
              "o = Einsum<equation = \"tef,efh->teh\">(r, w2) y = Einsum<equation = \"te,teh->th\">(d, o)"),
        {router + tokens * chosen * 5 + experts + between + 2 * gated, reads, writes});
  }
  SECTION("whose gates are sums of one-hot vectors") {
    // Each of two choices of a token multiplies one gate; their sum has two numbers other than 0.
    check_least(model("p = Softmax(v) w = OneHot(i, depth, offon) u = Unsqueeze(p, a2) m = Mul(w, u) "
                      "d = ReduceSum<keepdims = 0>(m, a1) t = Transpose(d) g = Unsqueeze(t, a2) " +
                      dense + summed),
                {router + tokens * chosen * 5 + experts + between + gated + sums, reads, writes});
  }
}

TEST_CASE("as many experts with weights of their own count as each token takes", "[floors]") {
  // 32 tokens of 16 numbers, 4 experts with 32 numbers in between, of which each token takes 2. All tokens may take the
  // same two. TopK looks at each score once.
  constexpr double tokens = 32, chosen = 2, square = 16 * 32, result = tokens * 16;
  constexpr double router = (2 * 16 + 1) * tokens * 4, softmax = tokens * chosen * 5,
                   experts = chosen * tokens * (2 * 2 * square + 32), gated = chosen * result, sum = result;
  constexpr double reads = result * 4 + 16 * 4 * 4 + chosen * 2 * square * 4, writes = result * 4;
  // `gate` makes the gates d or what else an expert's part needs, `part` an expert's part q from its result o; # stands
  // for the number of the expert. `end` adds up the parts.
  const auto model = [](const std::string& gate, const std::string& part, const std::string& end,
                        std::vector<Stored> weights = {}) {
    weights.push_back({"wr", f32, {16, 4}});
    std::string nodes;
    for (char e = '0'; e < '4'; ++e) {
      std::string one = "h# = MatMul(x, u#) r# = Relu(h#) o# = MatMul(r#, v#) " + part;
      for (auto at = one.find('#'); at != std::string::npos; at = one.find('#')) one[at] = e;
      nodes += one;
      weights.push_back({std::string("u") + e, f32, {16, 32}});
      weights.push_back({std::string("v") + e, f32, {32, 16}});
    }
    return least_layers(
        "(float[32, 16] x) => (float[32, 16] y) <int64[1] k = {2}, int64[2] s = {32, 4}, int64[1] c0 = {0}, "
        "int64[1] c1 = {1}, int64[1] c2 = {2}, int64[1] c3 = {3}, int64[1] c4 = {4}, int64 n0 = {0}, int64 n1 = {1}, "
        "int64 n2 = {2}, int64 n3 = {3}, int64 depth = {4}, float[2] offon = {0, 1}, float zero = {0}> { "
        "l = MatMul(x, wr) t, i = TopK<axis = -1>(l, k) " +
            gate + nodes + end + " }",
        weights);
  };
  const std::string scatter =
      "p = Softmax(t) z = ConstantOfShape<value = float[1] {0}>(s) d = ScatterElements<axis = 1>(z, i, p) ";
  const std::string add = "a = Add(q0, q1) b = Add(a, q2) y = Add(b, q3)";
  const Least least{router + softmax + experts + gated + sum, reads, writes};
  const std::string gathered = "g# = Gather<axis = 1>(d, c#) q# = Mul(o#, g#) ";
  SECTION("gates in columns") { check_least(model(scatter, gathered, add), least); }
  SECTION("gates in columns without an axis") {
    check_least(model(scatter, "f# = Gather<axis = 1>(d, n#) g# = Unsqueeze(f#, c1) q# = Mul(g#, o#) ", add), least);
  }
  SECTION("gates in rows") {
    check_least(model(scatter + "e = Transpose(d) ",
                      "f# = Gather<axis = 0>(e, n#) g# = Unsqueeze(f#, c1) q# = Mul(o#, g#) ", add),
                least);
  }
  SECTION("gates in parts of a Split, with a sum of all parts") {
    check_least(model(scatter + "g0, g1, g2, g3 = Split<axis = 1, num_outputs = 4>(d) ", "q# = Mul(o#, g#) ",
                      "y = Sum(q0, q1, q2, q3)"),
                least);
  }
  SECTION("gates in slices, with a sum of joined parts") {
    check_least(model(scatter + "g0 = Slice(d, c0, c1, c1) g1 = Slice(d, c1, c2, c1) g2 = Slice(d, c2, c3, c1) "
                                "g3 = Slice(d, c3, c4, c1) ",
                      "m# = Mul(o#, g#) q# = Unsqueeze(m#, c1) ",
                      "a = Concat<axis = 1>(q0, q1, q2, q3) y = ReduceSum<keepdims = 0>(a, c1)"),
                least);
  }
  SECTION("a stored tensor of zeros") {
    check_least(model("p = Softmax(t) d = ScatterElements<axis = 1>(z, i, p) ", gathered, add, {{"z", f32, {32, 4}}}),
                least);
  }
  SECTION("gates that scale the tokens of each expert") {
    const std::string scaled =
        "g# = Gather<axis = 1>(d, c#) m# = Mul(x, g#) a# = MatMul(m#, u#) b# = Relu(a#) "
        "q# = MatMul(b#, v#) ";
    // Of the two products that are added up, one starts with the other.
    check_least(model(scatter, scaled, add), {least.flops - sum, reads, writes});
  }
  SECTION("a softmax of scores that are scattered into hidden ones") {
    check_least(model("z = ConstantOfShape<value = float[1] {-inf}>(s) j = ScatterElements<axis = 1>(z, i, t) "
                      "d = Softmax(j) ",
                      gathered, add),
                least);
  }
  SECTION("sums of one-hot vectors") {
    check_least(model("p = Softmax(t) w = OneHot(i, depth, offon) e = Unsqueeze(p, c2) m = Mul(w, e) "
                      "d = ReduceSum<keepdims = 0>(m, c1) ",
                      gathered, add),
                least);
  }
  SECTION("products with one-hot vectors") {
    check_least(model("p = Softmax(t) w = OneHot(i, depth, offon) e = Unsqueeze(p, c1) m = MatMul(e, w) "
                      "d = Squeeze(m, c1) ",
                      gathered, add),
                {least.flops + tokens, reads, writes});  // one addition for each token: of its two rows of the table
  }
  SECTION("one expert for each token, by a Hardmax of its scores") {
    // As with an ArgMax, without comparisons and casts.
    check_least(model("d = Hardmax(l) ", gathered, add),
                {router + experts / 2 + result, result * 4 + 16 * 4 * 4 + 2 * square * 4, writes});
  }
  SECTION("indices that are compared with the number of each expert: 64 comparisons, choices and sums each") {
    constexpr double numbers = chosen * 8 + 4;
    check_least(model("p = Softmax(t) ",
                      "e# = Equal(i, n#) f# = Where(e#, p, zero) g# = ReduceSum(f#, c1) q# = Mul(o#, g#) ", add),
                {router + softmax + experts + gated + sum + chosen * 3 * 64, reads + numbers, writes});
  }
  SECTION("choices between a result and 0") {
    check_least(model(scatter, "g# = Gather<axis = 1>(d, c#) e# = Greater(g#, zero) q# = Where(e#, o#, zero) ", add),
                {router + softmax + experts + chosen * (tokens + result) + sum, reads + 4, writes});
  }
  SECTION("an expert for each token, found by an ArgMax") {
    // 4 scores each to compare; 32 comparisons and casts; the number of the expert.
    const auto found = model("j = ArgMax<axis = -1, keepdims = 1>(l) ",
                             "e# = Equal(j, n#) g# = Cast<to = 1>(e#) q# = Mul(o#, g#) ", add);
    check_least(found,
                {router + experts / 2 + 2 * tokens + result, result * 4 + 16 * 4 * 4 + 2 * square * 4 + 8, writes});
  }
  SECTION("but all experts if data multiply them") {
    const auto all = model("d = Identity(l) ", gathered, add);
    check_least(all, {2 * 16 * tokens * 4 + 2 * experts + 2 * gated + 3 * sum, reads + 2 * 2 * square * 4, writes});
  }
}

TEST_CASE("only the experts that ranks of scores choose count if their results are stacked", "[floors]") {
  // 16 tokens of 64 numbers, 4 experts with 64 x 64 weights: one is certain if all tokens choose the same.
  constexpr double tokens = 16 * 64, square = 64 * 64, router = 2 * tokens * 4 + 16 * 4;
  constexpr Least best{router + 2 * tokens * 64, (tokens + 64 * 4 + square) * 4, tokens * 4};
  const auto model = [](const std::string& nodes, const std::string& tokens = "16") {
    std::vector<Stored> stored{{"wr", f32, {64, 4}}, {"w", f32, {4, 64, 64}}, {"columns", f32, {64, 256}}};
    for (int e = 0; e < 4; ++e) stored.push_back({"w" + std::to_string(e), f32, {64, 64}});
    return least_layers("(float[" + tokens + ", 64] x) => (float[" + tokens +
                            ", 64] y) <int64[1] a0 = {0}, int64[1] a1 = {1}, int64[1] a2 = {2}, int64[1] two = {2}, "
                            "int64[3] sizes = {16, 1, 64}, int64[3] stack = {16, 4, 64}, int64[16, 1] token = "
                            "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}> { l = MatMul(x, wr) " +
                            nodes + " }",
                        stored);
  };
  const std::string first = "j = ArgMax<axis = 1, keepdims = 1>(l) ",
                    each =
                        "h0 = MatMul(x, w0) h1 = MatMul(x, w1) h2 = MatMul(x, w2) h3 = MatMul(x, w3) "
                        "u0 = Unsqueeze(h0, a1) u1 = Unsqueeze(h1, a1) u2 = Unsqueeze(h2, a1) "
                        "u3 = Unsqueeze(h3, a1) h = Concat<axis = 1>(u0, u1, u2, u3) ",
                    one_tensor = "x3 = Unsqueeze(x, a0) p = MatMul(x3, w) h = Transpose<perm = [1, 0, 2]>(p) ",
                    elements =
                        "j3 = Unsqueeze(j, a2) i = Expand(j3, sizes) e = GatherElements<axis = 1>(h, i) "
                        "y = Squeeze(e, a1) ";
  SECTION("GatherElements") { check_least(model(first + each + elements), best); }
  SECTION("GatherND with a batch dimension") {
    check_least(model(first + each + "y = GatherND<batch_dims = 1>(h, j)"), best);
  }
  SECTION("GatherND with the numbers of the tokens beside those of the experts") {
    check_least(model(first + each + "i = Concat<axis = 1>(token, j) y = GatherND(h, i)"), best);
  }
  SECTION("weights of all experts in one tensor") { check_least(model(first + one_tensor + elements), best); }
  SECTION("weights of all experts in one matrix") {
    check_least(model(first + "p = MatMul(x, columns) h = Reshape(p, stack) " + elements), best);
  }
  SECTION("an Einsum") { check_least(model(first + "h = Einsum<equation = \"td,edf->tef\">(x, w) " + elements), best); }
  SECTION("with a function of each result") {
    check_least(model(first + each +
                      "r = Relu(h) j3 = Unsqueeze(j, a2) i = Expand(j3, sizes) "
                      "e = GatherElements<axis = 1>(r, i) y = Squeeze(e, a1)"),
                {best.flops + tokens, best.reads, best.writes});
  }
  SECTION("one token, whose index takes a whole expert") {
    check_least(model("j = ArgMax<axis = 1, keepdims = 0>(l) " + each +
                          "g = Gather<axis = 1>(h, j) "
                          "y = Squeeze(g, a1)",
                      "1"),
                {2 * 64 * 4 + 4 + 2 * square, (64 + 64 * 4 + square) * 4, 64 * 4});
  }
  SECTION("the best two") {
    check_least(model("v, j = TopK<axis = 1>(l, two) " + each +
                      "k3 = Unsqueeze(j, a2) g = GatherND<batch_dims = 1>(h, k3) y = ReduceSum<keepdims = 0>(g, a1)"),
                {router + 2 * 2 * tokens * 64 + 2 * tokens, (tokens + 64 * 4 + 2 * square) * 4, tokens * 4});
  }
  SECTION("the best two, by indices that a Split divides") {
    CHECK(model("v, j = TopK<axis = 1>(l, two) i0, i1 = Split<axis = 1, num_outputs = 2>(j) " + each +
                "a = GatherND<batch_dims = 1>(h, i0) b = GatherND<batch_dims = 1>(h, i1) y = Add(a, b)")
              .single.model_reads.value <= (tokens + 64 * 4 + 2 * square) * 4);
  }
  SECTION("but all if other data choose") {
    CHECK(model(each + "i = Cast<to = 7>(l) k1 = Slice(i, a0, a1, a1) y = GatherND<batch_dims = 1>(h, k1)")
              .single.model_reads.value == (tokens + 64 + 4 * square) * 4);
  }
}

TEST_CASE("one number is known to be everywhere in a constant into which others are scattered", "[floors]") {
  // 128 places, of which data choose 2 of 4 in each row. A TopK of 32 x 4 scores.
  SECTION("of more elements than are kept, stored in the file") {
    const auto model = least_layers(
        "(float[32, 4] x) => (float[32, 64] y) <int64[1] k = {2}> { v, i = TopK<axis = -1>(x, k) "
        "d = ScatterElements<axis = 1>(z, i, v) y = MatMul(d, w) }",
        {{"z", f32, {32, 4}}, {"w", f32, {4, 64}}});
    // All rows may choose the same 2 of 4 rows of w.
    check_least(model, {32 * 4 + 32 * 2 * 2 * 64, 32 * 4 * 4 + 2 * 64 * 4, 32 * 64 * 4});
  }
}

TEST_CASE("the rows that the indices of a TopK name differ", "[floors]") {
  // The best 5 of 100: as many rows of 64 numbers. TopK looks at each number once, a Cast at each index.
  const auto model = [](const std::string& nodes, const std::string& result) {
    return least_layers("(float[2, 100] x) => (float[" + result +
                            "] y) <int64[1] k = {5}, int64[1] flat = {-1}, "
                            "int64[1] a = {0}, int64[1] b = {1}> { v, i = TopK(x, k) " +
                            nodes + " }",
                        {{"w", f32, {100, 64}}});
  };
  constexpr double x = 2 * 100 * 4, row = 64 * 4;
  SECTION("in each row of the indices") {
    check_least(model("y = Gather(w, i)", "2, 5, 64"), {2 * 100, x + 5 * row, 10 * row});
  }
  SECTION("in one list") {
    check_least(model("c = Cast<to = 6>(i) f = Reshape(c, flat) y = Gather(w, f)", "10, 64"),
                {2 * 100 + 10, x + 5 * row, 10 * row});
  }
  SECTION("but not in a part of them") {
    const auto part = model("s = Slice(i, a, b, b) y = Gather(w, s)", "2, 1, 64");
    CHECK(part.single.model_reads.value <= x + row);
  }
}

}  // namespace chosen_places
