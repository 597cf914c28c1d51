// SPDX-License-Identifier: Apache-2.0
// EinsumLabels: an Einsum equation of one or two operands, with its letters replaced by small integers in the order of
// their first appearance.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::detail {

struct EinsumLabels {
  TensorShape a{}, b{}, y{};

  /// `b_rank`: empty for one operand. Returns nothing if the equation does not fit the ranks, or if a rank is above 8.
  /// "..." stands for the leading dimensions that broadcast. Without "->", the result has the letters that appear once,
  /// in alphabetical order (numpy.einsum).
  [[nodiscard]] static std::optional<EinsumLabels> parse(std::string equation, std::size_t a_rank,
                                                         std::optional<std::size_t> b_rank) {
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    std::string left = equation.substr(0, arrow);
    const std::size_t comma = left.find(',');
    if ((comma != std::string::npos) != b_rank.has_value()) return std::nullopt;
    std::string a = left.substr(0, comma), b = b_rank ? left.substr(comma + 1) : std::string{};
    const auto hidden = [](const std::string& term,
                           std::size_t rank) -> std::optional<std::size_t> {  // dimensions that "..." stands for
      const bool dots = term.find("...") != std::string::npos;
      const std::size_t letters = term.size() - (dots ? 3 : 0);
      if (letters > rank || (!dots && letters != rank) || rank > TensorShape::capacity) return std::nullopt;
      return rank - letters;
    };
    const auto a_hidden = hidden(a, a_rank), b_hidden = hidden(b, b_rank.value_or(0));
    if (!a_hidden || !b_hidden) return std::nullopt;
    const std::size_t most = std::max(*a_hidden, *b_hidden);
    // Digits stand for the hidden dimensions, so that every index is one character.
    const auto spelled = [&](std::string term, std::size_t count) {
      std::string digits;
      for (std::size_t i = most - count; i < most; ++i) digits += static_cast<char>('0' + i);
      const std::size_t at = term.find("...");
      return at == std::string::npos ? term : term.replace(at, 3, digits);
    };
    std::string y;
    if (arrow != std::string::npos) {
      y = equation.substr(arrow + 2);
    } else {
      for (char c = 'A'; c <= 'z'; ++c)
        if (std::count(left.begin(), left.end(), c) == 1) y += c;
      y = "..." + y;
    }
    a = spelled(a, *a_hidden);
    b = spelled(b, *b_hidden);
    y = spelled(y, most);

    std::string letters;
    const auto numbered = [&](const std::string& term, bool may_add) -> std::optional<TensorShape> {
      TensorShape result;
      if (term.size() > TensorShape::capacity) return std::nullopt;
      for (char c : term) {
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!allowed || (!may_add && letters.find(c) == std::string::npos)) return std::nullopt;
        if (letters.find(c) == std::string::npos) letters += c;
        result.push_back(static_cast<std::int64_t>(letters.find(c)));
      }
      return result;
    };
    const auto a_labels = numbered(a, true), b_labels = numbered(b, true), y_labels = numbered(y, false);
    if (!a_labels || !b_labels || !y_labels || letters.size() > TensorShape::capacity) return std::nullopt;
    return EinsumLabels{*a_labels, *b_labels, *y_labels};
  }
};

[[nodiscard]] constexpr bool contains(const TensorShape& labels, std::int64_t label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

}  // namespace benanza::detail
