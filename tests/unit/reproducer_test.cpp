// SPDX-License-Identifier: Apache-2.0
// tests/codegen checks that reproducers and standalone suites compile and run; here their contents are checked.
#include "support/catch.hpp"
#include <benanza/codegen.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
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

SuiteSource source_of(std::initializer_list<std::string> signatures, std::vector<std::string> backends) {
  SuiteSource source{.name = "few", .command = "benanza generate few", .backends = std::move(backends)};
  for (const auto& signature : signatures) source.layers.add(parse_layer(signature), "model", "node", 2);
  return source;
}

/// The text of a file of the project; empty if there is no such file.
std::string file_of(const std::vector<SourceFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.name == name; });
  return found == files.end() ? "" : found->text;
}

}  // namespace

TEST_CASE("a reproducer is the library's own calls in one file, for one plan") {
  const std::string text = emitted("Conv/f32/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/group=2/post=bias,add,relu",
                                   "jit:avx2,src=aBcd8b,wei=gOIhw8i8o,dst=aBcd8b,threads=2");
  CHECK_FALSE(has(text, "#include \""));
  CHECK_FALSE(has(text, "benanza/"));
  CHECK_FALSE(has(text, "@"));
  CHECK(has(text, "wanted_plan = \"onednn/jit:avx2,src=aBcd8b,wei=gOIhw8i8o,dst=aBcd8b,threads=2\";"));
  CHECK(has(text, ".x = {1, 64, 56, 56}, .w = {2, 64, 32, 3, 3}, .y = {1, 128, 56, 56}"));
  CHECK(has(text, ".bias = true"));
  CHECK(has(text, "{.function = dnnl::algorithm::binary_add, .operand = {1, 128, 56, 56}}"));
  CHECK(has(text, "{dnnl::algorithm::eltwise_relu, 0, 0}"));
  CHECK(has(text, "g++ -O1 -std=c++20 reproducer.cpp -fopenmp -ldnnl -lbenchmark"));
}

TEST_CASE("a matrix product folds its batch where it can") {
  const std::string plain = emitted("MatMul/f32/a=1x128x768/b=768x3072/b_constant=1/post=bias", "brg:avx2,threads=1");
  CHECK(has(plain, ".a = {128, 768}, .b = {768, 3072}, .y = {128, 3072}, .constant_b = true, .bias = {1, 3072}"));
  CHECK(has(emitted("MatMul/f32/a=12x128x64/b=12x64x128/trans_b=1", "brg:avx2,threads=1"), ".trans_b = true"));
}

TEST_CASE("a quantised layer has its scales and zero points in the row") {
  const std::string conv = emitted(
      "Conv/u8/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/group=2/w_type=i8/x_zero=1/post=bias,relu", "jit:avx2,threads=1");
  CHECK_FALSE(has(conv, "@"));
  CHECK(has(conv, ".src = Type::u8, .wei = Type::s8, .dst = Type::u8, .bias_type = Type::f32"));
  CHECK(has(conv, ".channels = 128, .mask = 3, .src_zero = 1}"));
  const std::string product = emitted("MatMul/i8/a=128x768/b=768x3072/b_constant=1/y_type=f32", "brgemm,threads=1");
  CHECK(has(product, ".channels = 3072, .mask = 2}"));
  const std::string sums = emitted("MatMul/u8/a=128x768/b=768x3072/b_type=i8/y_type=i32", "brgemm,threads=1");
  CHECK(has(sums, ".dst = Type::s32"));
  CHECK_FALSE(has(sums, ".scaled = true"));
  CHECK_THROWS_WITH(emitted("MatMul/u8/a=8x8/b=8x8", "gemm:jit,threads=1"), Catch::Contains("weights of u8"));
}

