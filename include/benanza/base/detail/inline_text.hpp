// SPDX-License-Identifier: Apache-2.0
// InlineText: a short word without heap allocation, restricted to the characters of a signature's values.
#pragma once

#include <benanza/error.hpp>

#include <array>
#include <string_view>

namespace benanza {

/// At most 48 characters of `A-Za-z0-9_.-`. Every other character becomes `_`; longer text is truncated.
class InlineText {
 public:
  static constexpr std::size_t capacity = 48;
  constexpr InlineText() = default;
  constexpr InlineText(std::string_view text) {
    for (char c : text.substr(0, capacity)) {
      const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                           c == '.' || c == '-';
      text_[size_++] = allowed ? c : '_';
    }
  }
  constexpr InlineText(const char* text) : InlineText(std::string_view(text)) {}
  [[nodiscard]] constexpr std::string_view view() const { return {text_.data(), size_}; }
  friend constexpr bool operator==(const InlineText& a, const InlineText& b) { return a.view() == b.view(); }

 private:
  std::array<char, capacity> text_{};
  std::size_t size_ = 0;
};

}  // namespace benanza
