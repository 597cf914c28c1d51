// SPDX-License-Identifier: Apache-2.0
// The facts about an operator, by its name.
#pragma once

#include <benanza/operators/facts.hpp>

#include <cstddef>
#include <string_view>

namespace benanza {

struct Node;

/// The facts about an operator. Those of an unknown one are empty: nothing is certain.
[[nodiscard]] const OperatorFacts& facts_of(std::string_view domain, std::string_view type);

/// Those about the operator of a node.
[[nodiscard]] const OperatorFacts& facts_of(const Node& node);

/// The same for a type with its domain, if that is not ai.onnx: "Conv", "com.microsoft.FusedConv".
[[nodiscard]] inline const OperatorFacts& facts_of(std::string_view onnx_type) {
  const std::size_t dot = onnx_type.rfind('.');
  if (dot == std::string_view::npos) return facts_of("", onnx_type);
  return facts_of(onnx_type.substr(0, dot), onnx_type.substr(dot + 1));
}

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/operators/lookup_inl.hpp>
#endif
