// SPDX-License-Identifier: Apache-2.0
// Nodes of com.microsoft that engines write instead of several ONNX nodes: their arithmetic and their bytes are counted
// like those of ONNX's own nodes, so that bounds are not partial. A multiply-add is two operations, floats have 4
// bytes.
#include "least_work.hpp"

namespace engine_nodes {

using benanza::testing::check_least;
using benanza::testing::least_layers;
using benanza::testing::Stored;

constexpr auto f32 = onnx::TensorProto::FLOAT, u8 = onnx::TensorProto::UINT8;

TEST_CASE("com.microsoft's products count their arithmetic", "[floors]") {
  SECTION("FusedMatMul: two products of 128 x 64 by 64 x 32") {
    const auto model = least_layers(R"((float[2, 64, 128] x, float[2, 64, 32] w) => (float[2, 128, 32] y) {
        y = com.microsoft.FusedMatMul<transA = 1, alpha = 0.5>(x, w) })");
    check_least(model, {2 * 2 * 128 * 64 * 32, 2 * (64 * 128 + 64 * 32) * 4, 2 * 128 * 32 * 4});
    CHECK(model.single.unknown.empty());
  }
  SECTION("MatMulNBits: 128 x 64 by 64 x 32 weights of half a byte, a scale for each of two blocks of 32 of a column") {
    const auto model = least_layers(R"((float[1, 128, 64] x) => (float[1, 128, 32] y) {
        y = com.microsoft.MatMulNBits<K = 64, N = 32, bits = 4, block_size = 32>(x, w, s) })",
                                    {{"w", u8, {32, 2, 16}, 1}, {"s", f32, {64}}});
    check_least(model, {2 * 128 * 64 * 32, 128 * 64 * 4 + 64 * 32 / 2 + 2 * 32 * 4, 128 * 32 * 4});
    CHECK(model.single.unknown.empty());
  }
}

TEST_CASE("only the rows and columns of com.microsoft's products that are read count", "[floors]") {
  constexpr double row = 64 * 4;
  SECTION("TransposeMatMul: one row of 16") {
    check_least(least_layers(R"((float[16, 64] x) => (float[1, 64] y) <int64[1] i = {3}> {
        h = com.microsoft.TransposeMatMul<transB = 1>(x, w) y = Gather(h, i) })",
                             {{"w", f32, {64, 64}}}),
                {2 * 64 * 64, row + 64 * row, row});
  }
  SECTION("DynamicQuantizeMatMul: 8 columns of 64; the scale of x is of all of it") {
    check_least(least_layers(R"((float[16, 64] x) => (float[1, 8] y)
        <float s = {0.1}, int64[2] a = {0, 0}, int64[2] b = {1, 8}> {
          h = com.microsoft.DynamicQuantizeMatMul(x, w, s) y = Slice(h, a, b) })",
                             {{"w", u8, {64, 64}, 1}}),
                {2 * 64 * 8, 16 * row + 64 * 8 + 4, 8 * 4});
  }
}

TEST_CASE("only the rows of com.microsoft's 8-bit layers that are read count", "[floors]") {
  // The rows are bytes; a scale has 4 bytes, a zero point 1.
  const auto rows = [](const std::string& inputs, const std::string& y, const std::string& nodes) {
    return least_layers(
        "(" + inputs + ") => (uint8" + y +
        " y) <float s = {0.5}, uint8 z = {3}, int64[1] i = {2}, int64[1] a = {12}, int64[1] b = {18}> { " + nodes +
        " }");
  };
  SECTION("one of a softmax, or one matrix before version 13") {
    check_least(
        rows("uint8[4, 8, 8] x", "[4, 1, 8]",
             "h = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(x, s, z, s, z) y = Gather<axis = 1>(h, i)"),
        {0, 4 * 8 + 5, 4 * 8});
    check_least(rows("uint8[4, 8, 8] x", "[1, 1, 8]",
                     "h = com.microsoft.QLinearSoftmax<axis = 1, opset = 12>(x, s, z, s, z) g = Gather<axis = 1>(h, i) "
                     "y = Gather<axis = 0>(g, i)"),
                {0, 8 * 8 + 5, 8});
  }
  SECTION("one of a mean: 64 additions; its scale and zero point do not count") {
    check_least(rows("uint8[16, 64] x", "[1, 1]",
                     "h = com.microsoft.QLinearReduceMean<axes = [1], keepdims = 1>(x, s, z, s, z) y = Gather(h, i)"),
                {64, 64, 1});
  }
  SECTION("the last four of 16 and the first two behind them") {
    check_least(rows("uint8[16, 64] x, uint8[8, 64] v", "[6, 64]",
                     "h = com.microsoft.QLinearConcat<axis = 0>(s, z, x, s, z, v, s, z) y = Slice(h, a, b)"),
                {0, 6 * 64 + 5, 6 * 64});
  }
  SECTION("one of a condition; of the two operands data choose") {
    check_least(rows("bool[16, 64] c, uint8[16, 64] x, uint8[16, 64] v", "[1, 64]",
                     "h = com.microsoft.QLinearWhere(c, x, s, z, v, s, z, s, z) y = Gather(h, i)"),
                {0, 64 + 5, 64});
  }
}

