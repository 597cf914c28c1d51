// SPDX-License-Identifier: Apache-2.0
// Nodes of com.microsoft that engines put in the place of several: their arithmetic and their bytes are counted as
// those of ONNX's own, so that bounds are not partial. A multiply-add is two operations, floats have 4 bytes.
#include "least_work.hpp"

namespace engine_nodes {

using benanza::testing::check_least;
using benanza::testing::least_layers;

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

TEST_CASE("com.microsoft's attention counts its arithmetic", "[floors]") {
  SECTION("Attention: 16 tokens of 64 numbers by 64 x 192 weights, a bias, 4 heads of depth 16") {
    // A pair of a query and a key takes 2 * (16 + 16) operations and 6 of scale and softmax.
    const auto attention = [](const std::string& attributes) {
      return least_layers("(float[1, 16, 64] x) => (float[1, 16, 64] y) { y = com.microsoft.Attention<num_heads = 4" +
                              attributes + ">(x, w, b) }",
                          {{"w", f32, {64, 192}}, {"b", f32, {192}}});
    };
    const double projection = 2 * 16 * 64 * 192 + 16 * 192, pair = 4 * (2 * (16 + 16) + 6);
    const double reads = 16 * 64 * 4 + 64 * 192 * 4 + 192 * 4, writes = 16 * 64 * 4;
    const auto model = attention("");
    check_least(model, {projection + 16 * 16 * pair, reads, writes});
    CHECK(model.single.unknown.empty());
    // Each token sees itself and those before it: 1 + 2 + ... + 16 pairs.
    check_least(attention(", unidirectional = 1"), {projection + 16 * 17 / 2 * pair, reads, writes});
  }
  SECTION("GroupQueryAttention: one token behind 1,023 in a cache, 2 heads of depth 64 that share keys and values") {
    // 1,024 pairs of a head. What is read: queries of two heads, a key and a value, two caches, two i32. The new caches
    // hold inputs as they are, so that the result alone is written.
    constexpr double row = 64 * 4;
    const auto model = least_layers(R"((float[1, 1, 128] q, float[1, 1, 64] k, float[1, 1, 64] v,
        float[1, 1, 1023, 64] pk, float[1, 1, 1023, 64] pv, int32[1] l, int32 t) =>
        (float[1, 1, 128] y, float[1, 1, 1024, 64] a, float[1, 1, 1024, 64] b) {
          y, a, b = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, pk, pv, l, t) })");
    check_least(model, {2 * 1024 * (2 * (64 + 64) + 6), 2 * row + 2 * row + 2 * 1023 * row + 2 * 4, 2 * row});
    CHECK(model.single.unknown.empty());
  }
}

}  // namespace engine_nodes
