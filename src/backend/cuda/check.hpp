// SPDX-License-Identifier: Apache-2.0
// Statuses of the CUDA runtime as exceptions that report which call failed and where.
#pragma once

#include <cuda_runtime_api.h>

namespace benanza::cuda {

/// Throws EnvironmentError for a failed call, DeviceLost if the context can no longer be used, std::bad_alloc if memory
/// ran out.
void check(cudaError_t status, const char* call, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// The runtime's error text.
[[nodiscard]] const char* text_of(cudaError_t status);

}  // namespace benanza::cuda
