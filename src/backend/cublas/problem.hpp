// SPDX-License-Identifier: Apache-2.0
// Problem: matrix products as BLAS has them. BLAS counts columns first, so the row-major y = a b is computed as its
// transpose: y' = b' a', where b is BLAS's first operand.
#pragma once

#include <benanza/epilogue.hpp>
#include <benanza/layer.hpp>

#include <cublas_v2.h>

#include <optional>
#include <string>
#include <vector>

namespace benanza::cublas {

/// How a type of Benanza is stored and multiplied.
struct Arithmetic {
  cudaDataType_t stored = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;
  double tolerance = 1e-4;
};
/// f32 is strict, tf32 is CUBLAS_COMPUTE_32F_FAST_TF32, f16 and bf16 are summed in f32. Nothing for other types.
[[nodiscard]] std::optional<Arithmetic> arithmetic(DataType type);

/// One product of a batch: where its operands begin, in elements.
struct Offsets {
  std::int64_t a = 0, b = 0, y = 0;
};

struct Problem {
  Arithmetic arithmetic{};
  int m = 0, n = 0, k = 0;  ///< of y = a b, row-major
  int lda = 0, ldb = 0;     ///< lengths of stored rows
  bool trans_a = false, trans_b = false;
  std::int64_t stride_a = 0, stride_b = 0, stride_y = 0;  ///< of a strided batch, in elements
  int batch = 1;
  std::vector<Offsets> offsets{};  ///< where strides cannot tell: one product each
  std::size_t input_a = 0, input_b = 1;
};

/// Either the product or why there is none.
using Described = std::variant<Problem, std::string>;
[[nodiscard]] Described describe(const op::MatMul& op);
/// A convolution of one tap that moves by one: for each image y = w x.
[[nodiscard]] Described describe(const op::Conv& op);

}  // namespace benanza::cublas
