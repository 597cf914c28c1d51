// SPDX-License-Identifier: Apache-2.0
// bind_node: from a node to the call that computes it: the layer, which inputs of the node its operands are or what
// they are made of, and the numbers that no layer holds because they do not decide the speed.
#pragma once

#include <benanza/execution/not_executable.hpp>
#include <benanza/execution/tensor.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/reference/reference.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace benanza::execution {

/// The inputs of a node in its order; nothing for what is left out or not there yet.
using NodeTensors = std::vector<std::optional<Tensor>>;

/// What an operand is made of.
struct OperandSource {
  std::vector<std::size_t> inputs{};  ///< inputs of the node; none: a constant of zeros, an absent state or zero point
  /// From the inputs of the node to a row-major operand; none: the elements of the one input as they are.
  std::function<Tensor(const NodeTensors& inputs)> make{};
};

/// What an output of a node is: one of its layer's, or made of inputs alone (a cache that is handed on); with neither
/// it is not computed.
struct OutputSource {
  std::optional<std::size_t> of_layer{};
  std::function<Tensor(const NodeTensors& inputs)> make{};
};

struct BoundNode {
  Layer layer{};
  Operands shapes{};  ///< operands of the layer; none where there is nothing to compute
  std::vector<OperandSource> operands{};
  std::vector<OutputSource> outputs{};  ///< as many as the node has, left out or not
  reference::Parameters parameters{};
};

/// Inputs of an operator whose numbers decide sizes, the layer or its parameters: models mostly have them as constants.
[[nodiscard]] std::vector<std::size_t> parameter_inputs(const Node& node);

/// `inputs` has at least the parameter inputs. Throws NotExecutable for what no layer computes, or not as the node
/// wants it.
[[nodiscard]] BoundNode bind_node(const Graph& graph, const Node& node, const NodeTensors& inputs);

/// The elements of operand `i`. Throws NotExecutable where an input has another type than the operand.
[[nodiscard]] Tensor operand_tensor(const BoundNode& bound, const Node& node, std::size_t i, const NodeTensors& inputs);

}  // namespace benanza::execution
