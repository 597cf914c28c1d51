// SPDX-License-Identifier: Apache-2.0
// That reproducers compile and run is tests/codegen; here is what stands in them.
#include "support/catch.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>

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
  CHECK(has(text, "memory::desc(x, type, tag::aBcd8b)"));
  CHECK(has(text, "post.append_binary(algorithm::binary_add, memory::desc(y, type, tag::aBcd8b));"));
  CHECK(has(text, "DNNL_ARG_ATTR_MULTIPLE_POST_OP(0)"));
  CHECK(has(text, "post.append_eltwise(algorithm::eltwise_relu, 0, 0);"));
}

TEST_CASE("a matrix product folds its batch where it can, weights lie as the plan says") {
  const std::string plain = emitted("MatMul/f32/a=1x128x768/b=768x3072/b_constant=1/post=bias", "brg:avx2,threads=1");
  CHECK(has(plain, "a = {128, 768}, b = {768, 3072}, y = {128, 3072}, c = {1, 3072};"));
  CHECK(has(plain, "row_major(a), row_major(b)"));
  CHECK(has(emitted("MatMul/f32/a=128x768/b=768x3072/b_constant=1", "brg:avx2,wei=BA16a64b,threads=1"), "tag::any"));
  CHECK(has(emitted("MatMul/f32/a=12x128x64/b=12x64x128/trans_b=1", "brg:avx2,threads=1"), "transposed(b)"));
  const std::string inner = emitted("MatMul/f32/a=1x2048/b=2048x1000/b_constant=1", "inner_product:gemm:jit,threads=1");
  CHECK(has(inner, "inner_product_forward::primitive_desc"));
  CHECK(has(inner, "implementation = \"gemm:jit\""));
  CHECK(has(inner, "w = {1000, 2048}"));
}

TEST_CASE("a reproducer of cuBLASLt looks for the plan's configuration") {
  const std::string text = emitted("MatMul/f16/a=4x128x768/b=768x3072/b_constant=1/post=bias,add,gelu",
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
  const std::string product = "MatMul/f32/a=8x8/b=8x8";
  CHECK_THROWS_WITH(emitted(product, "gemm_ex,threads=1", "cublas"), Catch::Contains("begin with lt"));
  CHECK_THROWS_WITH(emitted(product, "lt,id=1,wave=2", "cublas"), Catch::Contains("keys"));
  CHECK_THROWS_WITH(emitted(product, "lt,id=a", "cublas"), Catch::Contains("expected a number"));
  CHECK_THROWS_WITH(emitted(product + "/post=tanh", "lt,id=1", "cublas"), Catch::Contains("tanh"));
  CHECK_THROWS_WITH(emitted("Conv/f32/x=1x3x8x8/w=8x3x3x3", "lt,id=1", "cublas"), Catch::Contains("no plain matrix"));
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
  CHECK_THROWS_WITH(emitted("Conv/i8/x=1x3x8x8/w=8x3x3x3", "jit:avx2"), Catch::Contains("type i8"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "jit:avx2"), Catch::Contains("erf"));
  for (const char* plan :
       {"", ",", "jit,", "jit,=2", "jit,src=", "jit,threads=x", "jit,threads=0", "jit\";", "a\\b", "a\nb"})
    CHECK_THROWS_AS(emitted(conv, plan), UsageError);
}
