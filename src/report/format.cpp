// SPDX-License-Identifier: Apache-2.0
#include "format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace benanza::report {

namespace {

/// Three significant digits.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 3));
}

}  // namespace

std::string time_text(Seconds time) {
  if (time.value == 0) return "0 ms";
  if (time.value >= 1) return three_digits(time.value) + " s";
  if (time.value >= 1e-4) return three_digits(time.value * 1e3) + " ms";
  if (time.value >= 1e-7) return three_digits(time.value * 1e6) + " us";
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
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  if (result.size() > width) result = result.substr(0, width > 3 ? width - 3 : 0) + "...";
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

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

}  // namespace benanza::report
