// SPDX-License-Identifier: Apache-2.0
// Timeline: the own time of each record of a profile, and the part of the latency that no record covers.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::gap {

/// latency = sum of `own` over counted records - side_by_side + sum of `own` over the others + between + rest.
struct Timeline {
  std::vector<Seconds> own{};  ///< in a pass of the usual length, without nested records; if not counted: what it
                               ///< covers while no counted record runs
  std::vector<std::optional<Seconds>> uncertainty{};  ///< standard error if `own` is a mean; if a median, half its
                                                      ///< range over groups of passes
  std::vector<bool> counted{};  ///< kernels if there are any, otherwise layers; also copies and conversions
  Seconds latency{};            ///< time of the passes, or of the records if no pass was timed
  bool of_records = false;      ///< the time is that of the records
  Seconds side_by_side{};       ///< what ran at the same time as something else
  Seconds between{};            ///< nothing ran; known from the starts of records and a latency of their run
  Seconds rest{};  ///< the latency is a median, the others are means, and a profile may contradict itself; without
                   ///< starts, or with the latency of another run, also what no record covers
  std::optional<Seconds> between_uncertainty{};
};

[[nodiscard]] Timeline make_timeline(const EngineProfile& profile);

/// Half the range of the median over four groups of samples; half the range of the samples if there are fewer than
/// eight; empty if there is only one.
[[nodiscard]] std::optional<Seconds> uncertainty_of_median(const std::vector<Seconds>& samples);
/// Quantile `p` of samples; zero if there are none.
[[nodiscard]] Seconds quantile_of(const std::vector<Seconds>& samples, double p);

}  // namespace benanza::gap
