// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

#include "proto.hpp"
#include <benanza/base/detail/node_parts.hpp>

namespace benanza::importer {

ValueId Frame::add(Value value) {
  const auto [type, is_new] = tensor_types[value.type].try_emplace(value.dims);
  if (is_new) type->second = make_type(value.type, value.dims);
  facts.push_back({.type = &type->second});
  graph.values.push_back(std::move(value));
  return graph.values.size() - 1;
}

ValueId Frame::add(Value value, const onnx::TypeProto& type) {
  const ValueId id = add(std::move(value));
  if (!type.has_tensor_type()) facts[id].type = &other_types.emplace_back(type);
  return id;
}

ValueId capture(Frame& frame, Frame& owner, ValueId id) {
  if (&frame == &owner) return id;
  if (const auto found = frame.captured.find({&owner, id}); found != frame.captured.end()) return found->second;
  const ValueId outer = capture(*frame.parent, owner, id);
  Value value = frame.parent->graph.values[outer];
  value.origins.clear();  // values of the enclosing graph
  const ValueId here = frame.add(std::move(value), *frame.parent->facts[outer].type);
  frame.graph.captures.emplace_back(here, outer);
  frame.captured.emplace(std::pair{&owner, id}, here);
  return here;
}

std::optional<ValueId> find_value(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent)
    if (const auto found = at->ids.find(name); found != at->ids.end())
      return capture(scope.frame, at->frame, found->second);
  return std::nullopt;
}

const std::vector<const onnx::NodeProto*>& consumers_of(Scope& scope, std::string_view name) {
  if (scope.consumers.empty())
    for (const auto& node : scope.source.node())
      for (const auto& input : node.input()) scope.consumers[input].push_back(&node);
  return scope.consumers[name];
}

std::string unique_name(Frame& frame, const onnx::NodeProto& node, bool is_pass) {
  std::string name = node.name();
  if (name.empty()) {
    name = node.op_type();
    for (const auto& output : node.output())
      if (!output.empty()) {
        name += "_" + output;
        break;
      }
  }
  const auto [last, is_first] = frame.node_names.try_emplace(name, 1);
  if (is_first) return name;
  for (std::size_t& i = last->second;;) {
    ++i;
    std::string numbered = name + (is_pass ? numbered_pass(i) : "_" + std::to_string(i));
    if (frame.node_names.try_emplace(numbered, 1).second) return numbered;
  }
}

}  // namespace benanza::importer
