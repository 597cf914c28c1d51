// SPDX-License-Identifier: Apache-2.0
// Names and paragraphs as a terminal may show them.
#pragma once

#include <string>
#include <string_view>

namespace benanza::report {

/// Control characters and bytes that are no UTF-8 become `?`.
[[nodiscard]] std::string printable(std::string_view text);
/// Printable, in lines of at most `width` columns, each behind `indent` spaces; words are never broken.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace benanza::report
