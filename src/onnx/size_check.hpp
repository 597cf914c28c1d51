// SPDX-License-Identifier: Apache-2.0
// SizeCheck: the shapes of a node's inputs against those that the operator tables state.
#pragma once

#include "rules.hpp"
#include <benanza/error.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::importer {

/// Compares inputs with `OperatorFacts::sizes`.
class SizeCheck {
 public:
  SizeCheck(const Node& node, std::span<const Value* const> inputs) : inputs_(inputs) {
    if (const auto hidden = node.attribute<std::int64_t>("hidden_size", 0); hidden > 0) sizes_['h'] = hidden;
    sizes_['d'] = node.attribute<std::string>("direction", "forward") == "bidirectional" ? 2 : 1;
  }
  void check(std::string_view shapes) {
    for (std::size_t i = 0; i < inputs_.size() && !shapes.empty(); ++i) {
      const std::string_view shape = shapes.substr(0, shapes.find(','));
      shapes.remove_prefix(std::min(shapes.size(), shape.size() + 2));
      if (inputs_[i] != nullptr && !inputs_[i]->data_dependent) check(i, shape);
    }
  }

 private:
  void check(std::size_t i, std::string_view shape) {
    const std::vector<std::int64_t>& dims = inputs_[i]->dims;
    const auto refuse = [&] {
      throw InputError("input " + std::to_string(i) + " has shape " + shape_text(dims) + ", expected " +
                       expected(shape));
    };
    if (shape[0] == '=') {
      const Value* const other = inputs_[static_cast<std::size_t>(shape[1] - '0')];
      if (other != nullptr && !other->data_dependent && dims != other->dims)
        throw InputError("input " + std::to_string(i) + " has shape " + shape_text(dims) + ", expected that of input " +
                         shape[1] + ", " + shape_text(other->dims));
      return;
    }
    std::size_t axis = 0;
    for (std::string_view rest = shape; !rest.empty(); ++axis) {
      const std::string_view token = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), token.size() + 1));
      if (token == "...") return;
      if (axis == dims.size()) {
        if (shape.ends_with("...")) return;
        refuse();
      }
      if (token != "*" && !fits(token, dims[axis])) refuse();
    }
    if (axis != dims.size()) refuse();
  }
  /// Whether a size is that of its letter. The first size that has a letter determines it.
  bool fits(std::string_view token, std::int64_t size) {
    const std::int64_t factor = factor_of(token);
    const auto [known, is_new] = sizes_.try_emplace(token.back(), size / factor);
    return known->second * factor == size;
  }
  [[nodiscard]] static std::int64_t factor_of(std::string_view token) { return token.size() > 1 ? token[0] - '0' : 1; }
  [[nodiscard]] std::string expected(std::string_view shape) const {
    std::string text;
    for (std::string_view rest = shape; !rest.empty();) {
      const std::string_view token = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), token.size() + 1));
      const auto known = sizes_.find(token.back());
      text += (text.empty() ? "" : ", ") +
              (known == sizes_.end() ? std::string(token) : std::to_string(known->second * factor_of(token)));
    }
    return "[" + text + "]";
  }

  std::span<const Value* const> inputs_;
  std::map<char, std::int64_t> sizes_{};
};

}  // namespace benanza::importer
