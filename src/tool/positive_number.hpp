// SPDX-License-Identifier: Apache-2.0
// The check of options that are positive numbers.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace benanza::tool {

/// For CLI::Option::check: what is wrong with a text that should be a positive number; empty: nothing.
[[nodiscard]] inline std::string positive_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_one = error == std::errc{} && end == text.data() + text.size() && value > 0 && std::isfinite(value);
  return is_one ? "" : "'" + text + "', expected a positive number";
}

}  // namespace benanza::tool
