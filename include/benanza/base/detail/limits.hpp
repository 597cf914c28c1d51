// SPDX-License-Identifier: Apache-2.0
// Limits: what a time and a share can be. All readers use them: a value beyond them is damaged, or in another unit.
#pragma once

#include <benanza/model/units.hpp>

#include <string_view>

namespace benanza::detail {

inline constexpr Seconds least_time{1e-12}, most_time{365.0 * 24 * 3600};
inline constexpr std::string_view time_range = "1 ps to 1 year";

/// Whether a call, a layer, a run or a setting can take this time, which is not 0. False for NaN.
[[nodiscard]] constexpr bool is_possible(Seconds time) { return time >= least_time && time <= most_time; }

/// Whether this can be the spread of times, relative to them: a coefficient of variation, a range. Of n times, it is at
/// most the root of n, and no row has more than a million. False for NaN.
[[nodiscard]] constexpr bool is_possible_spread(double relative) { return relative >= 0 && relative <= 1000; }
inline constexpr std::string_view spread_limit = "1000";

}  // namespace benanza::detail
