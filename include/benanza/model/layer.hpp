// SPDX-License-Identifier: Apache-2.0
// Layer: queries that every operator of the variant answers.
#pragma once

#include <benanza/model/cost.hpp>
#include <benanza/op/ops.hpp>

#include <string_view>
#include <type_traits>

namespace benanza {

/// Calls `visit` with a `std::type_identity` of each operator, in the order of the list.
template <class Visit>
constexpr void for_each_operator(Visit&& visit) {
  [&]<class... Op>(std::type_identity<std::variant<Op...>>) {
    (visit(std::type_identity<Op>{}), ...);
  }(std::type_identity<Layer>{});
}

[[nodiscard]] std::string_view kind(const Layer& layer);
[[nodiscard]] Family family(const Layer& layer);
[[nodiscard]] DataType type(const Layer& layer);
[[nodiscard]] Operands operands(const Layer& layer);
[[nodiscard]] Cost cost(const Layer& layer);
/// Whether its sizes are consistent, so that it can be computed at all.
[[nodiscard]] bool is_consistent(const Layer& layer);
/// Only moves elements: costs nothing in analytic rungs, since a consumer could have read through it.
[[nodiscard]] bool is_movement(const Layer& layer);
/// The epilogue of an operator that can have one. Null for the others.
[[nodiscard]] const Epilogue* epilogue(const Layer& layer);

/// Bytes of weights that one call touches: constant operands, except those that say where to read.
[[nodiscard]] inline Bytes weight_bytes(const Operands& operands) {
  Bytes bytes{};
  for (const auto& input : operands.inputs)
    if (input.is_weight()) bytes += Bytes{static_cast<double>(input.touched_bytes())};
  return bytes;
}
[[nodiscard]] inline Bytes weight_bytes(const Layer& layer) { return weight_bytes(operands(layer)); }

/// The type whose peak bounds a layer's arithmetic. Signed and unsigned 8-bit integers are multiplied alike.
[[nodiscard]] inline DataType arithmetic_type(const Layer& layer) {
  return is_8_bit(type(layer)) ? DataType::i8 : type(layer);
}

/// Costs nothing by a named rule: a layer is measured, modelled, free or missing.
[[nodiscard]] inline bool is_free(const Layer& layer) { return std::holds_alternative<op::View>(layer); }
/// Multiplies matrices in some form: what a tensor core does, and what tf32 applies to.
[[nodiscard]] inline bool is_product(const Layer& layer) {
  return family(layer) == Family::convolution || family(layer) == Family::product;
}
/// Known by its bytes only.
[[nodiscard]] inline bool is_opaque(const Layer& layer) { return std::holds_alternative<op::Opaque>(layer); }

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/layer_inl.hpp>
#endif
