// SPDX-License-Identifier: Apache-2.0
// The tables of all families, and the lookup in them.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/operators/attention.hpp>
#include <benanza/operators/convolution.hpp>
#include <benanza/operators/elementwise.hpp>
#include <benanza/operators/generation.hpp>
#include <benanza/operators/indexing.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/operators/loss.hpp>
#include <benanza/operators/movement.hpp>
#include <benanza/operators/normalization.hpp>
#include <benanza/operators/optimizer.hpp>
#include <benanza/operators/pooling.hpp>
#include <benanza/operators/product.hpp>
#include <benanza/operators/quantization.hpp>
#include <benanza/operators/recurrent.hpp>
#include <benanza/operators/reduction.hpp>
#include <benanza/operators/sampling.hpp>
#include <benanza/operators/transform.hpp>
#include <benanza/operators/trees.hpp>

#include <array>
#include <span>
#include <string_view>
#include <unordered_map>

namespace benanza {

namespace operators {

inline constexpr std::array<std::span<const OperatorFacts>, 17> tables{
    attention_operators, convolution_operators,  elementwise_operators,   generation_operators, indexing_operators,
    loss_operators,      movement_operators,     normalization_operators, optimizer_operators,  pooling_operators,
    product_operators,   quantization_operators, recurrent_operators,     reduction_operators,  sampling_operators,
    transform_operators, trees_operators};

}  // namespace operators

BENANZA_INLINE const OperatorFacts& facts_of(std::string_view domain, std::string_view type) {
  static const auto by_type = [] {
    std::unordered_multimap<std::string_view, const OperatorFacts*> result;
    for (const auto& table : operators::tables)
      for (const OperatorFacts& each : table) result.emplace(each.type, &each);
    return result;
  }();
  static constexpr OperatorFacts unknown{};
  if (domain == "ai.onnx") domain = {};
  const auto [first, last] = by_type.equal_range(type);
  for (auto at = first; at != last; ++at)
    if (at->second->domain == domain) return *at->second;
  return unknown;
}

BENANZA_INLINE const OperatorFacts& facts_of(const Node& node) { return facts_of(node.domain, node.op_type); }

}  // namespace benanza
