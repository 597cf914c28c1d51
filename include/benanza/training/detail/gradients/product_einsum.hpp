// SPDX-License-Identifier: Apache-2.0
// Gradient of Einsum: for each operand another Einsum, of the result's gradient and the other operands.
#pragma once

#include <benanza/training/gradient_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace benanza::training {

/// The terms of an equation with "..." replaced by letters. Operand `i` has as many letters as dimensions.
struct EinsumTerms {
  std::vector<std::string> operands{};
  std::string result{};

  [[nodiscard]] static EinsumTerms read(const Node& node, const GradientBuilder& at) {
    const auto fail = [&](const std::string& why) {
      return InputError("training: node '" + node.name + "' (Einsum): " + why);
    };
    std::string equation = node.attribute<std::string>("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    std::string left = equation.substr(0, arrow);
    EinsumTerms terms;
    for (std::size_t begin = 0; begin <= left.size();) {
      const std::size_t end = std::min(left.find(',', begin), left.size());
      terms.operands.push_back(left.substr(begin, end - begin));
      begin = end + 1;
    }
    if (terms.operands.size() != node.inputs.size()) throw fail("its equation does not fit its operands");
    if (arrow != std::string::npos) {
      terms.result = equation.substr(arrow + 2);
    } else {
      for (char c = 'A'; c <= 'z'; ++c)
        if (std::count(left.begin(), left.end(), c) == 1) terms.result += c;
      if (left.find("...") != std::string::npos) terms.result = "..." + terms.result;
    }
    std::string hidden;
    for (std::size_t i = 0; i < terms.operands.size(); ++i) {
      const std::size_t letters =
          terms.operands[i].size() - (terms.operands[i].find("...") == std::string::npos ? 0 : 3);
      const std::size_t rank = at.value(*node.inputs[i]).dims.size();
      if (letters > rank) throw fail("its equation does not fit its operands");
      if (terms.operands[i].find("...") == std::string::npos) continue;
      for (char c = 'A'; c <= 'z' && hidden.size() < rank - letters; ++c)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0 && equation.find(c) == std::string::npos &&
            hidden.find(c) == std::string::npos)
          hidden += c;
    }
    const auto spell = [&](std::string& term, std::size_t count) {
      if (const std::size_t dots = term.find("..."); dots != std::string::npos)
        term.replace(dots, 3, hidden.substr(hidden.size() - count));
    };
    for (std::size_t i = 0; i < terms.operands.size(); ++i) {
      std::string& term = terms.operands[i];
      const std::size_t rank = at.value(*node.inputs[i]).dims.size();
      spell(term, term.find("...") == std::string::npos ? 0 : rank - (term.size() - 3));
      if (term.size() != rank) throw fail("its equation does not fit its operands");
      if (std::set<char>(term.begin(), term.end()).size() != term.size())
        throw fail("no gradient is known for a diagonal");
    }
    spell(terms.result, hidden.size());
    return terms;
  }
};

/// If an operand of size 1 was broadcast, its gradient is a sum. If a letter occurs in this operand only, it was
/// summed: each of its elements gets the gradient of the sum.
inline void einsum_gradient(const Node& node, GradientBuilder& at) {
  const EinsumTerms terms = EinsumTerms::read(node, at);
  const ValueId dy = *at.gradient(node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    at.give_input(node, i, [&] {
      const Dims dims = at.value(*node.inputs[i]).dims;
      const DataType type = at.value(*node.inputs[i]).type;
      std::vector<std::optional<ValueId>> inputs{dy};
      std::string equation = terms.result, seen = terms.result;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (k == i) continue;
        inputs.push_back(node.inputs[k]);
        equation += "," + terms.operands[k];
        seen += terms.operands[k];
      }
      const auto size_of = [&](char letter) {
        std::int64_t size = 1;
        for (std::size_t k = 0; k < node.inputs.size(); ++k)
          if (const std::size_t place = terms.operands[k].find(letter); place != std::string::npos)
            size = std::max(size, at.value(*node.inputs[k]).dims[place]);
        return size;
      };
      std::string reached;
      Dims made, aligned, whole;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const char letter = terms.operands[i][axis];
        const bool is_seen = seen.find(letter) != std::string::npos;
        if (is_seen) {
          reached += letter;
          made.push_back(size_of(letter));
        }
        aligned.push_back(is_seen ? size_of(letter) : 1);
        whole.push_back(is_seen ? size_of(letter) : dims[axis]);
      }
      const ValueId product = inputs.size() == 1 && reached == terms.result
                                  ? dy
                                  : at.emit({"Einsum"}, inputs, type, made, {{"equation", equation + "->" + reached}});
      return at.sum_to(at.expand(at.reshape(product, aligned), whole), dims);
    });
}

}  // namespace benanza::training
