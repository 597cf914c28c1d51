// SPDX-License-Identifier: Apache-2.0
// Common subexpressions: nodes that compute what an earlier node has computed are merged with it.
#include "build.hpp"
#include "same_bodies.hpp"
#include <benanza/base/detail/node.hpp>

#include <onnx/defs/schema.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

/// Whether an attribute has the value that the operator uses without it.
bool says_default(const onnx::AttributeProto& attribute, const onnx::OpSchema* schema) {
  const auto are_all = [&attribute](std::int64_t number) {
    const auto& ints = attribute.ints();
    return attribute.type() == onnx::AttributeProto::INTS &&
           std::all_of(ints.begin(), ints.end(), [number](std::int64_t each) { return each == number; });
  };
  const std::string_view name = attribute.name();
  if (name == "strides" || name == "dilations") return are_all(1);
  if (name == "pads" || name == "output_padding") return are_all(0);
  if (schema == nullptr) return false;
  const auto found = schema->attributes().find(attribute.name());
  if (found == schema->attributes().end()) return false;
  const auto& otherwise = found->second.default_value;
  return otherwise.has_type() && otherwise.SerializeAsString() == attribute.SerializeAsString();
}

/// Equal for nodes with equal `told_attributes`, and usually different for others, if numbers and texts differ.
std::size_t key_of_attributes(const onnx::NodeProto& node, const onnx::OpSchema* schema) {
  std::size_t all = 0;  // in any order
  for (const auto& attribute : node.attribute()) {
    if (says_default(attribute, schema)) continue;
    std::size_t key = std::hash<std::string>()(attribute.name());
    const auto add = [&key](std::size_t each) { key = key * 1000003 + each; };
    add(std::hash<std::int64_t>()(attribute.i()));
    add(std::hash<float>()(attribute.f()));
    add(std::hash<std::string>()(attribute.s()));
    for (const std::int64_t each : attribute.ints()) add(std::hash<std::int64_t>()(each));
    for (const float each : attribute.floats()) add(std::hash<float>()(each));
    for (const std::string& each : attribute.strings()) add(std::hash<std::string>()(each));
    all += key;
  }
  return all;
}

/// The serialised attributes of a node that differ from their defaults.
std::map<std::string, std::string> told_attributes(const onnx::NodeProto& node, const onnx::OpSchema* schema) {
  std::map<std::string, std::string> told;
  for (const auto& attribute : node.attribute())
    if (!says_default(attribute, schema)) told[attribute.name()] = attribute.SerializeAsString();
  return told;
}

/// Whether a node of a body may be merged with one of the graph around it. Nodes that capture values of the body may
/// not, nor those that tell their readers to be layers of 8 bits.
bool may_be_outside(const Node& node) { return node.bodies.empty() && node.op_type != "DequantizeLinear"; }

}  // namespace

std::optional<std::string> constant_key(const Value& value) {
  if (!value.constant || !value.literal || value.literal->ints.size() > 64 || value.literal->floats.size() > 1)
    return std::nullopt;
  std::string key = std::string(name(value.type)) + shape_text(value.dims) + shape_text(value.literal->ints);
  for (const double v : value.literal->floats) key.append(reinterpret_cast<const char*>(&v), sizeof v);
  return key;
}

/// Whether the first output has all elements of the first input, each at the same position.
bool Builder::passes_on(const Step& step, const Value& y) {
  const auto& values = step.scope.frame.graph.values;
  const Node& node = step.node;
  if (!node.domain.empty() || step.inputs.empty() || !step.inputs[0]) return false;
  const Value& x = values[*step.inputs[0]];
  if (x.dims != y.dims || x.type != y.type || x.data_dependent || y.data_dependent) return false;
  const auto are_all = [](const std::vector<std::int64_t>& numbers, std::int64_t number) {
    return std::all_of(numbers.begin(), numbers.end(), [number](std::int64_t each) { return each == number; });
  };
  const auto given = [&](std::size_t k) { return k < step.inputs.size() ? step.inputs[k] : std::nullopt; };
  if (step.op.facts->keeps_order() || step.op.facts->moves == Moves::repetition) return true;
  if (node.op_type == "Concat") return step.inputs.size() == 1;
  if (node.op_type == "Dropout") return step.merge && node.opset >= 7;  // before that, it may be in training mode
  if (node.op_type == "Slice") {
    const auto steps = given(4);
    return !steps || (values[*steps].literal && are_all(values[*steps].literal->ints, 1));
  }
  if (node.op_type != "Pad") return false;
  if (node.opset < 11) return are_all(node.attribute<Dims>(node.opset < 2 ? "paddings" : "pads", {}), 0);
  const auto pads = given(1);
  return pads && values[*pads].literal && are_all(values[*pads].literal->ints, 0);
}

