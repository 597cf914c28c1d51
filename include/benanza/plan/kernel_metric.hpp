// SPDX-License-Identifier: Apache-2.0
// KernelMetric: what is asked of the kernels of a chosen plan after it was timed (docs/gpu.md, "Kernels and their
// counters").
#pragma once

#include <benanza/results/kernel_launch.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

enum class KernelMetric : std::uint8_t {
  kernels,   ///< names, geometry and times, which any other metric brings too
  dram,      ///< bytes to and from the device's memory
  flops,     ///< operations by type
  occupancy  ///< warps in flight
};
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(KernelMetric) {
  return {"kernels", "dram", "flops", "occupancy"};
}

/// What a device tells of the kernels of a call.
struct KernelRecords {
  std::vector<KernelLaunch> launches{};  ///< in the order of their starts; empty where it keeps no records
  std::string missing{};  ///< why records or counters that were asked for are missing, one line; empty: none is
};

}  // namespace benanza
