// SPDX-License-Identifier: Apache-2.0
// Record times: the own time of each record of a profile, and the part of the latency that no record covers.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace benanza::gap {

/// latency = sum of `own` over counted records - side_by_side + sum of `own` over the others + between + rest.
struct RecordTimes {
  std::vector<Seconds> own{};  ///< in a pass of the usual length, without nested records; if not counted: what it
                               ///< covers while no counted record runs
  std::vector<std::optional<Seconds>> uncertainty{};  ///< standard error if `own` is a mean; if a median, half its
                                                      ///< range over groups of passes
  std::vector<bool> counted{};  ///< kernels if there are any, otherwise layers; also copies and conversions
  Seconds latency{};            ///< time of the passes, or of the records if no pass was timed
  bool of_records = false;      ///< the time is that of the records
  /// The time of each pass: its latency, or the sum of its records if no pass was timed. Empty if neither is known.
  std::vector<Seconds> passes{};
  /// The times of the quiet passes: all of them, unless the 90th percentile is more than 1.2 times the 10th and at
  /// least eight passes take at most 1.1 times the 10th. Then those count, because disturbances only add time.
  std::vector<Seconds> quiet{};
  Seconds side_by_side{};  ///< what ran at the same time as something else
  Seconds between{};       ///< nothing ran; known from the starts of records and a latency of their run
  Seconds rest{};  ///< the latency is a median, the others are means, and a profile may contradict itself; without
                   ///< starts, or with the latency of another run, also what no record covers
  std::optional<Seconds> between_uncertainty{};
  std::vector<std::vector<Seconds>> by_pass{};  ///< `own` of each record in each pass; empty if not known by pass
  std::vector<std::size_t> middle{};            ///< passes of the usual length, over which `own` is a mean

  /// The uncertainty of a sum of records, each with a factor: from its values in the passes, because what disturbs a
  /// pass disturbs many of its records. Without such values, the sum of the records' uncertainties. Empty if a record
  /// has none.
  [[nodiscard]] std::optional<Seconds> uncertainty_of(const std::map<std::size_t, double>& factors) const;
};

/// Ratio of the 90th to the 10th percentile of latencies above which a run was disturbed.
inline constexpr double disturbed_spread = 1.2;

[[nodiscard]] RecordTimes make_record_times(const EngineProfile& profile);

/// Half the range of the median over four groups of samples; half the range of the samples if there are fewer than
/// eight; empty if there is only one.
[[nodiscard]] std::optional<Seconds> uncertainty_of_median(const std::vector<Seconds>& samples);
/// Quantile `p` of samples; zero if there are none.
[[nodiscard]] Seconds quantile_of(const std::vector<Seconds>& samples, double p);

}  // namespace benanza::gap
