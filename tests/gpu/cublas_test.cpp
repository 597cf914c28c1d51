// SPDX-License-Identifier: Apache-2.0
#include "backend/cublas/attention.hpp"
#include "backend/cublas/lt_epilogue.hpp"
#include "backend/cublas/problem.hpp"
#include "support/device_support.hpp"
#include <benanza/backend/cublas.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/quantization.hpp>

using namespace benanza;

TEST_CASE("products become BLAS's: stored rows, transposes and strides") {
  // a: 2 entries of 9x16 stored unchanged, b: 2 entries of 16x5 stored as 5x16: rows of 16 in both.
  const auto described = cublas::describe(op::MatMul{.a = {2, 9, 16}, .b = {2, 16, 5}, .trans_b = true});
  REQUIRE(std::holds_alternative<cublas::Problem>(described));
  const auto& problem = std::get<cublas::Problem>(described);
  CHECK(problem.m == 9);
  CHECK(problem.n == 5);
  CHECK(problem.k == 16);
  CHECK(problem.lda == 16);
  CHECK(problem.ldb == 16);
  CHECK(problem.batch == 2);
  CHECK(problem.stride_a == 144);
  CHECK(problem.stride_b == 80);
  CHECK(problem.stride_y == 45);
  CHECK(problem.offsets.empty());
}

TEST_CASE("an operand without batch has stride 0, one that broadcasts between entries goes product by product") {
  const auto shared = std::get<cublas::Problem>(cublas::describe(op::MatMul{.a = {3, 4, 8}, .b = {1, 8, 6}}));
  CHECK(shared.stride_a == 32);
  CHECK(shared.stride_b == 0);
  // Entries (0,0) (0,1) (1,0) (1,1): a repeats within the first dimension, b along it.
  const auto crossed = std::get<cublas::Problem>(cublas::describe(op::MatMul{.a = {2, 1, 4, 8}, .b = {1, 2, 8, 6}}));
  REQUIRE(crossed.offsets.size() == 4);
  CHECK(crossed.offsets[1].a == 0);
  CHECK(crossed.offsets[1].b == 48);
  CHECK(crossed.offsets[2].a == 32);
  CHECK(crossed.offsets[2].b == 0);
  CHECK(crossed.offsets[3].y == 72);
}

TEST_CASE("a convolution of one tap is a product for each image, others are not") {
  const auto described = cublas::describe(op::Conv{.x = {2, 64, 7, 7}, .w = {32, 64, 1, 1}});
  REQUIRE(std::holds_alternative<cublas::Problem>(described));
  const auto& problem = std::get<cublas::Problem>(described);
  CHECK(problem.m == 32);
  CHECK(problem.n == 49);
  CHECK(problem.k == 64);
  CHECK(problem.stride_a == 0);
  CHECK(problem.stride_b == 64 * 49);
  CHECK(problem.stride_y == 32 * 49);
  CHECK(problem.input_a == 1);
  CHECK(std::holds_alternative<std::string>(cublas::describe(op::Conv{.x = {2, 64, 7, 7}, .w = {32, 64, 3, 3}})));
}

TEST_CASE("with channels last it is one product of all images, whose biases lie along the rows of the result") {
  const op::Conv conv{.x = {2, 64, 7, 7}, .w = {32, 64, 1, 1}, .post = {bias, ElementwiseFn::relu}};
  CHECK(std::holds_alternative<std::string>(cublas::describe(conv)));
  const auto problem = std::get<cublas::Problem>(cublas::describe_channels_last(conv));
  CHECK(problem.m == 98);
  CHECK(problem.n == 32);
  CHECK(problem.k == 64);
  CHECK(problem.batch == 1);
  CHECK(problem.input_a == 0);
  CHECK(problem.trans_b);  // w is stored as output by input channel
  CHECK(problem.turned_a.rows == 64);
  CHECK(problem.turned_a.columns == 49);
  CHECK(problem.turned_y.rows == 32);
  CHECK(problem.turned_y.columns == 49);
}

