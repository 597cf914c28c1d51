// SPDX-License-Identifier: Apache-2.0
// Kernels of the device itself: what blocks a stream, what measures launches, clocks, peaks and bandwidths.
#pragma once

#include "peak_work.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace benanza::cuda {

/// One multiprocessor's cycles and the time, at one moment.
struct ClockSample {
  volatile unsigned long long ns = 0;  ///< 0: not taken
  volatile long long cycles = 0;
  volatile unsigned processor = 0;  ///< each counts for itself
};

/// Shared with the processor, in mapped memory.
struct BlockState {
  volatile int go = 0;         ///< set by the processor
  volatile int timed_out = 0;  ///< set by the kernel
  ClockSample released{};      ///< set by the kernel when it ends
  ClockSample done{};          ///< set by what `launch_clock` enqueues
};

/// Ends when `state->go` is set or so much time has passed.
void launch_block(BlockState* state, unsigned long long time_out_ns, cudaStream_t stream);
void launch_clock(ClockSample* sample, cudaStream_t stream);
void launch_empty(cudaStream_t stream);

/// Whether the code that this device runs has the instruction.
[[nodiscard]] bool has_peak(PeakKind kind);
/// Multiply-adds of threads or warps, one block a processor. FLOPs of the whole grid; `cycles` is what the first block
/// took.
[[nodiscard]] double launch_peak(PeakKind kind, int processors, int repeats, long long* cycles, cudaStream_t stream);

/// Whether the device has products of warp groups, which compute capability 9.0 alone has: there mma.sync stays below
/// the peak, and is emulated in 8-bit floats.
[[nodiscard]] bool has_group_peak(PeakKind kind);
/// The same as `launch_peak` by products of warp groups.
[[nodiscard]] double launch_group_peak(PeakKind kind, int processors, int repeats, long long* cycles,
                                       cudaStream_t stream);

enum class Traffic { read, write, copy, triad };
/// Walks `bytes` of each area, 16 bytes a thread and access. Returns the bytes that cross.
[[nodiscard]] double launch_walk(Traffic traffic, const void* a, const void* b, void* result, std::size_t bytes,
                                 int blocks, cudaStream_t stream);

}  // namespace benanza::cuda
