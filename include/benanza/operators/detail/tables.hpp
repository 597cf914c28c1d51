// SPDX-License-Identifier: Apache-2.0
// The tables of all families, and where a row is in them.
#pragma once

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
#include <benanza/operators/facts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace benanza::operators {

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

}  // namespace benanza::operators
