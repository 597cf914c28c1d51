// SPDX-License-Identifier: Apache-2.0
// GroupCall: nodes that one call computes, with its operands. These are values of the graph or constants; a batch
// normalisation may be folded into a constant.
#pragma once

#include "program.hpp"

#include <optional>
#include <span>
#include <vector>

namespace benanza::execution {

struct GroupOperand {
  ValueId value = 0;
  std::optional<Tensor> constant{};  ///< if set, `value` is not used
};

/// A value whose elements are a part of a result.
struct OutputPart {
  ValueId value = 0;
  std::size_t offset = 0;  ///< in bytes
};

struct GroupCall {
  std::vector<std::size_t> nodes{};  ///< nodes of the graph
  Layer layer{};
  Operands shapes{};
  Parameters numbers{};
  std::vector<GroupOperand> operands{};
  std::vector<std::optional<ValueId>> outputs{};  ///< outputs of the layer; empty if no node has it
  std::vector<OutputPart> parts{};                ///< in the first output, which is then row-major
};

/// One node as a call of its layer. Empty if operands have to be made of activations.
[[nodiscard]] std::optional<GroupCall> bind_single(const Graph& graph, std::size_t node, const TensorStore& constants);

/// Nodes as a call of `layer`: a head with its epilogue, a convolution with its padding, a norm or attention in parts,
/// products of one row. Empty if an operand cannot be identified.
[[nodiscard]] std::optional<GroupCall> bind_group(const Graph& graph, std::span<const std::size_t> nodes,
                                                  const Layer& layer, const TensorStore& constants);

}  // namespace benanza::execution
