// SPDX-License-Identifier: Apache-2.0
#include "plans.hpp"
#include <benanza/model/data_type.hpp>

namespace benanza::cublas {

namespace {

constexpr cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

std::size_t element_bytes(cudaDataType_t type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2; }

class BlasPlan : public Plan {
 public:
  BlasPlan(std::string algorithm, Problem problem, const Operands& operands, std::shared_ptr<const Handles> handles)
      : Plan({.algorithm = std::move(algorithm) + ",threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = cublas::workspace_bytes,
              .tolerance = problem.arithmetic.tolerance}),
        problem_(std::move(problem)),
        handles_(std::move(handles)) {}

 protected:
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] cublasHandle_t handle_with(void* workspace) const { return handles_->blas_with(workspace); }

 private:
  Problem problem_;
  std::shared_ptr<const Handles> handles_;
};

class GemmPlan final : public BlasPlan {
 public:
  using BlasPlan::BlasPlan;

 private:
  void do_execute(const Arguments& arguments) const override {
    const Problem& p = problem();
    gemm(p, handle_with(arguments.workspace), arguments.inputs[p.input_a], arguments.inputs[p.input_b],
         arguments.outputs[0]);
  }
};

/// A matrix times a vector, in BLAS's terms.
class GemvPlan final : public BlasPlan {
 public:
  using BlasPlan::BlasPlan;

 private:
  void do_execute(const Arguments& arguments) const override {
    const Problem& p = problem();
    const bool b_is_vector = p.n == 1;
    // To BLAS, the stored row-major matrix is its transpose, of `inner` x `outer`.
    const bool stored_transposed = b_is_vector ? p.trans_a : p.trans_b;
    const int inner = b_is_vector ? p.lda : p.ldb,
              outer = b_is_vector ? (stored_transposed ? p.k : p.m) : (stored_transposed ? p.n : p.k);
    const cublasOperation_t op = operation(b_is_vector != stored_transposed);
    const void* const matrix = arguments.inputs[b_is_vector ? p.input_a : p.input_b];
    const void* const vector = arguments.inputs[b_is_vector ? p.input_b : p.input_a];
    const std::int64_t matrix_stride = b_is_vector ? p.stride_a : p.stride_b;
    const std::int64_t vector_stride = b_is_vector ? p.stride_b : p.stride_a;
    const float one = 1, zero = 0;
    const cublasHandle_t handle = handle_with(arguments.workspace);
    const auto call = [&](auto function, auto element, const char* title) {
      using T = decltype(element);
      check(function(handle, op, inner, outer, &one, static_cast<const T*>(matrix), inner, matrix_stride,
                     static_cast<const T*>(vector), 1, vector_stride, &zero, static_cast<T*>(arguments.outputs[0]), 1,
                     p.stride_y, p.batch),
            title);
    };
    switch (p.arithmetic.stored) {
      case CUDA_R_16F: return call(calls().cublasHSHgemvStridedBatched, __half{}, "cublasHSHgemvStridedBatched");
      case CUDA_R_16BF:
        return call(calls().cublasTSTgemvStridedBatched, __nv_bfloat16{}, "cublasTSTgemvStridedBatched");
      default: return call(calls().cublasSgemvStridedBatched, float{}, "cublasSgemvStridedBatched");
    }
  }
};

}  // namespace

void gemm(const Problem& p, cublasHandle_t handle, const void* a, const void* b, void* y) {
  const auto factor = static_cast<float>(p.factor);
  const float zero = 0;
  const double wide_zero = 0;
  const bool wide = p.arithmetic.scale == CUDA_R_64F;
  const void* const alpha = wide ? static_cast<const void*>(&p.factor) : &factor;
  const void* const beta = wide ? static_cast<const void*>(&wide_zero) : &zero;
  const cudaDataType_t type = p.arithmetic.stored;
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const auto one = [&](const Offsets& at) {
    check(calls().cublasGemmEx(handle, operation(p.trans_b), operation(p.trans_a), p.n, p.m, p.k, alpha,
                               static_cast<const std::byte*>(b) + at.b * bytes, type, p.ldb,
                               static_cast<const std::byte*>(a) + at.a * bytes, type, p.lda, beta,
                               static_cast<std::byte*>(y) + at.y * bytes, type, p.ldy, p.arithmetic.compute,
                               CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  };
  for (const auto& at : p.offsets) one(at);
  if (!p.offsets.empty()) return;
  if (p.batch == 1) return one({});
  check(calls().cublasGemmStridedBatchedEx(handle, operation(p.trans_b), operation(p.trans_a), p.n, p.m, p.k, alpha, b,
                                           type, p.ldb, p.stride_b, a, type, p.lda, p.stride_a, beta, y, type, p.ldy,
                                           p.stride_y, p.batch, p.arithmetic.compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

void add_blas_plans(const Problem& problem, const Operands& operands, const std::shared_ptr<const Handles>& handles,
                    Plans& plans) {
  const char* name = !problem.offsets.empty() ? "gemm_ex:each"
                     : problem.batch > 1      ? "gemm_strided_batched_ex"
                                              : "gemm_ex";
  plans.push_back(std::make_unique<GemmPlan>(name, problem, operands, handles));
  const bool vector = problem.m == 1 || problem.n == 1;
  if (vector && problem.offsets.empty() && problem.arithmetic.stored != CUDA_R_64F)
    plans.push_back(std::make_unique<GemvPlan>("gemv_strided_batched", problem, operands, handles));
}

}  // namespace benanza::cublas
