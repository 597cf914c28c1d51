// SPDX-License-Identifier: Apache-2.0
// The lookup in the tables of facts.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/operators/detail/tables.hpp>
#include <benanza/operators/lookup.hpp>

#include <cstddef>
#include <string_view>

namespace benanza {

BENANZA_INLINE const OperatorFacts& facts_of(std::string_view domain, std::string_view type) {
  static constexpr OperatorFacts unknown{};
  if (domain == "ai.onnx") domain = {};
  std::size_t at = operators::hash_of(type) % operators::by_hash.size();
  for (; operators::by_hash[at] != nullptr; at = (at + 1) % operators::by_hash.size())
    if (const OperatorFacts& each = *operators::by_hash[at]; each.type == type && each.domain == domain) return each;
  return unknown;
}

BENANZA_INLINE const OperatorFacts& facts_of(const Node& node) { return facts_of(node.domain, node.op_type); }

}  // namespace benanza