TEST_CASE("com.microsoft's attention for the last token", "[floors]") {
  constexpr double row = 64 * 4;
  const std::string last = "<int64[1] a = {31}, int64[1] b = {32}, int64[1] axis = {1}> { ";
  SECTION("projects its query alone, with keys and values of all tokens") {
    // 2 heads of depth 32, 32 keys: 2 * (32 + 32) operations for the products and 6 for scale and softmax. The sums of
    // the projection start with the bias.
    check_least(least_layers("(float[1, 32, 64] x) => (float[1, 1, 64] y) " + last +
                                 "h = com.microsoft.Attention<num_heads = 2>(x, w, c) y = Slice(h, a, b, axis) }",
                             {{"w", f32, {64, 192}}, {"c", f32, {192}}}),
                {2 * 64 * (32 * 128 + 64) + 2 * 32 * (2 * 64 + 6), 32 * row + 64 * 192 * 4 + 192 * 4, row});
  }
  SECTION("reads its query in rows of two queries, a key and a value") {
    // Depth 64, and two lengths of 4 bytes.
    check_least(least_layers("(float[1, 32, 256] x, int32[1] l, int32 t) => (float[1, 1, 128] y) " + last +
                             "h, k, v = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>"
                             "(x, , , , , l, t) y = Slice(h, a, b, axis) }"),
                {2 * 32 * (2 * 128 + 6), 2 * row + 2 * 32 * row + 2 * 4, 2 * row});
  }
}

