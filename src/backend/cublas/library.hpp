// SPDX-License-Identifier: Apache-2.0
// The cuBLAS and cuBLASLt that are loaded at run time: calls, handles, statuses as exceptions.
#pragma once

#include "plan/shared_library.hpp"
#include <benanza/plan/device.hpp>

#include <cublasLt.h>
#include <cublas_v2.h>

#include <memory>
#include <string>
#include <type_traits>
#include <variant>

namespace benanza::cublas {

/// Every call that is used. These are macros because the names are looked up as text.
// clang-format off
#define BENANZA_CUBLAS_CALLS(X) \
  X(cublasCreate_v2) X(cublasDestroy_v2) X(cublasSetStream_v2) X(cublasSetWorkspace_v2) X(cublasSetMathMode) \
  X(cublasGetVersion_v2) X(cublasGetStatusString) X(cublasSgemvStridedBatched) X(cublasHSHgemvStridedBatched) \
  X(cublasTSTgemvStridedBatched)
// clang-format on
// clang-format off
#define BENANZA_CUBLASLT_CALLS(X) \
  X(cublasLtCreate) X(cublasLtDestroy) X(cublasLtGetVersion) X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic) \
  X(cublasLtMatmulAlgoConfigGetAttribute) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) \
  X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) \
  X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) \
  X(cublasLtMatmulPreferenceSetAttribute)
// clang-format on

struct Calls {
#define BENANZA_DECLARE(name) std::add_pointer_t<decltype(::name)> name = nullptr;
  BENANZA_CUBLAS_CALLS(BENANZA_DECLARE)
  BENANZA_CUBLASLT_CALLS(BENANZA_DECLARE)
#undef BENANZA_DECLARE
  // Overloaded in the header for C++.
  std::add_pointer_t<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                    const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                    cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t)>
      cublasGemmEx = nullptr;
  std::add_pointer_t<cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                    const void*, cudaDataType, int, long long, const void*, cudaDataType, int,
                                    long long, const void*, void*, cudaDataType, int, long long, int,
                                    cublasComputeType_t, cublasGemmAlgo_t)>
      cublasGemmStridedBatchedEx = nullptr;
};

/// The calls of the process's libraries, or the reason why there are none.
[[nodiscard]] const std::variant<Calls, std::string>& library();
/// Throws EnvironmentError without a library.
[[nodiscard]] const Calls& calls();
/// Version of cuBLASLt, on which cuBLAS is built: `13.1.0`; `none` without it.
[[nodiscard]] std::string version();

/// Turns a failure status into an exception: EnvironmentError with the call and its location.
void check(cublasStatus_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The handles of a device, on its stream.
class Handles {
 public:
  explicit Handles(std::shared_ptr<Device> device);
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  /// The cuBLAS handle for a call that may use `workspace_bytes` at `workspace`.
  [[nodiscard]] cublasHandle_t blas_with(void* workspace) const;
  [[nodiscard]] cublasLtHandle_t lt() const { return lt_; }
  [[nodiscard]] cudaStream_t stream() const { return static_cast<cudaStream_t>(device_->stream()); }

 private:
  std::shared_ptr<Device> device_;
  cublasHandle_t blas_ = nullptr;
  cublasLtHandle_t lt_ = nullptr;
};

/// The workspace available to every product: as much as NVIDIA recommends for Hopper (cuBLAS documentation,
/// cublasSetWorkspace).
inline constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace benanza::cublas
