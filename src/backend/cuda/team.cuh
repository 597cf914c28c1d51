// SPDX-License-Identifier: Apache-2.0
// The threads that work on one row together, and the values that they combine.
#pragma once

#include "launch.cuh"

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

inline constexpr int warp = 32;

/// One warp per row, as many rows per block as it has warps.
struct Warp {
  static constexpr int most_threads = 4 * warp;  ///< limit for a launch, for which kernels are compiled
  static __device__ std::int64_t first_row() { return first_item() / warp; }
  static __device__ std::int64_t row_step() { return item_step() / warp; }
  static __device__ unsigned rank() { return threadIdx.x % warp; }
  static __device__ unsigned size() { return warp; }
  /// Combines the values of all threads of the team; every thread gets the result.
  template <class Combine>
  static __device__ float all(float value, float /*neutral*/, Combine combine) {
    for (int lane = warp / 2; lane > 0; lane /= 2) value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, lane));
    return value;
  }
};

/// One block per row.
struct Block {
  static constexpr int most_threads = 1024;
  static __device__ std::int64_t first_row() { return blockIdx.x; }
  static __device__ std::int64_t row_step() { return gridDim.x; }
  static __device__ unsigned rank() { return threadIdx.x; }
  static __device__ unsigned size() { return blockDim.x; }
  template <class Combine>
  static __device__ float all(float value, float neutral, Combine combine) {
    __shared__ float of_warps[warp];
    value = Warp::all(value, neutral, combine);
    __syncthreads();  // the previous use of the shared numbers is over
    if (threadIdx.x % warp == 0) of_warps[threadIdx.x / warp] = value;
    __syncthreads();
    return Warp::all(threadIdx.x % warp < blockDim.x / warp ? of_warps[threadIdx.x % warp] : neutral, neutral, combine);
  }
};

/// Calls `launch` with a team for `rows` rows of `packs` packs each, its blocks and its threads: whole warps, no more
/// than a row has work for.
template <class Launch>
void with_team(std::int64_t rows, std::int64_t packs, const Launch& launch) {
  // Short rows, and longer ones if there are enough of them to fill any device with warps.
  constexpr std::int64_t few = 2 * warp, more = 8 * warp, many_rows = 8192;
  if (packs <= few || (packs <= more && rows >= many_rows)) {
    constexpr int threads = Warp::most_threads;
    return launch(Warp{}, blocks_for(rows, threads / warp), threads);
  }
  int threads = warp;
  while (threads < Block::most_threads && threads * 2 < packs) threads *= 2;
  launch(Block{}, blocks_for(rows, 1), threads);
}

}  // namespace benanza::cuda
