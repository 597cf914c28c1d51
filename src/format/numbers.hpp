// SPDX-License-Identifier: Apache-2.0
// Numbers and bars in the form that tables print.
#pragma once

#include <benanza/model/units.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace benanza::format {

/// Three significant digits with a fitting unit: `28.0 ms`, `1.43 us`.
[[nodiscard]] std::string time_text(Seconds time);
/// With a decimal prefix: `4.09 G`, `102 M`.
[[nodiscard]] std::string scaled(double value);
/// A bar of `length` cells, of which `fraction` is filled, in eighths of a cell.
[[nodiscard]] std::string bar(double fraction, int length);
/// At most `width` columns; `...` marks a cut. Control characters become `?`.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width);
/// A CSV field, quoted if RFC 4180 requires it.
[[nodiscard]] std::string csv_field(std::string_view text);
/// Milliseconds as a CSV field; empty for no time.
[[nodiscard]] std::string ms_field(std::optional<Seconds> time);
/// Text inside a quoted string of the dot language: quotes and backslashes are escaped, control characters become `?`.
[[nodiscard]] std::string dot_text(std::string_view text, std::size_t width);
[[nodiscard]] std::string thousands(std::int64_t value);

}  // namespace benanza::format
