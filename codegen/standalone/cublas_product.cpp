// Matrix product by cuBLAS: cublasGemmEx, or its strided form for a batch, and a product with a vector. Row-major:
// cuBLAS counts columns first, so it computes y' = b' a', with b as its first operand.
#include "device.hpp"

#include <cublas_v2.h>

#define CHECK_CUBLAS(call)                                                     \
  do {                                                                         \
    if (const cublasStatus_t status = (call); status != CUBLAS_STATUS_SUCCESS) \
      failed(#call, cublasGetStatusString(status));                            \
  } while (false)

namespace {

struct Product {
  const char* signature;
  Work work;
  cudaDataType_t type;          // type of operands and result
  cublasComputeType_t compute;  // CUBLAS_COMPUTE_32F: f32 is not rounded to tf32
  int m, n, k, batch;
  std::int64_t stride_a, stride_b;  // from one entry of the batch to the next, in elements; 0: the same one
  bool trans_a = false, trans_b = false;
  bool constant_a = false, constant_b = false;
};

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

cublasHandle_t cublas() {
  static const cublasHandle_t made = [] {
    cublasHandle_t result = nullptr;
    CHECK_CUBLAS(cublasCreate(&result));
    CHECK_CUBLAS(cublasSetStream(result, stream()));
    static const Memory workspace(workspace_bytes);
    CHECK_CUBLAS(cublasSetWorkspace(result, workspace.get(), workspace_bytes));
    int version = 0;
    CHECK_CUBLAS(cublasGetVersion(result, &version));  // 130100 is 13.1.0
    name_library("cublas", std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
                               std::to_string(version % 100));
    return result;
  }();
  return made;
}

constexpr cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

/// A matrix times a vector in the type: f16 and bf16 are added up in f32.
void gemv(const Product& layer, const void* a, const void* b, void* y) {
  const bool column = layer.n == 1;  // b is the vector; else a, a row
  const bool stored = column ? layer.trans_a : layer.trans_b;
  const int inner = column ? (stored ? layer.m : layer.k) : (stored ? layer.k : layer.n),
            outer = column ? (stored ? layer.k : layer.m) : (stored ? layer.n : layer.k);
  const cublasOperation_t how = operation(column != stored);
  const void *matrix = column ? a : b, *vector = column ? b : a;
  const std::int64_t matrix_stride = column ? layer.stride_a : layer.stride_b,
                     vector_stride = column ? layer.stride_b : layer.stride_a,
                     y_stride = std::int64_t{layer.m} * layer.n;
  const float one = 1, zero = 0;
  switch (layer.type) {
    case CUDA_R_16F:
      CHECK_CUBLAS(cublasHSHgemvStridedBatched(cublas(), how, inner, outer, &one, static_cast<const __half*>(matrix),
                                               inner, matrix_stride, static_cast<const __half*>(vector), 1,
                                               vector_stride, &zero, static_cast<__half*>(y), 1, y_stride,
                                               layer.batch));
      return;
    case CUDA_R_16BF:
      CHECK_CUBLAS(cublasTSTgemvStridedBatched(cublas(), how, inner, outer, &one,
                                               static_cast<const __nv_bfloat16*>(matrix), inner, matrix_stride,
                                               static_cast<const __nv_bfloat16*>(vector), 1, vector_stride, &zero,
                                               static_cast<__nv_bfloat16*>(y), 1, y_stride, layer.batch));
      return;
    default:
      CHECK_CUBLAS(cublasSgemvStridedBatched(cublas(), how, inner, outer, &one, static_cast<const float*>(matrix),
                                             inner, matrix_stride, static_cast<const float*>(vector), 1, vector_stride,
                                             &zero, static_cast<float*>(y), 1, y_stride, layer.batch));
  }
}

void gemm(const Product& layer, const void* a, const void* b, void* y) {
  const float one = 1, zero = 0;
  const double wide_one = 1, wide_zero = 0;
  const bool wide = layer.type == CUDA_R_64F;
  const void *alpha = wide ? static_cast<const void*>(&wide_one) : &one,
             *beta = wide ? static_cast<const void*>(&wide_zero) : &zero;
  const int lda = layer.trans_a ? layer.m : layer.k, ldb = layer.trans_b ? layer.k : layer.n;
  if (layer.batch == 1)
    CHECK_CUBLAS(cublasGemmEx(cublas(), operation(layer.trans_b), operation(layer.trans_a), layer.n, layer.m, layer.k,
                              alpha, b, layer.type, ldb, a, layer.type, lda, beta, y, layer.type, layer.n,
                              layer.compute, CUBLAS_GEMM_DEFAULT));
  else
    CHECK_CUBLAS(cublasGemmStridedBatchedEx(
        cublas(), operation(layer.trans_b), operation(layer.trans_a), layer.n, layer.m, layer.k, alpha, b, layer.type,
        ldb, layer.stride_b, a, layer.type, lda, layer.stride_a, beta, y, layer.type, layer.n,
        std::int64_t{layer.m} * layer.n, layer.batch, layer.compute, CUBLAS_GEMM_DEFAULT));
}

Ready prepare(const Product& layer, bool vector, Cache cache) {
  const auto buffers = std::make_shared<Buffers>(cache);
  const std::int64_t m = layer.m, n = layer.n, k = layer.k, last = layer.batch - 1;
  const std::size_t a = buffers->add(elements(layer.type, layer.stride_a * last + m * k), layer.constant_a),
                    b = buffers->add(elements(layer.type, layer.stride_b * last + k * n), layer.constant_b),
                    y = buffers->add(elements(layer.type, layer.batch * m * n), false);
  buffers->spread();
  return {.call =
              [=](std::size_t copy) {
                (vector ? gemv : gemm)(layer, buffers->at(a, copy), buffers->at(b, copy), buffers->at(y, copy));
              },
          .copies = buffers->copies()};
}

constexpr Product products[] = {
    // @rows@
};

}  // namespace

void add_cublas_product() {
  static_cast<void>(cublas());
  for (const Product& layer : products)
    for (const bool vector : {false, true}) {
      if (vector && ((layer.m != 1 && layer.n != 1) || layer.type == CUDA_R_64F)) continue;
      const char* const name = vector            ? "gemv_strided_batched"
                               : layer.batch > 1 ? "gemm_strided_batched_ex"
                                                 : "gemm_ex";
      add_row(std::string("cublas/") + name + ",threads=1", layer.signature, layer.work,
              layer.constant_a || layer.constant_b, [=](Cache cache) { return prepare(layer, vector, cache); });
    }
}
