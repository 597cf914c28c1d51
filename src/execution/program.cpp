// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include "literal_tensor.hpp"
#include <benanza/error.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <unistd.h>
#include <utility>

namespace benanza::execution {

namespace {

/// Constants of at most this many elements may determine layers by their numbers.
constexpr std::int64_t known_elements = 1024;

/// Nodes that give other numbers in each run.
void refuse_random(const Node& node) {
  if (facts_of(node).is(Trait::random)) throw NotExecutable(node, "random numbers");
}

/// A library that is called with sizes beyond the memory may crash before anything is allocated.
void refuse_too_large(const Value& value) {
  static const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (value.bytes() > memory)
    throw InputError("tensor '" + value.name + "' takes " + std::to_string(std::llround(value.bytes() / 1e9)) +
                     " GB, more than the memory of this machine");
}

}  // namespace

Tensor Weights::read(const Value& value) {
  if (!stored_) stored_.emplace(file_);
  auto [owner, bytes, type] = stored_->read(value);
  Tensor tensor(type, value.dims, std::move(owner), bytes.data());
  if (type == value.type) return tensor;
  if (type == DataType::f32 && value.type == DataType::tf32) return tensor.as(value.type, value.dims);
  return Tensor::of(value.type, value.dims, tensor.values());
}

Program::Program(Graph& graph, Weights& weights, Resources& resources)
    : graph_(graph), constants_(graph.values.size()) {
  std::vector<bool> is_captured(graph.values.size(), false);
  for (const auto& capture : graph.captures) is_captured[capture.first] = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    refuse_too_large(value);
    if (!value.constant || is_captured[id]) continue;
    if (value.literal) constants_[id] = to_tensor(value.type, value.dims, *value.literal);
    else if (value.stored) constants_[id] = weights.read(value);
    else if (value.banded && !value.banded->differ) constants_[id] = to_tensor(value.type, value.dims, *value.banded);
  }
  for (Node& node : graph.nodes) {
    Step step{.node = &node};
    if (node.bodies.empty()) step.layer.emplace(graph, node);
    for (Body& body : node.bodies) step.bodies.push_back(std::make_unique<Program>(body.graph, weights, resources));
    steps_.push_back(std::move(step));
  }
  compute_constants(resources);
  note_last_readers();
}

/// Runs the nodes that depend on constants only. Then drops these nodes and the constants that only they read.
void Program::compute_constants(Resources& resources) {
  std::vector<Step> rest;
  for (Step& step : steps_) {
    const auto is_known = [&](const auto& id) { return !id || constants_[*id].has_value(); };
    const auto& node = *step.node;
    if (!step.layer || !std::all_of(node.inputs.begin(), node.inputs.end(), is_known)) {
      rest.push_back(std::move(step));
      continue;
    }
    refuse_random(node);
    const NodeTensors inputs = inputs_of(node, constants_);
    step.layer->prepare(inputs, resources);
    const NodeTensors made = step.layer->run(inputs, resources);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) continue;
      Value& value = graph_.values[*node.outputs[i]];
      constants_[*node.outputs[i]] = made[i];
      value.constant = true;
      if (made[i]->elements() <= known_elements) value.literal = to_literal(*made[i]);
    }
  }
  steps_ = std::move(rest);
  std::vector<bool> is_read(graph_.values.size(), false);
  for (const auto id : graph_.outputs) is_read[id] = true;
  for (const Step& step : steps_) {
    for (const auto& id : step.node->inputs)
      if (id) is_read[*id] = true;
    for (const auto& body : step.node->bodies)
      for (const auto& capture : body.graph.captures) is_read[capture.second] = true;
  }
  for (ValueId id = 0; id < constants_.size(); ++id)
    if (!is_read[id]) constants_[id].reset();
}

void Program::note_last_readers() {
  std::vector<bool> is_kept(graph_.values.size(), false);
  for (const auto id : graph_.outputs) is_kept[id] = true;
  const auto note = [&](Step& step, ValueId id) {
    if (!is_kept[id]) step.done.push_back(id);
    is_kept[id] = true;
  };
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (const auto& id : step->node->inputs)
      if (id) note(*step, *id);
    for (const auto& body : step->node->bodies)
      for (const auto& capture : body.graph.captures) note(*step, capture.second);
    for (const auto& id : step->node->outputs)
      if (id) note(*step, *id);  // in case nothing reads it
  }
}

void Program::prepare(Resources& resources) {
  if (std::exchange(is_prepared_, true)) return;
  for (Step& step : steps_)
    if (step.layer) {
      refuse_random(*step.node);
      step.layer->prepare(inputs_of(*step.node, constants_), resources);
    }
}

std::vector<const Node*> Program::nodes() const {
  std::vector<const Node*> result;
  for (const Step& step : steps_) result.push_back(step.node);
  return result;
}

NodeStep* Program::step_of(const Node& node) {
  const auto found = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) { return step.node == &node; });
  return found != steps_.end() && found->layer ? &*found->layer : nullptr;
}

NodeTensors Program::inputs_of(const Node& node, const TensorStore& store) const {
  NodeTensors result;
  for (const auto& id : node.inputs) result.push_back(id ? store[*id] : std::nullopt);
  return result;
}

NodeTensors Program::run_step(Step& step, const TensorStore& store, Resources& resources) {
  const Node& node = *step.node;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i) && !store[*node.inputs[i]])
      throw NotExecutable(node, "the numbers of its input '" + graph_.value(*node.inputs[i]).name + "' are not known");
  if (step.layer) return step.layer->run(inputs_of(node, store), resources);
  if (node.op_type == "If") return run_if(step, store, resources);
  if (node.op_type == "Loop") return run_loop(step, store, resources);
  return run_scan(step, store, resources);
}

NodeTensors Program::run(const NodeTensors& inputs, const std::map<ValueId, Tensor>& captured, Resources& resources) {
  prepare(resources);
  TensorStore store = constants_;
  for (const auto& [id, tensor] : captured) store[id] = tensor;
  for (std::size_t i = 0; i < graph_.inputs.size() && i < inputs.size(); ++i) store[graph_.inputs[i]] = inputs[i];
  for (Step& step : steps_) {
    const NodeTensors made = run_step(step, store, resources);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (step.node->has_output(i)) store[*step.node->outputs[i]] = made[i];
    for (const auto id : step.done) store[id].reset();
  }
  NodeTensors outputs;
  for (const auto id : graph_.outputs) outputs.push_back(store[id]);
  return outputs;
}

}  // namespace benanza::execution
