// SPDX-License-Identifier: Apache-2.0
// The root object of a JSON document. simdjson looks at the last token before the first, so it reports text after the
// object as a document that ended early; a person needs to know which of the two it is.
#pragma once

#include <benanza/error.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace benanza::results {

[[noreturn]] inline void fail_for_more_text(std::size_t byte) {
  throw InputError("byte " + std::to_string(byte) + ": more text after the end of the document");
}

/// The position after the end of the object or array that a text begins with, or npos if it does not end.
[[nodiscard]] inline std::size_t end_of_root(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '{' || c == '[')) ++depth;
    else if (!quoted && (c == '}' || c == ']') && (depth == 0 || --depth == 0)) return i + 1;
  }
  return std::string_view::npos;
}

/// Throws InputError for a document that is followed by more text, simdjson_error for any other that is not a whole
/// object.
[[nodiscard]] inline simdjson::ondemand::object root_object(simdjson::ondemand::document& document,
                                                            std::string_view text) {
  auto root = document.get_object();
  if (root.error() == simdjson::INCOMPLETE_ARRAY_OR_OBJECT)
    if (const std::size_t more = text.find_first_not_of(" \t\r\n", std::min(end_of_root(text), text.size()));
        more != std::string_view::npos)
      fail_for_more_text(more);
  return root.value();
}

/// Throws InputError if text follows an object that was read to its end.
inline void check_ended(simdjson::ondemand::document& document, std::string_view text) {
  const char* rest = nullptr;
  if (document.current_location().get(rest) == simdjson::SUCCESS)
    fail_for_more_text(static_cast<std::size_t>(rest - text.data()));
}

}  // namespace benanza::results
