// SPDX-License-Identifier: Apache-2.0
// What the threads of a block find out together.
#pragma once

#include <cuda_runtime_api.h>

namespace benanza::cuda {

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Least {
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
};
struct Most {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Of all threads of the block, for all of them.
template <class Combine>
__device__ float of_block(float value, float neutral, Combine combine) {
  __shared__ float of_warps[32];
  for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lane));
  __syncthreads();  // the previous use of the shared numbers is over
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  const unsigned warps = blockDim.x / 32;
  value = threadIdx.x % 32 < warps ? of_warps[threadIdx.x % 32] : neutral;
  for (int lane = 16; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lane));
  return value;
}

}  // namespace benanza::cuda
