// SPDX-License-Identifier: Apache-2.0
#include "trace_event.hpp"

#include "record_value.hpp"
#include <benanza/base/detail/limits.hpp>

#include <charconv>
#include <cmath>
#include <functional>

namespace benanza::profile {

namespace {

constexpr std::int64_t most_microseconds = std::numeric_limits<std::int64_t>::max() / 1000 - 1;

/// The same for an integer with up to three decimals, exactly; empty for any other text.
std::optional<std::int64_t> exact_nanoseconds(std::string_view text) {
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto integer = std::from_chars(text.data(), end, whole);
  if (integer.ec != std::errc{} || whole > most_microseconds || whole < -most_microseconds) return std::nullopt;
  if (integer.ptr == end) return whole * 1000;
  if (*integer.ptr != '.' || end - integer.ptr > 4) return std::nullopt;
  std::int64_t fraction = 0;
  int digits = 0;
  for (const char* at = integer.ptr + 1; at != end; ++at, ++digits) {
    if (*at < '0' || *at > '9') return std::nullopt;  // an exponent
    fraction = 10 * fraction + (*at - '0');
  }
  for (; digits < 3; ++digits) fraction *= 10;
  return text.front() == '-' ? whole * 1000 - fraction : whole * 1000 + fraction;
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) {
  if (const auto exact = exact_nanoseconds(text)) return exact;
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto real = std::from_chars(text.data(), end, value);
  if (real.ec != std::errc{} || real.ptr != end || !(std::abs(value) < static_cast<double>(most_microseconds)))
    return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value * 1000));
}

std::string_view token(json::value& value) {
  std::string_view text = value.raw_json_token();
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

std::int64_t id_of(json::value& value) {
  const bool quoted = value.type() == json::json_type::string;
  const std::string_view text = quoted ? std::string_view(value) : token(value);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return number;
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(text) >> 1);
}

std::string_view text_of(json::value& value) {
  std::string_view raw = token(value);
  if (value.type() != json::json_type::string) return value;  // which throws
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return text;
  raw.remove_prefix(1);
  return raw.substr(0, raw.rfind('"'));
}

void TraceEvent::check() const {
  const auto refuse = [&](const char* what) {
    throw Unreadable("event '" + std::string(name) + "' " + what + ", expected microseconds");
  };
  if (!has_start) refuse("has no time 'ts'");
  if (!has_duration) refuse("has no duration 'dur'");
  if (duration_ns < 0) refuse("has a negative duration");
  if (nanoseconds(static_cast<double>(duration_ns)) > detail::most_time) refuse("has a duration of more than a year");
}

void TraceEvent::check_pass() const {
  check();
  (void)pass_time(nanoseconds(static_cast<double>(duration_ns)), "event '" + std::string(name) + "'");
}

}  // namespace benanza::profile