TEST_CASE("com.microsoft's attention counts its arithmetic", "[floors]") {
  SECTION("Attention: 16 tokens of 64 numbers by 64 x 192 weights, a bias, 4 heads of depth 16") {
    // A pair of a query and a key takes 2 * (16 + 16) operations for the products and 6 for scale and softmax. The sums
    // of the projection start with the bias.
    const auto attention = [](const std::string& attributes) {
      return least_layers("(float[1, 16, 64] x) => (float[1, 16, 64] y) { y = com.microsoft.Attention<num_heads = 4" +
                              attributes + ">(x, w, b) }",
                          {{"w", f32, {64, 192}}, {"b", f32, {192}}});
    };
    const double projection = 2 * 16 * 64 * 192, pair = 4 * (2 * (16 + 16) + 6);
    const double reads = 16 * 64 * 4 + 64 * 192 * 4 + 192 * 4, writes = 16 * 64 * 4;
    const auto model = attention("");
    check_least(model, {projection + 16 * 16 * pair, reads, writes});
    CHECK(model.single.unknown.empty());
    // Each token sees itself and the tokens before it: 1 + 2 + ... + 16 pairs.
    check_least(attention(", unidirectional = 1"), {projection + 16 * 17 / 2 * pair, reads, writes});
  }
  SECTION("GroupQueryAttention: one token behind 1,023 in a cache, 2 heads of depth 64 that share keys and values") {
    // 1,024 pairs per head, for which the query is scaled and the result divided. Reads: queries of two heads, a key
    // and a value, two caches, two i32. The new caches hold inputs unchanged, so that only the result is written.
    constexpr double row = 64 * 4;
    const auto model = least_layers(R"((float[1, 1, 128] q, float[1, 1, 64] k, float[1, 1, 64] v,
        float[1, 1, 1023, 64] pk, float[1, 1, 1023, 64] pv, int32[1] l, int32 t) =>
        (float[1, 1, 128] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })");
    check_least(model, {2 * 1024 * (2 * (64 + 64) + 4), 2 * row + 2 * row + 2 * 1023 * row + 2 * 4, 2 * row});
    CHECK(model.single.unknown.empty());
  }
  SECTION("GroupQueryAttention: 9 keys in a cache with room for 1,024, and one of the call") {
    // 10 pairs per head. The lengths are in the file.
    constexpr double row = 64 * 4;
    check_least(least_layers(R"((float[1, 1, 128] q, float[1, 1, 64] k, float[1, 1, 64] v,
        float[1, 1, 1024, 64] pk, float[1, 1, 1024, 64] pv) =>
        (float[1, 1, 128] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) <int32[1] l = {9}, int32 t = {10}> {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })"),
                {2 * 10 * (2 * (64 + 64) + 6), 2 * row + 2 * row + 2 * 9 * row, 2 * row});
  }
  SECTION("GroupQueryAttention: a cache that data fill, of which the call's key is certain") {
    // One pair per head. The lengths are read.
    constexpr double row = 64 * 4;
    const auto model = least_layers(R"((float[1, 1, 128] q, float[1, 1, 64] k, float[1, 1, 64] v,
        float[1, 1, 1024, 64] pk, float[1, 1, 1024, 64] pv, int32[1] l, int32 t) =>
        (float[1, 1, 128] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })");
    check_least(model, {2 * (2 * (64 + 64) + 4), 2 * row + 2 * row + 2 * 4, 2 * row});
    CHECK(model.single.unknown.size() == 1);
  }
  SECTION("GroupQueryAttention: 4 requests whose lengths are data, the longest of which has 32 keys") {
    // The others may have the key of the call alone: their results are its value. Reads: of the longest, two queries,
    // 32 keys and values; three values, 4 lengths and the greatest length.
    constexpr double row = 64 * 4;
    const auto model = least_layers(R"((float[4, 1, 128] q, float[4, 1, 64] k, float[4, 1, 64] v,
        float[4, 1, 31, 64] pk, float[4, 1, 31, 64] pv, int32[4] l, int32 t) =>
        (float[4, 1, 128] y, float[4, 1, 32, 64] a, float[4, 1, 32, 64] b) {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })");
    check_least(model, {2 * 32 * (2 * (64 + 64) + 6), 2 * row + 2 * 32 * row + 3 * row + 4 * 4 + 4, 4 * 2 * row});
    CHECK(model.single.unknown.size() == 1);
  }
  SECTION("GroupQueryAttention: 4 prompts of up to 16 tokens, of lengths that are data") {
    // Of the longest one, 16 queries, keys and values; of the others, at least one value.
    constexpr double row = 64 * 4;
    const auto model = least_layers(R"((float[4, 16, 128] q, float[4, 16, 64] k, float[4, 16, 64] v, int32[4] l) =>
        (float[4, 16, 128] y) <int32 t = {16}> {
          y = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, , , l, t) })");
    check_least(model, {2 * 16 * 17 / 2 * (2 * (64 + 64) + 6), 16 * 4 * row + 3 * row + 4 * 4, 4 * 16 * 2 * row});
    CHECK(model.single.unknown.size() == 1);
  }
  SECTION("Attention: caches that data fill, of which the key just written is certain") {
    // One pair per head. A query, a row of each cache and its place, and the length; rows, and a result.
    constexpr double row = 2 * 64 * 4;
    const auto model = least_layers(R"((float[1, 2, 1, 64] q, float[1, 2, 1, 64] k, float[1, 2, 1, 64] v,
        float[1, 2, 1024, 64] pk, float[1, 2, 1024, 64] pv, int64[1] n, int64[1] l) =>
        (float[1, 2, 1, 64] y, float[1, 2, 1024, 64] a, float[1, 2, 1024, 64] b) {
          a = TensorScatter(pk, k, n) b = TensorScatter(pv, v, n) y = Attention(q, a, b, , , , l) })",
                                    {}, 24);
    check_least(model, {2 * (2 * (64 + 64) + 4), 3 * row + 8 + 8, 3 * row});
    CHECK(model.single.unknown.size() == 1);
  }
}

