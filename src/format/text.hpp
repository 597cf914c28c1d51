// SPDX-License-Identifier: Apache-2.0
// Names and paragraphs as a terminal may show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace benanza::format {

/// `text` with a `?` for each control character and each byte that is not UTF-8.
[[nodiscard]] std::string printable(std::string_view text);
/// Printable, in lines of at most `width` columns, each after `indent` spaces; words are never broken.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);
/// Wrapped, with lines after the first one indented by two more.
[[nodiscard]] std::string paragraph(std::string_view text, std::size_t width, std::size_t indent);

/// `1 model`, `2 models`.
[[nodiscard]] std::string plural(std::size_t count, std::string_view what);

}  // namespace benanza::format
