// SPDX-License-Identifier: Apache-2.0
// RowFields: one row of a result file as it is written.
#pragma once

#include <benanza/results/results.hpp>

#include <simdjson.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::results {

constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

/// One element of `benchmarks`, with the fields that are understood.
struct RowFields {
  std::string_view name{}, run_type = "iteration", time_unit = "ns", error_message = "failed";
  std::string_view run_name{}, aggregate_name{};  // an aggregate's benchmark, and `median` or `cv`
  bool failed = false;
  std::optional<RowStatus> status{};  ///< empty in older files
  double real_time = not_given;
  double bytes_per_second = not_given, flops_per_second = not_given, in_front_bytes = 0;
  double min_ns = not_given, median_ns = not_given, p90_ns = not_given, preparation_ns = 0;
  double launch_ns = 0, other_ns = 0, other_launch_ns = 0, disagreement = 0, kernels_ns = 0, empty_kernels_ns = 0,
         clock_hz = 0, wander = 0, at_least_ns = 0, at_most_ns = 0;
  std::optional<double> cv{}, difference{};
  std::string_view method{};
  std::optional<double> samples{};  ///< empty: the row does not say, and its time is the only sample
  double calls_per_sample = 1, threads = 1, workspace_bytes = 0, repetitions = 1;
  bool saves_multiplications = false, advised = false, contended = false, noisy = false, throttled = false;
  std::vector<double> rounds_ns{}, visits_ns{};
  std::vector<KernelLaunch> kernels{};
  std::string wrong{};  ///< describes a value that cannot be true
};

/// Trimmed text of a number, true, false, null, or of a bare NaN or Infinity, which Google Benchmark 1.7.1 writes.
[[nodiscard]] std::string_view token(simdjson::ondemand::value& value);

/// Fields that are not understood are ignored. Throws simdjson_error if the value is not JSON of the expected type.
void read_field(RowFields& row, std::string_view key, simdjson::ondemand::value& value);

}  // namespace benanza::results
