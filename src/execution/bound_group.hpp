// SPDX-License-Identifier: Apache-2.0
// BoundGroup: nodes that one call computes, with what its operands are: values of the graph, or constants, of which a
// batch normalisation may be a part.
#pragma once

#include "program.hpp"

#include <optional>
#include <span>
#include <vector>

namespace benanza::execution {

struct GroupOperand {
  ValueId value = 0;
  std::optional<Tensor> constant{};  ///< then `value` means nothing
};

/// A value whose elements are a part of a result.
struct OutputPart {
  ValueId value = 0;
  std::size_t offset = 0;  ///< in bytes
};

struct BoundGroup {
  std::vector<std::size_t> nodes{};  ///< nodes of the graph
  Layer layer{};
  Operands shapes{};
  Parameters numbers{};
  std::vector<GroupOperand> operands{};
  std::vector<std::optional<ValueId>> outputs{};  ///< outputs of the layer; nothing where no node has it
  std::vector<OutputPart> parts{};                ///< in the first output, which then is row-major
};

/// One node as a call of its layer; nothing where operands have to be made of activations.
[[nodiscard]] std::optional<BoundGroup> bind_single(const Graph& graph, std::size_t node, const TensorStore& constants);

/// Nodes as a call of `layer`: a head with its epilogue, what pads a convolution, a norm or attention in parts,
/// products of one row. Nothing where it is not clear what an operand is.
[[nodiscard]] std::optional<BoundGroup> bind_group(const Graph& graph, std::span<const std::size_t> nodes,
                                                   const Layer& layer, const TensorStore& constants);

}  // namespace benanza::execution
