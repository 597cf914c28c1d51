// SPDX-License-Identifier: Apache-2.0
// Durations as users write them on a command line, and as sentences state them.
#pragma once

#include <benanza/base/detail/limits.hpp>
#include <benanza/error.hpp>
#include <benanza/model/units.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace benanza::detail {

/// `60s`, `500ms`, `250us`, `1.5m` or `1.5min`, `2h`, or a bare 0. Another bare number could be meant in any unit.
/// Throws UsageError, which names the option, also for a time that cannot be (limits.hpp).
[[nodiscard]] inline Seconds parse_duration(std::string_view text, std::string_view option = {}) {
  const std::string quoted = std::string(option).append(option.empty() ? "'" : ": '").append(text).append("'");
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double scale = unit == "s" || (unit.empty() && number == 0) ? 1
                       : unit == "ms"                               ? 1e-3
                       : unit == "us"                               ? 1e-6
                       : unit == "ns"                               ? 1e-9
                       : unit == "m" || unit == "min"               ? 60
                       : unit == "h"                                ? 3600
                                                                    : 0;
  if (error == std::errc{} && unit.empty() && number != 0 && std::isfinite(number))
    throw UsageError(quoted + " has no unit, expected e.g. " + std::string(text) + "ms or " + std::string(text) + "s");
  if (error == std::errc::result_out_of_range || (scale != 0 && number > 0 && !is_possible({number * scale})))
    throw UsageError(quoted + ", expected a time from " + std::string(time_range));
  if (error != std::errc{} || scale == 0 || !(number >= 0))
    throw UsageError(quoted + " is not a duration, expected e.g. 60s, 500ms or 2min");
  return {number * scale};
}

/// With three significant digits, in milliseconds, or in microseconds below 0.1 ms: `0.734 ms`, `73.4 us`.
[[nodiscard]] inline std::string duration_text(Seconds time) {
  const bool in_milliseconds = time.value == 0 || time.value >= 1e-4;
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          time.value * (in_milliseconds ? 1e3 : 1e6), std::chars_format::general, 3);
  return std::string(digits.data(), end) + (in_milliseconds ? " ms" : " us");
}

}  // namespace benanza::detail
