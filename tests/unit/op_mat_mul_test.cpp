// SPDX-License-Identifier: Apache-2.0
// Matrix products in all their spellings, Einsum, attention, recurrent layers.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;
using Dims = std::vector<std::int64_t>;

TEST_CASE("Spellings of one matrix product have one signature", "[op]") {
  const std::string projection = "MatMul/f32/a=128x768/b=768x64/b_constant=1";
  check({
      {"2-D", SingleNode("MatMul").in({128, 768}).weight({768, 64}).out({128, 64}), projection},
      {"Gemm", SingleNode("Gemm").in({128, 768}).weight({768, 64}).out({128, 64}), projection},
      {"transposed weights are re-laid out beforehand",
       SingleNode("Gemm").in({128, 768}).weight({64, 768}).out({128, 64}).set("transB", 1), projection},
      {"the batch of a goes into its rows", SingleNode("MatMul").in({1, 128, 768}).weight({768, 64}).out({1, 128, 64}),
       projection},
      {"several batch dimensions", SingleNode("MatMul").in({4, 32, 768}).weight({768, 64}).out({4, 32, 64}),
       projection},
      {"b with a batch of 1", SingleNode("MatMul").in({4, 32, 768}).weight({1, 768, 64}).out({4, 32, 64}), projection},
      {"Gemm with a bias", SingleNode("Gemm").in({128, 768}).weight({768, 64}).weight({64}).out({128, 64}),
       projection + "/post=bias"},
      {"bias as a row", SingleNode("Gemm").in({128, 768}).weight({768, 64}).weight({1, 64}).out({128, 64}),
       projection + "/post=bias"},
      {"C as a matrix", SingleNode("Gemm").in({128, 768}).weight({768, 64}).weight({128, 64}).out({128, 64}),
       projection + "/post=add"},
      {"C as a scalar", SingleNode("Gemm").in({128, 768}).weight({768, 64}).weight({}).out({128, 64}),
       projection + "/post=add:1x1"},
      {"C as a column", SingleNode("Gemm").in({128, 768}).weight({768, 64}).weight({128, 1}).out({128, 64}),
       projection + "/post=add:128x1"},
      {"C computed at run time", SingleNode("Gemm").in({128, 768}).weight({768, 64}).in({64}).out({128, 64}),
       projection + "/post=add:1x64"},
      {"activations", SingleNode("Gemm").in({128, 768}).in({64, 768}).out({128, 64}).set("transB", 1),
       "MatMul/f32/a=128x768/b=768x64/trans_b=1"},
      {"transposed a", SingleNode("Gemm").in({768, 128}).in({768, 64}).out({128, 64}).set("transA", 1),
       "MatMul/f32/a=128x768/b=768x64/trans_a=1"},
      {"a transposed vector lies as it lay",
       SingleNode("Gemm").in({768, 1}).in({1, 768}).out({1, 1}).set("transA", 1).set("transB", 1),
       "MatMul/f32/a=1x768/b=768x1"},
      {"equal batch dimensions are one",
       SingleNode("MatMul").in({2, 12, 128, 64}).in({2, 12, 64, 128}).out({2, 12, 128, 128}),
       "MatMul/f32/a=24x128x64/b=24x64x128"},
      {"broadcast batch dimensions", SingleNode("MatMul").in({2, 12, 128, 64}).in({12, 64, 128}).out({2, 12, 128, 128}),
       "MatMul/f32/a=2x12x128x64/b=1x12x64x128"},
      {"grouped queries", SingleNode("MatMul").in({1, 4, 3, 128, 64}).in({1, 4, 1, 64, 128}).out({1, 4, 3, 128, 128}),
       "MatMul/f32/a=4x3x128x64/b=4x1x64x128"},
      {"a batch of 1 does not count",
       SingleNode("MatMul").in({1, 1, 128, 64}).in({1, 1, 64, 128}).out({1, 1, 128, 128}),
       "MatMul/f32/a=128x64/b=64x128"},
      {"vectors", SingleNode("MatMul").in({64}).in({64}).out({}), "MatMul/f32/a=1x64/b=64x1"},
      {"matrix times vector", SingleNode("MatMul").in({5, 6, 64}).in({64}).out({5, 6}), "MatMul/f32/a=30x64/b=64x1"},
      {"vector times matrices", SingleNode("MatMul").in({64}).in({5, 64, 6}).out({5, 6}),
       "MatMul/f32/a=1x1x64/b=5x64x6"},
      {"integers",
       SingleNode("MatMulInteger")
           .in({1, 128, 64}, DataType::u8)
           .weight({64, 32}, DataType::i8)
           .in({}, DataType::u8)
           .weight({}, DataType::i8)
           .out({1, 128, 32}, DataType::i32),
       "MatMul/u8/a=128x64/b=64x32/b_constant=1/b_type=i8/y_type=i32/a_zero=1/b_zero=1"},
      {"quantised",
       SingleNode("QLinearMatMul")
           .in({128, 64}, DataType::i8)
           .weight({})
           .weight({}, DataType::i8)
           .weight({64, 32}, DataType::i8)
           .weight({})
           .weight({}, DataType::i8)
           .weight({})
           .weight({}, DataType::i8)
           .out({128, 32}, DataType::i8),
       "MatMul/i8/a=128x64/b=64x32/b_constant=1/a_zero=1/b_zero=1"},
      {"quantised Gemm",
       SingleNode("QGemm", 1, "com.microsoft")
           .in({1, 960}, DataType::u8)
           .weight({})
           .weight({}, DataType::u8)
           .weight({1280, 960}, DataType::i8)
           .weight({})
           .weight({}, DataType::i8)
           .weight({1280}, DataType::i32)
           .weight({})
           .weight({}, DataType::u8)
           .out({1, 1280}, DataType::u8)
           .set("transB", 1),
       "MatMul/u8/a=1x960/b=960x1280/b_constant=1/b_type=i8/a_zero=1/b_zero=1/post=bias"},
      {"sizes that do not fit", SingleNode("MatMul").in({4, 3}).in({4, 3}).out({4, 3}),
       "Opaque/f32/op=MatMul/read_bytes=96/written_bytes=48"},
  });
}

