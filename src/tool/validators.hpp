// SPDX-License-Identifier: Apache-2.0
// Checks of option values, with messages that say what is expected.
#pragma once

#include <CLI/CLI.hpp>

#include <cmath>
#include <string>

namespace benanza::tool {

template <class Accept>
CLI::Validator number_that(Accept accept, const std::string& expected) {
  return CLI::Validator(
      [accept, expected](std::string& text) {
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

}  // namespace benanza::tool
