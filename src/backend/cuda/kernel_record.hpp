// SPDX-License-Identifier: Apache-2.0
// CUPTI's record of a kernel, as the toolkit of this build has it.
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

/// Without counters. A name that cannot be demangled, such as that of a C function, stays as it is.
[[nodiscard]] KernelLaunch launch_of(const KernelRecord& record);

}  // namespace benanza::cuda
