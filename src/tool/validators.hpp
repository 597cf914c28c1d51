// SPDX-License-Identifier: Apache-2.0
// Checks of option values, with messages that say what is expected.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace benanza::tool {

/// CLI11 reads a number with a 0 in front as octal, which nobody means. What is wrong with such a text, or nothing.
inline std::string octal_fault(const std::string& text) {
  const bool is_octal = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
  return is_octal ? "'" + text + "', expected a number without a 0 in front" : "";
}

template <class Accept>
CLI::Validator number_that(Accept accept, const std::string& expected) {
  return CLI::Validator(
      [accept, expected](std::string& text) {
        if (std::string fault = octal_fault(text); !fault.empty()) return fault;
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && accept(value);
        return fits ? std::string() : "'" + text + "', expected " + expected;
      },
      "");
}

inline CLI::Validator positive_number() {
  return number_that([](double value) { return value > 0; }, "a positive number");
}
inline CLI::Validator number_from_zero() {
  return number_that([](double value) { return value >= 0; }, "0 or a number above it");
}

/// The number that the whole text is: decimal digits, below 2^64.
inline std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
inline CLI::Validator whole_number_from_zero() {
  return CLI::Validator(
      [](std::string& text) {
        if (std::string fault = octal_fault(text); !fault.empty()) return fault;
        return whole_number(text) ? std::string() : "'" + text + "', expected a whole number from 0 to 2^64 - 1";
      },
      "");
}

}  // namespace benanza::tool
