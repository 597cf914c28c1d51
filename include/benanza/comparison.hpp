// SPDX-License-Identifier: Apache-2.0
// Comparison: did a time change, or is it noise? Two measurements of one thing are compared by their medians and by
// their p10, since a slow phase of a shared machine moves the one and a lucky sample the other. The change is what both
// agree on; it counts when it is beyond the tolerance and beyond the noise of the two measurements together.
#pragma once

#include <benanza/detail/quantile.hpp>
#include <benanza/measurement.hpp>
#include <benanza/units.hpp>

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

/// A time, and how far it may be off.
struct Timing {
  Seconds p10{}, median{};
  std::optional<double> noise{};  ///< relative; nothing when it is not known
  std::string doubt{};            ///< why it is not known
};

/// Noise of a row that was timed in rounds: half the range of its p10 or of its median over four groups of rounds, the
/// greater one (measurement.md, section 2). Of one that was not: half of p10..p90 over the median, or cv if that is
/// more. A row of a single sample, or a contended one, has no noise that is known.
[[nodiscard]] inline Timing timing_of(const Measurement& row) {
  constexpr std::size_t groups = 4, least_rounds = 8;
  Timing result{.p10 = row.p10, .median = row.median};
  if (row.contended) {
    result.doubt = "the machine was contended";
  } else if (detail::sorted_finite(row.rounds_s).size() >= least_rounds) {
    result.p10 = {detail::quantile(row.rounds_s, 0.1)};
    result.median = {detail::quantile(row.rounds_s, 0.5)};
    result.noise = std::max(detail::group_uncertainty(row.rounds_s, 0.1, groups),
                            detail::group_uncertainty(row.rounds_s, 0.5, groups));
    if (!std::isfinite(*result.noise)) {
      result.noise.reset();
      result.doubt = "the machine was contended during a part of the rounds";
    }
  } else if (row.samples >= 2 && row.median.value > 0) {
    result.noise = std::max((row.p90 - row.p10).value / 2 / row.median.value, row.cv);
  } else {
    result.doubt = "a single sample tells no spread";
  }
  return result;
}

struct Comparison {
  Verdict verdict = Verdict::unknown;
  std::optional<double> change{};  ///< after / before - 1: of median or p10, whichever moved less; 0 if they disagree
  double noise = 0;                ///< of both together, relative
  std::string reason{};            ///< why the verdict is unknown
};

/// Changes up to the tolerance are none: two runs on an idle machine agree within 3 % (measurement.md, section 2).
inline constexpr double default_tolerance = 0.03;

/// Slower or faster: the change is beyond the tolerance and beyond the noise. Same: it is within the tolerance, and so
/// is the noise. Unknown: the noise could hide a change, or is not known itself.
[[nodiscard]] inline Comparison compare(const Timing& before, const Timing& after,
                                        double tolerance = default_tolerance) {
  Comparison result;
  const bool timed = before.p10.value > 0 && before.median.value > 0 && after.p10.value > 0 && after.median.value > 0;
  if (!timed) {
    result.reason = "no time";
    return result;
  }
  const double by_median = after.median / before.median - 1, by_p10 = after.p10 / before.p10 - 1;
  result.change = (by_median > 0) != (by_p10 > 0) ? 0 : std::fabs(by_median) < std::fabs(by_p10) ? by_median : by_p10;
  if (!before.noise || !after.noise) {
    result.reason = before.noise ? "after: " + after.doubt : "before: " + before.doubt;
    return result;
  }
  result.noise = *before.noise + *after.noise;
  if (std::fabs(*result.change) > std::max(tolerance, result.noise))
    result.verdict = *result.change > 0 ? Verdict::slower : Verdict::faster;
  else if (result.noise <= tolerance) result.verdict = Verdict::same;
  else result.reason = "noise could hide a change";
  return result;
}

}  // namespace benanza
