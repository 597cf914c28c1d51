// SPDX-License-Identifier: Apache-2.0
#include "node_step.hpp"

#include "literal_tensor.hpp"
#include "special_nodes.hpp"
#include <benanza/execution/random_tensor.hpp>
#include <benanza/onnx/node_graph.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace benanza::execution {

namespace {

/// Lists of integers up to this length may be computed sizes.
constexpr std::int64_t longest_list = 1024;

bool is_fill(const Node& node) { return node.domain.empty() && node.op_type == "ConstantOfShape"; }

/// Whether a node reads only sizes and computes nothing.
bool is_size(const Node& node) { return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size"); }

Seconds seconds_since(std::chrono::steady_clock::time_point begin) {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

bool same_numbers(const std::map<ValueId, Value>& a, const std::map<ValueId, Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.dims == y.second.dims && x.second.literal == y.second.literal;
  });
}

}  // namespace

/// Whether all sizes and parameters are known without data.
bool NodeStep::has_known_sizes(const NodeTensors& constants) const {
  const auto depends = [&](const std::optional<ValueId>& id) { return id && graph_->value(*id).data_dependent; };
  const auto is_there = [&](std::size_t i) { return constants[i].has_value(); };
  const auto parameters = parameter_inputs(*node_);
  return std::none_of(node_->inputs.begin(), node_->inputs.end(), depends) &&
         std::none_of(node_->outputs.begin(), node_->outputs.end(), depends) &&
         std::all_of(parameters.begin(), parameters.end(), is_there);
}

void NodeStep::prepare(const NodeTensors& constants, Resources& resources) {
  constants_ = constants;
  if (find_special(*node_) != nullptr || is_fill(*node_)) return;
  is_static_ = has_known_sizes(constants);
  if (!is_static_) return;
  NodeCall node_call = bind_node(*graph_, *node_, constants);
  const auto plan = resources.plans.choose(node_call);
  PreparedNode& made = prepared_.emplace();
  for (const auto& id : node_->outputs) made.outputs.push_back(id ? graph_->value(*id).dims : Tensor::Dims{});
  made.call.emplace(*node_, std::move(node_call), plan, constants);
}

std::string NodeStep::plan_name() const {
  if (find_special(*node_) != nullptr) return is_size(*node_) ? "" : "reference";
  return prepared_ && prepared_->call ? prepared_->call->plan_name() : std::string();
}

/// The inputs as values, with the numbers that may determine sizes.
std::map<ValueId, Value> NodeStep::values_of(const NodeTensors& inputs) const {
  const auto parameters = parameter_inputs(*node_);
  std::map<ValueId, Value> result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const Tensor& tensor = *inputs[i];
    const Value& known = graph_->value(*node_->inputs[i]);
    const bool is_parameter = std::find(parameters.begin(), parameters.end(), i) != parameters.end();
    const bool may_decide = is_parameter || known.constant || !is_float(tensor.type());
    auto& value = result[*node_->inputs[i]];
    value = {.name = known.name, .type = tensor.type(), .dims = tensor.dims(), .constant = known.constant};
    if (may_decide && tensor.elements() <= longest_list && tensor.type() != DataType::string)
      value.literal = to_literal(tensor);
  }
  return result;
}

PreparedNode NodeStep::prepared_for(std::map<ValueId, Value> values, const NodeTensors& inputs,
                                    Resources& resources) const {
  Graph graph;
  try {
    graph = make_node_graph(*node_, values);
  } catch (const InputError& error) {
    throw InputError(std::string(error.what()) + " (at the sizes that data gave)");
  }
  PreparedNode made{.inputs = std::move(values)};
  std::size_t next = 0;
  for (const auto& id : node_->outputs) {
    made.outputs.emplace_back();
    made.folded.emplace_back();
    if (!id) continue;
    Value& value = graph.values[graph.outputs.at(next++)];
    value.type = graph_->value(*id).type;
    made.outputs.back() = value.dims;
    if (graph.nodes.empty() && value.literal) made.folded.back() = to_tensor(value.type, value.dims, *value.literal);
  }
  if (graph.nodes.empty()) return made;
  if (graph.nodes.size() > 1) throw NotExecutable(*node_, "several nodes at the sizes that data gave");
  NodeCall node_call = bind_node(graph, graph.nodes.front(), inputs);
  const auto plan = resources.plans.choose(node_call);
  made.call.emplace(*node_, std::move(node_call), plan, constants_);
  return made;
}

NodeTensors NodeStep::call_layer(const NodeTensors& inputs, Resources& resources) {
  if (!is_static_) {
    auto values = values_of(inputs);
    if (!prepared_ || !same_numbers(prepared_->inputs, values))
      prepared_ = prepared_for(std::move(values), inputs, resources);
  }
  if (!prepared_->call) return prepared_->folded;
  const LayerCall& call = *prepared_->call;
  const auto begin = std::chrono::steady_clock::now();
  const auto made = call.run(inputs);
  NodeTensors outputs(node_->outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!node_->has_output(i)) continue;
    const DataType type = graph_->output(*node_, i).type;
    const OutputSource& source = call.node_call().outputs[i];
    const Tensor::Dims& dims = prepared_->outputs[i];
    if (element_count(dims) == 0) outputs[i] = Tensor(type, dims);
    else if (source.of_layer) outputs[i] = made.at(*source.of_layer).as(type, dims);
    else if (source.make) outputs[i] = source.make(inputs);
  }
  if (resources.execution != nullptr) {
    resources.execution->nodes.push_back(
        {.node = node_->name, .op_type = node_->op_type, .plan = call.plan_name(), .time = seconds_since(begin)});
    if (resources.check) {
      const auto checking = std::chrono::steady_clock::now();
      call.check(inputs, made, *resources.execution);
      resources.checks += seconds_since(checking);
    }
  }
  return outputs;
}

NodeTensors NodeStep::run(const NodeTensors& inputs, Resources& resources) {
  if (is_fill(*node_)) {
    const Value& output = graph_->output(*node_, 0);
    const Tensor result = filled(*node_, inputs, output.type);
    const bool fills_weight = output.constant && node_->attribute<std::int64_t>("fills_weight", 0) != 0;
    const bool is_weight = fills_weight && resources.weight_seed && result.elements() != 0;
    if (!is_weight) return {result};
    return {random_weights(output.type, result.dims(), output.name, *resources.weight_seed, result[0])};
  }
  if (const SpecialNode* special = find_special(*node_)) {
    const auto begin = std::chrono::steady_clock::now();
    const auto made = (*special)(*node_, inputs);
    if (resources.execution != nullptr && !is_size(*node_))
      resources.execution->nodes.push_back(
          {.node = node_->name, .op_type = node_->op_type, .plan = plan_name(), .time = seconds_since(begin)});
    NodeTensors outputs(node_->outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (node_->has_output(i) && i < made.size()) outputs[i] = made[i];
    return outputs;
  }
  return call_layer(inputs, resources);
}

}  // namespace benanza::execution
