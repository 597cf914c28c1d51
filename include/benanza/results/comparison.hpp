// SPDX-License-Identifier: Apache-2.0
// Comparison: did a time change, or is it noise? The change is that of the medians. It counts if the p10 moved the same
// way (a slow phase of a shared machine moves the median, a lucky sample the p10), and if both moved by more than the
// tolerance and the noise. The errors of two sessions are independent, so they add in quadrature.
#pragma once

#include <benanza/base/detail/confidence_interval.hpp>
#include <benanza/base/detail/quantile.hpp>
#include <benanza/model/units.hpp>
#include <benanza/results/measurement.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza {

enum class Verdict : std::uint8_t { slower, faster, unknown, same };
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(Verdict) {
  return {"slower", "faster", "unknown", "same"};
}

/// A time and its possible error.
struct Timing {
  Seconds p10{}, median{};
  std::optional<double> noise{};  ///< relative; empty if it is not known
  std::string doubt{};            ///< why it is not known
};

/// The least number of rounds that show a spread: two in each of four groups.
inline constexpr std::size_t rounds_for_spread = 8;

/// Noise of a row that was timed in rounds: half of the 95 % interval of its p10 or of its median over groups of
/// rounds, whichever is greater (docs/measuring.md, "Uncertainty"). For any other row: half of p10..p90 over the
/// median, or cv if that is greater. The noise of a single sample or of a contended row is not known.
[[nodiscard]] inline Timing timing_of(const Measurement& row) {
  const MeasuredTimes times = row.times.value_or(MeasuredTimes{});
  Timing result{.p10 = times.p10, .median = times.median};
  if (row.contended) {
    result.doubt = "the machine was contended";
  } else if (detail::sorted_finite(row.rounds_s).size() >= rounds_for_spread) {
    result.p10 = {detail::quantile(row.rounds_s, 0.1)};
    result.median = {detail::quantile(row.rounds_s, 0.5)};
    const std::size_t groups = detail::round_groups(row.rounds_s.size());
    result.noise = std::max(detail::half_interval(row.rounds_s, 0.1, groups) / result.p10.value,
                            detail::half_interval(row.rounds_s, 0.5, groups) / result.median.value);
    if (!detail::all_groups_count(row.rounds_s, groups)) {
      result.noise.reset();
      result.doubt = "the machine was contended during a part of the rounds";
    }
  } else if (row.samples >= 2 && times.median.value > 0) {
    result.noise = std::max((times.p90 - times.p10).value / 2 / times.median.value, times.cv.value_or(0));
  } else {
    result.doubt = "a single sample has no spread";
  }
  return result;
}

/// For a comparison with another session: the processor's speed wandered over this session, but the rounds lie within a
/// part of it. The noise of a row that the budget left uncertain, with too few rounds to show a spread, is not known:
/// its few visits may all have met one phase of the machine.
[[nodiscard]] inline Timing timing_of_session(const Measurement& row) {
  Timing result = timing_of(row);
  if (result.noise && row.noisy && detail::sorted_finite(row.rounds_s).size() < rounds_for_spread) {
    result.noise.reset();
    result.doubt = "still uncertain when the budget ended";
  }
  if (result.noise) *result.noise += row.wander.value_or(0);
  return result;
}

/// Whether both are the same measurement, read twice.
[[nodiscard]] inline bool is_same(const Measurement& a, const Measurement& b) {
  const auto equal = [](const std::vector<double>& left, const std::vector<double>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
  };
  return a.name() == b.name() && a.samples == b.samples && a.times == b.times && equal(a.rounds_s, b.rounds_s) &&
         equal(a.visits_s, b.visits_s);
}

struct Comparison {
  Verdict verdict = Verdict::unknown;
  std::optional<double> change{};  ///< change of the medians: after / before - 1
  double noise = 0;                ///< noise of both together, relative
  std::string reason{};            ///< why the verdict is unknown
};

/// Changes up to the tolerance do not count (docs/database.md, "Verdicts").
inline constexpr double default_tolerance = 0.03;

/// Slower or faster: median and p10 both moved that way, beyond the tolerance and beyond the noise. Same: neither moved
/// beyond the tolerance, and the noise is within it. Unknown: the noise could hide a change, or is not known itself, or
/// median and p10 disagree.
[[nodiscard]] inline Comparison compare(const Timing& before, const Timing& after,
                                        double tolerance = default_tolerance) {
  Comparison result;
  const bool timed = before.p10.value > 0 && before.median.value > 0 && after.p10.value > 0 && after.median.value > 0;
  if (!timed) {
    result.reason = "no time";
    return result;
  }
  const double by_median = after.median / before.median - 1, by_p10 = after.p10 / before.p10 - 1;
  result.change = by_median;
  if (!before.noise || !after.noise) {
    result.reason = before.noise ? "after: " + after.doubt : "before: " + before.doubt;
    return result;
  }
  result.noise = std::hypot(*before.noise, *after.noise);
  const double limit = std::max(tolerance, result.noise);
  if (by_median > limit && by_p10 > limit) result.verdict = Verdict::slower;
  else if (by_median < -limit && by_p10 < -limit) result.verdict = Verdict::faster;
  else if (result.noise > tolerance) result.reason = "noise could hide a change";
  else if (std::fabs(by_median) <= tolerance && std::fabs(by_p10) <= tolerance) result.verdict = Verdict::same;
  else result.reason = "median and p10 disagree";
  return result;
}

}  // namespace benanza
