// SPDX-License-Identifier: Apache-2.0
#include "composite_calls.hpp"

#include "node_parameters.hpp"
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace benanza::execution {

namespace {

/// Nodes of a graph, and which of them makes a value.
class Members {
 public:
  Members(const Graph& graph, std::span<const std::size_t> nodes, const TensorStore& constants)
      : graph_(graph), nodes_(nodes), constants_(constants) {}

  [[nodiscard]] const Node* maker(const std::optional<ValueId>& id) const {
    for (const auto node : nodes_) {
      const auto& outputs = graph_.nodes[node].outputs;
      if (id && std::find(outputs.begin(), outputs.end(), id) != outputs.end()) return &graph_.nodes[node];
    }
    return nullptr;
  }
  /// The one node of this type; null if there is not exactly one.
  [[nodiscard]] const Node* only(std::string_view op_type) const {
    const Node* found = nullptr;
    for (const auto node : nodes_) {
      if (graph_.nodes[node].op_type != op_type) continue;
      if (found != nullptr) return nullptr;
      found = &graph_.nodes[node];
    }
    return found;
  }
  [[nodiscard]] const Node& last() const { return graph_.nodes[nodes_.back()]; }

  [[nodiscard]] const std::optional<Tensor>& constant(const std::optional<ValueId>& id) const {
    static const std::optional<Tensor> none;
    return id ? constants_[*id] : none;
  }
  [[nodiscard]] std::optional<double> number(const std::optional<ValueId>& id) const {
    const auto& tensor = constant(id);
    return tensor && tensor->elements() == 1 ? std::optional((*tensor)[0]) : std::nullopt;
  }
  /// The index of the non-constant input of a node with two inputs, of which exactly one is constant.
  [[nodiscard]] std::optional<std::size_t> variable_input(const Node& node) const {
    if (node.inputs.size() != 2 || !node.has_input(0) || !node.has_input(1)) return std::nullopt;
    const bool first = constant(node.inputs[0]).has_value(), second = constant(node.inputs[1]).has_value();
    return first == second ? std::nullopt : std::optional<std::size_t>(first ? 1 : 0);
  }
  /// Whether a node reshapes or transposes its first input.
  [[nodiscard]] bool moves(const Node& node) const {
    return node.op_type == "Transpose" || std::holds_alternative<op::View>(make_layer(node, graph_));
  }

  /// Goes back from a value to the one that the first of the members on its path reads, before heads are repeated. Sets
  /// `factor` to the product of the numbers on the way.
  [[nodiscard]] std::optional<ValueId> source(std::optional<ValueId> id, double& factor) const {
    while (const Node* node = maker(id)) {
      if (moves(*node) || node->op_type == "Expand") {
        id = node->inputs[0];
        continue;
      }
      const auto through = variable_input(*node);
      const auto by = through ? number(node->inputs[1 - *through]) : std::nullopt;
      if (!by) return std::nullopt;
      if (node->op_type == "Mul") factor *= *by;
      else if (node->op_type == "Div" && *through == 0) factor /= *by;
      else return std::nullopt;
      id = node->inputs[*through];
    }
    return id;
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] std::span<const std::size_t> nodes() const { return nodes_; }

 private:
  const Graph& graph_;
  std::span<const std::size_t> nodes_;
  const TensorStore& constants_;
};

/// Whether operands and results have the types and sizes that the layer requires.
bool fits(const Graph& graph, const GroupCall& group) {
  if (group.operands.size() != group.shapes.inputs.size() || group.outputs.size() != group.shapes.outputs.size())
    return false;
  const auto is_it = [](const Operand& wanted, DataType type, std::int64_t elements) {
    return wanted.type == type && wanted.elements() == elements;
  };
  for (std::size_t i = 0; i < group.operands.size(); ++i) {
    const auto& [value, constant] = group.operands[i];
    if (!is_it(group.shapes.inputs[i], constant ? constant->type() : graph.value(value).type,
               constant ? constant->elements() : graph.value(value).elements()))
      return false;
  }
  for (std::size_t i = 0; i < group.outputs.size(); ++i)
    if (group.outputs[i] &&
        !is_it(group.shapes.outputs[i], graph.value(*group.outputs[i]).type, graph.value(*group.outputs[i]).elements()))
      return false;
  return true;
}

GroupCall group_of(const Members& members, const Layer& layer) {
  GroupCall group{.layer = layer, .shapes = operands(layer), .numbers = parameters_of(layer)};
  group.nodes.assign(members.nodes().begin(), members.nodes().end());
  return group;
}

GroupOperand operand_of(const Members& members, ValueId id) { return {.value = id, .constant = members.constant(id)}; }

/// Epsilon, which is added to the mean of squares; empty if it cannot be determined.
std::optional<double> epsilon_in_parts(const Members& members) {
  for (const auto at : members.nodes()) {
    const Node& root = members.graph().nodes[at];
    const bool is_power = root.op_type == "Pow" && members.number(root.inputs[1]) == -0.5;
    if (root.op_type != "Sqrt" && !is_power) continue;
    const Node* sum = members.maker(root.inputs[0]);
    if (sum == nullptr) return std::nullopt;
    if (sum->op_type == "ReduceMean") return 0;
    const auto through = sum->op_type == "Add" ? members.variable_input(*sum) : std::nullopt;
    return through ? members.number(sum->inputs[1 - *through]) : std::nullopt;
  }
  return std::nullopt;
}

/// The operand of a norm in parts, and its vectors.
std::optional<GroupCall> bind_parts(const Members& members, const op::LayerNorm& norm) {
  GroupCall group = group_of(members, norm);
  const auto epsilon = epsilon_in_parts(members);
  if (!epsilon) return std::nullopt;
  group.numbers.epsilon = *epsilon;
  std::optional<ValueId> x, scale, bias;
  for (const auto at : members.nodes()) {
    const Node& node = members.graph().nodes[at];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& id = node.inputs[i];
      if (!id || members.maker(id) != nullptr) continue;
      const auto& constant = members.constant(id);
      if (!constant) {
        if (x && x != id) return std::nullopt;
        x = id;
      } else if (constant->elements() == norm.x[1] && constant->elements() > 1) {
        if (node.op_type == "Mul" && norm.scale && !scale) scale = id;
        else if (node.op_type == "Add" && norm.bias && !bias) bias = id;
        else if (node.op_type != "Reshape") return std::nullopt;
      }
    }
  }
  if (!x || scale.has_value() != norm.scale || bias.has_value() != norm.bias) return std::nullopt;
  group.operands.push_back({.value = *x});
  for (const auto& id : {scale, bias})
    if (id) group.operands.push_back(operand_of(members, *id));
  group.outputs = {members.last().outputs[0]};
  return fits(members.graph(), group) ? std::optional(std::move(group)) : std::nullopt;
}

}  // namespace

