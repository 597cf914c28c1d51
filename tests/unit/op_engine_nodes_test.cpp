// SPDX-License-Identifier: Apache-2.0
// A node that ONNX Runtime's optimiser writes becomes the layer that does the same work.
#include "support/catch.hpp"
#include "support/single_node.hpp"
#include <benanza/model/layer.hpp>

#include <string>
#include <vector>

namespace {

using namespace benanza;
using testing::check;
using testing::SingleNode;

SingleNode microsoft(const char* op_type) { return SingleNode(op_type, 1, "com.microsoft"); }
SingleNode blocked(const char* op_type) { return SingleNode(op_type, 1, "com.microsoft.nchwc"); }

TEST_CASE("Fused convolutions are convolutions with what was fused in as their epilogue", "[op]") {
  const std::string conv = "Conv/f32/x=1x16x28x28/w=32x16x3x3/pads=1x1x1x1";
  const SingleNode::Dims pads{1, 1, 1, 1};
  check({
      {"an activation",
       microsoft("FusedConv")
           .in({1, 16, 28, 28})
           .weight({32, 16, 3, 3})
           .weight({32})
           .out({1, 32, 28, 28})
           .set("pads", pads)
           .set("activation", "Relu"),
       conv + "/post=bias,relu"},
      {"a tensor that is added before it",
       microsoft("FusedConv")
           .in({1, 16, 28, 28})
           .weight({32, 16, 3, 3})
           .weight({32})
           .in({1, 32, 28, 28})
           .out({1, 32, 28, 28})
           .set("pads", pads)
           .set("activation", "LeakyRelu")
           .set("activation_params", Attribute(std::vector<double>{0.25})),
       conv + "/post=bias,add,leaky_relu:0.25"},
      {"channels last",
       microsoft("NhwcConv").in({1, 28, 28, 16}).weight({32, 16, 3, 3}).out({1, 28, 28, 32}).set("pads", pads), conv},
      {"channels in blocks",
       blocked("Conv").in({1, 16, 28, 28}).weight({32, 16, 3, 3}).weight({32}).out({1, 32, 28, 28}).set("pads", pads),
       conv + "/post=bias"},
      {"channels that fill up a block are groups too",
       blocked("Conv")
           .in({1, 144, 28, 28})
           .weight({144, 1, 3, 3})
           .out({1, 144, 28, 28})
           .set("pads", pads)
           .set("group", 136),
       "Conv/f32/x=1x144x28x28/w=144x1x3x3/pads=1x1x1x1/group=144"},
      {"a pool with channels last",
       microsoft("NhwcMaxPool")
           .in({1, 28, 28, 16}, DataType::u8)
           .out({1, 14, 14, 16}, DataType::u8)
           .set("kernel_shape", SingleNode::Dims{2, 2})
           .set("strides", SingleNode::Dims{2, 2}),
       "Pool/u8/x=1x16x28x28/kernel=2x2/strides=2x2"},
  });
  CHECK(is_opaque(microsoft("FusedConv")
                      .in({1, 16, 28, 28})
                      .weight({32, 16, 1, 1})
                      .out({1, 32, 28, 28})
                      .set("activation", "Unheard")
                      .layer()));
}

TEST_CASE("Fused and quantised products are products", "[op]") {
  check({
      {"exchanged in memory",
       microsoft("FusedMatMul").in({2, 64, 128}).in({2, 64, 32}).out({2, 128, 32}).set("transA", 1),
       "MatMul/f32/a=2x128x64/b=2x64x32/trans_a=1"},
      {"rows before the batch",
       microsoft("FusedMatMul").in({128, 2, 64}).in({2, 64, 32}).out({2, 128, 32}).set("transBatchA", 1),
       "MatMul/f32/a=2x128x64/b=2x64x32"},
      {"an activation",
       microsoft("FusedGemm").in({128, 64}).weight({64, 32}).weight({32}).out({128, 32}).set("activation", "Relu"),
       "MatMul/f32/a=128x64/b=64x32/b_constant=1/post=bias,relu"},
      {"weights of 4 bits",
       microsoft("MatMulNBits")
           .in({1, 128, 64})
           .weight({32, 2, 16}, DataType::u8)
           .weight({64})
           .out({1, 128, 32})
           .set("K", 64)
           .set("N", 32)
           .set("bits", 4)
           .set("block_size", 32),
       "MatMul/f32/a=128x64/b=64x32/b_constant=1/b_type=u4"},
      {"weights of 4 bits of another kind",
       microsoft("MatMulBnb4")
           .in({1, 128, 64})
           .weight({1024}, DataType::u8)
           .weight({32})
           .out({1, 128, 32})
           .set("K", 64)
           .set("N", 32)
           .set("block_size", 64),
       "MatMul/f32/a=128x64/b=64x32/b_constant=1/b_type=u4"},
      {"and the other operand of 8",
       microsoft("MatMulNBits")
           .in({1, 128, 64})
           .weight({32, 2, 16}, DataType::u8)
           .weight({64})
           .out({1, 128, 32})
           .set("K", 64)
           .set("N", 32)
           .set("accuracy_level", 4),
       "MatMul/i8/a=128x64/b=64x32/b_constant=1/b_type=u4/y_type=f32"},
      {"integers that become floats",
       microsoft("MatMulIntegerToFloat")
           .in({128, 64}, DataType::u8)
           .weight({64, 32}, DataType::i8)
           .weight({})
           .weight({})
           .out({128, 32}),
       "MatMul/u8/a=128x64/b=64x32/b_constant=1/b_type=i8/y_type=f32"},
      {"floats that become integers",
       microsoft("DynamicQuantizeMatMul").in({128, 64}).weight({64, 32}, DataType::i8).weight({}).out({128, 32}),
       "MatMul/u8/a=128x64/b=64x32/b_constant=1/b_type=i8/y_type=f32/a_zero=1"},
      {"a bias before an activation", microsoft("BiasGelu").in({128, 64}).weight({64}).out({128, 64}),
       "Binary/f32/a=128x64/b=1x64/post=gelu"},
  });
}

TEST_CASE("Attention of tokens has as many keys as the cache and the call together", "[op]") {
  check({
      {"no cache",
       microsoft("MultiHeadAttention")
           .in({2, 128, 768})
           .in({2, 64, 768})
           .in({2, 64, 768})
           .out({2, 128, 768})
           .set("num_heads", 12),
       "Attention/f32/q=2x12x128x64/k=2x12x64x64/v=2x12x64x64/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/"
       "y_tokens_first=1"},
      {"a cache of 511 tokens and one of the call, which sees them all",
       microsoft("GroupQueryAttention")
           .in({1, 1, 768})
           .in({1, 1, 256})
           .in({1, 1, 256})
           .in({1, 4, 511, 64})
           .in({1, 4, 511, 64})
           .in({1}, DataType::i32)
           .in({}, DataType::i32)
           .out({1, 1, 768})
           .set("num_heads", 12)
           .set("kv_num_heads", 4),
       "Attention/f32/q=1x12x1x64/k=1x4x512x64/v=1x4x512x64/q_tokens_first=1/y_tokens_first=1"},
      {"four tokens behind a cache of 508, each with the 127 before it",
       microsoft("GroupQueryAttention")
           .in({1, 4, 1280})  // 12 + 4 + 4 heads of 64
           .none()
           .none()
           .in({1, 4, 508, 64})
           .in({1, 4, 508, 64})
           .in({1}, DataType::i32)
           .in({}, DataType::i32)
           .out({1, 4, 768})
           .set("num_heads", 12)
           .set("kv_num_heads", 4)
           .set("local_window_size", 128)
           .set("softcap", 50.0),
       "Attention/f32/q=1x12x4x64/k=1x4x512x64/v=1x4x512x64/causal=1/q_tokens_first=1/y_tokens_first=1/capped=1/"
       "past=508/before=127"},
      {"queries, keys and values of a head in one row",
       microsoft("MultiHeadAttention").in({2, 128, 12, 3, 64}).out({2, 128, 768}).set("num_heads", 12),
       "Attention/f32/q=2x12x128x64/k=2x12x128x64/v=2x12x128x64/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/"
       "y_tokens_first=1"},
      {"keys and values of a head in one row",
       microsoft("MultiHeadAttention").in({2, 128, 768}).in({2, 64, 12, 2, 64}).out({2, 128, 768}).set("num_heads", 12),
       "Attention/f32/q=2x12x128x64/k=2x12x64x64/v=2x12x64x64/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/"
       "y_tokens_first=1"},
      {"angles of a table, at the positions of one sequence",
       microsoft("RotaryEmbedding")
           .in({2, 128, 768})
           .in({1}, DataType::i64)
           .weight({2048, 32})
           .weight({2048, 32})
           .out({2, 128, 768}),
       "Rotary/f32/x=2x128x12x64/angles=1x128x1x32"},
  });
}

}  // namespace
