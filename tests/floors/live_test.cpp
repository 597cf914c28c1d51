// SPDX-License-Identifier: Apache-2.0
// Models that compute more than their outputs need. What is needed is counted by hand: a multiply-add is two
// operations, floats have 4 bytes, and weights are inputs here.
#include "support/catch.hpp"
#include "support/onnx_text.hpp"
#include <benanza/bounds/analyze.hpp>
#include <benanza/fusion/model_layers.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace {

using namespace benanza;

ModelLayers layers_of(const std::string& text, int opset = 21) {
  const std::string header =
      "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]>";
  return make_model_layers(testing::import_model(testing::parse_model("g " + text, header)));
}

double needed_flops(const LayerGraph& graph) {
  return std::accumulate(graph.layers.begin(), graph.layers.end(), 0.0, [](double sum, const Occurrence& at) {
    return sum + at.needed.flops.value * static_cast<double>(at.repeat);
  });
}

/// The arithmetic in both forms, the bytes of inputs, and the whole arithmetic, which includes what no output needs,
/// but not what products absorb.
void check(const ModelLayers& model, double flops, double reads) {
  CHECK(needed_flops(model.single) == Approx(flops));
  CHECK(needed_flops(model.fused) == Approx(flops));
  CHECK(model.single.model_reads.value == Approx(reads));
  double all = 0, dead = 0;
  for (const auto& at : model.single.layers)
    all += (cost(at.layer).flops - at.absorbed).value * static_cast<double>(at.repeat);
  for (const auto& work : model.single.dead) dead += work.flops.value;
  CHECK(all - dead == Approx(flops));
}

/// A product of 16 rows, which `readers` read.
ModelLayers product_read_by(const std::string& results, const std::string& constants, const std::string& readers) {
  return layers_of("(float[16, 8] x, float[8, 4] w) => (" + results + ") <" + constants + "> { h = MatMul(x, w) " +
                   readers + " }");
}

}  // namespace

TEST_CASE("only the last token's logits are computed", "[floors]") {
  // 256 tokens of 64 numbers, 1,000 words: one row of x, all weights. The index is in the program.
  const double flops = 2.0 * 64 * 1000, reads = 64 * 4 + 64 * 1000 * 4;
  const std::string head = "(float[256, 64] x, float[64, 1000] w) => (float[";
  SECTION("a list of one index") {
    check(layers_of(head + "1, 1000] y) <int64[1] i = {255}> { h = MatMul(x, w) y = Gather<axis = 0>(h, i) }"), flops,
          reads);
  }
  SECTION("counted from the end, and no list") {
    const auto model = layers_of(head + "1000] y) <int64 i = {-1}> { h = MatMul(x, w) y = Gather<axis = 0>(h, i) }");
    check(model, flops, reads);
    REQUIRE(model.single.dead.size() == 1);
    CHECK(model.single.dead[0].flops.value == 255 * flops);
    CHECK(model.single.dead[0].nodes.size() == 1);
    CHECK_THAT(model.single.dead[0].readers.at(0), Catch::Contains("(Gather) reads 1 of 256 along axis 0"));
  }
  SECTION("an index that is an input may be any") {
    const auto model = layers_of(
        "(float[256, 64] x, float[64, 1000] w, int64[1] i) => (float[1, 1000] y) { h = MatMul(x, w) "
        "y = Gather<axis = 0>(h, i) }");
    check(model, 256 * flops, 256 * 64 * 4 + 64 * 1000 * 4 + 8);
  }
}

