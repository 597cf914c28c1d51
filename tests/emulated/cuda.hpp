// SPDX-License-Identifier: Apache-2.0
// What kernels in CUDA C++ need to run on the processor, one block after the other. Each thread of a block is a fiber,
// which runs until it has to wait for others. Results, accesses (under sanitizers) and waiting are as on a device;
// time, and what threads see of each other without waiting, are not.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

// Shared memory of a block is static: one block runs at a time.
#undef __shared__
#define __shared__ static

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/// Waits for all threads of the block that have not ended.
void __syncthreads();
/// The value of the thread whose rank in the warp differs by these bits. All threads of the warp must call it:
/// otherwise the process ends with a line that says so.
float __shfl_xor_sync(unsigned mask, float value, int bits);

inline int atomicMax(std::int32_t* at, std::int32_t value) {
  const std::int32_t before = *at;
  *at = std::max(before, value);
  return before;
}
inline float atomicAdd(float* at, float value) {
  const float before = *at;
  *at += value;
  return before;
}
/// Adds the four products of signed bytes to `sum`.
inline int __dp4a(int a, int b, int sum) {
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<std::int8_t>(a >> shift) * static_cast<std::int8_t>(b >> shift);
  return sum;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
using std::max;

namespace benanza::test {

struct Launch {
  Launch(dim3 grid, dim3 block, std::size_t, cudaStream_t) : blocks(grid), threads(block) {}
  dim3 blocks, threads;
};

/// Calls `thread` for every thread of every block; returns when all have ended.
void run_threads(const Launch& launch, const std::function<void()>& thread);

/// Ends the process if a block has more threads than its kernel is compiled for.
void check_bounds(unsigned most_threads);

/// Kernels launched so far.
[[nodiscard]] int launches();
/// The runtime reports this error once, when it is asked next.
void fail_launch(cudaError_t error);

template <class... Parameters>
void run_grid(const Launch& launch, void (*kernel)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  run_threads(launch, [&] { kernel(arguments...); });
}

}  // namespace benanza::test