TEST_CASE("a row of cuBLASLt has types, factors and the epilogue") {
  const std::string text = emitted("MatMul/f16/a=4x128x768/b=768x3072/b_constant=1/post=bias,add,gelu_tanh",
                                   "lt:bias:add:gelu,id=66,tile=20,stages=36,splitk=2,threads=1", "cublas");
  CHECK_FALSE(has(text, "@"));
  CHECK(has(text, ".type = CUDA_R_16F, .y_type = CUDA_R_16F, .c_type = CUDA_R_16F, .bias_type = CUDA_R_16F"));
  CHECK(has(text, ".m = 128, .n = 3072, .k = 768, .batch = 4, .stride_a = 98304, .stride_b = 0, .constant_b = true"));
  CHECK(has(text, ".epilogue = CUBLASLT_EPILOGUE_GELU_BIAS, .has_bias = true, .has_c = true"));
  CHECK(has(text, ".name = \"lt:bias:add:gelu\""));
  const std::string conv =
      emitted("Conv/bf16/x=4x256x14x14/w=1024x256x1x1/post=bias", "lt:bias,id=1,layout=nhwc", "cublas");
  CHECK(has(conv, ".m = 784, .n = 1024, .k = 256,"));  // 4 images of 14 x 14 positions
  CHECK(has(conv, ".layout = \"nhwc\""));
  const std::string i8 = emitted("MatMul/i8/a=4x128x768/b=768x3072/b_constant=1/post=bias", "lt:bias,id=21", "cublas");
  CHECK(has(i8, ".compute = CUBLAS_COMPUTE_32I, .scale = CUDA_R_32F, .alpha = "));
  CHECK(has(i8, ".bias_type = CUDA_R_32F"));
  CHECK(has(i8, ".trans_b = true"));  // both along k
  const std::string f8 = emitted("MatMul/f8e4m3/a=128x768/b=768x3072", "lt:fast,id=66,threads=1", "cublas");
  CHECK(has(f8, ".y_type = CUDA_R_8F_E4M3, .c_type = CUDA_R_16BF, .bias_type = CUDA_R_16BF"));
  CHECK(has(emitted("MatMul/tf32/a=8x8/b=8x8", "gemm_ex,threads=1", "cublas"), "CUBLAS_COMPUTE_32F_FAST_TF32"));
  CHECK_THROWS_WITH(emitted("MatMul/u8/a=8x8/b=8x8", "lt,id=1", "cublas"), Catch::Contains("type u8"));
  CHECK_THROWS_WITH(emitted("MatMul/f32/a=8x8/b=8x8/post=tanh", "lt,id=1", "cublas"), Catch::Contains("tanh"));
  CHECK_THROWS_WITH(emitted("Conv/f32/x=1x3x8x8/w=8x3x3x3", "lt,id=1", "cublas"),
                    Catch::Contains("not a plain matrix"));
}