TEST_CASE("only the first of 197 tokens is a class", "[floors]") {
  const std::string part = "<int64[1] from = {0}, int64[1] to = {1}, int64[1] axis = {1}>";
  SECTION("two products") {
    // One row each: 32 x 48 and 48 x 16.
    const auto counted = [&](const std::string& type, double each) {
      const auto model =
          layers_of("(" + type + "[1, 197, 32] x, " + type + "[32, 48] a, " + type + "[48, 16] b) => (" + type +
                    "[1, 1, 16] y) " + part + " { h = MatMul(x, a) g = MatMul(h, b) y = Slice(g, from, to, axis) }");
      check(model, 2.0 * (32 * 48 + 48 * 16), each * (32 + 32 * 48 + 48 * 16));
      CHECK(model.single.model_writes.value == Approx(each * 16));
    };
    counted("float", 4);
    counted("float16", 2);
  }
  SECTION("a residual around a product") {
    // One row of 32 x 32, whose sums start with the residual, and 32 maxima.
    const auto model = layers_of("(float[1, 197, 32] x, float[32, 32] w) => (float[1, 1, 32] y) " + part +
                                 " { h = MatMul(x, w) s = Add(x, h) r = Relu(s) y = Slice(r, from, to, axis) }");
    check(model, 2 * 32 * 32 + 32, 32 * 4 + 32 * 32 * 4);
  }
  SECTION("a value that is an output too is needed whole") {
    const auto model = layers_of("(float[1, 197, 32] x, float[32, 16] w) => (float[1, 1, 16] y, float[1, 197, 16] h) " +
                                 part + " { h = MatMul(x, w) y = Slice(h, from, to, axis) }");
    check(model, 2.0 * 197 * 32 * 16, 197 * 32 * 4 + 32 * 16 * 4);
    CHECK(model.single.dead.empty());
  }
  SECTION("heads between a reshape and a transposition") {
    // One token of 16, in both heads.
    const auto model = layers_of(R"((float[1, 16, 8] x, float[8, 8] w) => (float[1, 2, 4] y)
        <int64[4] heads = {1, 16, 2, 4}, int64 last = {15}> {
          h = MatMul(x, w) r = Reshape(h, heads) t = Transpose<perm = [0, 2, 1, 3]>(r) y = Gather<axis = 2>(t, last) })");
    check(model, 2 * 8 * 8, 8 * 4 + 8 * 8 * 4);
  }
}

TEST_CASE("readers of different parts add up", "[floors]") {
  const auto rows = [](double count) { return 2 * count * 8 * 4; };
  const double weights = 8 * 4 * 4;
  SECTION("rows 0, 1 and rows 10, 12, 14") {
    const auto model =
        product_read_by("float[2, 4] y, float[3, 4] z",
                        "int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {10}, int64[1] d = {16}, int64[1] two = {2}",
                        "y = Slice(h, a, b) z = Slice(h, c, d, a, two)");
    check(model, rows(5), 5 * 8 * 4 + weights);
  }
  SECTION("the last three rows backwards") {
    const auto model = product_read_by(
        "float[3, 4] y", "int64[1] from = {-1}, int64[1] to = {-4}, int64[1] axis = {0}, int64[1] step = {-1}",
        "y = Slice(h, from, to, axis, step)");
    check(model, rows(3), 3 * 8 * 4 + weights);
  }
  SECTION("two rows and one column") {
    // 2 x 4 and 16 x 1 elements, two of them in both: 22 sums of 8 products. All of x and w.
    const auto model =
        product_read_by("float[2, 4] y, float[16, 1] z", "int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {1}",
                        "y = Slice(h, a, b, a) z = Slice(h, a, c, c)");
    check(model, 2 * 8 * 22, 16 * 8 * 4 + weights);
  }
  SECTION("overlapping rows count once") {
    const auto model = product_read_by("float[3, 4] y, float[4, 4] z",
                                       "int64[1] a = {0}, int64[1] b = {3}, int64[1] c = {2}, int64[1] d = {6}",
                                       "y = Slice(h, a, b) z = Slice(h, c, d)");
    check(model, rows(6), 6 * 8 * 4 + weights);
  }
  SECTION("one part of three") {
    // Columns 0 to 7 of 12, and 4 x 8 maxima.
    const auto model = layers_of(R"((float[4, 8] x, float[8, 12] w) => (float[4, 4] y, float[4, 4] z) {
        h = MatMul(x, w) a, b, c = Split<axis = 1, num_outputs = 3>(h) y = Relu(a) z = Relu(b) })");
    check(model, 2 * 4 * 8 * 8 + 4 * 8, 4 * 8 * 4 + 8 * 8 * 4);
  }
  SECTION("one operand of a Concat") {
    // 4 x 8 maxima; z is not read.
    const auto model = layers_of(R"((float[4, 8] x, float[4, 8] z) => (float[4, 8] y)
        <int64[1] a = {0}, int64[1] b = {8}, int64[1] axis = {1}> {
          r = Relu(x) s = Sigmoid(z) c = Concat<axis = 1>(r, s) y = Slice(c, a, b, axis) })");
    check(model, 4 * 8, 4 * 8 * 4);
  }
  SECTION("a half of a Concat of inputs") {
    // Rows 2 to 5 of 4 + 4, with 8 numbers each.
    const auto model = layers_of(R"((float[4, 8] x, float[4, 8] z) => (float[4, 8] y)
        <int64[1] a = {2}, int64[1] b = {6}> { c = Concat<axis = 0>(x, z) r = Relu(c) y = Slice(r, a, b) })");
    check(model, 4 * 8, 4 * 8 * 4);
  }
}

