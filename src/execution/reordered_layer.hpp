// SPDX-License-Identifier: Apache-2.0
// ReorderedLayer: the layer that broadcasts or reduces in the same way where its tensors lie in another order. A
// product of 32x30 and 32x1, where the 32 channels lie behind the 30 pixels, is one of 30x32 and 1x32 in memory.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/plan/element_order.hpp>

#include <optional>
#include <vector>

namespace benanza::execution {

struct ReorderedLayer {
  Layer layer{};
  std::vector<bool> inputs{}, outputs{};  ///< whether they lie in the order; the others are row-major
};

/// For Binary with one operand that has all elements of the result, and for Reduce, on tensors that lie in `order`;
/// nothing for other layers, and where the order divides the tensor at places that the layer's dimensions do not have.
[[nodiscard]] std::optional<ReorderedLayer> reordered_layer(const Layer& layer, const ElementOrder& order);

/// The order of the operand's elements in a result that lies in `order`. A transposition from one order of its operand
/// to this one computes the result there; if the operand lies in it already, nothing has to be moved. Nothing where
/// `order` divides the result at places that its dimensions do not have.
[[nodiscard]] std::optional<ElementOrder> order_of_operand(const op::Transpose& transpose, const ElementOrder& order);

}  // namespace benanza::execution
