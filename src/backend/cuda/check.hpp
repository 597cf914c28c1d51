// SPDX-License-Identifier: Apache-2.0
// Statuses of the CUDA runtime as exceptions that say which call failed and where.
#pragma once

#include <cuda_runtime_api.h>

namespace benanza::cuda {

/// Throws EnvironmentError for a failed call, DeviceLost when the context is of no more use, std::bad_alloc when memory
/// ran out.
void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The runtime's words.
[[nodiscard]] const char* text_of(cudaError_t status);

}  // namespace benanza::cuda
