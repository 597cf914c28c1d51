// SPDX-License-Identifier: Apache-2.0
// Nodes that ask about a sequence or an optional without reading its tensors.
#pragma once

#include <benanza/base/detail/node.hpp>

namespace benanza::detail {

/// The number of tensors in a sequence, and whether an optional tensor is present, are known before any of their
/// elements.
[[nodiscard]] inline bool asks_for_no_element(const Node& node) {
  return node.domain.empty() && (node.op_type == "SequenceLength" || node.op_type == "OptionalHasElement");
}

}  // namespace benanza::detail