TEST_CASE("only the needed ones of tensors that are joined are read", "[floors]") {
  // Eight columns of x and none of z; four of x and two of z.
  const std::string head = "(float[16, 8] x, float[16, 64] z) => (float[16, ";
  const auto joined = [&](const std::string& columns, const std::string& from, const std::string& to) {
    return layers_of(head + columns + "] y) <int64[1] from = {" + from + "}, int64[1] to = {" + to +
                     "}, int64[1] axis = {1}> { h = Concat<axis = 1>(x, z) r = Relu(h) y = Slice(r, from, to, axis) }");
  };
  check(joined("8", "0", "8"), 16 * 8, 16 * 8 * 4);
  check(joined("6", "4", "10"), 16 * 6, 16 * 6 * 4);
}

TEST_CASE("a cropped convolution", "[floors]") {
  const auto cropped = [](const std::string& sizes, const std::string& box, const std::string& attributes) {
    return layers_of("(float[1, 2, 8, 8] x, float[3, 2, 3, 3] w) => (float[" + sizes + "] y) <" + box +
                     "> { h = Conv<" + attributes + ">(x, w) y = Slice(h, a, b, axes) }");
  };
  const double weights = 3 * 2 * 9 * 4;
  SECTION("the middle: 4 x 4 places of 3 filters, 9 taps of 2 channels; rows and columns 1 to 6 of x") {
    const auto model = cropped("1, 3, 4, 4", "int64[2] a = {2, 2}, int64[2] b = {6, 6}, int64[2] axes = {2, 3}",
                               "pads = [1, 1, 1, 1]");
    check(model, 2 * 3 * 2 * 9 * 16, 2 * 6 * 6 * 4 + weights);
  }
  SECTION("a corner: 2 and 3 taps along each axis; rows and columns 0 to 2 of x") {
    const auto model = cropped("1, 3, 2, 2", "int64[2] a = {0, 0}, int64[2] b = {2, 2}, int64[2] axes = {2, 3}",
                               "pads = [1, 1, 1, 1]");
    check(model, 2 * 3 * 2 * 25, 2 * 3 * 3 * 4 + weights);
  }
  SECTION("one filter: 6 * 3 + 2 * 2 taps along each axis") {
    const auto model =
        cropped("1, 1, 8, 8", "int64[1] a = {1}, int64[1] b = {2}, int64[1] axes = {1}", "pads = [1, 1, 1, 1]");
    check(model, 2 * 1 * 2 * 22 * 22, 2 * 8 * 8 * 4 + weights / 3);
  }
  SECTION("one group of two") {
    // Channels 2 and 3 of y belong to the second group: two filters of 2 channels, 36 positions of 9 taps.
    const auto model = layers_of(R"((float[1, 4, 8, 8] x, float[4, 2, 3, 3] w) => (float[1, 2, 6, 6] y)
        <int64[1] a = {2}, int64[1] b = {4}, int64[1] axes = {1}> { h = Conv<group = 2>(x, w) y = Slice(h, a, b, axes) })");
    check(model, 2 * 2 * 2 * 36 * 9, 2 * 8 * 8 * 4 + 2 * 2 * 9 * 4);
  }
  SECTION("every other place, by a stride") {
    // 4 x 4 of 8 x 8 positions of 4 channels are read: as many maxima, and a 1x1 convolution to 2 channels.
    const auto model = layers_of(R"((float[1, 4, 8, 8] x, float[2, 4, 1, 1] w) => (float[1, 2, 4, 4] y) {
        r = Relu(x) y = Conv<strides = [2, 2]>(r, w) })");
    check(model, 4 * 16 + 2 * 2 * 4 * 16, 4 * 16 * 4 + 2 * 4 * 4);
  }
  SECTION("a transposed convolution") {
    // Stride 2, 2x2 taps: each of 2 x 2 positions of the result has one tap, of position 0 of x; 2 channels in, 3 out.
    const auto model = layers_of(R"((float[1, 2, 4, 4] x, float[2, 3, 2, 2] w) => (float[1, 3, 2, 2] y)
        <int64[2] a = {0, 0}, int64[2] b = {2, 2}, int64[2] axes = {2, 3}> {
          h = ConvTranspose<strides = [2, 2]>(x, w) y = Slice(h, a, b, axes) })");
    check(model, 2 * 2 * 3 * 4, 2 * 4 + 2 * 3 * 4 * 4);
  }
  SECTION("a pool that leaves out the last row and column") {
    // 2x2 windows at 3 x 3 positions of 7 x 7: one comparison for each tap, and 6 x 6 maxima before.
    const auto model = layers_of(R"((float[1, 1, 7, 7] x) => (float[1, 1, 3, 3] y) {
        r = Relu(x) y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r) })");
    check(model, 36 + 36, 36 * 4);
  }
}