TEST_CASE("An Einsum that is a matrix product is one", "[op]") {
  const auto einsum = [](const char* equation, Dims a, Dims b, Dims y) {
    return SingleNode("Einsum").in(std::move(a)).in(std::move(b)).out(std::move(y)).set("equation", equation);
  };
  check({
      {"plain", einsum("ij,jk->ik", {4, 5}, {5, 6}, {4, 6}), "MatMul/f32/a=4x5/b=5x6"},
      {"without arrow", einsum("ij,jk", {4, 5}, {5, 6}, {4, 6}), "MatMul/f32/a=4x5/b=5x6"},
      {"scores of attention", einsum("bhid, bhjd -> bhij", {2, 3, 4, 5}, {2, 3, 6, 5}, {2, 3, 4, 6}),
       "MatMul/f32/a=6x4x5/b=6x5x6/trans_b=1"},
      {"values of attention", einsum("bhij,bhjd->bhid", {2, 3, 4, 6}, {2, 3, 6, 5}, {2, 3, 4, 5}),
       "MatMul/f32/a=6x4x6/b=6x6x5"},
      {"projection to heads", einsum("bsd,dhk->bshk", {2, 8, 16}, {16, 4, 5}, {2, 8, 4, 5}),
       "MatMul/f32/a=16x16/b=16x20"},
      {"both transposed", einsum("ji,kj->ik", {5, 4}, {6, 5}, {4, 6}), "MatMul/f32/a=4x5/b=5x6/trans_a=1/trans_b=1"},
      {"ellipsis", einsum("...ij,...jk->...ik", {2, 3, 4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}),
       "MatMul/f32/a=6x4x5/b=6x5x6"},
      {"heads behind the rows", einsum("bihd,bjhd->bhij", {2, 4, 3, 5}, {2, 6, 3, 5}, {2, 3, 4, 6}),
       "Einsum/f32/a=2x4x3x5/b=2x6x3x5/a_labels=0x1x2x3/b_labels=0x4x2x3/y_labels=0x2x1x4"},
      {"outer product", einsum("i,j->ij", {4}, {5}, {4, 5}), "Einsum/f32/a=4/b=5/a_labels=0/b_labels=1/y_labels=0x1"},
      {"trace", SingleNode("Einsum").in({4, 4}).out({}).set("equation", "ii->"),
       "Einsum/f32/a=4x4/a_labels=0x0/two_operands=0"},
      {"broken", einsum("ij,jk->il", {4, 5}, {5, 6}, {4, 6}), "Opaque/f32/op=Einsum/read_bytes=200/written_bytes=96"},
      {"three operands", SingleNode("Einsum").in({4}).in({4}).in({4}).out({4}).set("equation", "i,i,i->i"),
       "Opaque/f32/op=Einsum/read_bytes=48/written_bytes=16"},
  });
}

