// SPDX-License-Identifier: Apache-2.0
// EinsumTerms: an Einsum equation, split into its terms. EinsumLabels: an equation of one or two operands, with its
// letters replaced by small integers in the order of their first appearance.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

/// One term for each operand, and one character for each axis. Digits stand for the dimensions that "..." hides.
struct EinsumTerms {
  std::vector<std::string> operands{};
  std::string result{};

  /// Returns nothing if the equation does not fit the ranks of the operands. "..." stands for the leading dimensions
  /// that broadcast. Without "->", the result has the letters that appear once, in alphabetical order (numpy.einsum).
  [[nodiscard]] static std::optional<EinsumTerms> parse(std::string equation, std::span<const std::size_t> ranks) {
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    const std::string left = equation.substr(0, arrow);
    EinsumTerms terms;
    for (std::size_t begin = 0; begin <= left.size();) {
      const std::size_t end = std::min(left.find(',', begin), left.size());
      terms.operands.push_back(left.substr(begin, end - begin));
      begin = end + 1;
    }
    if (terms.operands.size() != ranks.size()) return std::nullopt;
    std::vector<std::size_t> hidden;  // dimensions that "..." stands for
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const bool dots = terms.operands[i].find("...") != std::string::npos;
      const std::size_t letters = terms.operands[i].size() - (dots ? 3 : 0);
      if (letters > ranks[i] || (!dots && letters != ranks[i])) return std::nullopt;
      hidden.push_back(ranks[i] - letters);
    }
    const std::size_t most = *std::max_element(hidden.begin(), hidden.end());
    if (most > 10) return std::nullopt;
    const auto spell = [&](std::string& term, std::size_t count) {
      std::string digits;
      for (std::size_t i = most - count; i < most; ++i) digits += static_cast<char>('0' + i);
      if (const std::size_t at = term.find("..."); at != std::string::npos) term.replace(at, 3, digits);
    };
    if (arrow != std::string::npos) {
      terms.result = equation.substr(arrow + 2);
    } else {
      terms.result = "...";
      for (char c = 'A'; c <= 'z'; ++c)
        if (std::count(left.begin(), left.end(), c) == 1) terms.result += c;
    }
    std::string letters;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      spell(terms.operands[i], hidden[i]);
      letters += terms.operands[i];
    }
    spell(terms.result, most);
    const auto is_label = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const auto is_known = [&](char c) { return letters.find(c) != std::string::npos; };
    if (!std::all_of(letters.begin(), letters.end(), is_label) ||
        !std::all_of(terms.result.begin(), terms.result.end(), is_known))
      return std::nullopt;
    return terms;
  }
};

struct EinsumLabels {
  TensorShape a{}, b{}, y{};

  /// `b_rank`: empty for one operand. Returns nothing if the equation does not fit the ranks, or if a rank is above 8.
  [[nodiscard]] static std::optional<EinsumLabels> parse(std::string equation, std::size_t a_rank,
                                                         std::optional<std::size_t> b_rank) {
    std::vector<std::size_t> ranks{a_rank};
    if (b_rank) ranks.push_back(*b_rank);
    const auto terms = EinsumTerms::parse(std::move(equation), ranks);
    if (!terms) return std::nullopt;
    std::string letters;
    const auto numbered = [&](const std::string& term) -> std::optional<TensorShape> {
      TensorShape result;
      if (term.size() > TensorShape::capacity) return std::nullopt;
      for (char c : term) {
        if (letters.find(c) == std::string::npos) letters += c;
        result.push_back(static_cast<std::int64_t>(letters.find(c)));
      }
      return result;
    };
    const auto a = numbered(terms->operands[0]), b = numbered(b_rank ? terms->operands[1] : std::string()),
               y = numbered(terms->result);
    if (!a || !b || !y || letters.size() > TensorShape::capacity) return std::nullopt;
    return EinsumLabels{*a, *b, *y};
  }
};

[[nodiscard]] constexpr bool contains(const TensorShape& labels, std::int64_t label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

}  // namespace benanza::detail