TEST_CASE("only the certain part of what data choose in ONNX Runtime's own nodes counts", "[floors]") {
  constexpr double row = 64 * 4;
  SECTION("GatherBlockQuantized: one row of 64 numbers of 4 bits and of its two scales") {
    check_least(least_layers(R"((int64[16] i) => (float[16, 64] y) {
        y = com.microsoft.GatherBlockQuantized<block_size = 32, quantize_axis = 1, gather_axis = 0>(w, i, s) })",
                             {{"w", onnx::TensorProto::UINT4, {1000, 64}, 0.5}, {"s", f32, {1000, 2}}}),
                {0, 16 * 8 + 64 / 2 + 2 * 4, 16 * row});
  }
  SECTION("TorchEmbedding: one row") {
    check_least(least_layers("(int64[16] i) => (float[16, 64] y) { y = com.microsoft.TorchEmbedding(w, i) }",
                             {{"w", f32, {1000, 64}}}),
                {0, 16 * 8 + row, 16 * row});
  }
  SECTION("CropAndResize: the region and its image's number, and nothing of the image") {
    check_least(least_layers(R"((float[1, 64, 200, 200] x, float[1, 4] r, int32[1] b) => (float[1, 64, 1, 1] y)
        <int32[2] s = {1, 1}> { y = com.microsoft.CropAndResize(x, r, b, s) })"),
                {0, 4 * 4 + 4, row});
  }
  SECTION("GridSample: the place, and nothing of the image") {
    check_least(least_layers(R"((float[1, 64, 200, 200] x, float[1, 1, 1, 2] g) => (float[1, 64, 1, 1] y) {
        y = com.microsoft.GridSample(x, g) })"),
                {0, 2 * 4, row});
  }
  SECTION("DecoderMaskedMultiHeadAttention: nothing of the cache, of which data tell the length") {
    check_least(least_layers(R"((float[1, 1, 64] q, float[1, 1, 64] k, float[1, 1, 64] v, float[1, 1, 1024, 64] pk,
        float[1, 1, 1024, 64] pv, int32[1] l) =>
        (float[1, 1, 64] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          y, a, b = com.microsoft.DecoderMaskedMultiHeadAttention<num_heads = 1, past_present_share_buffer = 1>(
            q, k, v, , , pk, pv, l) })"),
                {0, 3 * row + 4, row});
  }
}

TEST_CASE("packed queries, keys and values count as far as the results that are read need them", "[floors]") {
  // 4 heads of depth 16 and 128 tokens. A pair and a head take 16 multiply-adds for the score and for the result, and
  // 4 operations for the softmax.
  constexpr double of_pair = 2 * 2 * 16 + 4;
  const auto part = [](const std::string& operands, const std::string& node, const std::string& size,
                       const std::string& kept, const std::string& axis) {
    return least_layers("(" + operands + ") => (float[" + size + "] y) <int64[1] a = {0}, int64[1] b = {" + kept +
                        "}, int64[1] axis = {" + axis + "}> { h = com.microsoft.MultiHeadAttention<num_heads = 4>" +
                        node + " y = Slice(h, a, b, axis) }");
  };
  const std::string all = "float[1, 128, 4, 3, 16] x", separate = "float[1, 128, 64] q, float[1, 128, 4, 2, 16] k";
  SECTION("the first token: its query, and all keys and values") {
    const benanza::testing::Least least{4 * 128 * of_pair, (64 + 2 * 128 * 64) * 4, 64 * 4};
    check_least(part(all, "(x)", "1, 1, 64", "1", "1"), least);
    check_least(part(separate, "(q, k)", "1, 1, 64", "1", "1"), least);
  }
  SECTION("the first head: queries, keys and values of 16 columns") {
    const benanza::testing::Least least{128 * 128 * of_pair, 3 * 128 * 16 * 4, 128 * 16 * 4};
    check_least(part(all, "(x)", "1, 128, 16", "16", "2"), least);
    check_least(part(separate, "(q, k)", "1, 128, 16", "16", "2"), least);
  }
  SECTION("a function of the first key, which is passed on as part of a cache") {
    check_least(
        least_layers(R"((float[1, 128, 64] q, float[1, 128, 4, 2, 16] k) => (float[1, 4, 1, 16] y) <int64[1] a = {0},
          int64[1] b = {1}, int64[1] axis = {2}> { h, c, d = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k)
          s = Slice(c, a, b, axis) y = Relu(s) })"),
        {64, 4 * 16 * 4, 4 * 16 * 4});
  }
}

