// SPDX-License-Identifier: Apache-2.0
// The two products of a gated MLP (SwiGLU: silu(x w1) * (x w3), and with other activations). Either the gate and the
// multiplication are the epilogue of the first product, or both products are one with their weights side by side, and
// one element-wise call follows. No single call does everything: the cheapest partition decides.
#pragma once

#include <benanza/fusion/detail/shared_input.hpp>

#include <optional>
#include <variant>

namespace benanza::detail {

/// The product of a gate without the last two steps of its epilogue, which are an activation and the multiplication
/// with a tensor of the result's shape.
[[nodiscard]] inline std::optional<op::MatMul> product_of_gate(const Layer& layer) {
  const auto* gated = std::get_if<op::MatMul>(&layer);
  if (gated == nullptr || gated->post.size() < 2) return std::nullopt;
  const std::size_t left = gated->post.size() - 2;
  if (is_binary(gated->post[left].fn) || gated->post[left + 1] != PostOp(ElementwiseFn::mul, TensorShape{}))
    return std::nullopt;
  op::MatMul product = *gated;
  product.post = {};
  for (std::size_t i = 0; i < left; ++i) product.post.push_back(gated->post[i]);
  return product;
}

/// The activation and the multiplication as one call, if they end a group.
[[nodiscard]] inline const Piece* piece_of_gate(const Occurrence& group) {
  for (const Piece& piece : group.pieces) {
    const auto* unary = std::get_if<op::Unary>(&*piece.layer);
    if (unary != nullptr && piece.first > 0 && piece.first + piece.count == group.members.size() &&
        unary->post == Epilogue{PostOp(ElementwiseFn::mul, TensorShape{})})
      return &piece;
  }
  return nullptr;
}

/// `at` is the product that is gated. The group of the gate, which multiplies by it, comes later.
[[nodiscard]] inline std::optional<Match> match_gated_product(const LayerGraph& graph, std::size_t at) {
  const Occurrence& gated = graph.layers[at];
  const auto shared = SharedInput::of(graph, gated);
  const auto reader = shared ? only_consumer(graph, gated.outputs[0]) : std::nullopt;
  if (!reader) return std::nullopt;
  const Occurrence& group = graph.layers[*reader];
  const auto product = product_of_gate(group.layer);
  const Piece* const gate = piece_of_gate(group);
  if (!product || gate == nullptr || group.inputs[0] != gated.inputs[0]) return std::nullopt;
  Occurrence head = group;
  head.layer = *product;
  const auto other = SharedInput::of(graph, head);
  if (!other || other->common != shared->common || other->columns != shared->columns) return std::nullopt;
  const std::int64_t columns = shared->columns + other->columns;
  const Operand x = operands(gate->layer).inputs[0];
  if (!takes(gate->layer, x, view_of_part(shared->common, x.elements(), shared->columns, columns))) return std::nullopt;
  const Layer joined = SharedInput::joined(shared->common, columns, shared->has_bias || other->has_bias);
  return Match{.members = {at, *reader}, .pieces = {{0, gated.members.size() + gate->first, joined}}, .in_parts = true};
}

}  // namespace benanza::detail
