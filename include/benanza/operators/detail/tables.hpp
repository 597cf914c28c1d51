// SPDX-License-Identifier: Apache-2.0
// The tables of all families, and the lookup in them.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/operators/detail/attention.hpp>
#include <benanza/operators/detail/convolution.hpp>
#include <benanza/operators/detail/elementwise.hpp>
#include <benanza/operators/detail/generation.hpp>
#include <benanza/operators/detail/indexing.hpp>
#include <benanza/operators/detail/loss.hpp>
#include <benanza/operators/detail/movement.hpp>
#include <benanza/operators/detail/normalization.hpp>
#include <benanza/operators/detail/optimizer.hpp>
#include <benanza/operators/detail/pooling.hpp>
#include <benanza/operators/detail/product.hpp>
#include <benanza/operators/detail/quantization.hpp>
#include <benanza/operators/detail/recurrent.hpp>
#include <benanza/operators/detail/reduction.hpp>
#include <benanza/operators/detail/sampling.hpp>
#include <benanza/operators/detail/transform.hpp>
#include <benanza/operators/detail/trees.hpp>
#include <benanza/operators/lookup.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace benanza {

namespace operators {

inline constexpr std::array<std::span<const OperatorFacts>, 17> tables{
    attention_operators, convolution_operators,  elementwise_operators,   generation_operators, indexing_operators,
    loss_operators,      movement_operators,     normalization_operators, optimizer_operators,  pooling_operators,
    product_operators,   quantization_operators, recurrent_operators,     reduction_operators,  sampling_operators,
    transform_operators, trees_operators};

[[nodiscard]] constexpr std::size_t hash_of(std::string_view type) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char each : type) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
  return hash;
}

/// The rows by their hashes; a row whose place is taken has the next free one.
inline constexpr auto by_hash = [] {
  std::array<const OperatorFacts*, 1024> result{};
  for (const auto& table : tables)
    for (const OperatorFacts& each : table) {
      std::size_t at = hash_of(each.type) % result.size();
      while (result[at] != nullptr) at = (at + 1) % result.size();
      result[at] = &each;
    }
  return result;
}();

}  // namespace operators

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