TEST_CASE("only the places and channels that are read count in layers whose channels lie last", "[floors]") {
  const auto part = [](const std::string& x, const std::string& y, const std::string& node, std::int64_t kept,
                       std::int64_t axis, const std::vector<Stored>& tensors = {}, const std::string& type = "float") {
    return least_layers("(" + type + "[" + x + "] x) => (" + type + "[" + y +
                            "] y) <float f = {0.5}, uint8 z = {0}, int64[1] a = {0}, int64[1] b = {" +
                            std::to_string(kept) + "}, int64[1] axis = {" + std::to_string(axis) +
                            "}> { h = com.microsoft." + node + " y = Slice(h, a, b, axis) }",
                        tensors);
  };
  SECTION("two rows of a convolution: 2 and 3 taps, and 34 along 12 columns; three rows of the operand") {
    check_least(part("1, 10, 12, 3", "1, 2, 12, 5", "NhwcFusedConv<pads = [1, 1, 1, 1]>(x, w)", 2, 1,
                     {{"w", f32, {5, 3, 3, 3}}}),
                {2 * 15 * 5 * 34, (3 * 12 * 3 + 135) * 4, 2 * 12 * 5 * 4});
  }
  SECTION("two rows, where there are as many rows as columns and channels") {
    check_least(
        part("1, 8, 8, 8", "1, 2, 8, 8", "NhwcFusedConv<pads = [1, 1, 1, 1]>(x, w)", 2, 1, {{"w", f32, {8, 8, 3, 3}}}),
        {2 * 64 * 5 * 22, (3 * 8 * 8 + 576) * 4, 2 * 8 * 8 * 4});
  }
  SECTION("one channel of a convolution") {
    check_least(part("1, 10, 12, 3", "1, 10, 12, 1", "NhwcFusedConv<pads = [1, 1, 1, 1]>(x, w)", 1, 3,
                     {{"w", f32, {5, 3, 3, 3}}}),
                {2 * 3 * 28 * 34, (360 + 27) * 4, 120 * 4});
  }
  SECTION("two rows of a pool") {
    check_least(part("1, 10, 12, 3", "1, 2, 6, 3", "NhwcMaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)", 2, 1, {},
                     "uint8"),
                {2 * 6 * 3 * 4, 4 * 12 * 3, 2 * 6 * 3});
  }
  SECTION("one mean image of two; a scale and a zero point") {
    check_least(part("2, 10, 12, 3", "1, 1, 1, 3", "QLinearGlobalAveragePool<channels_last = 1>(x, f, z, f, z)", 1, 0,
                     {}, "uint8"),
                {360, 360 + 5, 3});
  }
}

TEST_CASE("one row of the angles is certain if data give the positions", "[floors]") {
  // 16 tokens of two heads of depth 64: 3 operations per element.
  constexpr double flops = 3 * 16 * 128, x = 16 * 128 * 4, angles = 32 * 4;
  const std::vector<Stored> tables{{"c", f32, {4096, 32}}, {"s", f32, {4096, 32}}};
  check_least(least_layers(R"((float[1, 16, 128] x, int64[1, 16] p) => (float[1, 16, 128] y) {
      y = com.microsoft.RotaryEmbedding<num_heads = 2>(x, p, c, s) })",
                           tables),
              {flops, x + 16 * 8 + 2 * angles, x});
  check_least(
      least_layers(
          "(float[1, 2, 16, 64] x, int64[1, 16] p) => (float[1, 2, 16, 64] y) { y = RotaryEmbedding(x, c, s, p) }",
          tables, 23),
      {flops, x + 16 * 8 + 2 * angles, x});
  // Only the first position is given; the others follow it.
  check_least(least_layers(R"((float[1, 16, 128] x, int64[1] p) => (float[1, 16, 128] y) {
      y = com.microsoft.RotaryEmbedding<num_heads = 2>(x, p, c, s) })",
                           tables),
              {flops, x + 8 + 2 * 16 * angles, x});
}