TEST_CASE("attention for one token of 16", "[floors]") {
  // 2 heads of depth 8: a pair of a query and a key takes 2 * (8 + 8) operations for the products and 4 for the
  // softmax. Queries are scaled and results are divided.
  const auto model_of = [](const std::string& attributes, int token) {
    return layers_of(
        "(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => (float[1, 2, 8] y) "
        "<int64 i = {" +
            std::to_string(token) + "}> { h = Attention" + attributes + "(q, k, v) y = Gather<axis = 2>(h, i) }",
        23);
  };
  const double token = 2 * 8 * 4, pair = 2 * 36;
  check(model_of("", -1), 16 * pair, token + 2 * 16 * token);
  check(model_of("<is_causal = 1>", 15), 16 * pair, token + 2 * 16 * token);
  check(model_of("<is_causal = 1>", 3), 4 * pair, token + 2 * 4 * token);
}

TEST_CASE("attention for a part of its columns", "[floors]") {
  // 2 heads of depth 8, 128 tokens: a pair of a query and a key takes 2 * 8 operations for its score, 4 for the
  // softmax, and 2 for each column of the values.
  const double pairs = 2 * 128 * 128, head = 128 * 8 * 4;
  const std::string part = "<int64[1] a = {0}, int64[1] b = {";
  SECTION("one of 8 columns of each head") {
    check(
        layers_of("(float[1, 2, 128, 8] q, float[1, 2, 128, 8] k, float[1, 2, 128, 8] v) => (float[1, 2, 128, 1] y) " +
                      part + "1}, int64[1] axis = {3}> { h = Attention(q, k, v) y = Slice(h, a, b, axis) }",
                  23),
        pairs * (16 + 4 + 2), 2 * 2 * head + 2 * head / 8);
  }
  SECTION("one head of two that lie side by side") {
    check(layers_of("(float[1, 128, 16] q, float[1, 128, 16] k, float[1, 128, 16] v) => (float[1, 128, 8] y) " + part +
                        "8}, int64[1] axis = {2}> { h = Attention<q_num_heads = 2, kv_num_heads = 2>(q, k, v) "
                        "y = Slice(h, a, b, axis) }",
                    23),
          pairs / 2 * 36, 3 * head);
  }
  SECTION("a column of one of four heads, which share two heads of keys and values") {
    // The queries of one head, the keys of another, and a column of its values.
    check(layers_of("(float[1, 128, 32] q, float[1, 128, 16] k, float[1, 128, 16] v) => (float[1, 128, 1] y) " + part +
                        "1}, int64[1] axis = {2}> { h = Attention<q_num_heads = 4, kv_num_heads = 2>(q, k, v) "
                        "y = Slice(h, a, b, axis) }",
                    23),
          pairs / 2 * 22, 2 * head + head / 8);
  }
  SECTION("a row of all columns and a column of all rows: the scores of the row count once") {
    // 128 rows of scores, one column for each, 7 more columns for one row.
    check(layers_of(R"((float[1, 1, 128, 8] q, float[1, 1, 128, 8] k, float[1, 1, 128, 8] v) =>
                       (float[1, 1, 1, 8] y, float[1, 1, 128, 1] z)
                       <int64[1] a = {0}, int64[1] b = {1}, int64[1] row = {2}, int64[1] column = {3}> {
                         h = Attention(q, k, v) y = Slice(h, a, b, row) z = Slice(h, a, b, column) })",
                    23),
          128 * 128 * 22 + 128 * 7 * 2, 3 * head);
  }
}