TEST_CASE("a row of cuDNN has types, math mode and the epilogue; a plan of a graph is drawn") {
  const std::string conv = "Conv/f32/x=1x64x56x56/w=128x32x3x3/pads=1x1x1x1/strides=2x2/group=2";
  const std::string legacy = emitted(conv, "winograd_nonfused,threads=1", "cudnn");
  CHECK_FALSE(has(legacy, "@"));
  CHECK(has(legacy, ".type = CUDNN_DATA_FLOAT, .sums = CUDNN_DATA_FLOAT, .math = CUDNN_FMA_MATH"));
  CHECK(has(legacy, ".x = {1, 64, 56, 56}, .w = {128, 32, 3, 3}, .y = {1, 128, 28, 28}"));
  CHECK(has(legacy, ".pads = {1, 1}, .strides = {2, 2}, .dilations = {1, 1}, .groups = 2"));
  CHECK_FALSE(has(legacy, "cudnn_frontend"));
  const std::string fused = emitted(conv + "/post=bias,add,relu", "fft,epilogue=fused,layout=nhwc,threads=1", "cudnn");
  CHECK(has(fused, "{.mode = CUDNN_ACTIVATION_RELU}}, .fuses = true"));
  CHECK_FALSE(has(emitted(conv + "/post=bias,sub", "gemm,epilogue=calls", "cudnn"), ".fuses = true"));
  const std::string graph = emitted(conv + "/post=bias,relu", "graph:eng47_k2=1,layout=nhwc,threads=1", "cudnn");
  CHECK_FALSE(has(graph, "cudnn_frontend"));
  CHECK(has(graph, ".kind = Kind::convolution, .type = CUDNN_DATA_FLOAT, .y_type = CUDNN_DATA_FLOAT, .strict = true"));
  CHECK(has(graph, "{.mode = CUDNN_POINTWISE_RELU_FWD}"));
  const std::string product = emitted("MatMul/bf16/a=12x128x64/b=12x64x128/trans_b=1", "graph:eng3,threads=1", "cudnn");
  CHECK(has(product, ".b = {.dims = {12, 64, 128}, .strides = {8192, 1, 64}}"));  // b is transposed in memory
  const std::string i8 = emitted("Conv/i8/x=1x64x56x56/w=128x64x3x3/post=bias,relu", "graph:eng1", "cudnn");
  CHECK(has(i8, ".weights = true, .type = CUDNN_DATA_INT32}"));  // the bias of sums
  CHECK(has(i8, ".rescale = 0.0625f"));                          // 9.3 sqrt(576) / 24 = 9.3: the next power of two
  CHECK_THROWS_WITH(emitted("Conv/u8/x=1x8x8x8/w=8x8x3x3/w_type=i8", "graph:eng1", "cudnn"), Catch::Contains("types"));
  // One dimension becomes two with a height of 1.
  CHECK(has(emitted("Conv/f16/x=1x64x56/w=32x64x3/pads=1x1/strides=2", "graph:eng1", "cudnn"),
            ".a = {.dims = {1, 64, 1, 56}}, .b = {.dims = {32, 64, 1, 3}, .weights = true}, .pads_begin = {0, 1}, "
            ".pads_end = {0, 1}, .steps = {1, 2}, .dilations = {1, 1}, .y = {.dims = {1, 32, 1, 28}}"));
  const std::string attention =
      emitted("Attention/bf16/q=2x3x13x16/k=2x3x11x16/v=2x3x11x16/causal=1/q_tokens_first=1", "graph:eng7", "cudnn");
  CHECK(has(attention, "#include <cudnn_frontend.h>"));
  CHECK(has(attention, ".type = fe::DataType_t::BFLOAT16, .q = {.dims = {2, 3, 13, 16}, .strides = {624, 16, 48, 1}}"));
  CHECK(has(attention, ", .causal = true}"));
  CHECK_THROWS_WITH(emitted("MatMul/f32/a=8x8/b=8x8", "gemm", "cudnn"), Catch::Contains("by the plan 'gemm'"));
  CHECK_THROWS_WITH(emitted("Conv/f32/x=1x3x8x8/w=8x3x3x3/pads=0x0x1x1", "gemm", "cudnn"), Catch::Contains("pads"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "graph:eng1", "cudnn"), Catch::Contains("erf"));
}

