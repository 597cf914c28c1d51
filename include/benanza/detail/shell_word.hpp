// SPDX-License-Identifier: Apache-2.0
// Words of a command line that a person may type again.
#pragma once

#include <string>
#include <string_view>

namespace benanza::detail {

/// As a POSIX shell reads it: in quotes where the word has a character that a shell may take for its own.
[[nodiscard]] inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\''";
    else quoted += c;
  }
  return quoted + "'";
}

}  // namespace benanza::detail
