// SPDX-License-Identifier: Apache-2.0
// Words of a command line that a user may type again.
#pragma once

#include <string>
#include <string_view>

namespace benanza::detail {

/// The word as a POSIX shell reads it: in quotes if it has a character that a shell may interpret.
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
