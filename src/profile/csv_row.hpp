// SPDX-License-Identifier: Apache-2.0
// The fields of a line of CSV (RFC 4180, without line breaks inside quotes), and columns by name.
#pragma once

#include "source.hpp"
#include <benanza/model/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);

/// The next line that is not blank; false if there is none.
[[nodiscard]] bool next_row(Lines& lines, std::string_view& line);

/// Index of the first column with this name, ignoring case.
[[nodiscard]] std::optional<std::size_t> csv_column(const std::vector<std::string>& header, std::string_view name);

/// A time, which blanks may surround. Throws Unreadable as `record_time` does.
[[nodiscard]] Seconds csv_time(std::string_view text, Seconds unit);

/// The warning about a last row that has no line end.
[[nodiscard]] std::string csv_unterminated(const Source& source, std::uint64_t position);

}  // namespace benanza::profile