/// The operand that is the result of arithmetic with a neutral number: x + 0, x - 0, x * 1, x / 1 or x ^ 1.
std::optional<std::size_t> Builder::unchanged_operand(const Step& step, const Value& y) {
  const std::optional<double> neutral = step.op.facts->neutral;
  if (!neutral || step.inputs.size() != 2 || !step.inputs[0] || !step.inputs[1]) return std::nullopt;
  const auto& values = step.scope.frame.graph.values;
  for (const std::size_t k : {0U, 1U}) {
    const Value &x = values[*step.inputs[k]], &other = values[*step.inputs[1 - k]];
    if (k == 1 && !step.op.facts->is(Trait::commutative)) continue;
    if (benanza::detail::scalar(other) == *neutral && !other.trained && !x.constant && !x.data_dependent &&
        x.dims == y.dims && x.type == y.type)
      return k;
  }
  return std::nullopt;
}

/// Equal integers and equal scalars are one operand, wherever they are stored. So are a value and its unchanged copy.
/// Weights are distinguished by their names alone.
std::size_t Builder::identity_of(Frame& frame, ValueId id) {
  if (const auto passed = frame.passed_on.find(id); passed != frame.passed_on.end()) id = passed->second;
  auto key = constant_key(frame.graph.values[id]);
  return key ? frame.known_literals.try_emplace(std::move(*key), id).first->second : id;
}

/// The operands of a node by identity. Those of a commutative operator are sorted.
std::vector<std::size_t> Builder::identities_of(Frame& frame, const OperatorFacts& facts, const Ids& inputs) {
  std::vector<std::size_t> result;
  for (const auto& id : inputs) result.push_back(id ? identity_of(frame, *id) + 1 : 0);
  if (facts.is(Trait::commutative)) std::sort(result.begin(), result.end());
  return result;
}

std::size_t Builder::key_of(Frame& frame, const Step& step, const Ids& inputs) {
  std::size_t key = std::hash<std::string>()(step.node.op_type);
  for (const std::size_t id : identities_of(frame, *step.op.facts, inputs)) key = key * 1000003 + id;
  return key * 1000003 + key_of_attributes(step.proto, step.op.schema);
}

bool Builder::same_node(Frame& frame, const Node& earlier, const onnx::NodeProto& earlier_proto, const Step& step,
                        const Ids& inputs) {
  if (earlier.op_type != step.node.op_type || earlier.domain != step.node.domain || earlier.opset != step.node.opset ||
      earlier.inputs.size() != inputs.size())
    return false;
  if (earlier_proto.output_size() < step.proto.output_size()) return false;
  if (identities_of(frame, *step.op.facts, earlier.inputs) != identities_of(frame, *step.op.facts, inputs))
    return false;
  for (int i = 0; i < step.proto.output_size(); ++i)
    if (!step.proto.output(i).empty() && earlier_proto.output(i).empty()) return false;
  if (step.node.bodies.empty())
    return told_attributes(earlier_proto, step.op.schema) == told_attributes(step.proto, step.op.schema);
  return written_alike(earlier_proto, step.proto) && same_bodies(earlier, step.node, [&](ValueId a, ValueId b) {
           return identity_of(frame, a) == identity_of(frame, b);
         });
}

/// An earlier node of a frame that computes the same result from these operands, which have this key, or null if there
/// is none.
const Node* Builder::find_same(Frame& frame, const Step& step, const Ids& inputs, std::size_t key) {
  const auto [first, last] = frame.known_nodes.equal_range(key);
  for (auto at = first; at != last; ++at)
    if (const Node& earlier = frame.graph.nodes[at->second.first];
        same_node(frame, earlier, *at->second.second, step, inputs))
      return &earlier;
  return nullptr;
}

/// Replaces operands in a body by those of the enclosing graph; false if one is made in the body.
bool Builder::go_outside(const Frame& body, Ids& inputs) {
  for (auto& id : inputs) {
    if (!id) continue;
    if (const auto passed = body.passed_on.find(*id); passed != body.passed_on.end()) id = passed->second;
    const auto& captures = body.graph.captures;  // in the order of the body's values
    const auto captured = std::lower_bound(captures.begin(), captures.end(), *id,
                                           [](const auto& each, ValueId of) { return each.first < of; });
    if (captured != captures.end() && captured->first == *id) {
      id = captured->second;
      continue;
    }
    const auto key = constant_key(body.graph.values[*id]);
    const auto known = key ? body.parent->known_literals.find(*key) : body.parent->known_literals.end();
    if (known == body.parent->known_literals.end()) return false;
    id = known->second;
  }
  return true;
}

/// Whether an earlier node of this graph, or of an enclosing one, computes the same. If so, its outputs also get these
/// names.
bool Builder::merged(Step& step) {
  Frame& frame = step.scope.frame;
  Ids inputs = step.inputs;
  const std::size_t own_key = key_of(frame, step, inputs);
  for (Frame* at = &frame; at != nullptr; at = at->parent) {
    const std::size_t key = at == &frame ? own_key : key_of(*at, step, inputs);
    if (const Node* earlier = find_same(*at, step, inputs, key)) {
      for (int i = 0; i < step.proto.output_size(); ++i)
        if (!step.proto.output(i).empty())
          alias(step, i, capture(frame, *at, *earlier->outputs[static_cast<std::size_t>(i)]));
      return true;
    }
    if (at->parent == nullptr || !may_be_outside(step.node) || !go_outside(*at, inputs)) break;
  }
  frame.known_nodes.emplace(own_key, std::pair{frame.graph.nodes.size(), &step.proto});
  return false;
}

}  // namespace benanza::importer
