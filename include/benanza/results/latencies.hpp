// SPDX-License-Identifier: Apache-2.0
// Latencies of whole models in frameworks, as somebody else measured them: a CSV file, one row each.
#pragma once

#include <benanza/model/units.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace benanza {

struct EngineLatency {
  std::string framework{};
  std::string device{};  ///< as the file spells it; empty if it does not say
  std::string model{};
  std::int64_t batch = 1;
  Seconds time{};               ///< mean, or what the file has instead
  Seconds lowest{}, highest{};  ///< the same as `time` if the file does not give them
  std::string file{};
};

/// Columns `model`, and `mean_ms`, `latency_ms` or `median_ms`; `framework`, `gpu` or `device`, `batch`, `min_ms`,
/// `max_ms` if they are known. Throws InputError with file and line.
[[nodiscard]] std::vector<EngineLatency> read_latencies(const std::string& file);

}  // namespace benanza