TEST_CASE("products of f32 are strict, those of tf32 are not, and 16-bit types are summed in f32") {
  const auto of = [](DataType type) { return cublas::arithmetic(type, type).value(); };
  CHECK(of(DataType::f32).compute == CUBLAS_COMPUTE_32F);
  CHECK(of(DataType::tf32).compute == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(of(DataType::f16).stored == CUDA_R_16F);
  CHECK(of(DataType::bf16).stored == CUDA_R_16BF);
  CHECK(of(DataType::bf16).compute == CUBLAS_COMPUTE_32F);
  CHECK_FALSE(cublas::arithmetic(DataType::f16, DataType::f32));
  CHECK_FALSE(cublas::arithmetic(DataType::u8, DataType::u8));
}

// cuBLAS documentation, cublasLtMatmul, table of supported types: for 8-bit integers the scale is i32 if the result is
// i32, and f32 if it is i8; for two E4M3 with a result of E4M3, c and the bias are bf16 or f16.
TEST_CASE("products of 8 bits have sums of 32 bits, and both operands lie along k") {
  const auto sums = cublas::arithmetic(DataType::i8, DataType::i32).value();
  CHECK(sums.compute == CUBLAS_COMPUTE_32I);
  CHECK(sums.scale == CUDA_R_32I);
  CHECK(sums.result == CUDA_R_32I);
  const auto rounded = cublas::arithmetic(DataType::i8, DataType::i8).value();
  CHECK(rounded.scale == CUDA_R_32F);
  CHECK(rounded.result == CUDA_R_8I);
  const auto small = cublas::arithmetic(DataType::f8e4m3, DataType::f8e4m3).value();
  CHECK(small.compute == CUBLAS_COMPUTE_32F);
  CHECK(small.result == CUDA_R_8F_E4M3);
  CHECK(small.addend == CUDA_R_16BF);
  CHECK(small.bias == CUDA_R_16BF);
  CHECK(rounded.bias == CUDA_R_32F);
  CHECK_FALSE(cublas::arithmetic(DataType::f8e5m2, DataType::f8e5m2));

  const auto problem = std::get<cublas::Problem>(
      cublas::describe(op::MatMul{.type = DataType::i8, .a = {48, 64}, .b = {64, 32}, .trans_a = true}));
  CHECK(problem.turned_a.columns == 48);
  CHECK(problem.turned_b.columns == 32);
  CHECK_FALSE(problem.trans_a);
  CHECK(problem.trans_b);
  CHECK(problem.lda == 64);
  CHECK(problem.ldb == 64);
  CHECK(problem.factor == quantization(op::MatMul{.type = DataType::i8, .a = {48, 64}, .b = {64, 32}}).rescale);
  CHECK(std::holds_alternative<std::string>(
      cublas::describe(op::MatMul{.type = DataType::i8, .a = {48, 64}, .b = {64, 32}, .a_zero = true})));
}

// PyTorch does the same with "tanh" if it cannot call this epilogue (aten/src/ATen/native/cuda/Blas.cpp).
TEST_CASE("cuBLASLt's GELU is the approximation by tanh; an exact one is not among its epilogues") {
  const auto tanh = cublas::lt_epilogue({bias, ElementwiseFn::gelu_tanh}, 2);
  REQUIRE(std::holds_alternative<cublas::LtEpilogue>(tanh));
  CHECK(std::get<cublas::LtEpilogue>(tanh).kind == CUBLASLT_EPILOGUE_GELU_BIAS);
  CHECK(std::holds_alternative<std::string>(cublas::lt_epilogue({bias, ElementwiseFn::gelu}, 2)));
}

TEST_CASE("query heads that share a key head are rows of one product in attention by its parts") {
  // Two entries of 8 query heads on 2 key heads: 4 heads of 5 queries each are 20 rows.
  const auto parts = std::get<cublas::AttentionParts>(cublas::describe(
      op::Attention{.q = {2, 8, 5, 16}, .k = {2, 2, 7, 16}, .v = {2, 2, 7, 24}, .mask = {1, 1, 5, 7}}));
  CHECK(parts.scores.batch == 4);
  CHECK(parts.scores.m == 20);
  CHECK(parts.scores.n == 7);
  CHECK(parts.scores.k == 16);
  CHECK(parts.scores.trans_b);  // keys are stored as rows
  CHECK(parts.scores.stride_a == 20 * 16);
  CHECK(parts.scores.factor == 0.25);  // 1 / sqrt(16)
  CHECK(parts.result.m == 20);
  CHECK(parts.result.n == 24);
  CHECK(parts.result.k == 7);
  CHECK_FALSE(parts.result.trans_b);
  CHECK(parts.score_bytes == 2 * 8 * 5 * 7 * 4);
  CHECK(parts.weights.mask_strides[0] == 0);
  CHECK(parts.weights.mask_strides[1] == 0);
  CHECK(parts.weights.mask_strides[2] == 7);
  CHECK(parts.weights.mask_strides[3] == 1);
  const auto turned = std::get<cublas::AttentionParts>(cublas::describe(
      op::Attention{.q = {1, 2, 5, 16}, .k = {1, 2, 7, 16}, .v = {1, 2, 7, 16}, .k_transposed = true}));
  CHECK_FALSE(turned.scores.trans_b);
  CHECK(turned.scores.ldb == 7);
}

TEST_CASE("attention by its parts steps over all heads from token to token if operands lie tokens first") {
  op::Attention op{.q = {1, 3, 5, 16}, .k = {1, 3, 7, 16}, .v = {1, 3, 7, 24}};
  op.q_tokens_first = op.k_tokens_first = op.v_tokens_first = op.y_tokens_first = true;
  const auto parts = std::get<cublas::AttentionParts>(cublas::describe(op));
  CHECK(parts.scores.batch == 3);
  CHECK(parts.scores.lda == 3 * 16);
  CHECK(parts.scores.ldb == 3 * 16);
  CHECK(parts.scores.ldy == 7);
  CHECK(parts.scores.stride_a == 16);
  CHECK(parts.scores.stride_b == 16);
  CHECK(parts.scores.stride_y == 5 * 7);
  CHECK(parts.result.lda == 7);
  CHECK(parts.result.ldb == 3 * 24);
  CHECK(parts.result.ldy == 3 * 24);
  CHECK(parts.result.stride_y == 24);
  op.q[0] = op.k[0] = op.v[0] = 2;
  CHECK(std::holds_alternative<std::string>(cublas::describe(op)));
}

TEST_CASE("cuBLAS's products agree with the reference", "[gpu]") {
  const auto backend = cublas::backend();
  if (!test::has_device(*backend)) return;
  const std::vector<Layer> layers{
      op::MatMul{.a = {37, 64}, .b = {64, 48}},
      op::MatMul{.a = {37, 64}, .b = {64, 48}, .post = {bias, ElementwiseFn::relu}},
      op::MatMul{.a = {37, 64}, .b = {64, 48}, .post = {bias, ElementwiseFn::gelu_tanh}},
      op::MatMul{.a = {37, 64}, .b = {64, 48}, .post = {bias, {ElementwiseFn::add, TensorShape{}}}},
      op::MatMul{.a = {19, 24}, .b = {24, 32}, .trans_a = true, .trans_b = true},
      op::MatMul{.a = {1, 72}, .b = {72, 33}},
      op::MatMul{.a = {1, 72}, .b = {72, 33}, .trans_b = true},
      op::MatMul{.a = {33, 72}, .b = {72, 1}},
      op::MatMul{.a = {33, 72}, .b = {72, 1}, .trans_a = true},
      op::MatMul{.a = {3, 17, 16}, .b = {3, 16, 24}, .trans_b = true},
      op::MatMul{.a = {2, 1, 9, 16}, .b = {1, 2, 16, 8}},
      op::MatMul{.type = DataType::tf32, .a = {64, 64}, .b = {64, 48}},
      op::MatMul{.type = DataType::f16, .a = {64, 64}, .b = {64, 48}},
      op::MatMul{.type = DataType::bf16, .a = {64, 64}, .b = {64, 48}},
      op::MatMul{.type = DataType::i8, .a = {64, 64}, .b = {64, 48}},
      op::MatMul{.type = DataType::i8, .a = {64, 64}, .b = {64, 48}, .b_constant = true, .y_type = DataType::i32},
      op::Conv{.x = {2, 64, 7, 7}, .w = {32, 64, 1, 1}},
      op::Conv{.x = {2, 64, 7, 7},
               .w = {32, 64, 1, 1},
               .post = {bias, {ElementwiseFn::add, TensorShape{}}, ElementwiseFn::relu}},
      op::Conv{.type = DataType::i8, .x = {2, 64, 8, 8}, .w = {32, 64, 1, 1}},
      op::MatMul{.type = DataType::i8, .a = {3, 32, 64}, .b = {3, 64, 48}, .trans_a = true},
      op::Attention{.q = {2, 4, 33, 64}, .k = {2, 4, 72, 64}, .v = {2, 4, 72, 48}},
      op::Attention{.q = {2, 4, 33, 64}, .k = {2, 4, 72, 64}, .v = {2, 4, 72, 64}, .mask = {2, 1, 1, 72}},
      op::Attention{.q = {1, 8, 40, 64}, .k = {1, 2, 40, 64}, .v = {1, 2, 40, 64}, .causal = true},
      op::Attention{
          .type = DataType::tf32, .q = {1, 4, 33, 64}, .k = {1, 4, 72, 64}, .v = {1, 4, 72, 64}, .k_transposed = true},
      op::Attention{.q = {1, 4, 33, 64},
                    .k = {1, 4, 72, 64},
                    .v = {1, 4, 72, 64},
                    .q_tokens_first = true,
                    .k_tokens_first = true,
                    .v_tokens_first = true,
                    .y_tokens_first = true},
      op::Attention{.type = DataType::f16, .q = {1, 4, 33, 64}, .k = {1, 4, 72, 64}, .v = {1, 4, 72, 64}},
  };
  for (const auto& layer : layers) {
    INFO(LayerSignature(layer).text());
    CHECK(test::check_device_plans(*backend, layer) > 0);
  }
}

TEST_CASE("cuBLASLt's products of f8 agree with the reference where the device has them", "[gpu]") {
  const auto backend = cublas::backend();
  if (!test::has_device(*backend)) return;
  const std::vector<Layer> layers{
      op::MatMul{.type = DataType::f8e4m3, .a = {64, 64}, .b = {64, 48}},
      op::MatMul{.type = DataType::f8e4m3, .a = {64, 64}, .b = {64, 48}, .post = {bias, ElementwiseFn::relu}},
      op::Conv{.type = DataType::f8e4m3, .x = {2, 64, 8, 8}, .w = {32, 64, 1, 1}},
  };
  if (const auto made = backend->plans(layers[0], 1); const auto* why = std::get_if<Unsupported>(&made)) {
    WARN("this device multiplies no f8: " << why->reason);
    return;
  }
  for (const auto& layer : layers) {
    INFO(LayerSignature(layer).text());
    CHECK(test::check_device_plans(*backend, layer) > 0);
  }
}
