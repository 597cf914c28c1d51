// SPDX-License-Identifier: Apache-2.0
// Kernels of the device itself: what blocks a stream, what measures launches, clocks, peaks and bandwidths.
#pragma once

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

/// The kinds of multiply-adds that a peak is measured with.
enum class PeakKind { f32, f64, f16, bf16, tf32, i8, f8e4m3, f8e5m2 };
/// Whether the code that this device runs has the instruction.
[[nodiscard]] bool has_peak(PeakKind kind);
/// FLOPs of the whole grid; `cycles` is what the first block took. One block a processor, as many threads as it holds.
[[nodiscard]] double launch_peak(PeakKind kind, int processors, int repeats, long long* cycles, cudaStream_t stream);

enum class Traffic { read, write, copy, triad };
/// Walks `bytes` of each area, 16 bytes a thread and access. Returns the bytes that cross.
[[nodiscard]] double launch_walk(Traffic traffic, const void* a, const void* b, void* result, std::size_t bytes,
                                 int blocks, cudaStream_t stream);

}  // namespace benanza::cuda