TEST_CASE("ONNX Attention is a layer when it is plain", "[op]") {
  const auto attention = [] {
    return SingleNode("Attention", 23).in({2, 8, 10, 64}).in({2, 2, 20, 64}).in({2, 2, 20, 32});
  };
  const std::string plain = "Attention/f32/q=2x8x10x64/k=2x2x20x64/v=2x2x20x32";
  check({
      {"plain", attention().out({2, 8, 10, 32}), plain},
      {"causal", attention().out({2, 8, 10, 32}).set("is_causal", 1), plain + "/causal=1"},
      {"mask", attention().in({10, 20}).out({2, 8, 10, 32}), plain + "/mask=1x1x10x20"},
      {"three dimensions",
       SingleNode("Attention", 23)
           .in({2, 10, 64})
           .in({2, 10, 64})
           .in({2, 10, 64})
           .out({2, 10, 64})
           .set("q_num_heads", 8)
           .set("kv_num_heads", 8),
       "Attention/f32/q=2x8x10x8/k=2x8x10x8/v=2x8x10x8/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/"
       "y_tokens_first=1"},
      {"a mask of truth values", attention().in({10, 20}, DataType::boolean).out({2, 8, 10, 32}),
       plain + "/mask=1x1x10x20/mask_type=bool"},
      {"capped scores", attention().out({2, 8, 10, 32}).set("softcap", 30.0), plain + "/capped=1"},
      {"scores behind the cap are an output",
       attention().out({2, 8, 10, 32}).no_out().no_out().out({2, 8, 10, 20}).set("qk_matmul_output_mode", 1),
       plain + "/scores=capped"},
      {"a cache of 100 tokens",
       attention()
           .none()
           .in({2, 2, 100, 64})
           .in({2, 2, 100, 32})
           .out({2, 8, 10, 32})
           .out({2, 2, 120, 64})
           .out({2, 2, 120, 32})
           .set("is_causal", 1),
       "Attention/f32/q=2x8x10x64/k=2x2x120x64/v=2x2x120x32/causal=1/past=100"},
      {"a window of the token and 4 before it",
       attention().out({2, 8, 10, 32}).set("is_causal", 1).set("left_window_size", 4), plain + "/causal=1/before=4"},
      {"a window that holds everything", attention().out({2, 8, 10, 32}).set("left_window_size", 9), plain},
      {"a window to both sides", attention().out({2, 8, 10, 32}).set("left_window_size", 1).set("right_window_size", 2),
       plain + "/before=1/after=2"},
      {"the cache is filled as far as data tells",
       attention().none().none().none().in({2}, DataType::i64).out({2, 8, 10, 32}), plain},
      {"the cache holds 12 keys",
       attention().none().none().none().ints({12, 12}).out({2, 8, 10, 32}).set("is_causal", 1),
       "Attention/f32/q=2x8x10x64/k=2x2x12x64/v=2x2x12x32/causal=1/past=2"},
      {"sequences of two lengths", attention().none().none().none().ints({12, 13}).out({2, 8, 10, 32}),
       "Opaque/f32/op=Attention/read_bytes=71696/written_bytes=20480/constant_bytes=16"},
      {"a mask that ends before the keys", attention().in({10, 12}).out({2, 8, 10, 32}),
       "Opaque/f32/op=Attention/read_bytes=72160/written_bytes=20480"},
  });
  // 2 * 8 * 10 * 20 scores, each with 64 multiply-adds to compute it and 32 to use it; softmax 5, scale 1.
  const auto arithmetic = op::Attention{.q = {2, 8, 10, 64}, .k = {2, 2, 20, 64}, .v = {2, 2, 20, 32}}.arithmetic();
  CHECK(arithmetic.macs == std::int64_t{3200} * 96);
  CHECK(arithmetic.flops == 3200.0 * (2 * 96 + 6));
}

