// SPDX-License-Identifier: Apache-2.0
// Peaks and bandwidths of a device, measured by kernels that do nothing else.
#pragma once

#include <benanza/plan/device.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace benanza::cuda {

struct PeakContext {
  int processors = 1;
  double clock_hz = 1e9;  ///< the highest clock of the multiprocessors
  std::size_t l2_bytes = 0;
  long long* cycles = nullptr;  ///< in device memory
  cudaStream_t stream = nullptr;

  /// What the last kernel wrote to `cycles`; waits for the kernel.
  [[nodiscard]] long long read_cycles() const;
};

/// Multiply-adds on all multiprocessors for about this time.
void warm_up(Device& device, const PeakContext& context, Seconds time);

/// Peak of each type: the best FLOPs per cycle and multiprocessor, times multiprocessors and the highest clock.
/// Bandwidth behind the L2 cache: the best of read, of write, of copy, and of two reads with one write.
[[nodiscard]] DeviceCeilings measure_peaks(Device& device, const PeakContext& context, const CeilingRequest& request);

}  // namespace benanza::cuda
