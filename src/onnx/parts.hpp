// SPDX-License-Identifier: Apache-2.0
// Parts: the nodes that replace one node.
#pragma once

#include <benanza/base/detail/node_parts.hpp>
#include <benanza/model/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::importer {

using Floats = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

[[nodiscard]] std::int64_t count(const auto& list) { return static_cast<std::int64_t>(list.size()); }

/// Collects ONNX's own nodes, and the values between them, until the decomposition is known to succeed.
class Parts {
 public:
  Parts(Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  [[nodiscard]] const Value& value(ValueId id) const { return graph_.value(id); }
  [[nodiscard]] const Node& node() const { return node_; }

  [[nodiscard]] ValueId constant(Integers dims, Literal numbers, DataType type = DataType::f32) {
    Value value{.type = type, .dims = std::move(dims), .constant = true};
    const std::int64_t given = count(numbers.ints) + count(numbers.floats);
    if (given == value.elements()) value.literal = std::move(numbers);
    return add(std::move(value));
  }
  [[nodiscard]] ValueId number(double number) { return constant({}, {.floats = {number}}); }

  /// Adds one of ONNX's own nodes. Returns its result.
  ValueId put(std::string op_type, std::vector<ValueId> inputs, Integers dims, Attributes attributes = {},
              DataType type = DataType::f32) {
    const ValueId result = add({.type = type, .dims = std::move(dims)});
    put_to(result, std::move(op_type), std::move(inputs), std::move(attributes));
    return result;
  }
  /// Adds a function of one tensor, or of one and others that are broadcast to it.
  ValueId put_same(std::string op_type, std::vector<ValueId> inputs) {
    Integers dims = value(inputs[0]).dims;
    return put(std::move(op_type), std::move(inputs), std::move(dims));
  }
  /// Makes this value output `i` of the node: the part that makes it writes there.
  void give(ValueId result, std::size_t i) {
    if (!node_.has_output(i)) return;
    for (Node& part : parts_)
      for (auto& output : part.outputs)
        if (output == result) output = node_.outputs[i];
    for (Node& part : parts_)
      for (auto& input : part.inputs)
        if (input == result) input = node_.outputs[i];
  }

  /// Appends the parts. The first one, which all others need, keeps the node's name.
  void append_to(std::vector<Node>& nodes) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].name = i == 0 ? node_.name : node_.name + numbered_part(i);
      nodes.push_back(std::move(parts_[i]));
    }
  }

  /// Input `i` as 32-bit floats.
  ValueId floats(std::size_t i) {
    const ValueId x = *node_.inputs[i];
    return value(x).type == DataType::f32 ? x : put("Cast", {x}, Integers(value(x).dims));
  }
  /// Input `i` as rows of features. Empty for other ranks.
  std::optional<ValueId> rows(std::size_t i) {
    const ValueId x = floats(i);
    if (value(x).dims.size() == 2) return x;
    if (value(x).dims.size() != 1) return std::nullopt;
    return put("Reshape", {x}, {1, value(x).dims[0]});
  }

 private:
  ValueId add(Value value) {
    value.name = node_.name + numbered_part(made_++);
    value.data_dependent = !value.constant && graph_.input(node_, 0).data_dependent;
    graph_.values.push_back(std::move(value));
    return graph_.values.size() - 1;
  }
  void put_to(ValueId result, std::string op_type, std::vector<ValueId> inputs, Attributes attributes) {
    constexpr int opset = 21;  // the version that defines the attributes of the parts
    Node part{.op_type = std::move(op_type),
              .opset = opset,
              .inputs = {inputs.begin(), inputs.end()},
              .outputs = {result},
              .attributes = std::move(attributes),
              .bodies = {}};
    parts_.push_back(std::move(part));
  }

  Graph& graph_;
  const Node& node_;
  std::vector<Node> parts_{};
  std::size_t made_ = 0;
};

}  // namespace benanza::importer
