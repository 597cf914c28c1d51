// SPDX-License-Identifier: Apache-2.0
// Whether a node needs everything: a short cut for most nodes.
#pragma once

#include <benanza/model/detail/live_needs.hpp>

#include <algorithm>
#include <variant>

namespace benanza::detail {

/// Whether a node of a type with Trait::whole_by_whole needs all of each operand for all of its result, which is not
/// empty, if nothing is known of the operands. Its rule would say the same, but takes much longer. A batch norm may
/// leave operands out.
[[nodiscard]] inline bool needs_everything(const SizedNode& at) {
  if (std::holds_alternative<op::Conv>(at.layer)) {
    const auto windows = convolution_windows(at);
    return windows && std::all_of(windows->begin(), windows->end(), [](const Window& window) {
             const Positions all = Positions::whole(window.outputs());
             return read_by(window, all) == Positions::whole(window.size) &&
                    taps_used(window, all) == Positions::whole(window.kernel);
           });
  }
  if (std::holds_alternative<op::View>(at.layer)) return at.facts.moves == Moves::shape;
  const bool computes = std::holds_alternative<op::Unary>(at.layer) || std::holds_alternative<op::Binary>(at.layer) ||
                        std::holds_alternative<op::BatchNorm>(at.layer) || std::holds_alternative<op::MatMul>(at.layer);
  return (computes || std::holds_alternative<op::Transpose>(at.layer)) && !equal_axes(at) &&
         (std::holds_alternative<op::BatchNorm>(at.layer) || !counts_less(at));
}

}  // namespace benanza::detail