TEST_CASE("Attention counts the pairs of queries and keys that its bounds leave", "[op]") {
  const auto pairs = [](op::Attention op) {
    op.q = {2, 8, 4, 64};
    op.k = {2, 2, 10, 64};
    op.v = {2, 2, 10, 32};
    // Two products with 64 and 32 multiply-adds, softmax 5 and scale 1 for each pair of each head.
    return op.arithmetic().flops / (2 * 8 * (2 * 96 + 6));
  };
  CHECK(pairs({}) == 4 * 10);
  CHECK(pairs({.causal = true}) == 1 + 2 + 3 + 4);
  CHECK(pairs({.causal = true, .past = 3}) == 4 + 5 + 6 + 7);
  CHECK(pairs({.causal = true, .past = 8}) == 9 + 10 + 10 + 10);  // the last two come after all keys
  CHECK(pairs({.causal = true, .before = 1}) == 1 + 2 + 2 + 2);
  CHECK(pairs({.causal = true, .past = 3, .before = 2}) == 3 + 3 + 3 + 3);
  CHECK(pairs({.before = 1, .after = 2}) == 3 + 4 + 4 + 4);
  CHECK(pairs({.before = 0}) == 10 + 9 + 8 + 7);
  // The nominal multiply-adds are still those of all pairs; a mask adds 1, a cap 3.
  const op::Attention causal{.q = {2, 8, 4, 64}, .k = {2, 2, 10, 64}, .v = {2, 2, 10, 32}, .causal = true};
  CHECK(causal.arithmetic().macs == std::int64_t{2 * 8 * 4 * 10} * 96);
  op::Attention capped = causal;
  capped.mask = {4, 10};
  capped.capped = true;
  CHECK(capped.arithmetic().flops - causal.arithmetic().flops == 2 * 8 * 10 * (1 + 3));
  // Queries 0 to 3 at positions 5 to 8, each with 2 keys before it: keys 3 to 8 are read, 6 of 10.
  const op::Attention window{
      .q = {1, 8, 4, 64}, .k = {1, 2, 10, 64}, .v = {1, 2, 10, 32}, .causal = true, .past = 5, .before = 2};
  CHECK(window.operands().inputs[1].touched == 2 * 6 * 64);
  CHECK(window.operands().inputs[2].touched == 2 * 6 * 32);
}

TEST_CASE("ONNX RotaryEmbedding is a layer", "[op]") {
  const auto rotary = [] {
    return SingleNode("RotaryEmbedding", 23)
        .in({1, 12, 128, 64})
        .in({1, 128, 32})
        .in({1, 128, 32})
        .out({1, 12, 128, 64});
  };
  const std::string plain = "Rotary/f32/x=12x128x64/angles=1x128x32";
  check({
      {"plain", rotary(), plain},
      {"neighbours", rotary().set("interleaved", 1), plain + "/interleaved=1"},
      {"a part of each row", rotary().set("rotary_embedding_dim", 32),
       "Rotary/f32/x=12x128x64/angles=1x128x32/turned=32"},
      {"heads side by side, angles of a table",
       SingleNode("RotaryEmbedding", 23)
           .in({2, 128, 768})
           .weight({2048, 16})
           .weight({2048, 16})
           .in({2, 128}, DataType::i64)
           .out({2, 128, 768})
           .set("num_heads", 12)
           .set("rotary_embedding_dim", 32),
       "Rotary/f32/x=256x12x64/angles=256x1x16/turned=32"},
  });
  // The first 32 of the 64 elements of each of 12 * 128 rows.
  CHECK(op::Rotary{.x = {12, 128, 64}, .angles = {1, 128, 16}, .turned = 32}.arithmetic().flops == 12 * 128 * 32 * 3.0);
  // 12 * 128 * 64 elements, each with two products and a sum.
  CHECK(op::Rotary{.x = {12, 128, 64}, .angles = {1, 128, 32}}.arithmetic().flops == 98304.0 * 3);
  CHECK_FALSE(op::Rotary{.x = {12, 128, 63}, .angles = {1, 128, 63}}.consistent());
  CHECK_FALSE(op::Rotary{.x = {12, 128, 64}, .angles = {1, 128, 16}}.consistent());
  CHECK_FALSE(op::Rotary{.x = {12, 128, 64}, .angles = {1, 64, 64}}.consistent());
}

