// SPDX-License-Identifier: Apache-2.0
// The operands of attention before its mask: queries, keys and values. A node may have several of them in one row and
// some in a cache.
#pragma once

#include "bind_node.hpp"
#include <benanza/op/attention.hpp>

#include <array>
#include <cstddef>

namespace benanza::execution {

/// Queries, keys and values of a node of ONNX or com.microsoft, in the layer's layout.
[[nodiscard]] std::array<OperandSource, 3> attention_operands(const Node& node, const op::Attention& op);

/// Keys (output 1) or values (output 2) with those of the cache before them, as the node outputs them.
[[nodiscard]] OutputSource handed_on(const Node& node, const op::Attention& op, std::size_t output,
                                     const Tensor::Dims& dims);

}  // namespace benanza::execution
