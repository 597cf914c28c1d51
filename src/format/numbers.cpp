// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace benanza::format {

namespace {

/// Formats with three significant digits.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 3));
}

}  // namespace

std::string time_text(Seconds time) {
  const double size = std::fabs(time.value);
  if (size < 5e-13) return size == 0 ? "0 ms" : "0 ns";  // what three decimals of a nanosecond round to
  if (size >= 1) return three_digits(time.value) + " s";
  if (size >= 1e-4) return three_digits(time.value * 1e3) + " ms";
  if (size >= 1e-7) return three_digits(time.value * 1e6) + " us";
  return three_digits(time.value * 1e9) + " ns";
}

std::string scaled(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> prefixes{
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [factor, prefix] : prefixes)
    if (std::fabs(value) >= factor) return three_digits(value / factor) + prefix;
  return three_digits(value) + " ";
}

std::string bar(double fraction, int length) {
  static constexpr std::array<const char*, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int cells = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * length * 8));
  std::string text;
  for (int i = 0; i < cells / 8; ++i) text += "█";
  return text + eighths[static_cast<std::size_t>(cells % 8)];
}

std::string clipped(std::string_view text, std::size_t width) {
  std::string result = printable(text);
  if (result.size() <= width) return result;
  std::size_t end = width > 3 ? width - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(result[end]) & 0xC0U) == 0x80U) --end;  // in the middle of a character
  return result.substr(0, end) + "...";
}

std::string csv_field(std::string_view name) {
  const std::string text = printable(name);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string ms_field(std::optional<Seconds> time) { return time ? fmt::format("{}", time->value * 1e3) : ""; }

std::string dot_text(std::string_view text, std::size_t width) {
  std::string result;
  for (const char c : clipped(text, width)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string thousands(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

}  // namespace benanza::format
