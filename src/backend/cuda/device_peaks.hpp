// SPDX-License-Identifier: Apache-2.0
// Peaks and bandwidths of a device, by kernels that do nothing else.
#pragma once

#include <benanza/plan/device.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace benanza::cuda {

struct PeakContext {
  int processors = 1;
  double clock_hz = 1e9;  ///< the highest of the processors
  std::size_t l2_bytes = 0;
  long long* cycles = nullptr;  ///< on the device
  cudaStream_t stream = nullptr;

  /// What the last kernel wrote there; waits for it.
  [[nodiscard]] long long read_cycles() const;
};

/// Multiply-adds on all processors for about so long.
void warm_up(Device& device, const PeakContext& context, Seconds time);

/// Peak of each type: best FLOPs per cycle and processor, times processors and the highest clock; bandwidth behind the
/// L2: the best of read, of write, of copy, and of two reads with one write.
[[nodiscard]] DeviceCeilings measure_peaks(Device& device, const PeakContext& context, const CeilingRequest& request);

}  // namespace benanza::cuda
