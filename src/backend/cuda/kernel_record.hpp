// SPDX-License-Identifier: Apache-2.0
// CUPTI's record of a kernel, as this build's toolkit defines it.
#pragma once

#include <benanza/results/kernel_launch.hpp>

#include <cuda_runtime_api.h>
#include <cupti.h>

namespace benanza::cuda {

#if CUDART_VERSION >= 13000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel8;
#endif

/// A launch without counters. A name that cannot be demangled, such as a C function's, stays as it is.
[[nodiscard]] KernelLaunch launch_of(const KernelRecord& record);

}  // namespace benanza::cuda