TEST_CASE("Recurrent layers are read from LSTM, GRU and RNN", "[op]") {
  // ONNX: x is sequence, batch, input; r is directions, gates * hidden, hidden.
  const auto lstm = [] {
    return SingleNode("LSTM").in({50, 2, 40}).weight({2, 128, 40}).weight({2, 128, 32}).weight({2, 256}).none();
  };
  const auto with_outputs = [](SingleNode node) {
    return node.out({50, 2, 2, 32}).set("hidden_size", 32).set("direction", "bidirectional");
  };
  const std::string text = "Recurrent/f32/x=50x2x40/hidden=32/directions=2";
  check({
      {"bidirectional", with_outputs(lstm()), text},
      {"initial states", with_outputs(lstm().in({2, 2, 32}).in({2, 2, 32})), text + "/initial_state=1"},
      {"default activations written out",
       with_outputs(lstm()).set(
           "activations", Attribute(std::vector<std::string>{"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"})),
       text},
      {"GRU",
       SingleNode("GRU")
           .in({50, 2, 40})
           .weight({1, 96, 40})
           .weight({1, 96, 32})
           .out({50, 1, 2, 32})
           .set("linear_before_reset", 1)
           .set("direction", "reverse"),
       "Recurrent/f32/cell=gru/x=50x2x40/hidden=32/reverse=1/bias=0/linear_before_reset=1"},
      {"lengths that are all the same",
       SingleNode("RNN")
           .in({50, 2, 40})
           .weight({1, 32, 40})
           .weight({1, 32, 32})
           .none()
           .ints({50, 50})
           .out({50, 1, 2, 32}),
       "Recurrent/f32/cell=rnn/x=50x2x40/hidden=32/bias=0"},
      {"lengths that differ: 50 + 30 rows",
       SingleNode("RNN")
           .in({50, 2, 40})
           .weight({1, 32, 40})
           .weight({1, 32, 32})
           .none()
           .ints({50, 30})
           .out({50, 1, 2, 32}),
       "Recurrent/f32/cell=rnn/x=50x2x40/hidden=32/bias=0/rows=80"},
      {"batch first, batch of 1",
       SingleNode("RNN").in({1, 50, 40}).weight({1, 32, 40}).weight({1, 32, 32}).out({1, 50, 1, 32}).set("layout", 1),
       "Recurrent/f32/cell=rnn/x=50x1x40/hidden=32/bias=0"},
      {"batch first",
       SingleNode("RNN").in({2, 50, 40}).weight({1, 32, 40}).weight({1, 32, 32}).out({2, 50, 1, 32}).set("layout", 1),
       "Recurrent/f32/cell=rnn/x=50x2x40/hidden=32/bias=0/batch_first=1"},
      {"peepholes", with_outputs(lstm().none().none().weight({2, 96})), text + "/peepholes=1"},
      {"weights of 8 bits",
       SingleNode("DynamicQuantizeLSTM", 1, "com.microsoft")
           .in({50, 2, 40})
           .weight({1, 40, 128}, DataType::i8)
           .weight({1, 32, 128}, DataType::i8)
           .weight({1, 256})
           .none()
           .none()
           .none()
           .none()
           .weight({1})
           .weight({1}, DataType::i8)
           .weight({1})
           .weight({1}, DataType::i8)
           .out({50, 1, 2, 32})
           .set("hidden_size", 32),
       "Recurrent/u8/x=50x2x40/hidden=32/weight_type=i8"},
  });
  // 50 * 2 steps of 32 units with 4 gates over 40 inputs and 32 states; 9 element-wise operations, and 6 for peepholes.
  // The first step has no states if none are given.
  const double all_steps = 50.0 * 2 * 32 * (2 * 4 * 72 + 15), states = 2 * 32 * 2 * 4 * 32;
  CHECK(op::Recurrent{.x = {50, 2, 40}, .hidden = 32, .initial_state = true, .peepholes = true}.arithmetic().flops ==
        all_steps);
  CHECK(op::Recurrent{.x = {50, 2, 40}, .hidden = 32, .peepholes = true}.arithmetic().flops == all_steps - states);
  // 128 x 40 and 128 x 32 weights of one byte.
  const auto quantized =
      op::Recurrent{.type = DataType::u8, .x = {50, 2, 40}, .hidden = 32, .bias = false, .weight_type = DataType::i8};
  CHECK(cost(quantized).weights.value == 128 * 72);
  CHECK(quantized.operands().outputs[0].type == DataType::f32);
  CHECK(is_opaque(with_outputs(lstm()).set("clip", 3.0).layer()));
  CHECK(is_opaque(SingleNode("LSTM")
                      .in({50, 2, 40})
                      .weight({1, 128, 40})
                      .weight({1, 128, 32})
                      .none()
                      .in({2}, DataType::i32)  // data
                      .out({50, 1, 2, 32})
                      .layer()));
  CHECK(is_opaque(SingleNode("RNN")
                      .in({50, 2, 40})
                      .weight({1, 32, 40})
                      .weight({1, 32, 32})
                      .out({50, 1, 2, 32})
                      .set("activations", Attribute(std::vector<std::string>{"Relu"}))
                      .layer()));
  // 50 steps * 2 sequences * 2 directions * 32 units, each with 4 gates of 40 + 32 inputs.
  CHECK(op::Recurrent{.x = {50, 2, 40}, .hidden = 32, .directions = 2}.arithmetic().macs ==
        std::int64_t{50} * 2 * 2 * 32 * 4 * 72);
}

}  // namespace
