// SPDX-License-Identifier: Apache-2.0
// Wave scaling of a row whose kernels are known: each is scaled by the blocks of its own grid and weighted by its share
// of the time.
#pragma once

#include <benanza/predict/detail/occupancy.hpp>
#include <benanza/predict/detail/wave_scaling.hpp>
#include <benanza/results/kernel_launch.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace benanza {

/// Blocks of a kernel that a whole device runs at once; empty if none fits, or if the record does not say.
[[nodiscard]] inline std::optional<std::int64_t> wave_of(const KernelLaunch& kernel, const DeviceRecord& record) {
  if (!record.processors || !record.processors->limits) return std::nullopt;
  const std::int64_t blocks = blocks_per_multiprocessor({.threads = kernel.block.count(),
                                                         .registers_per_thread = kernel.registers_per_thread,
                                                         .shared_bytes = kernel.shared_bytes()},
                                                        *record.processors->limits);
  if (blocks < 1) return std::nullopt;
  return blocks * record.processors->count;
}

/// T_d / T_o of all kernels of one call. A kernel that would not fit on a device as it is uses large wave: another
/// kernel would run there. Empty if no kernel with a time fits.
[[nodiscard]] inline std::optional<double> kernel_waves_ratio(const std::vector<KernelLaunch>& kernels,
                                                              const DeviceRecord& from_record,
                                                              const DeviceRecord& to_record, const DeviceRates& from,
                                                              const DeviceRates& to, double weight) {
  double before = 0, after = 0, of_waves = 0;
  for (const auto& kernel : kernels) {
    const auto here = wave_of(kernel, from_record), there = wave_of(kernel, to_record);
    const bool fits = here && there && kernel.grid.count() > 0;
    before += kernel.time.value;
    if (fits) of_waves += kernel.time.value;
    after += kernel.time.value * (fits ? wave_ratio(from, to, weight, kernel.grid.count(), *here, *there)
                                       : large_wave_ratio(from, to, weight));
  }
  if (!(of_waves > 0)) return std::nullopt;
  return after / before;
}

}  // namespace benanza