TEST_CASE("attention for one head or one sequence needs its cache", "[floors]") {
  // A query behind 63 cached keys sees 64 keys; each takes 2 * (64 + 64) operations, and 6 for scale and softmax.
  const double row = 64 * 4, flops = 64 * (2 * 128 + 6), reads = 3 * row + 2 * 63 * row;
  const auto one_of = [](const std::string& sizes, const std::string& axis) {
    const std::string call = "float[" + sizes + ", 1, 64] ", cache = "float[" + sizes + ", 63, 64] ";
    return layers_of("(" + call + "q, " + call + "k, " + call + "v, " + cache + "pk, " + cache + "pv) => " +
                         "(float[1, 1, 1, 64] y) <int64[1] a = {0}, int64[1] b = {1}, int64[1] axis = {" + axis +
                         "}> { h, nk, nv = Attention(q, k, v, , pk, pv) y = Slice(h, a, b, axis) }",
                     23);
  };
  check(one_of("1, 4", "1"), flops, reads);
  check(one_of("4, 1", "0"), flops, reads);
}

TEST_CASE("attention to one key needs no score", "[floors]") {
  // The only key has the weight 1: values are copied.
  check(layers_of("(float[1, 2, 128, 8] q, float[1, 2, 1, 8] k, float[1, 2, 1, 8] v) => (float[1, 2, 128, 8] y) "
                  "{ y = Attention(q, k, v) }",
                  23),
        0, 2 * 8 * 4);
  // A softmax of one number needs neither its score nor the product before it. What is left is 16 maxima.
  check(layers_of("(float[16, 8] x, float[8, 1] w) => (float[16, 1] y) "
                  "{ s = MatMul(x, w) p = Softmax<axis = 1>(s) y = Relu(p) }"),
        16, 0);
}

TEST_CASE("a query that sees one key needs its value alone", "[floors]") {
  // 2 heads of 16 tokens of depth 8; a pair takes 36 operations.
  const std::string qkv = "(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => (float[1, 2, ",
                    of = "8] y) <int64[1] a = {0}, int64[1] b = {", axis = "}, int64[1] axis = {2}> { ",
                    sliced = " y = Slice(h, a, b, axis) }";
  const double token = 2 * 8 * 4;
  check(layers_of(qkv + "1, " + of + "1" + axis + "h = Attention<is_causal = 1>(q, k, v)" + sliced, 23), 0, token);
  // The second query sees two keys. Together they count like any others, with three pairs.
  check(layers_of(qkv + "2, " + of + "2" + axis + "h = Attention<is_causal = 1>(q, k, v)" + sliced, 23), 2 * 3 * 36,
        (2 + 2 + 2) * token);
  check(layers_of("(float[1, 16, 16] q, float[1, 16, 16] k, float[1, 16, 16] v) => (float[1, 1, 16] y) "
                  "<int64[1] a = {0}, int64[1] b = {1}, int64[1] axis = {1}> { "
                  "h = com.microsoft.MultiHeadAttention<num_heads = 2, unidirectional = 1>(q, k, v)" +
                      sliced,
                  23),
        0, token);
  SECTION("in separate nodes: what counts is the product of 1 and the values") {
    const auto model = layers_of(
        "(float[1, 2, 16, 8] q, float[1, 2, 8, 16] k, float[1, 2, 16, 8] v) => (float[1, 2, 1, " + of + "1" + axis +
            "n = Constant<value = int64[2] {16, 16}>() on = ConstantOfShape<value = float[1] {-1e30}>(n) "
            "o = Constant<value_int = 1>() m = Trilu<upper = 1>(on, o) s = MatMul(q, k) t = Add(s, m) "
            "p = Softmax(t) h = MatMul(p, v)" +
            sliced,
        21);
    CHECK(needed_flops(model.single) == Approx(2 * 2 * 8));
    CHECK(needed_flops(model.fused) <= 2 * 2 * 8);
    CHECK(model.single.model_reads.value == Approx(token));
  }
}

