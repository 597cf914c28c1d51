// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <benanza/plan/device.hpp>

#include <new>
#include <string>
#include <string_view>

namespace benanza::cuda {

namespace {

/// Errors after which every call of the process fails (CUDA Runtime API, cudaError_t: "the process must be terminated
/// and relaunched").
bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable: return true;
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak: return true;
#endif
    default: return false;
  }
}

}  // namespace

const char* text_of(cudaError_t status) { return cudaGetErrorString(status); }

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, so that the next call does not see it
  if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
  const std::string_view path(file);
  const std::string message = std::string(call) + " failed at " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
                              std::to_string(line) + ": " + text_of(status);
  if (is_sticky(status)) throw DeviceLost(message);
  throw EnvironmentError(message);
}

}  // namespace benanza::cuda
