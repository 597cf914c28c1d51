// SPDX-License-Identifier: Apache-2.0
// Sequences whose tensors are known before a request: nodes that take a tensor from one
// read that tensor directly.
#include "build.hpp"
#include "inline_functions.hpp"
#include "proto.hpp"
#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace benanza::importer {
namespace {

constexpr std::int64_t most_tensors = 4096;  ///< of a split that is traced

/// The newest version of ONNX's operator set in which sizes and axes of Split, Squeeze and Unsqueeze are attributes.
constexpr int version_of_parts = 11;

}  // namespace

/// The tensors of a sequence, as values of the frame. Empty if they are not known.
std::optional<std::vector<ValueId>> Builder::tensors_of(Frame& frame, ValueId sequence) {
  if (const auto found = frame.sequences.find(sequence); found != frame.sequences.end()) return found->second;
  const auto& captures = frame.graph.captures;
  const auto captured =
      std::find_if(captures.begin(), captures.end(), [&](const auto& each) { return each.first == sequence; });
  if (frame.parent == nullptr || captured == captures.end()) return std::nullopt;
  auto tensors = tensors_of(*frame.parent, captured->second);
  if (tensors)
    for (ValueId& tensor : *tensors) tensor = capture(frame, *frame.parent, tensor);
  return tensors;
}

/// Adds and visits a node of ONNX's operators. Returns its outputs.
std::vector<ValueId> Builder::visit_made(Step& step, const std::string& op_type, const std::vector<ValueId>& inputs,
                                         const std::map<std::string, std::vector<std::int64_t>>& attributes,
                                         std::size_t outputs, const std::string& name) {
  // Scopes refer to the names in a node, so nodes that are made here live as long as those of the model.
  auto& node = made_nodes_.emplace_back();
  node.set_op_type(op_type);
  set_own_version(node, version_of_parts);
  for (const ValueId input : inputs) {
    node.add_input(name + "/" + op_type + ".x" + std::to_string(node.input_size()));
    step.scope.ids[node.input(node.input_size() - 1)] = input;
  }
  for (const auto& [key, numbers] : attributes) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(key);
    attribute.set_type(key == "axis" ? onnx::AttributeProto::INT : onnx::AttributeProto::INTS);
    if (key == "axis") attribute.set_i(numbers[0]);
    else attribute.mutable_ints()->Add(numbers.begin(), numbers.end());
  }
  for (std::size_t i = 0; i < outputs; ++i) node.add_output(outputs == 1 ? name : name + "/" + std::to_string(i));
  visit(step.scope, node);
  std::vector<ValueId> results;
  for (const auto& output : node.output()) results.push_back(step.scope.ids.at(output));
  return results;
}

/// The parts of a SplitToSequence, made by a Split; empty if their sizes are not known.
std::optional<std::vector<ValueId>> Builder::split_tensors(Step& step) {
  if (step.inputs.empty() || !step.inputs[0]) return std::nullopt;
  const ValueId x = *step.inputs[0];
  const Value& value = step.scope.frame.graph.values[x];
  const auto axis = detail::to_axis(step.node.attribute<std::int64_t>("axis", 0), value.dims.size());
  if (!axis || value.data_dependent) return std::nullopt;
  const std::int64_t size = value.dims[*axis];
  std::vector<std::int64_t> sizes;
  const bool given = step.inputs.size() > 1 && step.inputs[1];
  if (given) {
    const Value& split = step.scope.frame.graph.values[*step.inputs[1]];
    if (!split.literal || split.literal->ints.empty()) return std::nullopt;
    sizes = split.literal->ints;
    if (split.dims.empty()) {
      const std::int64_t part = sizes[0];
      if (part < 1 || size / part >= most_tensors) return std::nullopt;
      sizes.assign(static_cast<std::size_t>(size / part), part);
      if (size % part != 0) sizes.push_back(size % part);
    }
  } else if (size <= most_tensors) {
    sizes.assign(static_cast<std::size_t>(size), 1);
  }
  if (sizes.empty() || std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != size) return std::nullopt;
  const std::string name = step.proto.output(0) + "/Split";
  const auto at = static_cast<std::int64_t>(*axis);
  const std::size_t count = sizes.size();
  auto parts = visit_made(step, "Split", {x}, {{"axis", {at}}, {"split", std::move(sizes)}}, count, name);
  if (!given && step.node.attribute<std::int64_t>("keepdims", 1) == 0)
    for (std::size_t i = 0; i < count; ++i)
      parts[i] = visit_made(step, "Squeeze", std::vector{parts[i]}, {{"axes", {at}}}, 1,
                            name + "/" + std::to_string(i) + "/Squeeze")[0];
  return parts;
}