TEST_CASE("attention by products has the strides of heads side by side, and bounds of what a query sees") {
  // Heads that follow one another fold into one batch of 2 x 3; k is stored as keys x depth.
  const std::string plain = emitted("Attention/f32/q=2x3x13x16/k=2x3x11x16/v=2x3x11x24", "brg:softmax:brg,threads=1");
  CHECK(has(plain,
            ".q = {{6, 13, 16}, {208, 16, 1}}, .k = {{6, 16, 11}, {176, 1, 16}}, .v = {{6, 11, 24}, {264, 24, 1}}"));
  CHECK_FALSE(has(plain, ".bounds = {"));
  // In the order of a projection: with 3 heads of depth 16 a token is 48 elements, and an entry is 13 tokens.
  const std::string tokens = emitted(
      "Attention/f32/q=2x3x13x16/k=2x3x11x16/v=2x3x11x24/q_tokens_first=1/k_tokens_first=1/v_tokens_first=1/"
      "y_tokens_first=1",
      "brg:softmax:brg,threads=1");
  CHECK(has(tokens, ".q = {{2, 3, 13, 16}, {624, 16, 48, 1}}, .k = {{2, 3, 16, 11}, {528, 16, 1, 48}}"));
  CHECK(has(tokens, ".v = {{2, 3, 11, 24}, {792, 24, 72, 1}}, .y = {{2, 3, 13, 24}, {936, 24, 72, 1}}"));
  // Query i sees the keys before i + 1; after 20 keys of a cache and with a window of 7, those from i + 13 on.
  CHECK(has(emitted("Attention/f32/q=1x6x9x16/k=1x2x9x16/v=1x2x9x16/causal=1", "brg:softmax:brg,threads=1"),
            ".bounds = {1, 1, 9, 9}, .from = -9, .to = 1"));
  CHECK(has(emitted("Attention/f32/q=1x6x9x16/k=1x2x29x16/v=1x2x29x16/causal=1/past=20/before=7",
                    "brg:softmax:brg,threads=1"),
            ".bounds = {1, 1, 9, 29}, .from = 13, .to = 21"));
}

TEST_CASE("a transposed convolution has its weights in the order of ONNX and its output padding as a negative pad") {
  // w: 4 channels of x, 2 x 3 of y; in oneDNN's order: group, channels of y, channels of x.
  const std::string text = emitted(
      "ConvTranspose/f32/x=1x4x5x5/w=4x3x3x3/pads=1x1x1x1/strides=2x2/output_padding=1x1/group=2/post=bias,relu",
      "jit:avx2,threads=1");
  CHECK(has(text, ".w = {2, 3, 2, 3, 3}, .w_strides = {54, 9, 27, 3, 1}, .y = {1, 6, 10, 10}"));
  CHECK(has(text, ".pads_begin = {1, 1}, .pads_end = {0, 0}, .bias = true"));
}

TEST_CASE("what can be reproduced is asked beforehand") {
  const auto can = [](const std::string& signature, const std::string& backend, const std::string& plan) {
    return can_reproduce(parse_layer(signature), backend, plan);
  };
  CHECK(can("Pool/f32/x=1x8x28x28/kernel=2x2/strides=2x2", "onednn", "jit:avx2,threads=1"));
  CHECK(can("Conv/f16/x=1x64x56/w=64x64x3", "cudnn", "graph:eng1,threads=1"));  // convolution of one dimension
  CHECK(can("MatMul/f32/a=8x8/b=8x8", "openblas", "gemm,threads=1"));
  CHECK_FALSE(can("MatMul/f32/a=8x8/b=8x8/post=relu", "openblas", "gemm,threads=1"));
  CHECK_FALSE(can("Pool/f32/x=1x8x28x28/kernel=2x2/strides=2x2", "native", "plain,threads=1"));
  CHECK_FALSE(can("Resize/f32/x=1x3x8x8/y=1x3x16x16", "onednn", "jit:avx2,threads=1"));
  CHECK_FALSE(can("MatMul/f32/a=8x8/b=8x8", "onednn", "not a plan"));
}

TEST_CASE("what has no reproducer is refused with the reason") {
  const std::string conv = "Conv/f32/x=1x3x8x8/w=8x3x3x3";
  CHECK_THROWS_WITH(emitted(conv, "any", "abacus"),
                    Catch::Contains("'abacus' has no reproducers") && Catch::Contains("onednn"));
  CHECK_THROWS_WITH(emitted("Resize/f32/x=1x3x8x8/y=1x3x16x16", "jit:avx2"),
                    Catch::Contains("no call of onednn for Resize"));
  CHECK_THROWS_WITH(emitted("Conv/f64/x=1x3x8x8/w=8x3x3x3", "jit:avx2"), Catch::Contains("type f64"));
  CHECK_THROWS_WITH(emitted(conv + "/post=erf", "jit:avx2"), Catch::Contains("erf"));
  for (const char* plan :
       {"", ",", "jit,", "jit,=2", "jit,src=", "jit,threads=x", "jit,threads=0", "jit\";", "a\\b", "a\nb"})
    CHECK_THROWS_AS(emitted(conv, plan), UsageError);
}

