// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel one streaming multiprocessor runs at once: the least of what its threads, its block
// slots, its registers and its shared memory allow. The granularities are those of NVIDIA's cuda_occupancy.h; a test
// compares them if there is a CUDA toolkit.
#pragma once

#include <benanza/results/device_record.hpp>

#include <algorithm>
#include <cstdint>

namespace benanza {

/// What a block of a kernel needs.
struct BlockNeeds {
  std::int64_t threads = 1;
  std::int64_t registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  ///< static and dynamic
};

/// Blocks at once on one multiprocessor; 0: a block does not fit.
[[nodiscard]] inline std::int64_t blocks_per_multiprocessor(const BlockNeeds& needs, const SmLimits& sm) {
  constexpr std::int64_t warp = 32, register_granularity = 256, most_threads = 1024;
  const auto divided_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const auto rounded_up = [&](std::int64_t a, std::int64_t b) { return divided_up(a, b) * b; };
  if (needs.threads < 1 || needs.threads > most_threads) return 0;
  const std::int64_t warps = divided_up(needs.threads, warp);
  std::int64_t blocks = std::min(sm.blocks, sm.threads / warp / warps);

  const std::int64_t partitions = sm.major == 6 && sm.minor == 0 ? 2 : 4;
  const std::int64_t of_warp = rounded_up(needs.registers_per_thread * warp, register_granularity);
  if (of_warp > 0) {
    constexpr std::int64_t most_of_block = 65536;
    if (of_warp * rounded_up(warps, partitions) > most_of_block) return 0;
    blocks = std::min(blocks, sm.registers / partitions / of_warp * partitions / warps);
  }
  const std::int64_t granularity = sm.major >= 8 ? 128 : 256;
  const std::int64_t reserved = sm.major >= 8 ? 1024 : 0;  // by the driver, for every block
  const std::int64_t shared = rounded_up(needs.shared_bytes + reserved, granularity);
  if (shared > 0) blocks = std::min(blocks, sm.shared_bytes / shared);
  return blocks;
}

}  // namespace benanza
