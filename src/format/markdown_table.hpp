// SPDX-License-Identifier: Apache-2.0
// The lines of a table in GitHub's Markdown.
#pragma once

#include "text.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::format {

/// A field of a table: a bar would end it.
[[nodiscard]] inline std::string cell(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '<' || c == '`') result += '\\';
    result += c;
  }
  return result;
}

/// `columns`: the titles; one that begins with `>` is of numbers.
inline void write_markdown_head(std::ostream& out, const std::vector<std::string>& columns) {
  out << '|';
  for (const auto& title : columns) out << ' ' << cell(title.starts_with('>') ? title.substr(1) : title) << " |";
  out << "\n|";
  for (const auto& title : columns) out << (title.starts_with('>') ? " ---: |" : " --- |");
  out << '\n';
}

inline void write_markdown_row(std::ostream& out, const std::vector<std::string>& fields, bool is_strong = false) {
  out << '|';
  for (const auto& field : fields)
    out << ' ' << (is_strong && !field.empty() ? "**" + cell(field) + "**" : cell(field)) << " |";
  out << '\n';
}

}  // namespace benanza::format
