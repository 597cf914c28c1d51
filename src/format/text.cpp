// SPDX-License-Identifier: Apache-2.0

#include "text.hpp"

#include <algorithm>

namespace benanza::format {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Number of bytes of the UTF-8 character at the beginning of a text; 0 if there is none (RFC 3629: no surrogates, no
/// overlong forms).
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  if (length < 2) return length;
  const unsigned second = byte(1);
  const bool wrong = (first == 0xC2 && second < 0xA0) ||  // C1 control characters, which terminals interpret
                     (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return wrong ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_at(text.substr(at));
    const auto first = static_cast<unsigned char>(text[at]);
    if (length == 0 || (length == 1 && (first < 0x20 || first == 0x7f))) result += '?';
    else result += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result, line;
  const auto columns = [](const std::string& t) {
    return static_cast<std::size_t>(std::count_if(t.begin(), t.end(), [](char c) { return !is_continuation(c); }));
  };
  const auto end_line = [&] {
    if (!line.empty()) result += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  const std::string whole = printable(text);
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t end = std::min(whole.find(' ', at), whole.size());
    const std::string word = whole.substr(at, end - at);
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > width) end_line();
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  end_line();
  return result;
}

std::string paragraph(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines = wrapped(text, width, indent + 2);
  return lines.empty() ? lines : lines.substr(2);
}

std::string plural(std::size_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace benanza::format
