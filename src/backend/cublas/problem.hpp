// SPDX-License-Identifier: Apache-2.0
// Problem: matrix products in BLAS's terms. BLAS is column-major, so the row-major y = a b is computed as its
// transpose: y' = b' a', where b is BLAS's first operand.
#pragma once

#include <benanza/model/epilogue.hpp>
#include <benanza/model/layer.hpp>

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
  /// 8 bits: only cuBLASLt multiplies them, and only if both operands are contiguous along the summed dimension.
  bool narrow = false;
  cudaDataType_t result = stored;
  cudaDataType_t addend = result;  ///< type of c
  cudaDataType_t bias = stored;
};
/// f32 is strict, tf32 is CUBLAS_COMPUTE_32F_FAST_TF32; f16, bf16 and f8e4m3 are summed in f32, i8 in 32 bits, with a
/// result of i8 or i32. Empty for other types (cuBLAS documentation, cublasLtMatmul, tables of supported types).
[[nodiscard]] std::optional<Arithmetic> arithmetic(DataType type, DataType result);

/// One product of a batch: where its operands begin, in elements.
struct Offsets {
  std::int64_t a = 0, b = 0, y = 0;
};

/// An operand whose matrices of rows x columns are transposed before the product or, for the result, after it.
struct Turned {
  const char* layout = nullptr;  ///< its name; null if nothing is transposed
  std::int64_t rows = 1, columns = 1;
  [[nodiscard]] explicit operator bool() const { return layout != nullptr; }
};

struct Problem {
  Arithmetic arithmetic{};
  int m = 0, n = 0, k = 0;        ///< sizes of y = a b, row-major
  int lda = 0, ldb = 0, ldy = 0;  ///< from one stored row to the next, in elements
  bool trans_a = false, trans_b = false;
  std::int64_t stride_a = 0, stride_b = 0, stride_y = 0;  ///< strides between matrices of a strided batch, in elements
  int batch = 1;
  std::vector<Offsets> offsets{};  ///< used if strides cannot describe the batch: one product each
  std::size_t input_a = 0, input_b = 1;
  Turned turned_a{}, turned_b{}, turned_y{};  ///< c has the layout of y
  double factor = 1;                          ///< multiplies the result
};

/// A size in cuBLAS's type; empty if it does not fit.
[[nodiscard]] std::optional<int> to_int(std::int64_t size);
inline constexpr const char* too_large = "a dimension exceeds the 32 bits of cuBLAS";

/// Either the product or the reason why there is none.
using Described = std::variant<Problem, std::string>;
[[nodiscard]] Described describe(const op::MatMul& op);
/// A convolution with a single tap and stride 1: y = w x for each image. It has no epilogue, since biases of BLAS run
/// along the other dimension, and no narrow types.
[[nodiscard]] Described describe(const op::Conv& op);
/// The same with channels last: y' = x' w', for all images at once.
[[nodiscard]] Described describe_channels_last(const op::Conv& op);

}  // namespace benanza::cublas