TEST_CASE("keys and values that attention would hand on may be left unread", "[floors]") {
  const std::string operands =
      "(float[1, 2, 16, 8] q, float[1, 2, 16, 8] k, float[1, 2, 16, 8] v) => (float[1, 2, 16, 8] y) ";
  check(layers_of(operands + "{ y, a, b = Attention(q, k, v) }", 23), 2 * 16 * 16 * 36, 3 * 2 * 16 * 8 * 4);
}

TEST_CASE("normalisation needs whole rows", "[floors]") {
  const std::string head = "(float[4, 6, 8] x, float[8] s, float[8] b) => (float[4, ";
  SECTION("of one row") {
    // 4 rows of 8: mean 1, variance 2, normalisation 2, scale and bias.
    const auto model = layers_of(head +
                                 "8] y) <int64 i = {0}> { h = LayerNormalization<axis = -1>(x, s, b) "
                                 "y = Gather<axis = 1>(h, i) }");
    check(model, 4 * 8 * 7, 4 * 8 * 4 + 2 * 8 * 4);
  }
  SECTION("of one column") {
    // Mean and variance of all 24 rows of 8; the other 4 operations for 24 numbers; one scale, one bias.
    const auto model = layers_of(head +
                                 "6] y) <int64 i = {2}> { h = LayerNormalization<axis = -1>(x, s, b) "
                                 "y = Gather<axis = 2>(h, i) }");
    check(model, 3 * 24 * 8 + 4 * 24, 24 * 8 * 4 + 2 * 4);
  }
  SECTION("one probability of 8") {
    // Maximum, difference, exponential and sum of 4 x 8; 4 quotients.
    const auto model = layers_of(
        "(float[4, 8] x) => (float[4] y) <int64 i = {0}> { h = Softmax<axis = 1>(x) y = Gather<axis = 1>(h, i) }");
    check(model, 4 * 4 * 8 + 4, 4 * 8 * 4);
  }
  SECTION("a mean of one channel") {
    // 16 sums.
    const auto model = layers_of(R"((float[1, 4, 4, 4] x) => (float[1] y) <int64 i = {1}, int64[2] axes = {2, 3}> {
        h = ReduceMean<keepdims = 0>(x, axes) y = Gather<axis = 1>(h, i) })");
    check(model, 16, 16 * 4);
  }
}

TEST_CASE("bodies compute what their outputs need", "[floors]") {
  SECTION("columns of what a loop collects, and all of what it hands on") {
    // 10 passes of 64 sums and of 8 columns of a product.
    const auto model = layers_of(R"((float[1, 64] x, float[64, 32] w) => (float[10, 1, 8] y)
        <int64 n = {10}, int64[1] a = {0}, int64[1] b = {8}, int64[1] axis = {2}> {
          last, all = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2,
            float[1, 32] e) { on = Identity(go) h2 = Add(h, h) e = MatMul(h2, w) }>
          y = Slice(all, a, b, axis) })");
    check(model, 10 * (64 + 2 * 64 * 8), 64 * 4 + 64 * 8 * 4);
  }
  SECTION("a part of what a loop hands on") {
    const auto model = layers_of(R"((float[1, 64] x) => (float[1, 8] y)
        <int64 n = {10}, int64[1] a = {0}, int64[1] b = {8}, int64[1] axis = {1}> {
          last = Loop (n, "", x) <body = b (int64 i, bool go, float[1, 64] h) => (bool on, float[1, 64] h2) {
            on = Identity(go) h2 = Add(h, h) }>
          y = Slice(last, a, b, axis) })");
    check(model, 10 * 8, 8 * 4);
  }
}

TEST_CASE("the last block of vit_b_16 has one token of 197 to compute", "[floors]") {
  // 196 tokens of 768 numbers need no query and no projection (768 x 768), none of the products behind them (768 x
  // 3072, 3072 x 768), and no scores in 12 heads: 64 + 64 multiply-adds and a softmax of 5 operations for each of 197
  // keys. Element-wise layers and norms are less than 0.5 % of that.
  const double token = 2.0 * (2 * 768 * 768 + 2 * 768 * 3072) + 12.0 * 197 * (2 * 128 + 5);
  const auto model = make_model_layers(import_onnx(BENANZA_MODELS "/modern/vit_b_16.onnx"));
  double all = 0, dead = 0;
  for (const auto& at : model.single.layers) all += cost(at.layer).flops.value;
  for (const auto& work : model.single.dead) dead += work.flops.value;
  CHECK(dead == Approx(196 * token).epsilon(0.005));
  CHECK(dead / all == Approx(0.069).epsilon(0.005));
}

