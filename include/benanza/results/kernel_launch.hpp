// SPDX-License-Identifier: Apache-2.0
// KernelLaunch: one kernel that a call started on an accelerator: its name, its geometry, its time, and, if hardware
// counters were requested and could be read, what it moved and computed.
#pragma once

#include <benanza/model/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

/// Blocks of a grid, or threads of a block.
struct LaunchSize {
  std::int64_t x = 1, y = 1, z = 1;

  [[nodiscard]] constexpr std::int64_t count() const { return x * y * z; }
  bool operator==(const LaunchSize&) const = default;
};

/// What was computed in one type. A multiply-add counts as two.
struct KernelFlops {
  std::string
      type{};  ///< operand type: f64, f32, tf32, bf16, f16, f8, i8 ...; `f4_f6_f8`: the device counts them as one
  bool tensor_cores = false;
  double flops = 0;  ///< operations, for integers too
  bool operator==(const KernelFlops&) const = default;
};

/// The time of the kernels of one call by a device's own records.
struct KernelTime {
  Seconds whole{};  ///< their sum, including copies and fills
  Seconds empty{};  ///< what as many empty ones of the same kinds take by these records: no work
};

struct KernelLaunch {
  std::string name{};  ///< demangled
  LaunchSize grid{}, block{};
  std::int64_t registers_per_thread = 0;
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< both per block
  Seconds time{};  ///< from its start to its end, by the device's own record; an empty kernel takes a microsecond

  // Hardware counters, from a replay of the kernel alone. Each is absent if it was not requested or not permitted.
  std::optional<Bytes> dram_read{}, dram_written{};  ///< between the device's memory and its last-level cache
  std::optional<std::vector<KernelFlops>> flops{};   ///< the types that occur; an empty list: it computed nothing
  std::optional<double>
      occupancy{};  ///< warps in flight relative to the most that fit, over cycles in which a processor had any: 0 to 1

  [[nodiscard]] std::int64_t shared_bytes() const { return static_shared_bytes + dynamic_shared_bytes; }
  bool operator==(const KernelLaunch&) const = default;
};

}  // namespace benanza
