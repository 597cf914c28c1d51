// SPDX-License-Identifier: Apache-2.0
// ReorderedLayer: the layer that computes the same broadcast or reduction on tensors in another order. A product of
// 32x30 and 32x1, with the 32 channels innermost, is one of 30x32 and 1x32 in memory.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/plan/element_order.hpp>

#include <optional>
#include <vector>

namespace benanza::execution {

struct ReorderedLayer {
  Layer layer{};
  std::vector<bool> inputs{}, outputs{};  ///< whether they are in the order; the others are row-major
};

/// For Binary with one operand that has all elements of the result, and for Reduce, on tensors in `order`. Empty for
/// other layers, and if the order splits the tensor at places that the layer's dimensions do not have.
[[nodiscard]] std::optional<ReorderedLayer> reordered_layer(const Layer& layer, const ElementOrder& order);

/// The order of the operand's elements in a result that is in `order`. A transposition from the operand's order to this
/// one computes the result. If the operand already is in this order, nothing has to be moved. Empty if `order` splits
/// the result at places that its dimensions do not have.
[[nodiscard]] std::optional<ElementOrder> order_of_operand(const op::Transpose& transpose, const ElementOrder& order);

}  // namespace benanza::execution