TEST_CASE("a token that is rotated needs its position alone", "[floors]") {
  // One of 16 tokens, two heads of depth 64: 3 operations per element, a position of 8 bytes, 32 cosines and sines.
  constexpr double token = 128 * 4;
  check_least(least_layers(R"((float[1, 2, 16, 64] x, int64[1, 16] p) => (float[1, 2, 1, 64] y)
      <int64[1] a = {15}, int64[1] b = {16}, int64[1] axes = {2}> {
        r = RotaryEmbedding(x, c, s, p) y = Slice(r, a, b, axes) })",
                           {{"c", f32, {4096, 32}}, {"s", f32, {4096, 32}}}, 23),
              {3 * 128, token + 8 + 2 * 32 * 4, token});
  check_least(least_layers(R"((float[1, 16, 128] x, int64[1, 16] p) => (float[1, 1, 128] y)
      <int64[1] a = {15}, int64[1] b = {16}, int64[1] axes = {1}> {
        r = com.microsoft.RotaryEmbedding<num_heads = 2>(x, p, c, s) y = Slice(r, a, b, axes) })",
                           {{"c", f32, {4096, 32}}, {"s", f32, {4096, 32}}}),
              {3 * 128, token + 8 + 2 * 32 * 4, token});
  // The position of the first token is given; that of the last token follows from it.
  check_least(least_layers(R"((float[1, 16, 128] x, int64[1] p) => (float[1, 1, 128] y)
      <int64[1] a = {15}, int64[1] b = {16}, int64[1] axes = {1}> {
        r = com.microsoft.RotaryEmbedding<num_heads = 2>(x, p, c, s) y = Slice(r, a, b, axes) })",
                           {{"c", f32, {4096, 32}}, {"s", f32, {4096, 32}}}),
              {3 * 128, token + 8 + 2 * 32 * 4, token});
  // Tables that hold the angles of each token.
  const std::vector<Stored> tables{{"c", f32, {1, 16, 32}}, {"s", f32, {1, 16, 32}}};
  const std::string last = "<int64[1] a = {15}, int64[1] b = {16}, int64[1] axes = {";
  check_least(least_layers("(float[1, 2, 16, 64] x) => (float[1, 2, 1, 64] y) " + last +
                               "2}> { r = RotaryEmbedding(x, c, s) y = Slice(r, a, b, axes) }",
                           tables, 23),
              {3 * 128, token + 2 * 32 * 4, token});
  check_least(least_layers("(float[1, 16, 128] x) => (float[1, 1, 128] y) " + last +
                               "1}> { r = RotaryEmbedding<num_heads = 2>(x, c, s) y = Slice(r, a, b, axes) }",
                           tables, 23),
              {3 * 128, token + 2 * 32 * 4, token});
}

TEST_CASE("columns of a rotation need their pairs and angles alone", "[floors]") {
  // Two heads of 16 tokens of depth 8: 32 rows, in which column 0 rotates with column 4, or with its neighbour. The
  // angles of a token serve both heads.
  const auto columns = [](const std::string& attributes, const std::string& pairs, int first, int end) {
    return least_layers("(float[1, 2, 16, 8] x, float[1, 16, " + pairs + "] c, float[1, 16, " + pairs +
                            "] s) => (float[1, 2, 16, " + std::to_string(end - first) + "] y) <int64[1] a = {" +
                            std::to_string(first) + "}, int64[1] b = {" + std::to_string(end) +
                            "}, int64[1] axis = {3}> { r = RotaryEmbedding" + attributes +
                            "(x, c, s) y = Slice(r, a, b, axis) }",
                        {}, 23);
  };
  check_least(columns("", "4", 0, 1), {32 * 3, (32 * 2 + 2 * 16) * 4, 32 * 4});
  check_least(columns("<interleaved = 1>", "4", 0, 2), {32 * 2 * 3, (32 * 2 + 2 * 16) * 4, 32 * 2 * 4});
  check_least(columns("", "4", 0, 2), {32 * 2 * 3, (32 * 4 + 2 * 16 * 2) * 4, 32 * 2 * 4});
  // Columns 4 to 7 are not rotated.
  check_least(columns("<rotary_embedding_dim = 4>", "2", 4, 8), {0, 32 * 4 * 4, 32 * 4 * 4});
  check_least(columns("<rotary_embedding_dim = 4>", "2", 3, 8), {32 * 3, (32 * 6 + 2 * 16) * 4, 32 * 5 * 4});
  // They have no position either.
  check_least(least_layers(R"((float[1, 2, 16, 8] x, int64[1, 16] p) => (float[1, 2, 16, 4] y)
      <int64[1] a = {4}, int64[1] b = {8}, int64[1] axis = {3}> {
        r = RotaryEmbedding<rotary_embedding_dim = 4>(x, c, s, p) y = Slice(r, a, b, axis) })",
                           {{"c", f32, {64, 2}}, {"s", f32, {64, 2}}}, 23),
              {0, 32 * 4 * 4, 32 * 4 * 4});
}

}  // namespace engine_nodes
