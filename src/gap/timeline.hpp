// SPDX-License-Identifier: Apache-2.0
// Timeline: the own time of each record of a profile, and what of the latency no record covers.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::gap {

/// latency = sum of `own` over counted records - side_by_side + sum of `own` over the others + between + rest.
struct Timeline {
  std::vector<Seconds> own{};  ///< in a pass of the usual length, without nested records; of one that is not counted:
                               ///< what it covers while no counted one runs
  std::vector<std::optional<Seconds>> uncertainty{};  ///< standard error if `own` is a mean; if a median, half its
                                                      ///< range over groups of passes
  std::vector<bool> counted{};  ///< kernels where there are kernels, layers where there are none, copies, conversions
  Seconds latency{};            ///< time of the passes, or of the records where no pass was timed
  bool of_records = false;      ///< it is the latter
  Seconds side_by_side{};       ///< what ran at the same time as something else
  Seconds between{};            ///< nothing ran: known by the starts of records and a latency of their run
  Seconds rest{};               ///< latency is a median, the others are means; a profile may disagree with itself; and
                                ///< without starts, or with the latency of another run, what no record covers
  std::optional<Seconds> between_uncertainty{};
};

[[nodiscard]] Timeline make_timeline(const EngineProfile& profile);

/// Half the range of the median over four groups of samples; of fewer than eight samples half their range; of one
/// nothing.
[[nodiscard]] std::optional<Seconds> uncertainty_of_median(const std::vector<Seconds>& samples);
/// Quantile `p` of samples; zero for none.
[[nodiscard]] Seconds quantile_of(const std::vector<Seconds>& samples, double p);

}  // namespace benanza::gap