std::optional<GroupCall> bind_norm(const Graph& graph, std::span<const std::size_t> nodes, const op::LayerNorm& norm,
                                   const TensorStore& constants) {
  const Members members(graph, nodes, constants);
  if (norm.residual == op::Residual::none) return bind_parts(members, norm);
  // The sum comes first; its norm is one node or in parts.
  const Node& sum = graph.nodes[nodes.front()];
  if (norm.x_bias || sum.op_type != "Add" || nodes.size() < 2 || !sum.has_output(0)) return std::nullopt;
  std::optional<GroupCall> inner;
  if (nodes.size() == 2) {
    inner = bind_single(graph, nodes[1], constants);
  } else {
    op::LayerNorm alone = norm;
    alone.residual = op::Residual::none;
    inner = bind_parts(Members(graph, nodes.subspan(1), constants), alone);
  }
  if (!inner || inner->operands.empty() || inner->operands[0].constant || inner->operands[0].value != *sum.outputs[0])
    return std::nullopt;
  GroupCall group = group_of(members, norm);
  group.numbers = inner->numbers;
  for (const auto& id : sum.inputs) group.operands.push_back(operand_of(members, *id));
  group.operands.insert(group.operands.end(), inner->operands.begin() + 1, inner->operands.end());
  group.outputs = {inner->outputs[0]};
  if (norm.residual == op::Residual::kept) group.outputs.emplace_back(*sum.outputs[0]);
  return fits(graph, group) ? std::optional(std::move(group)) : std::nullopt;
}

