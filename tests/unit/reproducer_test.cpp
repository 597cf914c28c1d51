// SPDX-License-Identifier: Apache-2.0
// That reproducers compile and run is tests/codegen; here is what stands in them.
#include "support/catch.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <sstream>

namespace {

using namespace benanza;

std::string emitted(const std::string& signature, const std::string& plan, const std::string& backend = "onednn") {
  std::ostringstream out;
  emit_reproducer({.layer = parse_layer(signature), .backend = backend, .plan = plan, .command = "benanza generate"},
                  out);
  return out.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a reproducer is the library's own calls and no Benanza header") {
  const std::string text = emitted("Conv/f32/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/group=2/post=bias,add,relu",
                                   "jit:avx2,src=aBcd8b,wei=gOIhw8i8o,dst=aBcd8b,threads=2");
  CHECK_FALSE(has(text, "#include <benanza"));
  CHECK_FALSE(has(text, "@"));
  CHECK(has(text, "constexpr int threads = 2;"));
  CHECK(has(text, "implementation = \"jit:avx2\""));
  CHECK(has(text, "x = {1, 64, 56, 56}, w = {2, 64, 32, 3, 3}, y = {1, 128, 56, 56}, b = {128};"));
  CHECK(has(text, "memory::desc(x, src, tag::aBcd8b)"));
  CHECK(has(text, "post.append_binary(algorithm::binary_add, memory::desc(y, dst, tag::aBcd8b));"));
  CHECK(has(text, "DNNL_ARG_ATTR_MULTIPLE_POST_OP(0)"));
  CHECK(has(text, "post.append_eltwise(algorithm::eltwise_relu, 0, 0);"));
}

TEST_CASE("a matrix product folds its batch where it can, weights lie as the plan says") {
  const std::string plain = emitted("MatMul/f32/a=1x128x768/b=768x3072/b_constant=1/post=bias", "brg:avx2,threads=1");
  CHECK(has(plain, "a = {128, 768}, b = {768, 3072}, y = {128, 3072}, c = {1, 3072};"));
  CHECK(has(plain, "row_major(a, src), row_major(b, wei)"));
  CHECK(has(emitted("MatMul/f32/a=128x768/b=768x3072/b_constant=1", "brg:avx2,wei=BA16a64b,threads=1"), "tag::any"));
  CHECK(has(emitted("MatMul/f32/a=12x128x64/b=12x64x128/trans_b=1", "brg:avx2,threads=1"), "transposed(b, wei)"));
  const std::string inner = emitted("MatMul/f32/a=1x2048/b=2048x1000/b_constant=1", "inner_product:gemm:jit,threads=1");
  CHECK(has(inner, "inner_product_forward::primitive_desc"));
  CHECK(has(inner, "implementation = \"gemm:jit\""));
  CHECK(has(inner, "w = {1000, 2048}"));
}

TEST_CASE("a quantised layer has its scales and zero points in the reproducer") {
  const std::string conv = emitted(
      "Conv/u8/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/group=2/w_type=i8/x_zero=1/post=bias,relu", "jit:avx2,threads=1");
  CHECK_FALSE(has(conv, "@"));
  CHECK(has(conv, "src = memory::data_type::u8, wei = memory::data_type::s8, dst = memory::data_type::u8,"));
  CHECK(has(conv, "bia = memory::data_type::f32;"));
  CHECK(has(conv, "set_scales_mask(DNNL_ARG_WEIGHTS, 3);"));
  CHECK(has(conv, "add_numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, 128, "));
  CHECK(has(conv, "set_scales_mask(DNNL_ARG_DST, 0);"));
  CHECK(has(conv, "set_zero_points_mask(DNNL_ARG_SRC, 0);"));
  CHECK_FALSE(has(conv, "set_zero_points_mask(DNNL_ARG_WEIGHTS, 0);"));
  const std::string product = "MatMul/i8/a=128x768/b=768x3072/b_constant=1/y_type=f32";
  CHECK(has(emitted(product, "brgemm,threads=1"), "add_numbers(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, 3072, "));
  CHECK(has(emitted(product, "brgemm,threads=1"), "set_scales_mask(DNNL_ARG_WEIGHTS, 2);"));
  CHECK(has(emitted(product, "inner_product:brgemm,threads=1"), "set_scales_mask(DNNL_ARG_WEIGHTS, 1);"));
  CHECK_FALSE(has(emitted(product, "brgemm,threads=1"), "set_scales_mask(DNNL_ARG_DST"));
  const std::string sums = emitted("MatMul/u8/a=128x768/b=768x3072/b_type=i8/y_type=i32", "brgemm,threads=1");
  CHECK(has(sums, "dst = memory::data_type::s32"));
  CHECK_FALSE(has(sums, "add_numbers"));
  CHECK_THROWS_WITH(emitted("MatMul/u8/a=8x8/b=8x8", "gemm:jit,threads=1"), Catch::Contains("weights of u8"));
}

TEST_CASE("a reproducer of cuBLASLt looks for the plan's configuration") {
  const std::string text = emitted("MatMul/f16/a=4x128x768/b=768x3072/b_constant=1/post=bias,add,gelu_tanh",
                                   "lt:bias:add:gelu,id=66,tile=20,stages=36,splitk=2,threads=1", "cublas");
  CHECK_FALSE(has(text, "#include <benanza"));
  CHECK_FALSE(has(text, "@"));
  CHECK(has(text, "m = 128, n = 3072, k = 768, batch = 4;"));
  CHECK(has(text, "stride_a = 98304, stride_b = 0,"));
  CHECK(has(text, "using Element = __half;"));
  CHECK(has(text, "CUBLASLT_EPILOGUE_GELU_BIAS;"));
  CHECK(has(text, "has_bias = true, has_c = true;"));
  CHECK(has(text, "{CUBLASLT_ALGO_CONFIG_SPLITK_NUM, \"splitk\", 2}"));
  CHECK(has(text, "{CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, \"swizzle\", 0}"));
  const std::string conv = emitted("Conv/tf32/x=2x64x56x56/w=256x64x1x1", "lt,id=1,threads=1", "cublas");
  CHECK(has(conv, "m = 256, n = 3136, k = 64, batch = 2;"));
  CHECK(has(conv, "CUBLAS_COMPUTE_32F_FAST_TF32"));
  const std::string narrow = "MatMul/i8/a=4x128x768/b=768x3072/b_constant=1/post=bias";
  const std::string i8 = emitted(narrow, "lt:bias,id=21,threads=1", "cublas");
  CHECK(has(i8, "trans_a = false, trans_b = true;"));  // both along k
  CHECK(has(i8, "type = CUDA_R_8I, scale = CUDA_R_32F;"));
  CHECK(has(i8, "y_type = CUDA_R_8I, c_type = CUDA_R_8I, bias_type = CUDA_R_32F;"));
  CHECK(has(i8, "compute = CUBLAS_COMPUTE_32I;"));
  CHECK(has(i8, "using Bias = float;"));
  CHECK(has(i8, "fast = false;"));
  const std::string f8 = emitted("MatMul/f8e4m3/a=128x768/b=768x3072", "lt:fast,id=66,threads=1", "cublas");
  CHECK(has(f8, "using Element = __nv_fp8_e4m3;"));
  CHECK(has(f8, "y_type = CUDA_R_8F_E4M3, c_type = CUDA_R_16BF, bias_type = CUDA_R_16BF;"));
  CHECK(has(f8, "fast = true;"));
  CHECK_THROWS_WITH(emitted("MatMul/u8/a=8x8/b=8x8", "lt,id=1", "cublas"), Catch::Contains("type u8"));
  const std::string product = "MatMul/f32/a=8x8/b=8x8";
  CHECK_THROWS_WITH(emitted(product, "gemm_ex,threads=1", "cublas"), Catch::Contains("begin with lt"));
  CHECK_THROWS_WITH(emitted(product, "lt,id=1,wave=2", "cublas"), Catch::Contains("keys"));
  CHECK_THROWS_WITH(emitted(product, "lt,id=a", "cublas"), Catch::Contains("expected a number"));
  CHECK_THROWS_WITH(emitted(product + "/post=tanh", "lt,id=1", "cublas"), Catch::Contains("tanh"));
  CHECK_THROWS_WITH(emitted("Conv/f32/x=1x3x8x8/w=8x3x3x3", "lt,id=1", "cublas"),
                    Catch::Contains("not a plain matrix"));
}

TEST_CASE("a reproducer of cuDNN calls the algorithm, or draws the graph") {
  const std::string conv = "Conv/f32/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/strides=2x2/group=2";
  const std::string legacy = emitted(conv, "winograd_nonfused,threads=1", "cudnn");
  CHECK_FALSE(has(legacy, "#include <benanza"));
  CHECK_FALSE(has(legacy, "@"));
  CHECK(has(legacy, "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;"));
  CHECK(has(legacy, "x = {1, 64, 56, 56}, w = {128, 32, 3, 3}, y = {1, 128, 28, 28};"));
  CHECK(has(legacy, "pads = {1, 1}, strides = {2, 2}, dilations = {1, 1};"));
  CHECK(has(legacy, "groups = 2;"));
  CHECK(has(legacy, "channels_last = false;"));
  const std::string fused = emitted(conv + "/post=bias,add,relu", "fft,epilogue=fused,layout=nhwc,threads=1", "cudnn");
  CHECK(has(fused, "cudnnConvolutionBiasActivationForward"));
  CHECK(has(fused, "of_z = 1;"));
  CHECK(has(fused, "channels_last = true;"));
  const std::string calls = emitted(conv + "/post=bias,tanh", "gemm,epilogue=calls,threads=1", "cudnn");
  CHECK(has(calls, "cudnnOpTensor(handle, step_0"));
  CHECK(has(calls, "activation(CUDNN_ACTIVATION_TANH, 0)"));
  const std::string graph = emitted(conv + "/post=bias,relu", "graph:eng47_k2=1,layout=nhwc,threads=1", "cudnn");
  CHECK(has(graph, "plan = \"eng47_k2=1\";"));
  CHECK(has(graph, "input({1, 64, 56, 56}, {200704, 1, 3584, 64})"));
  CHECK(has(graph, "input({1, 128, 1, 1}, {128, 1, 128, 128})"));
  CHECK(has(graph, "step(fe::PointwiseMode_t::RELU_FWD)"));
  const std::string product = emitted("MatMul/bf16/a=12x128x64/b=12x64x128/trans_b=1", "graph:eng3,threads=1", "cudnn");
  CHECK(has(product, "input({12, 64, 128}, {8192, 1, 64})"));  // b lies transposed
  CHECK(has(product, "graph.matmul(a, b"));
  const std::string i8 = emitted("Conv/i8/x=1x64x56x56/w=128x64x3x3/post=bias,relu", "graph:eng1", "cudnn");
  CHECK(has(i8, "type = fe::DataType_t::INT8, y_type = fe::DataType_t::INT8;"));
  CHECK(has(i8, ".set_compute_data_type(fe::DataType_t::INT32)"));
  CHECK(has(i8, "input({1, 128, 1, 1}, {128, 1, 1, 1}, fe::DataType_t::INT32)"));  // the bias of sums
  CHECK(has(i8, "graph.tensor(0.0625f)"));  // 9.3 sqrt(576) / 24 = 9.3: the next power of two
  const std::string f8 = emitted("MatMul/f8e4m3/a=128x768/b=768x3072", "graph:eng1", "cudnn");
  CHECK(has(f8, "type = fe::DataType_t::FP8_E4M3"));
  CHECK(has(f8, "input({1, 768, 3072}, {2359296, 1, 768})"));  // along k
  CHECK_FALSE(has(f8, "INT32)"));
  CHECK_THROWS_WITH(emitted("Conv/u8/x=1x8x8x8/w=8x8x3x3/w_type=i8", "graph:eng1", "cudnn"), Catch::Contains("types"));
  CHECK_THROWS_WITH(emitted(conv, "direct_3", "cudnn"), Catch::Contains("forward algorithm"));
  CHECK_THROWS_WITH(emitted("MatMul/f32/a=8x8/b=8x8", "gemm", "cudnn"), Catch::Contains("graph:TAG"));
  CHECK_THROWS_WITH(emitted("Conv/f32/x=1x3x8x8/w=8x3x3x3/pads=0x0x1x1", "gemm", "cudnn"), Catch::Contains("pads"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "graph:eng1", "cudnn"), Catch::Contains("erf"));
  CHECK_THROWS_WITH(emitted("Unary/f32/fn=relu/x=64", "graph:eng1", "cudnn"), Catch::Contains("no reproducer"));
}

TEST_CASE("what has no reproducer is refused with the reason") {
  const std::string conv = "Conv/f32/x=1x3x8x8/w=8x3x3x3";
  CHECK_THROWS_WITH(emitted(conv, "any", "abacus"),
                    Catch::Contains("'abacus' has no reproducers") && Catch::Contains("onednn"));
  CHECK_THROWS_WITH(emitted("Unary/f32/fn=relu/x=64", "jit:avx2"), Catch::Contains("Unary has no reproducer"));
  CHECK_THROWS_WITH(emitted("Conv/f64/x=1x3x8x8/w=8x3x3x3", "jit:avx2"), Catch::Contains("type f64"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "jit:avx2"), Catch::Contains("erf"));
  for (const char* plan :
       {"", ",", "jit,", "jit,=2", "jit,src=", "jit,threads=x", "jit,threads=0", "jit\";", "a\\b", "a\nb"})
    CHECK_THROWS_AS(emitted(conv, plan), UsageError);
}