TEST_CASE("a suite that stands alone has a source for each library and family, and nothing of Benanza's") {
  const auto files =
      standalone_suite(source_of({"Conv/f32/x=1x16x14x14/w=16x16x3x3/pads=1x1x1x1", "Softmax/f32/x=1x1000x1",
                                  "MatMul/f32/a=8x64/b=64x32/b_constant=1", "Resize/f32/x=1x3x8x8/y=1x3x16x16"},
                                 {"onednn", "openblas"}));
  std::vector<std::string> names;
  for (const auto& file : files) {
    names.push_back(file.name);
    INFO(file.name);
    CHECK_FALSE(has(file.text, "@"));
    CHECK_FALSE(has(file.text, "include <benanza"));
    CHECK_FALSE(has(file.text, "benanza::"));
  }
  CHECK(names == std::vector<std::string>{"CMakeLists.txt", "main.cpp", "onednn.cpp", "onednn.hpp",
                                          "onednn_convolution.cpp", "onednn_product.cpp", "onednn_softmax.cpp",
                                          "openblas_product.cpp", "processor.cpp", "processor.hpp", "refusals.cpp",
                                          "suite.cpp", "suite.hpp"});
  // Two operations per multiply-add, without those in the padding: (14 * 3 - 2)^2 taps of 16 * 16 channels.
  CHECK(has(file_of(files, "onednn_convolution.cpp"),
            "    // model x2 single: node\n    {.signature = \"Conv/f32/x=1x16x14x14/w=16x16x3x3/pads=1x1x1x1\", .work "
            "= {819200, 34304, 3136},"));
  CHECK(has(file_of(files, "refusals.cpp"),
            "{\"openblas/none\", \"Conv/f32/x=1x16x14x14/w=16x16x3x3/pads=1x1x1x1\", \"this suite calls no function of "
            "openblas for Conv\"}"));
  CHECK(has(file_of(files, "refusals.cpp"), "{\"onednn/none\", \"Resize/"));
  CHECK(has(file_of(files, "main.cpp"), "    add_onednn_softmax();\n"));
  CHECK_FALSE(has(file_of(files, "CMakeLists.txt"), "CUDA"));
}

TEST_CASE("a suite of a GPU's libraries asks for its toolkit alone") {
  const auto files =
      standalone_suite(source_of({"Conv/f16/x=1x16x14x14/w=16x16x3x3/post=bias,relu"}, {"cudnn", "cublas"}));
  CHECK(has(file_of(files, "CMakeLists.txt"), "find_package(CUDAToolkit REQUIRED)"));
  CHECK_FALSE(has(file_of(files, "CMakeLists.txt"), "ONEDNN"));
  CHECK(has(file_of(files, "cudnn_convolution.cpp"),
            ".type = CUDNN_DATA_HALF, .sums = CUDNN_DATA_FLOAT, .math = CUDNN_TENSOR_OP_MATH"));
  CHECK(has(file_of(files, "suite.cpp"), "->UseManualTime()"));
  CHECK(has(file_of(files, "refusals.cpp"), "not a plain matrix product"));
  CHECK_THROWS_WITH(standalone_suite(source_of({}, {"cudnn", "onednn"})), Catch::Contains("one device"));
  CHECK_THROWS_WITH(standalone_suite(source_of({}, {"native"})), Catch::Contains("Benanza's own"));
}
