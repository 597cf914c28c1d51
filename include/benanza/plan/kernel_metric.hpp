// SPDX-License-Identifier: Apache-2.0
// KernelMetric: what is collected about the kernels of a chosen plan after it was timed (docs/gpu.md, "Kernels and
// their counters").
#pragma once

#include <benanza/results/kernel_launch.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

enum class KernelMetric : std::uint8_t {
  kernels,   ///< names, geometry and times, which any other metric includes
  dram,      ///< bytes to and from the device's memory
  flops,     ///< operations by type
  occupancy  ///< warps in flight
};
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(KernelMetric) {
  return {"kernels", "dram", "flops", "occupancy"};
}

/// What a device reports about the kernels of a call.
struct KernelRecords {
  std::vector<KernelLaunch> launches{};  ///< in the order of their starts; empty if it keeps no records
  std::string missing{};                 ///< why requested records or counters are missing, one line; empty if none is
};

}  // namespace benanza
