// SPDX-License-Identifier: Apache-2.0
// Determines which records of a profile ran on tensor cores, by the names of their kernels.
#pragma once

#include <benanza/profile/kernel_class.hpp>
#include <benanza/report/gap_report.hpp>

#include <optional>

namespace benanza::report {

/// Empty for a record that does not name a kernel. A layer may give its kernel's name as its algorithm (TensorRT's
/// tactics).
[[nodiscard]] inline std::optional<bool> on_tensor_cores(const ProfileRecord& record) {
  const bool is_kernel = record.activity == Activity::kernel;
  if (!is_kernel && record.activity != Activity::layer) return std::nullopt;
  const bool on = uses_tensor_cores(record.algorithm) || (is_kernel && uses_tensor_cores(record.name));
  return on || is_kernel ? std::optional(on) : std::nullopt;
}

struct TensorCoreUse {
  std::size_t records = 0, of_records = 0;
  Seconds time{}, of_time{};  ///< per pass
  [[nodiscard]] std::optional<double> share() const {
    return of_time.value > 0 ? std::optional(time / of_time) : std::nullopt;
  }
};

/// Counts only kernels whose names are known.
[[nodiscard]] inline TensorCoreUse tensor_core_use(const GapReport& report) {
  TensorCoreUse use;
  for (const auto& record : report.gap.records) {
    const auto on = on_tensor_cores(report.profile.records[record.record]);
    if (!on) continue;
    ++use.of_records;
    use.of_time += record.time;
    if (!*on) continue;
    ++use.records;
    use.time += record.time;
  }
  return use;
}

}  // namespace benanza::report
