// SPDX-License-Identifier: Apache-2.0
#include "csv_row.hpp"

#include "record_value.hpp"

#include <algorithm>

namespace benanza::profile {

namespace {

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') fields.back() += c;
      else if (i + 1 < line.size() && line[i + 1] == '"') fields.back() += line[++i];
      else quoted = false;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == separator) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool next_row(Lines& lines, std::string_view& line) {
  while (lines.next(line))
    if (line.find_first_not_of(" \t") != std::string_view::npos) return true;
  return false;
}

std::optional<std::size_t> csv_column(const std::vector<std::string>& header, std::string_view name) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string_view field = header[i];
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // of a file that was appended to another one
    if (field.starts_with(byte_order_mark)) field.remove_prefix(byte_order_mark.size());
    field = without_blanks(field);
    if (std::equal(field.begin(), field.end(), name.begin(), name.end(),
                   [&](char a, char b) { return lower(a) == lower(b); }))
      return i;
  }
  return std::nullopt;
}

Seconds csv_time(std::string_view text, Seconds unit) {
  text = without_blanks(text);
  return record_time(text, unit, "time '" + std::string(text) + "'");
}

std::string csv_unterminated(const Source& source, std::uint64_t position) {
  return source.place(position) + ": the last row has no line end: if the file was cut off, its time may be too short";
}

}  // namespace benanza::profile