TEST_CASE("floors lack dead work, and rungs keep their order", "[floors]") {
  // 1 TFLOP/s, 100 GB/s and no cache: 64 rows of 256 x 256, of which one is read.
  const auto model = layers_of(R"((float[64, 256] x, float[256, 256] w) => (float[256] y) <int64 i = {0}> {
      h = MatMul(x, w) y = Gather<axis = 0>(h, i) })");
  Run run;
  run.machine = {.device = "declared", .isa = "none", .cores = 1};
  run.ceilings = {{.quantity = CeilingQuantity::peak(DataType::f32), .value = 1e12},
                  {.quantity = CeilingQuantity::bandwidth("memory"), .value = 1e11}};
  ResultDatabase results;
  results.add(run);
  const Analysis analysis = analyze(model, results, {.analytic = true});
  const double reads = 256 * 4 + 256 * 256 * 4, writes = 256 * 4;
  CHECK(analysis[RungName::model_floor].bound->value == Approx((reads + writes) / 1e11));
  CHECK(analysis[RungName::model_floor].bound <= analysis[RungName::roofline_parallel].bound);
  CHECK(analysis[RungName::roofline_parallel].bound <= analysis[RungName::roofline].bound);
  // The product alone: its row of x, all weights, one row written. The Gather reads and writes that row.
  CHECK(analysis[RungName::roofline].bound->value == Approx((reads + 3 * writes) / 1e11));
  CHECK(analysis.flops.value == 2.0 * 64 * 256 * 256);
  CHECK(analysis.dead_share() == Approx(63.0 / 64));
}

TEST_CASE("a recurrent layer computes the steps up to the last one that is read", "[floors]") {
  // 100 steps of 64 inputs and 64 units in both directions; one step of one direction multiplies 4 x 64 rows of 128.
  const auto read = [](const std::string& readers, const std::string& result, const std::string& constants) {
    return layers_of("(float[100, 1, 64] x, float[2, 256, 64] w, float[2, 256, 64] r) => (float[" + result + "] y) <" +
                     constants + "> { s, h, c = LSTM<direction = \"bidirectional\", hidden_size = 64>(x, w, r) " +
                     readers + " }");
  };
  const auto model = read("y = Identity(s)", "100, 2, 1, 64", "");
  // The first step of a direction has no state to multiply: it has no products of 64 units with four gates, and no
  // forget gate, which takes a product of 64 inputs, a sigmoid, a product and a sum. If only the first step is read,
  // none of these weights are read.
  const double first = 2.0 * 256 * 64 + 2.0 * 64 * 64 + 3 * 64, step = 2.0 * 256 * 128 + 9 * 64,
               all = 200 * step - 2 * first;
  CHECK(needed_flops(model.single) == Approx(all));
  const double x = 64 * 4, weights = 2 * 256 * 64 * 4;  // a step's inputs, one direction's weights
  // The last step is the first one that the backward direction computes.
  check(read("l = Gather<axis = 0>(s, i) y = Gather<axis = 0>(l, d)", "1, 64", "int64 i = {99}, int64 d = {1}"),
        step - first, x + weights * 3 / 8);
  check(read("l = Gather<axis = 0>(s, i) y = Gather<axis = 0>(l, d)", "1, 64", "int64 i = {99}, int64 d = {0}"),
        100 * step - first, 100 * x + weights);
  check(read("l = Gather<axis = 0>(s, i) y = Gather<axis = 0>(l, d)", "1, 64", "int64 i = {9}, int64 d = {0}"),
        10 * step - first, 10 * x + weights);
  // Both directions at the last step: all steps forward, one backward.
  check(read("y = Gather<axis = 0>(s, i)", "2, 1, 64", "int64 i = {99}"), 101 * step - 2 * first,
        100 * x + 1.375 * weights);
  // The last states are those after all steps.
  const auto last = read("y = Identity(h)", "2, 1, 64", "");
  CHECK(needed_flops(last.single) == Approx(all));
  CHECK(last.single.model_reads.value == Approx(100 * x + 2 * weights));
  check(read("y = Gather<axis = 0>(h, d)", "1, 64", "int64 d = {1}"), 100 * step - first, 100 * x + weights);
}