/// Keeps track of the tensors in a sequence. Returns true if nothing is left to do, since the node takes known tensors
/// from a sequence.
bool Builder::visit_sequence(Step& step) {
  if (!step.node.domain.empty() || step.proto.output_size() != 1 || step.proto.output(0).empty()) return false;
  Frame& frame = step.scope.frame;
  const std::string_view op = step.node.op_type;
  const auto given = [&](std::size_t i) { return i < step.inputs.size() && step.inputs[i].has_value(); };
  const auto sequence = [&](std::size_t i) { return given(i) ? tensors_of(frame, *step.inputs[i]) : std::nullopt; };
  // The place that input `i` names, from 0 to `last`; `otherwise` if it is left out; empty if it is not known.
  const auto place = [&](std::size_t i, std::size_t size, std::int64_t last,
                         std::optional<std::int64_t> otherwise) -> std::optional<std::ptrdiff_t> {
    if (!given(i)) return otherwise;
    const auto& literal = frame.graph.values[*step.inputs[i]].literal;
    if (!literal || literal->ints.size() != 1) return std::nullopt;
    const std::int64_t at = literal->ints[0] + (literal->ints[0] < 0 ? static_cast<std::int64_t>(size) : 0);
    if (at < 0 || at > last)
      throw InputError("place " + std::to_string(literal->ints[0]) + " is outside of a sequence of length " +
                       std::to_string(size));
    return at;
  };
  std::optional<std::vector<ValueId>> tensors;
  if (op == "SequenceEmpty") {
    tensors.emplace();
  } else if (op == "SequenceConstruct") {
    tensors.emplace();
    for (const auto& input : step.inputs) tensors->push_back(input.value());
  } else if (op == "SplitToSequence") {
    tensors = split_tensors(step);
  } else if (op == "SequenceInsert") {
    tensors = sequence(0);
    const auto size = static_cast<std::int64_t>(tensors ? tensors->size() : 0);
    const auto at = tensors && given(1) ? place(2, tensors->size(), size, size) : std::nullopt;
    if (at) tensors->insert(tensors->begin() + *at, *step.inputs[1]);
    else tensors.reset();
  } else if (op == "SequenceErase") {
    tensors = sequence(0);
    const auto last = static_cast<std::int64_t>(tensors ? tensors->size() : 0) - 1;
    const auto at = tensors ? place(1, tensors->size(), last, last) : std::nullopt;
    if (at && last >= 0) tensors->erase(tensors->begin() + *at);
    else tensors.reset();
  } else if (op == "SequenceAt") {
    const auto from = sequence(0);
    const auto at =
        from ? place(1, from->size(), static_cast<std::int64_t>(from->size()) - 1, std::nullopt) : std::nullopt;
    if (!at) return false;
    alias(step, 0, (*from)[static_cast<std::size_t>(*at)]);
    return true;
  } else if (op == "SequenceLength") {
    const auto from = sequence(0);
    if (!from) return false;
    define_value(step, step.proto.output(0),
                 {.name = step.proto.output(0),
                  .type = DataType::i64,
                  .dims = {},
                  .constant = true,
                  .literal = Literal{.ints = {static_cast<std::int64_t>(from->size())}, .floats = {}}});
    return true;
  } else if (op == "ConcatFromSequence") {
    auto from = sequence(0);
    if (!from || from->empty() || !step.node.attributes.contains("axis")) return false;
    const auto axis = step.node.attribute<std::int64_t>("axis", 0);
    const std::string& name = step.proto.output(0);
    if (step.node.attribute<std::int64_t>("new_axis", 0) != 0)
      for (std::size_t i = 0; i < from->size(); ++i)
        (*from)[i] = visit_made(step, "Unsqueeze", std::vector{(*from)[i]}, {{"axes", {axis}}}, 1,
                                name + "/Unsqueeze/" + std::to_string(i))[0];
    (void)visit_made(step, "Concat", *from, {{"axis", {axis}}}, 1, name);
    return true;
  }
  if (!tensors) return false;
  define(step, types_of(step));
  frame.sequences[step.scope.ids.at(step.proto.output(0))] = std::move(*tensors);
  return true;
}

}  // namespace benanza::importer
