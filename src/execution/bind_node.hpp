// SPDX-License-Identifier: Apache-2.0
// bind_node: from a node to the call that computes it. The call has the layer, the inputs of the node that its operands
// are or are made of, and the numbers that no layer holds because they do not affect the speed.
#pragma once

#include "reference/reference.hpp"
#include <benanza/execution/not_executable.hpp>
#include <benanza/execution/tensor.hpp>
#include <benanza/model/layer.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace benanza::execution {

/// The inputs of a node in its order. An entry is empty if the input is left out or not available yet.
using NodeTensors = std::vector<std::optional<Tensor>>;

/// What an operand is made of.
struct OperandSource {
  std::vector<std::size_t> inputs{};  ///< inputs of the node; none: zeros for an absent state or zero point
  /// Makes a row-major operand from the inputs of the node. If empty, the operand has the elements of its one input.
  std::function<Tensor(const NodeTensors& inputs)> make{};
};

/// What an output of a node is: an output of its layer, or made of inputs alone (a cache that is passed through). If
/// neither is set, it is not computed.
struct OutputSource {
  std::optional<std::size_t> of_layer{};
  std::function<Tensor(const NodeTensors& inputs)> make{};
};

struct NodeCall {
  Layer layer{};
  Operands shapes{};  ///< operands of the layer; none if there is nothing to compute
  std::vector<OperandSource> operands{};
  std::vector<OutputSource> outputs{};  ///< as many as the node has, including those that are left out
  reference::Parameters parameters{};
};

/// Inputs of an operator whose numbers determine sizes, the layer or its parameters. In most models they are constants.
[[nodiscard]] std::vector<std::size_t> parameter_inputs(const Node& node);

/// `inputs` has at least the parameter inputs. Throws NotExecutable if no layer computes the node, or not in the way
/// that the node requires.
[[nodiscard]] NodeCall bind_node(const Graph& graph, const Node& node, const NodeTensors& inputs);

/// The elements of operand `i`. Throws NotExecutable if the type of an input differs from that of the operand.
[[nodiscard]] Tensor operand_tensor(const NodeCall& call, const Node& node, std::size_t i, const NodeTensors& inputs);

}  // namespace benanza::execution
