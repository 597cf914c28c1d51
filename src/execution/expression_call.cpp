// SPDX-License-Identifier: Apache-2.0
#include "expression_call.hpp"

#include "node_parameters.hpp"
#include <benanza/fusion/detail/expression_group.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace benanza::execution {

namespace {

/// The values of the graph for the tensors that these layers read and write.
std::map<TensorId, ValueId> values_of(const Graph& graph, const LayerGraph& single,
                                      std::span<const std::size_t> members) {
  std::map<TensorId, ValueId> values;
  for (const auto member : members) {
    const Node& node = graph.nodes[member];
    const Occurrence& at = single.layers[member];
    for (std::size_t i = 0; i < std::min(node.inputs.size(), at.inputs.size()); ++i)
      if (node.inputs[i] && at.inputs[i]) values[*at.inputs[i]] = *node.inputs[i];
    std::size_t next = 0;
    for (const auto& output : node.outputs)
      if (output && next < at.outputs.size()) values[at.outputs[next++]] = *output;
  }
  return values;
}

}  // namespace

std::optional<GroupCall> bind_expression(const Graph& graph, const LayerGraph& single, const Occurrence& group,
                                         const TensorStore& constants) {
  const auto* expression = std::get_if<op::Expression>(&*group.layer);
  if (expression == nullptr) return std::nullopt;
  const auto draft = detail::draft_expression(single, group);
  if (!draft || draft->layer != *expression) return std::nullopt;
  const auto values = values_of(graph, single, group.members);
  GroupCall call{.nodes = group.members,
                 .layer = *expression,
                 .shapes = expression->operands(),
                 .numbers = parameters_of(*group.layer)};
  for (std::size_t i = 0; i < draft->inputs.size(); ++i) {
    const detail::ExpressionSource& source = draft->inputs[i];
    const Operand& wanted = call.shapes.inputs[i];
    if (source.epsilon_of) {
      const std::array number{epsilon_of(graph.nodes[*source.epsilon_of])};
      call.operands.push_back({.constant = Tensor::of(wanted.type, {1}, number)});
      continue;
    }
    const auto found = values.find(source.tensor);
    if (found == values.end()) return std::nullopt;
    const auto& constant = constants[found->second];
    const Value& value = graph.value(found->second);
    if ((constant ? constant->type() : value.type) != wanted.type ||
        (constant ? constant->elements() : value.elements()) != wanted.elements())
      return std::nullopt;
    call.operands.push_back({.value = found->second, .constant = constant});
  }
  for (std::size_t i = 0; i < group.outputs.size(); ++i) {
    const auto found = values.find(group.outputs[i]);
    if (found == values.end()) return std::nullopt;
    const Value& value = graph.value(found->second);
    if (value.type != call.shapes.outputs[i].type || value.elements() != call.shapes.outputs[i].elements())
      return std::nullopt;
    call.outputs.emplace_back(found->second);
  }
  return call;
}

}  // namespace benanza::execution