std::optional<GroupCall> bind_attention(const Graph& graph, std::span<const std::size_t> nodes,
                                        const op::Attention& attention, const TensorStore& constants) {
  const Members members(graph, nodes, constants);
  const Node* softmax = members.only("Softmax");
  const Node* mixed = nullptr;
  for (const auto at : nodes)
    if (softmax != nullptr && graph.nodes[at].op_type == "MatMul" &&
        members.maker(graph.nodes[at].inputs[0]) == softmax)
      mixed = &graph.nodes[at];
  if (mixed == nullptr) return std::nullopt;

  // From the softmax back to the product of queries and keys.
  double factor = 1;
  std::optional<GroupOperand> mask;
  const Node* scores = members.maker(softmax->inputs[0]);
  for (; scores != nullptr && scores->op_type != "MatMul";) {
    std::optional<ValueId> next;
    if (members.moves(*scores)) {
      next = scores->inputs[0];
    } else if (scores->op_type == "Mul" || scores->op_type == "Div") {
      const auto through = members.variable_input(*scores);
      const auto by = through ? members.number(scores->inputs[1 - *through]) : std::nullopt;
      if (!by || (scores->op_type == "Div" && *through != 0)) return std::nullopt;
      factor *= scores->op_type == "Mul" ? *by : 1 / *by;
      next = scores->inputs[*through];
    } else if (scores->op_type == "Add" && !mask) {
      const bool first = members.maker(scores->inputs[0]) != nullptr;
      if (factor != 1 || first == (members.maker(scores->inputs[1]) != nullptr)) return std::nullopt;  // a scaled mask
      mask = operand_of(members, *scores->inputs[first ? 1 : 0]);
      next = scores->inputs[first ? 0 : 1];
    } else if (scores->op_type == "Where" && !mask) {
      const bool is_seen = members.maker(scores->inputs[1]) != nullptr;
      mask = operand_of(members, *scores->inputs[0]);
      if (!is_seen) {
        if (!mask->constant) return std::nullopt;
        std::vector<double> seen = mask->constant->values();
        for (double& one : seen) one = one == 0 ? 1 : 0;
        mask->constant = Tensor::of(mask->constant->type(), mask->constant->dims(), seen);
      }
      next = scores->inputs[is_seen ? 1 : 2];
    } else {
      return std::nullopt;
    }
    scores = members.maker(next);
  }
  if (scores == nullptr || mask.has_value() == attention.mask.empty()) return std::nullopt;
  GroupCall group = group_of(members, attention);
  double of_values = 1;
  const auto q = members.source(scores->inputs[0], factor), k = members.source(scores->inputs[1], factor),
             v = members.source(mixed->inputs[1], of_values);
  if (!q || !k || !v || of_values != 1) return std::nullopt;
  for (const auto& id : {q, k, v}) group.operands.push_back(operand_of(members, *id));
  if (mask) group.operands.push_back(std::move(*mask));
  const double own = 1 / std::sqrt(static_cast<double>(attention.q[3]));
  if (std::fabs(factor - own) > 1e-6 * own) group.numbers.attention_scale = factor;  // constants have 32 bits
  group.outputs = {members.last().outputs[0]};
  return fits(graph, group) ? std::optional(std::move(group)) : std::nullopt;
}

}  // namespace benanza::execution
