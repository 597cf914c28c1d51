// SPDX-License-Identifier: Apache-2.0
// Kernels of the device itself: they block a stream, or measure launches, clocks, peaks and bandwidths.
#pragma once

#include "peak_work.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace benanza::cuda {

/// One multiprocessor's cycle count and the time, taken together.
struct ClockSample {
  volatile unsigned long long ns = 0;  ///< 0 if not taken
  volatile long long cycles = 0;
  volatile unsigned processor = 0;  ///< each multiprocessor counts separately
};

/// Shared with the host, in mapped memory.
struct BlockState {
  volatile int go = 0;         ///< set by the host
  volatile int timed_out = 0;  ///< set by the kernel
  ClockSample released{};      ///< set by the kernel when it ends
  ClockSample done{};          ///< set by the kernel that `launch_clock` enqueues
};

/// The kernel ends when `state->go` is set or `time_out_ns` has passed.
void launch_block(BlockState* state, unsigned long long time_out_ns, cudaStream_t stream);
void launch_clock(ClockSample* sample, cudaStream_t stream);
void launch_empty(cudaStream_t stream);

/// Whether the code that this device runs contains the instruction.
[[nodiscard]] bool has_peak(PeakKind kind);
/// Multiply-adds of threads or warps, one block per multiprocessor. Returns the FLOPs of the whole grid; `cycles`
/// receives the cycles of the first block.
[[nodiscard]] double launch_peak(PeakKind kind, int processors, int repeats, long long* cycles, cudaStream_t stream);

/// Whether the device supports products of warp groups, which only compute capability 9.0 has: there, mma.sync stays
/// below the peak, and is emulated for 8-bit floats.
[[nodiscard]] bool has_group_peak(PeakKind kind);
/// The same as `launch_peak`, with products of warp groups.
[[nodiscard]] double launch_group_peak(PeakKind kind, int processors, int repeats, long long* cycles,
                                       cudaStream_t stream);

enum class Traffic { read, write, copy, triad };
/// Traverses `bytes` of each area, 16 bytes per thread and access. Returns the bytes transferred.
[[nodiscard]] double launch_walk(Traffic traffic, const void* a, const void* b, void* result, std::size_t bytes,
                                 int blocks, cudaStream_t stream);

}  // namespace benanza::cuda
